"""The squared loss in closed form."""

from __future__ import annotations

from ..._utils.linalg import to_float64
from .requirements import DIRECT_FACTORS, LINEAR_SYSTEM
from .solution import Solution

REQUIRES = (LINEAR_SYSTEM, DIRECT_FACTORS)

_REFINEMENTS = 3  # at most; each multiplies the error by ``||K|| / s`` roundings, so that more do not help


def cost(problem, factors):
    """A Cholesky factorisation, or an eigendecomposition with an operator; one for each pattern of missing entries."""
    n, d = problem.Y.shape
    if factors is not None and factors.serves_all_penalties:
        return 2 * problem.term.step_cost(n, d)
    return problem.term.factor_cost(n) + problem.term.step_cost(n, d)


def solve(problem, *, tol=1e-6, max_iter=1000, init=None, callback=None, factors=None) -> Solution:
    """Solve ``c A + K A M / s = Y``, and refine the solution until its gap is at most tol.

    Eigenbases lose about ||K|| / s digits, and each refinement with the same factors wins some back. Residuals are
    computed in double precision, so that dual variables in single precision are as accurate as they can be.
    """
    c, Y = problem.loss.curvature, problem.zero_missing(problem.Y)
    factors = problem.term.factor("once") if factors is None else factors
    A, W = factors.solve_expanded(Y, c, problem.penalty)
    A = to_float64(A)
    F = factors.fitted(problem, A)
    history, best = [problem.gap(A, F)], (A, W)
    while history[-1] > tol and len(history) <= _REFINEMENTS:
        change, expanded_change = factors.solve_expanded(problem.zero_missing(Y - c * A - F), c, problem.penalty)
        A, W = to_float64((A + change).astype(Y.dtype, copy=False)), None if W is None else W + expanded_change
        F = factors.fitted(problem, A)
        history.append(problem.gap(A, F))
        if history[-1] == min(history):
            best = A, W
    A, W = best if problem.is_float32 else (A, W)
    A = A.astype(Y.dtype, copy=False)
    gap = min(history) if problem.is_float32 else history[-1]
    if callback is not None:
        callback(len(history), gap)
    return Solution(A, gap, len(history), gap <= tol, history, expansion=W)
