"""Limits of conformal sets: levels, penalties, units, a missing value, a sample repeated, changed settings, refits."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from hilbertlearn import ConformalPredictor, OperatorKernelRegressor, kernels

rng = np.random.default_rng(0)
N = 60
X = rng.normal(size=(N, 2))
Y = np.column_stack([np.sin(X[:, 0]), X[:, 0] * X[:, 1]]) + 0.1 * rng.normal(size=(N, 2))
NEW = rng.normal(size=(8, 2))
MODEL = OperatorKernelRegressor("rbf", gamma=0.3, alpha=1e-3)
METHODS = pytest.mark.parametrize("method", ["split", "cv+", "jackknife+"])


def intervals(method="jackknife+", model=MODEL, X=X, y=Y, **settings):
    return ConformalPredictor(model, method, random_state=0, **settings).fit(X, y).predict_interval(NEW)


@METHODS
def test_a_higher_level_has_no_narrower_intervals(method):
    low, high = (intervals(method, level=level) for level in (0.5, 0.9))
    assert (high[..., 0] <= low[..., 0]).all() and (high[..., 1] >= low[..., 1]).all()


@METHODS
def test_an_infinite_penalty_leaves_the_constant(method):
    found = intervals(method, MODEL.__class__("rbf", gamma=0.3, alpha=1e12))
    assert_allclose(found, np.broadcast_to(found[:1], found.shape), atol=1e-6)
    near = intervals(method, MODEL.__class__("rbf", gamma=0.3, alpha=1e9))
    assert_allclose(found, near, atol=1e-5)


@METHODS
def test_one_output_rescaled_rescales_its_intervals(method):
    scale = np.array([1000.0, 1.0])
    assert_allclose(intervals(method, y=Y * scale), intervals(method) * scale[:, None], rtol=1e-8)


def test_one_missing_value_changes_the_other_output_not_at_all():
    gap = Y.copy()
    gap[5, 1] = np.nan
    found, whole = intervals(y=gap), intervals()
    assert_allclose(found[:, 0], whole[:, 0], atol=1e-9)
    assert np.abs(found[:, 1] - whole[:, 1]).max() < Y[:, 1].std()


@METHODS
def test_settings_changed_and_a_refit_that_fails_leave_intervals_alone(method):
    model = ConformalPredictor(MODEL, method, random_state=0).fit(X, Y)
    before = model.predict_interval(NEW)
    model.set_params(level=0.5, score="constant", estimator__alpha=7.0)
    try:
        assert_array_equal(model.predict_interval(NEW), before)
        for bad in (Y[:-1], np.full_like(Y, np.nan)):
            with pytest.raises(ValueError):
                model.fit(X, bad)
        assert_array_equal(model.predict_interval(NEW), before)
    finally:
        MODEL.set_params(alpha=1e-3)


def test_a_repeated_sample_is_left_out_once_at_a_time():
    """Two copies hold each other's places: both are nearly on their prediction, and intervals get no wider."""
    found = intervals(X=np.vstack([X, X]), y=np.vstack([Y, Y]))
    assert np.isfinite(found).all()
    assert (np.diff(found)[..., 0].mean(axis=0) <= np.diff(intervals())[..., 0].mean(axis=0)).all()


@METHODS
def test_objects_that_look_like_numbers_reach_the_kernel_as_they_are(method):
    pairs, new = ([(float(a), float(b)) for a, b in rows] for rows in (X, NEW))

    def alike(one, other):
        assert isinstance(one, tuple) and isinstance(other, tuple)
        return np.exp(-0.3 * ((one[0] - other[0]) ** 2 + (one[1] - other[1]) ** 2))

    model = ConformalPredictor(
        OperatorKernelRegressor(kernels.PairwiseKernel(alike), alpha=1e-3), method, random_state=0
    )
    assert_allclose(model.fit(pairs, Y).predict_interval(new), intervals(method), atol=1e-7)
