"""Each stage of the automatic selection alone."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from hilbertlearn import OperatorKernelRegressor, losses

rng = np.random.default_rng(0)
X = rng.normal(size=(60, 3))
Y = np.column_stack([np.sin(3 * X[:, 0]) * X[:, 1], 100 * np.cos(X[:, 2])]) + 0.05 * rng.normal(size=(60, 2))
NEW = rng.normal(size=(10, 3))


@pytest.fixture(autouse=True)
def same_draws():
    """Each test draws the same whatever ran before it."""
    global rng
    rng = np.random.default_rng(0)


@pytest.mark.parametrize("loss", ["huber", losses.Huber(p=1)], ids=str)
def test_outliers_do_not_choose(loss):
    """A tenth of the rows far off: kernel and alpha are near those of clean data."""
    Z = rng.normal(size=(150, 2))
    truth = np.column_stack([np.sin(2 * Z[:, 0]), Z[:, 1] ** 2])
    spoilt = truth + 0.1 * rng.normal(size=truth.shape)
    clean = OperatorKernelRegressor().fit(Z, spoilt)
    spoilt = spoilt.copy()
    spoilt[:15] += 20
    robust, squared = (OperatorKernelRegressor(loss=one).fit(Z, spoilt) for one in (loss, "squared"))
    new = rng.normal(size=(300, 2)) * 0.8
    wanted = np.column_stack([np.sin(2 * new[:, 0]), new[:, 1] ** 2])
    errors = [np.mean((model.predict(new) - wanted) ** 2) for model in (clean, robust, squared)]
    assert errors[1] < 4 * errors[0] < errors[2]


@pytest.mark.parametrize("kappa", [1e4, 1e9])
def test_a_bound_that_nothing_meets_changes_nothing(kappa):
    squared, huber = (OperatorKernelRegressor(loss=loss).fit(X, Y) for loss in ("squared", losses.Huber(kappa)))
    assert (huber.kernel_, huber.gamma_, huber.alpha_) == (squared.kernel_, squared.gamma_, squared.alpha_)
    assert_allclose(huber.predict(NEW), squared.predict(NEW), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("copies", [5, 9, 50])
def test_discrete_data_are_not_taken_for_repeated_samples(copies):
    category = np.repeat([0, 1, 2], copies)
    inputs = np.eye(3)[category]
    model = OperatorKernelRegressor().fit(inputs, category.astype(float))
    assert_allclose(model.predict(np.eye(3)), [0, 1, 2], atol=0.05)
