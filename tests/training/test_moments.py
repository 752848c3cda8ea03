"""Moments of features and outputs against dense systems, refits without a row, and each other in any order."""

import numpy as np
import pytest
from helpers.moments_by_hand import by_hand, moments_of
from numpy.testing import assert_allclose

from hilbertlearn.training import MomentProblem, Moments
from hilbertlearn.training.moments import MOST_PATTERNS

N, R, D = 40, 6, 3
ALPHA = 0.02
rng = np.random.default_rng(0)
Z = rng.normal(size=(N, R))
Y = np.c_[np.sin(Z[:, 0]), Z[:, 1] ** 2, Z.sum(axis=1)] + 0.1 * rng.normal(size=(N, D)) + [0, 50, -2]
WEIGHTS = rng.uniform(0.3, 3, N)
ROOT = rng.normal(size=(D, D))
OPERATORS = {
    "identity": None,
    "full": ROOT @ ROOT.T,
    "diagonal": np.diag([0.5, 2.0, 1.0]),
    "dropping": np.diag([0.5, 0.0, 1.0]),
    "rank 2": ROOT[:, :2] @ ROOT[:, :2].T,
}
GAPS = Y.copy()
GAPS[rng.random(Y.shape) < 0.2] = np.nan
GAPS[:2] = np.nan


def primal_by_hand(B, M, c, Z, Y, s, weights):
    BM = B if M is None else B @ M
    residuals = np.nan_to_num(Y - c - Z @ BM)
    return weights @ (residuals**2).sum(axis=1) / 2 + s / 2 * np.vdot(B, BM)


@pytest.mark.parametrize("weighted", [False, True], ids=["", "weighted"])
@pytest.mark.parametrize("center", [False, True], ids=["", "centred"])
@pytest.mark.parametrize("operator", OPERATORS)
def test_the_model_is_that_of_a_dense_system(operator, center, weighted):
    weights, M = WEIGHTS if weighted else np.ones(N), OPERATORS[operator]
    s = ALPHA * weights.sum()
    B, mean = by_hand(Z, Y, M, s, center, weights)
    for path in (False, True):
        solved = MomentProblem(moments_of(Z, Y, weights), M, center).solve(ALPHA, path=path)
        assert_allclose(solved.center, mean)
        apply = (lambda B: B) if M is None else (lambda B: B @ M)
        assert_allclose(Z @ apply(solved.coefficients), Z @ apply(B), atol=1e-11 * np.abs(Y).max())
        primal = primal_by_hand(solved.coefficients, M, mean, Z, Y, s, weights)
        assert_allclose(solved.objective, primal / weights.sum(), rtol=1e-10)
        assert 0 <= solved.gap < 1e-20


@pytest.mark.parametrize("weighted", [False, True], ids=["", "weighted"])
@pytest.mark.parametrize("center", [False, True], ids=["", "centred"])
@pytest.mark.parametrize("operator", ["identity", "diagonal", "dropping"])
def test_gaps_have_the_rows_that_each_output_was_observed_in(operator, center, weighted):
    weights, M = WEIGHTS if weighted else np.ones(N), OPERATORS[operator]
    rows = np.isfinite(GAPS).any(axis=1)
    B, mean = by_hand(Z[rows], GAPS[rows], M, ALPHA * weights[rows].sum(), center, weights[rows])
    apply = (lambda B: B) if M is None else (lambda B: B @ M)
    solved = MomentProblem(moments_of(Z, GAPS, weights), M, center).solve(ALPHA)
    assert_allclose(solved.center, mean)
    assert_allclose(Z @ apply(solved.coefficients), Z @ apply(B), atol=1e-10)
    s = ALPHA * weights[rows].sum()
    primal = primal_by_hand(solved.coefficients, M, mean, Z[rows], GAPS[rows], s, weights[rows])
    assert_allclose(solved.objective, primal / weights[rows].sum(), rtol=1e-10)


def gap_by_hand(B, M, c, Z, Y, s):
    """Primal at the function of B plus dual at its residuals, both from the rows."""
    M = np.eye(Y.shape[1]) if M is None else M
    A = Y - c - Z @ B @ M
    pulled = Z.T @ A
    dual = np.vdot(A, A) / 2 - np.vdot(A, Y - c) + np.vdot(pulled, pulled @ M) / (2 * s)
    return primal_by_hand(B, M, c, Z, Y, s, np.ones(len(Y))) + dual


@pytest.mark.parametrize("operator", ["identity", "full", "rank 2"])
def test_the_gap_is_that_of_the_residuals_as_dual_variables(operator):
    """Of any coefficients, not of the optimum alone."""
    M, s = OPERATORS[operator], ALPHA * N
    problem = MomentProblem(moments_of(Z, Y), M)
    (block,) = problem.blocks
    for size in (0.01, 1.0):
        B = problem.solve(ALPHA).coefficients + size * rng.normal(size=(R, D))
        primal, gap = block.values(B, s)
        assert_allclose(gap, gap_by_hand(B, M, problem.center, Z, Y, s), rtol=1e-8)
        assert_allclose(primal, primal_by_hand(B, M, problem.center, Z, Y, s, np.ones(N)), rtol=1e-10)


def test_sums_in_any_split_and_order():
    whole = moments_of(Z, GAPS, WEIGHTS)
    for cuts in ([1, 2, 3], [20], list(range(1, N))):
        parts = np.split(rng.permutation(N), cuts)
        total = Moments.empty(R, np.array([1.0, 40.0, 0.0]))
        for rows in parts:
            # every part around an origin of its own
            total = total + moments_of(Z[rows], GAPS[rows], WEIGHTS[rows], rng.normal(size=D))
        solved, wanted = (MomentProblem(m).solve(ALPHA) for m in (total, whole))
        assert_allclose(solved.coefficients, wanted.coefficients, atol=1e-10)
        assert_allclose(solved.center, wanted.center, rtol=1e-12)
        assert_allclose(solved.objective, wanted.objective, rtol=1e-10)
        assert total.n_rows == whole.n_rows


def test_sums_leave_their_parts_alone_and_grow_in_place():
    one, other = moments_of(Z[:15], Y[:15]), moments_of(Z[15:], Y[15:])
    before = one.ZZ[0].copy()
    both = one + other
    assert_allclose(one.ZZ[0], before, rtol=0)
    memory = one.ZZ[0]
    one += other
    assert one.ZZ[0] is memory
    assert_allclose(one.ZZ[0], both.ZZ[0])


def test_a_pattern_that_splits_in_place_keeps_its_parts_apart():
    m = moments_of(Z[:10], Y[:10])
    m += moments_of(Z[2:], GAPS[2:])
    wanted = moments_of(np.r_[Z[:10], Z[2:]], np.r_[Y[:10], GAPS[2:]])
    assert_allclose(MomentProblem(m).solve(ALPHA).coefficients, MomentProblem(wanted).solve(ALPHA).coefficients)


def test_large_means_cost_no_digits():
    far = Y + 1e9
    problem = MomentProblem(moments_of(Z[:20], far[:20], None, far[:5].mean(axis=0)) + moments_of(Z[20:], far[20:]))
    near = MomentProblem(moments_of(Z, far - 1e9)).solve(ALPHA).coefficients
    # outputs themselves have lost seven digits, and those that came around the origin 0 squares and products
    assert_allclose(problem.solve(ALPHA).coefficients, near, atol=1e-4)
    centred = MomentProblem(moments_of(Z, far, None, far[0])).solve(ALPHA)
    assert_allclose(centred.coefficients, near, atol=1e-6)


def test_many_patterns_of_gaps_are_refused():
    d = MOST_PATTERNS + 1
    wide = np.where(np.eye(d, dtype=bool), np.nan, rng.normal(size=(d, d)))
    features = rng.normal(size=(d, 2))
    with pytest.raises(ValueError, match=r"gaps of their own.*Fill the gaps"):
        moments_of(features, wide)
    half = d // 2
    with pytest.raises(ValueError, match="gaps of their own"):
        moments_of(features[:half], wide[:half]) + moments_of(features[half:], wide[half:])


def test_gaps_under_a_coupling_operator_are_refused():
    with pytest.raises(ValueError, match="operator= mixes"):
        MomentProblem(moments_of(Z, GAPS), OPERATORS["full"])


def test_no_rows_are_refused():
    with pytest.raises(ValueError, match="no observed entry"):
        MomentProblem(moments_of(Z, np.full_like(Y, np.nan)))
    with pytest.raises(ValueError, match="cannot be added"):
        moments_of(Z, Y) + moments_of(Z[:, 1:], Y)
