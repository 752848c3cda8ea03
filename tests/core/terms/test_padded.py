"""The part of an output outside its space, as a column of its own."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from hilbertlearn import FunctionalRegressor, IrregularFunctions, OperatorKernelRegressor, spaces
from hilbertlearn.losses import (
    EpsilonInsensitive,
    EpsilonSVR,
    Huber,
)

# ---------------------------------------------------------------- one value that is not seen

GRID_POINTS = np.linspace(0, 1, 40)


def curves(seed=0, n=30, rough=0.3):
    """Inputs, and curves some of which are outliers; rough : of what the dictionary does not hold."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, size=(n, 1))
    y = np.sin(2 * np.pi * GRID_POINTS + 2 * X) + rough * np.sin(14 * np.pi * GRID_POINTS) * X
    y += 0.1 * rng.normal(size=y.shape)
    y[::6] += 2 * rng.normal(size=(len(y[::6]), 1))
    return X, y


def dictionary(loss, **settings):
    return FunctionalRegressor(space=spaces.Fourier(5), loss=loss, alpha=1e-3, gamma=1.0, **settings)


@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("where", [(4, 17), (11, 0), (20, 39)])
@pytest.mark.parametrize("loss", [Huber(0.4), EpsilonInsensitive(0.4), EpsilonSVR(0.4)], ids=repr)
def test_one_value_that_is_not_seen_changes_little(loss, where, center):
    """A curve that has lost one of forty values is nearly the same curve, and the others are what they were.

    Less than half of what leaving out the whole curve changes. If residuals were projected for curves without gaps, and
    whole for all as soon as there is one, it would be as much, or many times that: ``projected`` shows it.
    """
    X, y = curves(rough=1.0)
    gap, others = y.copy(), np.delete(np.arange(len(X)), where[0])
    gap[where] = np.nan

    def fitted(rows, y, **settings):
        return dictionary(loss, center=center, tol=1e-7, max_iter=20_000, **settings).fit(X[rows], y[rows])

    everyone = np.arange(len(X))
    whole, model, less = fitted(everyone, y), fitted(everyone, gap), fitted(others, y)
    projected = fitted(everyone, y, irregular="projected")
    expected, found = whole.predict(X), model.predict(X)
    by_a_curve = np.abs(less.predict(X) - expected).max()
    assert np.abs(found - expected).max() <= 0.5 * by_a_curve
    assert np.abs(found - projected.predict(X)).max() > 0.7 * by_a_curve  # else this would show nothing
    assert abs(int(model.saturated_.sum()) - int(whole.saturated_.sum())) <= 2
    assert abs(len(model.support_) - len(whole.support_)) <= 2


@pytest.mark.parametrize("loss", [Huber(0.4), EpsilonInsensitive(0.4), EpsilonSVR(0.4)], ids=repr)
def test_projected_residuals_stay_projected(loss):
    """``irregular="projected"`` is a model of coordinates: what curves have outside the basis does not count."""
    X, y = curves(rough=2.0)
    model = dictionary(loss, irregular="projected", tol=1e-8, max_iter=20_000, center=False).fit(X, y)
    C = model.machine_.encode(y)
    assert_allclose(model.machine_.residuals(X, y), C - model.machine_.coordinates(X), atol=1e-12)
    alone = OperatorKernelRegressor(
        loss=loss, alpha=1e-3, gamma=1.0, operator=model.operator_, tol=1e-8, max_iter=20_000, center=False
    ).fit(X, C)
    assert_allclose(model.machine_.coordinates(X), alone.predict(X), atol=1e-3)
    assert_allclose(model.saturated_, alone.saturated_)
    seen = dictionary(loss, tol=1e-8, max_iter=20_000, center=False).fit(X, y)  # the whole residual
    assert np.abs(seen.machine_.coordinates(X) - model.machine_.coordinates(X)).max() > 1e-2


@pytest.mark.parametrize("loss", [Huber(0.4), EpsilonSVR(0.4)], ids=repr)
def test_projected_residuals_of_irregular_curves_have_no_part_outside(loss):
    X, y = curves()
    irregular = IrregularFunctions([GRID_POINTS] * len(y), list(y), (0.0, 1.0))
    model = dictionary(loss, irregular="projected", center=False).fit(X, irregular)
    assert_allclose(
        model.machine_.residuals(X, irregular),
        model.machine_.encode(irregular) - model.machine_.coordinates(X),
        atol=1e-12,
    )
    assert model.machine_.residuals(X, irregular).shape == model.machine_.coordinates(X).shape
