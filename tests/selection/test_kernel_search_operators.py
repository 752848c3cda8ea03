"""The operator of curves is searched with the kernel, on a grid."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from hilbertlearn import FunctionalRegressor, kernels, operators

rng = np.random.default_rng(0)
T = np.linspace(0, 1, 40)
X = rng.uniform(-1, 1, size=(50, 2))
SMOOTH = np.sin(4 * T + 2 * X[:, :1]) * (1 + X[:, 1:]) + 0.3 * rng.normal(size=(50, 40))
STEPS = np.cumsum(rng.normal(size=(2, 40)), axis=1)  # functions like those of Brownian motion
ROUGH = np.tanh(2 * X) @ STEPS + 0.1 * rng.normal(size=(50, 40))


def fixed(model, operator):
    """The same model with that operator and everything else as it was selected."""
    assert isinstance(model.kernel_, kernels.AverageKernel)  # with numbers for all settings
    return FunctionalRegressor(model.kernel_, operator=operator, alpha=model.alpha_)


@pytest.mark.parametrize(("y", "smooth"), [(SMOOTH, True), (ROUGH, False)])
def test_the_operator_with_the_smaller_leave_one_out_error_is_taken(y, smooth):
    model = FunctionalRegressor().fit(X, y)
    wanted, other = operators.Integral("rbf", 100.0), operators.Integral("laplacian", 10.0)
    if not smooth:
        wanted, other = other, wanted
    same = fixed(model, wanted).fit(X, y)
    assert_allclose(model.predict(X), same.predict(X), atol=1e-6)
    errors = [
        np.mean(FunctionalRegressor(model.kernel_, operator=one).fit(X, y).loo_residuals() ** 2)
        for one in (wanted, other)
    ]
    assert errors[0] < errors[1]


def test_smooth_curves_are_predicted_smooth():
    rough, own = (FunctionalRegressor(operator=one).fit(X, SMOOTH) for one in (operators.Integral(), "auto"))
    bends = [np.mean(np.diff(model.predict(X), 2, axis=1) ** 2) for model in (rough, own)]
    assert bends[1] < 0.2 * bends[0]
    truth = np.sin(4 * T + 2 * X[:, :1]) * (1 + X[:, 1:])
    assert own.score(X, truth) > rough.score(X, truth)


def test_a_kernel_that_is_given_keeps_the_operator_of_the_space():
    model = FunctionalRegressor("rbf").fit(X, SMOOTH)
    same = fixed(model, operators.Integral("laplacian", 10.0)).fit(X, SMOOTH)
    assert_allclose(model.predict(X), same.predict(X), atol=1e-8)


def test_between_the_points_too_and_with_robust_losses():
    at = np.linspace(0, 1, 97)
    for loss in ("squared", "huber"):
        model = FunctionalRegressor(loss=loss).fit(X, SMOOTH)
        truth = np.sin(4 * at + 2 * X[:, :1]) * (1 + X[:, 1:])
        assert np.mean((model.predict(X, at) - truth) ** 2) < 0.1 * truth.var()


def test_more_samples_than_are_searched():
    many = rng.uniform(-1, 1, size=(700, 1))
    y = np.sin(4 * T + 2 * many) + 0.3 * rng.normal(size=(700, 40))
    model = FunctionalRegressor(kernels.KernelSearch(["rbf", "linear"])).fit(many, y)
    assert_allclose(
        model.predict(many), fixed(model, operators.Integral("rbf", 100.0)).fit(many, y).predict(many), atol=1e-5
    )
