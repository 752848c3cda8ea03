"""Working sets for losses that leave many dual rows at zero."""

from __future__ import annotations

import dataclasses

import numpy as np

from ..problem import Separable
from . import splitting
from .solution import Solution

_GROWTH = 2.0
_WHOLE = 0.6  # with more rows than this fraction the whole problem is as cheap


def solve(problem, *, tol=1e-6, max_iter=1000, init=None, callback=None) -> Solution:
    """Solve on the rows that can be nonzero, M = I; the rest is checked by the gap of the whole problem.

    A zero row stays zero while its residual is within the loss's threshold. Rows beyond it join, the worst first, at
    most doubling the set each round.
    """
    n = len(problem.Y)
    A = np.zeros_like(problem.Y) if init is None else problem.observed(init)
    rows = np.flatnonzero(np.abs(A).sum(axis=1))
    n_iter, history = 0, []
    F = problem.fitted(A)
    while True:
        gap = problem.gap(A, F)
        history.append(gap)
        if gap <= tol or n_iter >= max_iter:
            return Solution(A, gap, max(n_iter, 1), gap <= tol, history)
        excess = _excess(problem, F)
        excess[rows] = 0.0
        joining = np.argsort(-excess)[: max(int((_GROWTH - 1) * len(rows)), n // 10, 1)]
        rows = np.union1d(rows[np.abs(A[rows]).sum(axis=1) > 0], joining[excess[joining] > 0])
        if len(rows) > _WHOLE * n or not len(rows):
            rest = splitting.solve(problem, tol=tol, max_iter=max_iter - n_iter, init=A, callback=callback)
            return dataclasses.replace(rest, n_iter=rest.n_iter + n_iter, history=history + rest.history)
        part = splitting.solve(
            restricted(problem, rows),
            tol=tol / 4,
            max_iter=max_iter - n_iter,
            init=A[rows],
            callback=callback,
        )
        n_iter += part.n_iter
        A = np.zeros_like(A)
        A[rows] = part.dual
        F = problem.separable.K[:, rows] @ part.dual / problem.penalty


def restricted(problem, rows):
    """The problem with the dual variables of all other rows held at zero, M = I."""
    K = problem.separable.K[np.ix_(rows, rows)]
    return dataclasses.replace(
        problem,
        terms=(Separable(K),),
        Y=problem.Y[rows],
        mask=None if problem.mask is None else problem.mask[rows],
        root_weights=None if problem.root_weights is None else problem.root_weights[rows],
    )


def _excess(problem, F):
    """By how much the residual of each row leaves the region where a zero row is optimal."""
    moved = problem.prox(problem.Y - F, 1.0)
    return np.sqrt(np.einsum("ij,ij->i", moved, moved))
