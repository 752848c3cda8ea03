"""Infimal convolutions against the infimum, and fits of them against Clarabel."""

import cvxpy as cp
import numpy as np
import pytest
from helpers.by_hand import ALPHA, check, convolution, fit, inside, make, norms, solve
from numpy.testing import assert_allclose

from hilbertlearn.core import solvers
from hilbertlearn.core.problem import Problem
from hilbertlearn.core.terms import SeparableTerm
from hilbertlearn.losses import (
    Ball,
    EpsilonInsensitive,
    EpsilonSVR,
    ExpNorm,
    Huber,
    InfConv,
    LogNorm,
    Norm,
    PowerNorm,
    Squared,
)

NORMS = np.array([0, 1e-9, 0.05, 0.2, 1 / np.e, 0.4, 0.41, 0.6, 0.7, 0.71, 0.8, 1, 1.001, 1.1, 1.4, 1.8, 2.5, 3])


CONVOLUTIONS = [
    (Squared(), Norm(0.7)),
    (Norm(), Ball(0.4)),
    (Norm(0.8), ExpNorm(0.5)),
    (PowerNorm(1.5), ExpNorm(0.5)),
    (PowerNorm(1.5), PowerNorm(3)),
    (LogNorm(0.5), Ball(0.3)),
    (LogNorm(), PowerNorm(3)),
    (ExpNorm(0.2), EpsilonSVR(0.3)),
    (Huber(0.5), PowerNorm(1.2)),
    (EpsilonInsensitive(0.2), LogNorm()),
]


@pytest.mark.parametrize(("first", "second"), CONVOLUTIONS, ids=repr)
def test_infimal_convolution_is_the_infimum(first, second):
    """inf over 0 <= s <= r of first(s) + second(r - s): for radial convex functions the line holds the optimum."""
    for r in NORMS[1:]:
        s = np.union1d(np.linspace(0, r, 20_001), [x for x in (0.2, 0.3, 0.4, r - 0.2, r - 0.3, r - 0.4) if 0 < x < r])
        best = np.min(first.value(s) + second.value(r - s))
        for loss in (InfConv(first, second), InfConv(second, first)):
            assert loss.value(np.array([r]))[0] == pytest.approx(best, rel=1e-7, abs=1e-7)


@pytest.mark.parametrize(
    ("composed", "named"),
    [
        (InfConv(Squared(), Norm(0.7)), Huber(0.7)),
        (InfConv(Squared(), Ball(0.4)), EpsilonInsensitive(0.4)),
        (InfConv(Norm(), Ball(0.4)), EpsilonSVR(0.4)),
    ],
    ids=repr,
)
def test_compositions_with_a_name_agree_on_rows(composed, named):
    R = np.random.default_rng(0).normal(size=(60, 3)) * np.geomspace(0.01, 3, 60)[:, None]
    assert_allclose(composed.row_value(R), named.row_value(R), rtol=1e-12, atol=1e-14)
    for step in (0.2, 1, 4):
        assert_allclose(composed.row_prox(R, step), named.row_prox(R, step), atol=1e-14)
    A = named.row_prox(R, 1.0)
    assert_allclose(composed.row_conjugate(A), named.row_conjugate(A), rtol=1e-12, atol=1e-14)


INF = np.inf


# ---------------------------------------------------------------- convolutions of entries

KAPPA, EPSILON = 0.6, 0.35
SCALAR = {  # the loss, its value and its whole conjugate on a number
    "huber": (
        Huber(KAPPA, p=1),
        lambda r: np.where(np.abs(r) <= KAPPA, r**2 / 2, KAPPA * np.abs(r) - KAPPA**2 / 2),
        lambda a: a**2 / 2 + inside(np.abs(a), KAPPA),
    ),
    "wider huber": (
        Huber(2 * KAPPA, p=1),
        lambda r: np.where(np.abs(r) <= 2 * KAPPA, r**2 / 2, 2 * KAPPA * np.abs(r) - 2 * KAPPA**2),
        lambda a: a**2 / 2 + inside(np.abs(a), 2 * KAPPA),
    ),
    "epsilon": (
        EpsilonInsensitive(EPSILON, p=INF),
        lambda r: np.maximum(np.abs(r) - EPSILON, 0) ** 2 / 2,
        lambda a: a**2 / 2 + EPSILON * np.abs(a),
    ),
    "squared": (Squared(), lambda r: r**2 / 2, lambda a: a**2 / 2),
}
ENTRYWISE = [
    ("huber", "squared"),
    ("squared", "huber"),
    ("huber", "epsilon"),
    ("epsilon", "huber"),
    ("epsilon", "squared"),
    ("epsilon", "epsilon"),
    ("huber", "wider huber"),
]
MEASURES = {"plain": None, "measure": np.array([0.2, 1.7, 0.6, 1.0])}
GRID = np.linspace(-8, 8, 16001)
RESIDUALS = np.random.default_rng(3).normal(size=(7, 4)) * np.array([0.2, 0.7, 1.5, 3.0])[np.arange(7) % 4, None]


def pairs(function):
    return pytest.mark.parametrize(("first", "second"), ENTRYWISE, ids=map("*".join, ENTRYWISE))(
        pytest.mark.parametrize("measure", MEASURES)(function)
    )


def convolved(first, second):
    return InfConv(SCALAR[first][0], SCALAR[second][0])


def weights_of(measure):
    m = MEASURES[measure]
    return np.ones(RESIDUALS.shape[1]) if m is None else m


@pairs
def test_the_value_is_the_infimum_of_each_entry(first, second, measure):
    f, g, m = SCALAR[first][1], SCALAR[second][1], weights_of(measure)
    points = RESIDUALS / np.sqrt(m)
    expected = np.array([[np.min(f(GRID) + g(v - GRID)) for v in row] for row in points]) @ m
    found = convolved(first, second).row_value(RESIDUALS, MEASURES[measure])
    assert_allclose(found, expected, rtol=1e-6, atol=1e-6)
    assert (found <= expected + 1e-12).all()  # the grid is a part of what the infimum is over


@pairs
def test_the_conjugate_is_the_supremum_of_each_entry(first, second, measure):
    loss, m = convolved(first, second), weights_of(measure)
    bound = min(loss.bound, 2.0)
    duals = np.linspace(-0.99 * bound, 0.99 * bound, 28).reshape(7, 4)  # of point values
    phi = loss.row_value(GRID[:, None])
    expected = np.array([[np.max(a * GRID - phi) for a in row] for row in duals]) @ m
    A = duals * np.sqrt(m)
    found = loss.curvature / 2 * norms(A) ** 2 + loss.row_conjugate(A, MEASURES[measure])
    assert_allclose(found, expected, atol=1e-6)
    both = (SCALAR[first][2](duals) + SCALAR[second][2](duals)) @ m  # conjugates add
    assert_allclose(found, both, rtol=1e-12, atol=1e-12)
    if np.isfinite(loss.bound):
        beyond = A.copy()
        beyond[0, 2] = 1.01 * loss.bound * np.sqrt(m[2])
        assert np.isinf(loss.row_conjugate(beyond, MEASURES[measure])).tolist() == [True] + 6 * [False]


@pairs
@pytest.mark.parametrize("step", [0.3, 2.0])
def test_the_prox_is_the_minimiser_of_each_entry(first, second, measure, step):
    loss, m = convolved(first, second), weights_of(measure)
    found = loss.row_prox(RESIDUALS, step, MEASURES[measure])
    assert (found * RESIDUALS >= 0).all()
    for j, mass in enumerate(m):
        own = None if MEASURES[measure] is None else np.array([mass])
        penalty = step * loss.row_conjugate(GRID[:, None], own)
        for i in range(len(found)):
            objective = (GRID - RESIDUALS[i, j]) ** 2 / 2 + penalty
            best = GRID[np.argmin(objective)]
            assert found[i, j] == pytest.approx(best, abs=1.1e-3)
            value = (found[i, j] - RESIDUALS[i, j]) ** 2 / 2 + step * loss.row_conjugate(
                found[i : i + 1, j : j + 1], own
            )
            assert value[0] <= objective.min() + 1e-9


@pytest.mark.parametrize(("first", "second"), ENTRYWISE, ids=map("*".join, ENTRYWISE))
def test_a_measure_of_ones_is_none(first, second):
    loss, ones = convolved(first, second), np.ones(4)
    assert_allclose(loss.row_value(RESIDUALS, ones), loss.row_value(RESIDUALS), rtol=1e-13)
    assert_allclose(loss.row_prox(RESIDUALS, 0.7, ones), loss.row_prox(RESIDUALS, 0.7), rtol=1e-13)


CVXPY = {
    "huber": lambda R: cp.huber(R, KAPPA) / 2,
    "wider huber": lambda R: cp.huber(R, 2 * KAPPA) / 2,
    "epsilon": lambda R: cp.square(cp.pos(cp.abs(R) - EPSILON)) / 2,
    "squared": lambda R: cp.square(R) / 2,
}


def by_hand(first, second):
    def form(R, S):
        return cp.sum(CVXPY[first](S) + CVXPY[second](R - S), axis=1), []

    def conjugate(A):
        return (SCALAR[first][2](A) + SCALAR[second][2](A)).sum(axis=1)

    return convolution(convolved(first, second), form, conjugate)


@pytest.mark.parametrize(
    "kind",
    [{}, {"structured": True}, {"weighted": True, "missing": True}, {"many": True}],
    ids=lambda kind: "-".join(kind),
)
@pytest.mark.parametrize(("first", "second"), ENTRYWISE[:4], ids=map("*".join, ENTRYWISE[:4]))
def test_fits_of_convolutions_are_those_of_clarabel(first, second, kind):
    data, hand = make(**kind), by_hand(first, second)
    model = fit(data, hand.loss, max_iter=100_000)
    assert model.dual_gap_ <= 1e-9
    check(data, hand, model)


@pytest.mark.parametrize(("first", "second"), ENTRYWISE, ids=map("*".join, ENTRYWISE))
def test_fits_of_convolutions_of_point_values_are_those_of_clarabel(first, second):
    data, m = make(structured=True), np.array([0.3, 1.9, 0.8])
    (K, M), n = data.terms[0], len(data.Y)
    problem = Problem((SeparableTerm(K, M),), data.Y, convolved(first, second), ALPHA * n, measure=m)
    solution = solvers.solve(problem, tol=1e-9, max_iter=100_000)
    assert solution.converged and solution.gap <= 1e-9
    values, vectors = np.linalg.eigh(data.gram)
    u, S = cp.Variable(len(values)), cp.Variable(data.Y.shape)
    F = cp.reshape((vectors * np.sqrt(np.maximum(values, 0))) @ u, data.Y.shape, order="C")
    R = (data.Y - F) @ np.diag(1 / np.sqrt(m))  # point values
    rows = (CVXPY[first](S) + CVXPY[second](R - S)) @ m
    best = solve(cp.sum(rows) + ALPHA * n / 2 * cp.sum_squares(u), [])
    A = solution.dual
    assert problem.primal(A, problem.fitted(A)) == pytest.approx(best, rel=1e-7)
