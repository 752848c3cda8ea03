"""Samples in several parts give the solution of all at once: every sum over samples passes through one function."""

from functools import partial

import numpy as np
import pytest
from helpers.parts_by_hand import on_parts
from numpy.testing import assert_allclose

from hilbertlearn._utils.statistics import geometric_median, mean_rows, pointwise_median
from hilbertlearn._utils.sums import local_total
from hilbertlearn.core.problem import Problem
from hilbertlearn.core.solvers import solve, splitting
from hilbertlearn.core.terms import FeatureGram, PaddedTerm, SeparableTerm
from hilbertlearn.losses import EpsilonInsensitive, EpsilonSVR, Huber, Norm, Squared
from hilbertlearn.training import best_constant

N, R, D = 60, 7, 3
PARTS = [np.arange(0, 11), np.arange(11, 11), np.arange(11, 40), np.arange(40, N)]  # one is empty
LOSSES = {
    "squared": Squared(),
    "huber": Huber(0.4),
    "huber by entry": Huber(0.3, p=1),
    "tube": EpsilonInsensitive(0.5),
    "tube by entry": EpsilonInsensitive(0.2, p=np.inf),
    "tube p=1": EpsilonInsensitive(0.4, p=1),
    "svr": EpsilonSVR(0.3),
    "norm": Norm(),
}
flag = pytest.mark.parametrize


def data(weighted, gaps, seed=0):
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(N, R))
    Y = Z @ rng.normal(size=(R, D)) / 2 + rng.normal(size=(N, D)) * rng.exponential(size=(N, 1))
    mask = rng.random((N, D)) < 0.8 if gaps else None
    root = np.sqrt(rng.uniform(0.2, 2.0, N)) if weighted else None
    return Z, Y if mask is None else np.where(mask, Y, 0.0), mask, root


def problem_of(rows, total, Z, Y, mask, root, loss, M=None, outside=None):
    """The problem of some rows, whose sums are those of all."""
    own = None if root is None else root[rows]
    term = SeparableTerm(FeatureGram(Z[rows], own, total=total), M)
    Y = Y[rows] if root is None else Y[rows] * own[:, None]
    if outside is not None:
        Y, term = np.column_stack([Y, outside[rows]]), PaddedTerm(term)
    return Problem((term,), Y, loss, 0.7, None if mask is None else mask[rows], own, total=total)


@flag("gaps", [False, True], ids=["whole", "gaps"])
@flag("weighted", [False, True], ids=["even", "weighted"])
@flag("operator", [False, True], ids=["M=I", "M"])
@flag("name", LOSSES)
def test_parts_give_the_solution_of_all(name, operator, weighted, gaps):
    Z, Y, mask, root = data(weighted, gaps)
    M = np.array([[2.0, 0.5, 0.0], [0.5, 1.0, -0.3], [0.0, -0.3, 0.5]]) if operator else None
    given = (Z, Y, mask, root, LOSSES[name], M)
    options = {"tol": 1e-10, "max_iter": 3000}
    whole = splitting.solve(problem_of(slice(None), local_total, *given), **options)
    solved, _ = on_parts(PARTS, lambda rows, total: splitting.solve(problem_of(rows, total, *given), **options))
    assert whole.converged
    assert {s.n_iter for s in solved} == {whole.n_iter}
    dual = np.concatenate([s.dual for s in solved])
    assert_allclose(dual, whole.dual, rtol=0, atol=1e-8 * np.abs(whole.dual).max())
    dense = Problem(
        (SeparableTerm(np.asarray(problem_of(slice(None), local_total, *given).term.K), M),), *_rest(*given)
    )
    assert dense.gap(dual) <= 1.01e-10


def _rest(Z, Y, mask, root, loss, M):
    return Y if root is None else Y * root[:, None], loss, 0.7, mask, root


def test_a_column_outside_the_space_and_warm_starts():
    Z, Y, mask, root = data(True, False)
    outside = np.random.default_rng(1).uniform(0.1, 1.0, N)
    given = (Z, Y, mask, root, Huber(0.5), None, outside)
    whole = splitting.solve(problem_of(slice(None), local_total, *given), tol=1e-10)

    def again(rows, total):
        problem = problem_of(rows, total, *given)
        return splitting.solve(problem, tol=1e-10, init=splitting.solve(problem, tol=1e-3).dual)

    solved, _ = on_parts(PARTS, again)
    assert_allclose(np.concatenate([s.dual for s in solved]), whole.dual, atol=1e-5)


@flag("weighted", [False, True], ids=["even", "weighted"])
def test_the_squared_loss_in_closed_form(weighted):
    Z, Y, mask, root = data(weighted, False)
    given = (Z, Y, mask, root, Squared())
    whole = solve(problem_of(slice(None), local_total, *given), "spectral")
    solved, meeting = on_parts(PARTS, lambda rows, total: solve(problem_of(rows, total, *given), "spectral"))
    assert_allclose(np.concatenate([s.dual for s in solved]), whole.dual, rtol=1e-8, atol=1e-12)
    weights = np.ones(N) if root is None else root**2
    W = np.linalg.solve(Z.T @ (weights[:, None] * Z) + 0.7 * np.eye(R), Z.T @ (weights[:, None] * Y))
    residuals = np.sqrt(weights)[:, None] * (Y - Z @ W)
    assert_allclose(np.concatenate([s.dual for s in solved]), residuals, rtol=1e-8, atol=1e-12)
    assert meeting.sums <= 6


@flag("name", LOSSES)
@flag("weighted", [False, True], ids=["even", "weighted"])
@flag("columns", [1, D])
def test_the_constant(name, weighted, columns):
    _, Y, mask, root = data(weighted, columns > 1)
    Y = (Y if mask is None else np.where(mask, Y, np.nan))[:, :columns]
    weights = np.ones(N) if root is None else root**2
    whole = best_constant(Y, weights, LOSSES[name])
    found, _ = on_parts(PARTS, lambda rows, total: best_constant(Y[rows], weights[rows], LOSSES[name], total=total))
    for one in found:
        assert_allclose(one, whole, rtol=1e-8, atol=1e-8)


def _statistic(statistic, Y, weights, rows, total):
    return statistic(Y[rows], weights[rows], total)


def _solve(given, iterations, rows, total):
    return splitting.solve(problem_of(rows, total, *given), tol=0.0, max_iter=iterations)


def test_means_and_medians():
    rng = np.random.default_rng(0)
    Y = rng.normal(size=(N, D)) * 10.0 ** np.arange(-3, 3)[:D]
    Y[rng.random((N, D)) < 0.3] = np.nan
    Y[:, 2] = np.round(Y[:, 2])  # ties
    for weights in (np.ones(N), rng.integers(0, 4, N).astype(float)):
        for statistic in (mean_rows, pointwise_median, geometric_median):
            whole = statistic(Y, weights)
            found, _ = on_parts(PARTS, partial(_statistic, statistic, Y, weights))
            for one in found:
                assert_allclose(one, whole, rtol=1e-12 if statistic is not geometric_median else 1e-8)


def test_an_iteration_takes_three_sums():
    """A sum of r x d and two of a few numbers, beside those that look at the gap and balance the residuals."""
    Z, Y, mask, root = data(True, False)
    given = (Z, Y, mask, root, Huber(0.4))
    counts = []
    for most in (1, 11):
        _, meeting = on_parts(PARTS, partial(_solve, given, most))
        counts.append((meeting.sums, meeting.numbers))
    (first, few), (later, more) = counts
    assert later - first <= 3 * 10
    assert more - few <= 10 * (R * D + 2 + 2 * 9)


def test_what_travels_does_not_grow_with_the_samples():
    sent = []
    for copies in (1, 4):
        Z, Y, mask, root = data(True, False)
        given = (np.tile(Z, (copies, 1)), np.tile(Y, (copies, 1)), mask, np.tile(root, copies), Huber(0.4))
        rows = np.array_split(np.arange(copies * N), 3)
        _, meeting = on_parts(rows, partial(_solve, given, 20))
        sent.append(meeting.numbers)
    assert sent[0] == sent[1]
