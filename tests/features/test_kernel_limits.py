"""Limits of fits on features: penalties, repeated samples, units, one missing value, settings changed later."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from hilbertlearn import OperatorKernelRegressor, features, kernels

rng = np.random.default_rng(0)
N = 80
X = rng.normal(size=(N, 3))
Y = np.column_stack([np.sin(X[:, 0]), X[:, 1] * X[:, 2]]) + 0.1 * rng.normal(size=(N, 2))
NEW = rng.normal(size=(10, 3))
POINTS = features.Landmarks(points=X[:20])  # the same whatever the samples are


def model(**settings):
    return OperatorKernelRegressor("rbf", **{"gamma": 0.3, "alpha": 1e-3, "feature_map": POINTS, **settings})


@pytest.mark.parametrize("loss", ["squared", "huber"])
def test_a_large_penalty_leaves_the_constant(loss):
    fitted = model(alpha=1e9, loss=loss).fit(X, Y)
    assert_allclose(fitted.predict(NEW), np.tile(fitted.center_ * fitted.scale_, (10, 1)), atol=1e-6)


@pytest.mark.parametrize(
    ("operator", "gaps"),
    [(None, False), (None, True), (np.diag([1.0, 0.25]), True), (np.array([[1.0, 0.3], [0.3, 0.5]]), False)],
)
@pytest.mark.parametrize("alpha", [1e-8, 1e-10, 1e-12, 1e-13])
def test_a_small_penalty_is_least_squares(alpha, operator, gaps):
    """Made from dual variables A, coefficients ``Z'A / s`` would lose rounding over s."""
    seen = Y.copy()
    seen[30:37, 1] = np.nan if gaps else seen[30:37, 1]
    fitted = model(alpha=alpha, center=False, gamma=3.0, operator=operator).fit(X, seen)  # landmarks far apart
    Z, known = fitted.feature_map_(X), np.isfinite(seen)
    least = [np.linalg.lstsq(Z[known[:, j]], seen[known[:, j], j], rcond=None)[0] for j in range(2)]
    # the penalty's own effect, and rounding of a well-conditioned system
    assert_allclose(fitted.predict(X), Z @ np.column_stack(least), atol=1e2 * alpha * N + 1e-12)


@pytest.mark.parametrize("loss", ["squared", "huber"])
def test_a_repeated_sample_is_one_of_twice_the_weight(loss):
    kappa = {} if loss == "squared" else {"loss__kappa": 0.2}
    twice = model(loss=loss, tol=1e-10).set_params(**kappa).fit(np.vstack([X, X[:1]]), np.vstack([Y, Y[:1]]))
    weighted = model(loss=loss, tol=1e-10).set_params(**kappa).fit(X, Y, sample_weight=np.r_[2.0, np.ones(N - 1)])
    assert_allclose(twice.predict(NEW), weighted.predict(NEW), atol=1e-8 if loss == "squared" else 1e-4)


def test_a_rescaled_output_is_predicted_as_before():
    scale = np.array([1000.0, 1.0])
    for alpha in (1e-3, "auto"):
        plain, large = model(alpha=alpha).fit(X, Y), model(alpha=alpha).fit(X, Y * scale)
        assert_allclose(large.predict(NEW) / scale, plain.predict(NEW), atol=1e-8)


def test_one_missing_value_changes_little():
    gap = Y.copy()
    gap[5, 1] = np.nan
    moved = np.abs(model().fit(X, gap).predict(NEW) - model().fit(X, Y).predict(NEW))
    assert moved[:, 0].max() < 1e-10 and moved[:, 1].max() < 0.1 * Y[:, 1].std()


def test_settings_changed_later_and_refits_that_fail_leave_predictions_alone():
    setting = features.Landmarks(20)
    fitted = model(feature_map=setting).fit(X, Y)
    before = fitted.predict(NEW)
    setting.set_params(n_components=3, method="uniform")
    assert_array_equal(fitted.predict(NEW), before)
    for bad, outputs in ((X, Y[:-1]), (np.full_like(X, np.nan), Y)):
        with pytest.raises(ValueError):
            fitted.fit(bad, outputs)
    assert_array_equal(fitted.predict(NEW), before)


def test_objects_that_look_like_numbers():
    pairs = [(float(a), float(b)) for a, b in X[:, :2]]  # tuples reach the kernel as they are

    def alike(one, other):
        assert isinstance(one, tuple) and isinstance(other, tuple)
        return np.exp(-0.3 * ((one[0] - other[0]) ** 2 + (one[1] - other[1]) ** 2))

    by_pairs = OperatorKernelRegressor(kernels.PairwiseKernel(alike), alpha=1e-3, feature_map=15).fit(pairs, Y)
    exact = OperatorKernelRegressor("rbf", gamma=0.3, alpha=1e-3, feature_map=None).fit(X[:, :2], Y)
    assert np.abs(by_pairs.predict(pairs) - exact.predict(X[:, :2])).mean() < 0.1
