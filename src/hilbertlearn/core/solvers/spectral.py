"""The squared loss in closed form."""

from __future__ import annotations

from ..._utils.linalg import exact
from .solution import Solution

_REFINEMENTS = 3


def suits(problem):
    """A linear system whose map can be inverted."""
    return problem.is_linear_system and problem.term.inversion == "direct"


def cost(problem, factors):
    """A Cholesky factorisation, or an eigendecomposition where there is an operator; with gaps one for each pattern."""
    n, d = problem.Y.shape
    if factors is not None and factors.every_penalty:
        return 2 * problem.term.step_cost(n, d)
    return problem.term.factor_cost(n) + problem.term.step_cost(n, d)


def solve(problem, *, tol=1e-6, max_iter=1000, init=None, callback=None, factors=None) -> Solution:
    """Dual variables ``c A + K A M / s = Y``, refined while the gap is open; nothing to start from, nothing to iterate.

    Eigenbases lose about ||K|| / s digits, and each refinement with the same factors wins some back; residuals are
    computed in double precision, so that dual variables in single are as near to the optimum as these can be.
    """
    c, Y = problem.loss.curvature, problem.zero_missing(problem.Y)
    factors = problem.term.factor("once") if factors is None else factors
    A, W = factors.solve_expanded(Y, c, problem.penalty)
    A = exact(A)
    F = factors.fitted(problem, A)
    history, best = [problem.gap(A, F)], (A, W)
    while history[-1] > tol and len(history) <= _REFINEMENTS:
        change, more = factors.solve_expanded(problem.zero_missing(Y - c * A - F), c, problem.penalty)
        A, W = exact((A + change).astype(Y.dtype, copy=False)), None if W is None else W + more
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
