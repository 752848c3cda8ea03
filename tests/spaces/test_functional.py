"""Functions seen at some points only: gaps on a grid, and points of their own, against dense computations."""

import cvxpy as cp
import numpy as np
import pytest
from helpers.curves_by_hand import (
    ALPHA,
    K_NEW,
    NEW,
    SHARED,
    UNEVEN,
    K,
    N,
    Observed,
    X,
    curves,
    hats,
    huber,
    laplace,
    of_norms,
    of_points,
    ridge,
    robust,
    spanned,
    trapezoid,
    tube,
    with_gaps,
)
from helpers.refusals import assert_refused
from numpy.testing import assert_allclose
from scipy.interpolate import BSpline

from hilbertlearn import FunctionalRegressor, operators, spaces
from hilbertlearn.data.functions import IrregularFunctions
from hilbertlearn.kernels import OutputTensorKernel
from hilbertlearn.losses import Ball, EpsilonInsensitive, Huber

FINE = np.linspace(0, 1, 33)
Q = trapezoid(UNEVEN)
GAPS = with_gaps(curves(UNEVEN))
POINTS = [np.random.default_rng(i).random(4 + i % 5) for i in range(N)]  # in any order
VALUES = [np.sin(5 * p + x[0]) + x[1] * p**2 + 0.5 for p, x in zip(POINTS, X)]
OWN = IrregularFunctions(POINTS, VALUES, (0, 1))
OBSERVED = Observed.at_own_points(POINTS, VALUES)


def fourier(t, rate=0.0):
    waves = [f(2 * np.pi * l * t) * np.sqrt(2) for l in (1, 2) for f in (np.cos, np.sin)]
    weights = (1.0 + np.array([0, 1, 1, 2, 2])) ** (-rate / 2)
    return weights[:, None] * np.array([np.ones_like(t), *waves])


def splines(t):
    knots = np.concatenate([np.zeros(3), np.linspace(0, 1, 4), np.ones(3)])
    return BSpline(knots, np.eye(6), 3)(t).T


def linear_splines(size, gamma=10.0):
    grid = np.linspace(0, 1, size)
    return spanned(hats(grid), laplace(gamma)(grid, grid))


# each space with the kernel of points that it is
SPACES = {
    "fourier": (spaces.Fourier(5, rate=1.5), spanned(lambda t: fourier(t, 1.5), np.eye(5))),
    "bspline": (spaces.BSpline(6), spanned(splines, np.eye(6))),
    "grid": ("grid", linear_splines(101)),
}


def fit(Y, sample_weight=None, **settings):
    return FunctionalRegressor(**{**SHARED, **settings}).fit(X, Y, sample_weight)


def fitted(model, seen, X=X):
    """Predictions at the observed points."""
    points = [seen.point[seen.sample == i] for i in range(len(X))]
    return np.concatenate(model.predict(X, points).values)


# ------------------------------------------------------------------ gaps on a common grid


@pytest.mark.parametrize("weighted", [False, True])
def test_gaps_on_a_grid_are_left_out(weighted):
    weight = np.linspace(0.3, 2, N) if weighted else None
    seen = Observed.on_grid(GAPS, UNEVEN, Q)
    model = fit(GAPS, weight, grid=UNEVEN)
    expected = ridge(seen, laplace(10), FINE, sample_weight=weight)
    assert_allclose(model.predict(NEW, FINE), expected, rtol=1e-4, atol=1e-5)
    assert model.dual_gap_ <= SHARED["tol"]


ROBUST = {
    "huber-2": (Huber(0.3), of_norms, huber(0.3)),
    "huber-1": (Huber(0.25, p=1), of_points, huber(0.25)),
    "epsilon-2": (EpsilonInsensitive(0.2), of_norms, tube(0.2)),
    "epsilon-inf": (EpsilonInsensitive(0.15, p=np.inf), of_points, tube(0.15)),
}


@pytest.mark.parametrize("name", ROBUST)
def test_robust_losses_with_gaps_on_a_grid(name):
    loss, kind, scalar = ROBUST[name]
    Y = GAPS.copy()
    Y[2] += 3
    Y[5, 3:5] -= 4
    seen = Observed.on_grid(Y, UNEVEN, Q)
    F, best = robust(seen, laplace(10), kind(seen, scalar))
    model = fit(Y, grid=UNEVEN, loss=loss, tol=1e-9)
    assert_allclose(fitted(model, seen), F, atol=2e-4)
    a = model.dual_coef_ / np.sqrt(Q)  # the function sum_i k(., x_i) sum_j q_j k_out(., t_j) a_i(t_j)
    square = np.vdot(Q * a, K @ (Q * a) @ laplace(10)(UNEVEN, UNEVEN))
    rows = kind(seen, scalar)(cp.Constant(seen.value - fitted(model, seen))).value
    assert rows.mean() + ALPHA / 2 * square == pytest.approx(best, rel=1e-7)


def test_gaps_in_a_dictionary_space_are_left_out():
    """Quadrature weights of what was observed of a curve are scaled to sum 1."""
    space, between = SPACES["fourier"]
    seen = Observed.on_grid(GAPS, UNEVEN, Q).normalised()
    model = fit(GAPS, grid=UNEVEN, space=space)
    assert_allclose(model.predict(NEW, FINE), ridge(seen, between, FINE), rtol=1e-4, atol=1e-5)


def test_curves_that_were_not_seen_are_left_out():
    Y = GAPS.copy()
    Y[3] = np.nan
    rest = np.delete(np.arange(N), 3)
    for space in ("grid", spaces.Fourier(5)):
        settings = {**SHARED, "space": space, "grid": UNEVEN, "center": True}
        expected = FunctionalRegressor(**settings).fit(X[rest], Y[rest])
        assert_allclose(fit(Y, **settings).predict(NEW), expected.predict(NEW), rtol=1e-6, atol=1e-7)


# ------------------------------------------------------------------ points of their own


@pytest.mark.parametrize("name", SPACES)
@pytest.mark.parametrize("weighted", [False, True])
def test_irregular_fit_is_the_dense_problem(name, weighted):
    space, between = SPACES[name]
    weight = np.linspace(0.3, 2, N) if weighted else None
    model = fit(OWN, weight, space=space)
    expected = ridge(OBSERVED, between, FINE, sample_weight=weight)
    assert_allclose(model.predict(NEW, FINE).values, expected, rtol=1e-4, atol=1e-5)


def test_grid_of_irregular_functions_is_that_of_their_splines():
    grid = np.linspace(0, 1, 7)
    model = fit(OWN, grid=grid, operator=operators.Integral("laplacian", 4.0))
    expected = ridge(OBSERVED, linear_splines(7, 4.0), FINE)
    assert_allclose(model.predict(NEW, FINE).values, expected, rtol=1e-4, atol=1e-5)
    assert_allclose(model.predict(NEW).values, model.predict(NEW, grid).values, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("name", ["fourier", "grid"])
def test_two_curves_at_points_of_their_own(name):
    """Each curve counts by the mean over its own observed points, the curves of a sample add up."""
    space, between = SPACES[name]
    C = np.array([[1.0, 0.6], [0.6, 0.8]])
    values = [np.stack([v, np.cos(3 * p) * v], axis=1) for p, v in zip(POINTS, VALUES)]
    values[0][1, 0] = values[3][:2, 1] = np.nan
    values[4][:, 1] = np.nan  # the second curve was not seen at all

    sample, point, value, weight = [], [], [], []
    for i, (p, v) in enumerate(zip(POINTS, values)):
        for m, l in np.argwhere(np.isfinite(v)):
            sample.append(i)
            point.append((p[m], l))
            value.append(v[m, l])
            weight.append(1 / np.isfinite(v[:, l]).sum())
    seen = Observed(np.array(sample), np.array(point), np.array(value), np.array(weight))

    def both(s, t):
        return between(s[:, 0], t[:, 0]) * C[np.ix_(s[:, 1].astype(int), t[:, 1].astype(int))]

    new = np.array([(t, l) for t in FINE for l in (0, 1)])
    expected = ridge(seen, both, new).reshape(len(NEW), len(FINE), 2)
    model = fit(IrregularFunctions(POINTS, values, (0, 1)), space=space, operator=operators.AxisProduct(curves=C))
    assert_allclose(model.predict(NEW, FINE).values, expected, rtol=1e-4, atol=2e-5)


@pytest.mark.parametrize("loss", ["squared", Huber(0.3), EpsilonInsensitive(0.1)], ids=str)
@pytest.mark.parametrize("irregular", ["exact", "projected"])
def test_weights_are_repetitions(loss, irregular):
    times = np.arange(N) % 3  # some of them left out
    rows = np.repeat(np.arange(N), times)
    settings = {**SHARED, "space": spaces.BSpline(6), "loss": loss, "irregular": irregular, "center": True}
    repeated = FunctionalRegressor(**settings).fit(X[rows], OWN[rows]).predict(NEW).values
    assert_allclose(fit(OWN, times, **settings).predict(NEW).values, repeated, rtol=1e-3, atol=2e-5)


@pytest.mark.parametrize("name", SPACES)
@pytest.mark.parametrize("kind", ["huber-2", "epsilon-2"])
def test_robust_losses_of_irregular_functions(name, kind):
    """The loss of the root mean squared error at the points of each curve."""
    (space, between), (loss, _, scalar) = SPACES[name], ROBUST[kind]
    values = [v + 4 * (i == 2) for i, v in enumerate(VALUES)]
    seen = Observed.at_own_points(POINTS, values)
    weight = np.linspace(0.3, 2, N)
    rows = of_norms(seen, scalar)
    F, best = robust(seen, between, rows, sample_weight=weight)
    model = fit(IrregularFunctions(POINTS, values, (0, 1)), weight, space=space, loss=loss, tol=1e-9)
    ours = fitted(model, seen)
    assert_allclose(ours, F, atol=2e-4)
    square = np.vdot(model.dual_coef_, K @ model.dual_coef_ @ np.asarray(model.operator_))
    reached = weight @ rows(cp.Constant(seen.value - ours)).value / weight.sum() + ALPHA / 2 * square
    assert reached == pytest.approx(best, rel=1e-7)
    assert model.dual_gap_ <= 1e-9
    if isinstance(loss, Huber):
        assert model.saturated_[2] and np.argmax(model.outlier_scores_) == 2


def test_gap_of_an_irregular_fit():
    """Primal minus dual of the squared loss on pairs, at the predictions of a loosely solved problem."""
    space, between = SPACES["fourier"]
    model = fit(OWN, space=space, tol=1e-3, solver="splitting")
    G = OBSERVED.gram(K, between)
    residuals = OBSERVED.value - fitted(model, OBSERVED)
    square = np.vdot(model.dual_coef_, K @ model.dual_coef_ @ np.asarray(model.operator_))
    primal = OBSERVED.weight @ residuals**2 / (2 * N) + ALPHA / 2 * square
    coef = np.linalg.solve(G + np.diag(N * ALPHA / OBSERVED.weight), OBSERVED.value)
    best = OBSERVED.value @ coef * ALPHA / 2  # the optimum of the ridge problem
    assert best <= primal * (1 + 1e-12)
    assert 1e-12 < (primal - best) / primal <= model.dual_gap_ <= 1e-3


def test_solvers_agree():
    space, between = SPACES["bspline"]
    expected = ridge(OBSERVED, between, FINE)
    for solver in ("auto", "splitting", "conjugate_gradient", "proximal_gradient"):
        model = fit(OWN, space=space, solver=solver, tol=1e-9)
        assert model.dual_gap_ <= 1e-9
        assert_allclose(model.predict(NEW, FINE).values, expected, atol=2e-3)


def test_curves_without_points_are_left_out():
    """Wherever they stand: the first one tells nothing about the number of curves a sample."""
    rest = np.delete(np.arange(N), [0, 5])
    points, values = list(POINTS), list(VALUES)
    for i in (0, 5):
        points[i] = values[i] = np.empty(0)
    empty = IrregularFunctions(points, values, (0, 1))
    for space in ("grid", "eigen", spaces.BSpline(6)):
        model = fit(empty, space=space, center=True)
        expected = FunctionalRegressor(**{**SHARED, "center": True, "space": space}).fit(X[rest], OWN[rest])
        assert_allclose(model.predict(NEW).values, expected.predict(NEW).values, rtol=1e-6, atol=1e-7)
        assert model.score(X, empty) == pytest.approx(expected.score(X[rest], OWN[rest]))


@pytest.mark.parametrize("loss", ["squared", Huber(0.5)], ids=str)
def test_points_that_no_atom_reaches_count_in_the_loss_only(loss):
    """Narrow bumps are zero at both ends of the domain."""
    points = [np.concatenate([[0.0], p, [1.0]]) for p in POINTS]
    values = [np.concatenate([[2.0], v, [-1.0]]) for v in VALUES]
    bump = BSpline.basis_element(np.linspace(0, 1, 5), extrapolate=False)

    def bumps(t):
        return np.nan_to_num(bump((t - np.linspace(0, 0.6, 5)[:, None]) / 0.4))

    own = IrregularFunctions(points, values, (0, 1))
    model = fit(own, space=spaces.BSpline(5, width=0.4), loss=loss, tol=1e-9)
    seen = Observed.at_own_points(points, values)
    assert model.dual_gap_ <= 1e-9
    if loss == "squared":
        assert_allclose(model.predict(NEW, FINE).values, ridge(seen, spanned(bumps, np.eye(5)), FINE), atol=1e-5)
    else:
        F, _ = robust(seen, spanned(bumps, np.eye(5)), of_norms(seen, huber(0.5)))
        assert_allclose(fitted(model, seen), F, atol=5e-4)


@pytest.mark.parametrize("loss", ["hinge", Ball(0.5)], ids=str)
def test_losses_that_need_whole_functions_refuse_points(loss):
    assert_refused(lambda: fit(OWN, space=spaces.BSpline(6), loss=loss), ["loss", "Huber"])


@pytest.mark.parametrize("form", ["i", "ii", "iii", "iv", "v", "vi"])
def test_kernels_built_from_outputs_take_irregular_functions(form):
    model = fit(OWN, kernel=OutputTensorKernel(form), operator=None, space=spaces.Fourier(5), tol=1e-6)
    assert model.dual_gap_ <= 1e-6


# ------------------------------------------------------------------ averaged projections


def test_projected_coordinates_are_averages_over_points():
    """Equation 13 of Bouche et al. 2021, then equation 12, with atoms that are not orthogonal."""
    Phi = splines(np.linspace(0, 1, 101))
    G = (Phi * trapezoid(np.linspace(0, 1, 101))) @ Phi.T
    eta = np.zeros((N, 6))
    for i in range(N):
        for t, y in zip(POINTS[i], VALUES[i]):
            eta[i] += y * splines(np.array([t]))[:, 0] / len(POINTS[i])
    a = np.linalg.solve(np.kron(K, G) + N * ALPHA * np.eye(6 * N), eta.ravel()).reshape(N, -1)
    model = fit(OWN, space=spaces.BSpline(6), irregular="projected")
    assert_allclose(model.predict(NEW, FINE).values, K_NEW @ a @ splines(FINE), rtol=1e-7, atol=1e-9)


def test_projected_gaps_are_averages_with_quadrature_weights():
    model = fit(GAPS, space=spaces.Fourier(5), grid=UNEVEN, irregular="projected_trapezoid")
    Phi = fourier(UNEVEN)
    G = (Phi * Q) @ Phi.T
    eta = np.zeros((N, 5))
    for i, row in enumerate(GAPS):
        seen = np.isfinite(row)
        eta[i] = Phi[:, seen] @ (Q[seen] * row[seen]) / Q[seen].sum()
    a = np.linalg.solve(np.kron(K, G) + N * ALPHA * np.eye(5 * N), eta.ravel()).reshape(N, -1)
    assert_allclose(model.predict(X), K @ a @ Phi, rtol=1e-8, atol=1e-9)


def test_many_even_points_make_no_difference():
    """Irregular functions that happen to share a fine grid, exactly and projected, are functions on that grid."""
    t = np.linspace(0, 1, 400, endpoint=False) + 1 / 800
    Y = curves(t, noise=0.0)
    own = IrregularFunctions([t] * N, list(Y), (0, 1))
    on_grid = fit(Y, grid=t, space=spaces.Fourier(5)).predict(NEW)
    for irregular in ("exact", "projected"):
        model = fit(own, space=spaces.Fourier(5), irregular=irregular)
        assert_allclose(np.stack(model.predict(NEW, t).values), on_grid, atol=0.02)
