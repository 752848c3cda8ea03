"""Robust losses of functions: where dual variables are clipped, and which curves and points are called outliers."""

import numpy as np
import pytest
from helpers.curves_by_hand import ALPHA, SHARED, UNEVEN, K, N, X, curves, laplace, trapezoid, with_gaps
from numpy.testing import assert_allclose, assert_array_equal

from hilbertlearn import FunctionalRegressor, spaces
from hilbertlearn.data.functions import IrregularFunctions
from hilbertlearn.losses import EpsilonInsensitive, Huber

Q = trapezoid(UNEVEN)
BAD_CURVES = [2, 9]
BAD_POINTS = [(1, 4), (5, 0), (5, 7), (11, 10)]


def smooth():
    return curves(UNEVEN, noise=0.03)


def corrupted_curves():
    Y = smooth()
    Y[BAD_CURVES] = -Y[BAD_CURVES] + 4
    return Y


def corrupted_points():
    Y = smooth()
    for place in BAD_POINTS:
        Y[place] += 5
    return Y


def fit(Y, X=X, **settings):
    return FunctionalRegressor(**{**SHARED, "grid": UNEVEN, "tol": 1e-10, **settings}).fit(X, Y)


@pytest.mark.parametrize("gaps", [False, True])
def test_pointwise_huber_clips_residuals_at_kappa(gaps):
    """Dual variables are sqrt(q_j) times the residuals clipped to [-kappa, kappa]: the optimality conditions."""
    Y, kappa = corrupted_points(), 0.2
    if gaps:
        Y = with_gaps(Y)
    model = fit(Y, loss=Huber(kappa, p=1))
    A = model.dual_coef_ * ALPHA * N
    residuals = np.nan_to_num(Y - model.predict(X))
    assert_allclose(A, np.sqrt(Q) * np.clip(residuals, -kappa, kappa), atol=1e-4)
    assert np.abs(A / np.sqrt(Q)).max() <= kappa * (1 + 1e-9)
    clear = np.abs(np.abs(residuals) - kappa) > 1e-3
    assert_array_equal(model.saturated_[clear], np.abs(residuals)[clear] > kappa)
    assert 4 <= model.saturated_.sum() < N * len(Q) / 2


def test_pointwise_tube_leaves_small_residuals_out():
    Y, epsilon = smooth(), 0.1
    model = fit(Y, loss=EpsilonInsensitive(epsilon, p=np.inf))
    residuals = Y - model.predict(X)
    A = model.dual_coef_ * ALPHA * N
    kept = np.sign(residuals) * np.maximum(np.abs(residuals) - epsilon, 0)
    assert_allclose(A, np.sqrt(Q) * kept, atol=1e-4)
    assert 0 < (A == 0).sum() < A.size


def test_huber_of_curves_clips_norms_at_kappa():
    Y, kappa = corrupted_curves(), 0.5
    model = fit(Y, loss=Huber(kappa))
    residuals = np.sqrt(Q) * (Y - model.predict(X))
    norms = np.linalg.norm(residuals, axis=1, keepdims=True)
    assert_allclose(model.dual_coef_ * ALPHA * N, residuals * np.minimum(1, kappa / norms), atol=1e-4)
    assert_array_equal(model.saturated_, norms[:, 0] > kappa)


SPACES = ["grid", "eigen", spaces.BSpline(7), spaces.Fourier(5, rate=2.0)]


@pytest.mark.parametrize("space", SPACES, ids=str)
@pytest.mark.parametrize("center", [True, False])
def test_corrupted_curves_are_found(space, center):
    model = fit(corrupted_curves(), loss=Huber(0.8), space=space, center=center, alpha=0.02, tol=1e-6)
    assert_array_equal(np.flatnonzero(model.saturated_), BAD_CURVES)
    assert set(np.argsort(model.outlier_scores_)[-2:]) == set(BAD_CURVES)


@pytest.mark.parametrize("center", [True, False])
def test_corrupted_points_are_found(center):
    Y = corrupted_points()
    Y[3, 3] = Y[5, 4] = np.nan
    model = fit(Y, loss=Huber(0.7, p=1), center=center, tol=1e-6)
    assert model.saturated_.shape == model.outlier_scores_.shape == Y.shape
    assert_array_equal(np.argwhere(model.saturated_), BAD_POINTS)
    first = np.unravel_index(np.argsort(model.outlier_scores_, axis=None)[-4:], Y.shape)
    assert set(zip(*first)) == set(BAD_POINTS)
    assert model.outlier_scores_[3, 3] == 0
    sizes = np.abs(Y - model.predict(X))
    assert_allclose(model.outlier_scores_, np.nan_to_num(sizes / np.nanmedian(sizes)), rtol=1e-5, atol=1e-6)


def test_corrupted_irregular_curves_are_found():
    points = [np.random.default_rng(i).random(9) for i in range(N)]
    values = [np.sin(5 * p + x[0]) + x[1] * p**2 + 0.5 for p, x in zip(points, X)]
    for i in BAD_CURVES:
        values[i] = 4 - values[i]
    model = fit(IrregularFunctions(points, values, (0, 1)), grid=None, space="eigen", loss=Huber(0.8), tol=1e-6)
    assert_array_equal(np.flatnonzero(model.saturated_), BAD_CURVES)
    assert set(np.argsort(model.outlier_scores_)[-2:]) == set(BAD_CURVES)


def test_huber_with_a_large_kappa_is_ridge_regression():
    Y = smooth()
    ridge = fit(Y).predict(X)
    for p in (1, 2):
        model = fit(Y, loss=Huber(100.0, p))
        assert_allclose(model.predict(X), ridge, atol=1e-5)
        assert not model.saturated_.any()
    square = np.vdot(model.dual_coef_ * np.sqrt(Q), K @ (model.dual_coef_ * np.sqrt(Q)) @ laplace(10)(UNEVEN, UNEVEN))
    primal = (Q @ ((Y - ridge) ** 2).T).mean() / 2 + ALPHA / 2 * square
    dual = (model.dual_coef_ * ALPHA * N * np.sqrt(Q) * Y).sum() / (2 * N)
    assert primal == pytest.approx(dual, rel=1e-6)  # of the squared loss at its optimum
