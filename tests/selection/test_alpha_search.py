"""An alpha for each output, and the alpha of losses without closed-form errors."""

import numpy as np
import pytest
from helpers.machines import prepare
from numpy.testing import assert_allclose

from hilbertlearn import OperatorKernelRegressor
from hilbertlearn.losses import Pinball
from hilbertlearn.selection.alpha_search import search_alpha_of_loss, sign_scaled_alpha
from hilbertlearn.training import Options

rng = np.random.default_rng(0)
X = rng.normal(size=(60, 3))
Y = np.column_stack([np.sin(3 * X[:, 0]) * X[:, 1], 100 * np.cos(X[:, 2])]) + 0.05 * rng.normal(size=(60, 2))
NEW = rng.normal(size=(10, 3))


@pytest.fixture(autouse=True)
def same_draws():
    """Each test draws the same whatever ran before it."""
    global rng
    rng = np.random.default_rng(0)


def test_an_alpha_for_each_output():
    noisy = np.column_stack([np.cos(X[:, 2]), np.sin(X[:, 0]) + 2 * rng.normal(size=len(Y))])
    model = OperatorKernelRegressor("rbf", gamma=0.3, alpha_per_output=True).fit(X, noisy)
    assert model.alpha_.shape == (2,) and model.alpha_[1] > 10 * model.alpha_[0]
    for j in range(2):  # each as if it were alone
        alone = OperatorKernelRegressor("rbf", gamma=0.3).fit(X, noisy[:, j])
        assert model.alpha_[j] == pytest.approx(alone.alpha_, rel=1e-6)
        same = OperatorKernelRegressor("rbf", gamma=0.3, alpha=model.alpha_[j]).fit(X, noisy[:, j])
        assert_allclose(model.predict(NEW)[:, j], same.predict(NEW), rtol=1e-6)
        assert_allclose(model.loo_residuals()[:, j], same.loo_residuals(), rtol=1e-6)
    assert "alpha" in model.summary()
    with pytest.raises(ValueError, match="alpha_per_output=True requires the squared loss"):
        OperatorKernelRegressor(alpha_per_output=True, operator="covariance").fit(X, Y)
    with pytest.raises(ValueError, match="alpha_per_output"):
        OperatorKernelRegressor(alpha_per_output="yes").fit(X, Y)


def test_alphas_of_copies_are_those_of_weights():
    """Also where copies are more than the samples up to which a smaller grid is averaged."""
    T = np.column_stack([np.sin(2 * X[:, 0]), X[:, 1] * X[:, 2]]) + 0.3 * rng.normal(size=(60, 2))
    settings = {"gamma": 0.3, "alpha_per_output": True}
    copies = OperatorKernelRegressor("rbf", **settings).fit(np.tile(X, (4, 1)), np.tile(T, (4, 1)))
    weighted = OperatorKernelRegressor("rbf", **settings).fit(X, T, np.full(60, 4.0))
    assert_allclose(copies.alpha_, weighted.alpha_, rtol=1e-9)


def test_the_alpha_of_a_loss_has_the_smallest_error_over_folds():
    training = prepare(OperatorKernelRegressor("rbf", gamma=0.3), X, Y[:, :1])
    loss = Pinball([0.3])
    alpha, trials = search_alpha_of_loss(training, loss, 1e-3, Options())
    errors = {trial.alpha: trial.error for trial in trials}
    assert {trial.method for trial in trials} == {"folds"}
    assert errors[alpha] <= min(errors.values()) * (1 + 1e-4)
    nearest = [other for other in errors if 1 < max(other / alpha, alpha / other) < 2]
    assert len(nearest) >= 2  # it was refined to less than a factor of two


def test_alphas_of_signs_are_those_of_residuals_over_their_size():
    """The dual variables of the absolute value are signs, those of the squared loss residuals."""
    training = prepare(OperatorKernelRegressor("rbf", gamma=0.3, scale=False), X, Y[:, :1])
    size = np.abs(Y[:, 0] - np.median(Y[:, 0])).mean()
    assert sign_scaled_alpha(0.5, training) == pytest.approx(0.5 / size)
    larger = prepare(OperatorKernelRegressor("rbf", gamma=0.3, scale=False), X, 10 * Y[:, :1])
    assert sign_scaled_alpha(0.5, larger) == pytest.approx(0.05 / size)
    constant = prepare(OperatorKernelRegressor("rbf", gamma=0.3, scale=False), X, np.ones((60, 1)))
    assert sign_scaled_alpha(0.5, constant) == 0.5
