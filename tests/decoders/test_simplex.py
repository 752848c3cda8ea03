"""Histograms of smallest weighted chi-square and Wasserstein loss, against grids, linear programs and cvxpy."""

from itertools import combinations_with_replacement, product

import numpy as np
import pytest
from helpers.decoders_by_hand import signed_weights
from helpers.structured_data import NEW, VECTORS, X, predictor, ridge_weights
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize
from sklearn.metrics.pairwise import rbf_kernel

from hilbertlearn.decoders import simplex
from hilbertlearn.output_losses import Chi2, Wasserstein1d

rng = np.random.default_rng(7)
BOTH = pytest.mark.parametrize(
    ("decode", "loss"),
    [(simplex.decode_chi2, Chi2()), (simplex.decode_wasserstein, Wasserstein1d())],
    ids=["chi2", "wasserstein"],
)


def histograms(n, bins, concentration=0.5):
    """With empty bins, and one that has all mass in a bin."""
    Y = rng.dirichlet(np.full(bins, concentration), size=n)
    Y[Y < 0.02] = 0
    Y[0] = np.eye(bins)[0]
    return Y / Y.sum(axis=1, keepdims=True)


def ridge(n, m):
    points, new = rng.normal(size=(n, 2)), rng.normal(size=(m, 2))
    return np.linalg.solve(rbf_kernel(points, gamma=0.5) + 0.05 * np.eye(n), rbf_kernel(points, new, gamma=0.5)).T


def values(W, Z, Y, loss):
    return np.einsum("qi,qi->q", W, loss(Z, Y))


def grid(bins, steps):
    return np.array([c for c in product(range(steps + 1), repeat=bins) if sum(c) == steps]) / steps


@BOTH
@pytest.mark.parametrize(("bins", "steps"), [(1, 1), (2, 300), (3, 60), (4, 20)])
def test_no_histogram_of_a_grid_is_better(decode, loss, bins, steps):
    for concentration in (0.3, 3.0):
        Y, W = histograms(7, bins, concentration), signed_weights(rng, 60, 7)
        Z = decode(W, Y, loss)
        assert_allclose(loss.check(Z), Z, atol=1e-12)
        missed = values(W, Z, Y, loss) - (W @ loss(grid(bins, steps), Y).T).min(axis=1)
        one_sign = (W >= 0).all(axis=1) | (W <= 0).all(axis=1)
        assert missed[one_sign].max() < 1e-9
        assert np.quantile(missed, 0.95) < 1e-9 and missed.max() < 0.02 * np.abs(W).sum(axis=1).max()


@BOTH
def test_never_worse_than_the_outputs(decode, loss):
    for W in (signed_weights(rng, 40, 30), ridge(30, 40)):
        Y = histograms(30, 12)
        found = values(W, decode(W, Y, loss), Y, loss)
        gained = (W @ loss(Y, Y).T).min(axis=1) - found
        assert (gained >= -1e-9).all() and gained.max() > 1e-3


# ------------------------------------------------------------------ chi-square


def test_chi2_with_positive_weights_is_the_optimum_of_cvxpy():
    cp = pytest.importorskip("cvxpy")
    loss, Y = Chi2(), histograms(8, 6)
    W = rng.dirichlet(np.full(8, 0.5), size=4)
    Z = simplex.decode_chi2(W, Y, loss)
    for w, z in zip(W, Z):
        x = cp.Variable(6, nonneg=True)
        # (x - y)^2 / (x + y) = x + y - 4 y + 4 y^2 / (x + y), which is x where the output's bin is empty
        terms = [
            weight * (x[k] - 3 * y[k] + 4 * y[k] ** 2 * cp.inv_pos(x[k] + y[k])) if y[k] > 0 else weight * x[k]
            for weight, y in zip(w, Y)
            for k in range(6)
        ]
        problem = cp.Problem(cp.Minimize(cp.sum(cp.hstack(terms))), [cp.sum(x) == 1])
        problem.solve(solver=cp.CLARABEL)
        assert w @ loss(z[None], Y)[0] == pytest.approx(problem.value, abs=1e-7)
        assert w @ loss(z[None], Y)[0] <= problem.value + 1e-9


def test_chi2_with_positive_weights_is_stationary():
    """The slope of the gain, which is concave, is the same in all bins with mass and not larger in the others."""
    Y, W = histograms(200, 15, 0.4), rng.dirichlet(np.full(200, 0.3), size=30)
    Z = simplex.decode_chi2(W, Y, Chi2())
    total = Z[:, None] + Y
    slopes = np.einsum("qi,qik->qk", W, np.divide(Y, total, out=np.zeros_like(total), where=Y > 0) ** 2)
    level = (slopes * Z).sum(axis=1, keepdims=True)
    assert (slopes <= level + 1e-5).all() and np.abs((slopes - level) * (Z > 1e-4)).max() < 1e-5


def test_chi2_with_weights_of_ridge_regression_is_a_local_minimum():
    loss, Y, W = Chi2(), histograms(25, 5, 2.0), ridge(25, 12)
    Z = simplex.decode_chi2(W, Y, loss)
    for w, z in zip(W, Z):
        found = minimize(
            lambda x, w=w: w @ loss(np.abs(x)[None] / np.abs(x).sum(), Y)[0], z + 1e-4, method="Nelder-Mead",
            options={"xatol": 1e-9, "fatol": 1e-13, "maxiter": 4000},
        )  # fmt: skip
        assert w @ loss(z[None], Y)[0] <= found.fun + 1e-8


def test_chi2_of_one_output_is_this_output():
    Y = histograms(6, 9)
    assert_allclose(simplex.decode_chi2(np.eye(6), Y, Chi2()), Y, atol=1e-6)


def test_chi2_of_two_bins_by_hand():
    """Outputs (1, 0) and (0, 1) of weights w and 1 - w: the gain ``w t / (1 + t) + (1 - w) (1 - t) / (2 - t)`` is
    largest where ``sqrt(w) / (1 + t) = sqrt(1 - w) / (2 - t)``, if that is in [0, 1]."""
    w = np.array([0.5, 0.6, 0.75, 0.9])
    t = np.clip((2 * np.sqrt(w) - np.sqrt(1 - w)) / (np.sqrt(w) + np.sqrt(1 - w)), 0, 1)
    assert_allclose(simplex.decode_chi2(np.c_[w, 1 - w], np.eye(2), Chi2())[:, 0], t, atol=1e-6)


# ------------------------------------------------------------------ Wasserstein


@pytest.mark.parametrize("bins", [2, 3, 4])
def test_wasserstein_is_exact_for_weights_of_any_sign(bins):
    """Some minimum has values of the distribution function that outputs have: all non-decreasing choices of them."""
    loss, Y = Wasserstein1d(), histograms(5, bins)
    W = signed_weights(rng, 80, 5)
    C = np.unique(np.r_[0.0, 1.0, np.minimum(np.cumsum(Y, axis=1)[:, :-1], 1.0).ravel()])
    F = np.array(list(combinations_with_replacement(C, bins - 1)))
    everything = np.diff(F, axis=1, prepend=0.0, append=1.0)
    Z = simplex.decode_wasserstein(W, Y, loss)
    assert_allclose(values(W, Z, Y, loss), (W @ loss(everything, Y).T).min(axis=1), atol=1e-10)


def test_wasserstein_is_a_median_of_distribution_functions():
    Y = histograms(9, 8)
    found = simplex.decode_wasserstein(np.full((1, 9), 1 / 9), Y, Wasserstein1d())
    assert_allclose(np.cumsum(found[0])[:-1], np.median(np.cumsum(Y, axis=1), axis=0)[:-1], atol=1e-12)


def test_wasserstein_where_ties_leave_a_choice():
    Y = np.array([[1.0, 0, 0], [0, 0, 1]])
    Z = simplex.decode_wasserstein(np.array([[0.5, 0.5]]), Y, Wasserstein1d())
    assert values(np.array([[0.5, 0.5]]), Z, Y, Wasserstein1d())[0] == pytest.approx(1.0)
    assert_array_equal(Z.sum(axis=1), 1)


def test_wasserstein_with_more_values_than_are_tried(monkeypatch):
    loss, Y, W = Wasserstein1d(), histograms(30, 5), signed_weights(rng, 30, 30)
    exact = values(W, simplex.decode_wasserstein(W, Y, loss), Y, loss)
    monkeypatch.setattr(simplex, "_VALUES", 60)
    monkeypatch.setattr(simplex, "_ENTRIES", 50)  # and in blocks
    found = values(W, simplex.decode_wasserstein(W, Y, loss), Y, loss)
    assert (found >= exact - 1e-9).all() and (found - exact).max() < 0.05 * np.abs(W).sum(axis=1).max()


# ------------------------------------------------------------------ the estimator

HISTOGRAMS = np.abs(VECTORS) / np.abs(VECTORS).sum(axis=1, keepdims=True)


@pytest.mark.parametrize(("name", "loss"), [("chi2", Chi2()), ("wasserstein1d", Wasserstein1d())])
def test_predictions_are_better_than_the_best_training_histogram(name, loss):
    model, chosen = predictor(output_loss=name), predictor(output_loss=name, decoder="candidates")
    Z, best = model.fit(X, HISTOGRAMS).predict(NEW), chosen.fit(X, HISTOGRAMS).predict(NEW)
    assert_allclose(Z.sum(axis=1), 1)
    W = ridge_weights()
    gained = values(W, best, HISTOGRAMS, loss) - values(W, Z, HISTOGRAMS, loss)
    assert (gained >= -1e-9).all() and gained.max() > 1e-4
    assert predictor(output_loss=name, alpha="auto", gamma="auto").fit(X, HISTOGRAMS).score(X, HISTOGRAMS) > -0.2


def test_the_maximum_of_the_model_against_a_grid():
    """With slopes a / (t + b)^2 + c of its bins the model is the sum of -a / (t + b) + c t."""
    points = grid(3, 100)
    Z = rng.dirichlet(np.ones(3), size=60)
    slope, curvature, tangent = rng.random((60, 3)), rng.random((60, 3)), -rng.random((60, 3))
    curvature = slope / (Z + curvature)  # so that b is not negative
    slope[::3, 0] = curvature[::3, 0] = 0  # bins without positive weights
    slope[1::3] = curvature[1::3] = 0
    found = simplex._model_maximum(Z, slope, curvature, tangent)
    assert_allclose(found.sum(axis=1), 1)
    for z, best, h, half, c in zip(Z, found, slope, curvature, tangent):
        distance = np.where(half > 0, h / np.where(half > 0, half, 1), 1.0)
        model = lambda t, b=distance - z, a=h * distance**2, c=c: (c * t - a / (t + b)).sum(axis=-1)  # noqa: E731
        assert model(best) >= model(points).max() - 1e-9


def test_bins_without_positive_weights_may_take_all_mass():
    """Where all weights are negative the loss is concave: from anywhere the climb ends in one bin."""
    Y, W = histograms(6, 4, 2.0), -rng.random((10, 6))
    start = rng.dirichlet(np.full(4, 5.0), size=10)
    Z = simplex._climb(W, Y, start)
    assert_allclose(np.sort(Z, axis=1)[:, -1], 1, atol=1e-9)
    assert (values(W, Z, Y, Chi2()) < values(W, start, Y, Chi2()) - 1e-4).all()
