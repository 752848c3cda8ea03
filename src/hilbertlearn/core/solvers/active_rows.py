"""Working sets for losses that leave many dual rows at zero."""

from __future__ import annotations

import numpy as np

from . import splitting
from .requirements import FINITE_LOSS, NO_OPERATOR, SEPARABLE_TERM, SPARSE_LOSS
from .solution import Solution, append_solution

REQUIRES = (SPARSE_LOSS, FINITE_LOSS, SEPARABLE_TERM, NO_OPERATOR)

_WARM_UP = 8  # iterations on all rows, after which most rows that will be zero are zero
_MAX_SHARE = 0.4  # share of nonzero rows up to which a working set is faster than the whole problem


def cost(problem, factors):
    """Half of the splitting of the whole problem, or twice if the caller has its factors."""
    return splitting.cost(problem, factors) * (0.5 if factors is None else 2.0)


def solve(problem, *, tol=1e-6, max_iter=1000, init=None, callback=None, factors=None) -> Solution:
    """Solve on a working set of rows that can be nonzero; the gap of the whole problem is the certificate.

    A zero row stays zero while its residual is within the threshold of the loss; rows beyond it join the working set
    in the next round. When too many rows are nonzero, the whole problem is solved instead.
    """
    options = {"tol": tol, "callback": callback}
    if init is not None and len(_nonzero(init)) > _MAX_SHARE * len(init):
        return splitting.solve(problem, max_iter=max_iter, init=init, **options)
    solution = splitting.solve(problem, max_iter=min(_WARM_UP, max_iter), init=init, **options)
    rows = _nonzero(solution.dual)
    while not (solution.converged or solution.stopped) and solution.n_iter < max_iter:
        remaining = max_iter - solution.n_iter
        if not len(rows) or len(rows) > _MAX_SHARE * len(problem.Y):
            return append_solution(
                solution, splitting.solve(problem, max_iter=remaining, init=solution.dual, **options)
            )
        part = splitting.solve(
            problem.take(rows), tol=tol / 4, max_iter=remaining, init=solution.dual[rows], callback=callback
        )
        dual = np.zeros_like(problem.Y)
        dual[rows] = part.dual
        fitted = problem.separable_term.apply_from(rows, part.dual) / problem.penalty
        gap = problem.gap(dual, fitted)
        solution = append_solution(solution, Solution(dual, gap, part.n_iter, gap <= tol, [gap], stopped=part.stopped))
        joining = np.setdiff1d(_nonzero(problem.prox(problem.Y - fitted, 1.0)), rows)
        # when none joins, only accuracy is missing: continue with the whole problem
        rows = np.union1d(_nonzero(dual), joining) if len(joining) else np.arange(len(dual))
    return solution


def _nonzero(A):
    return np.flatnonzero(np.abs(A).sum(axis=1))
