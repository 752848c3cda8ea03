"""Hard constraints on residuals: a function well within them, towards which others are moved to be admitted."""

from __future__ import annotations

import dataclasses

import numpy as np

from .._linalg import row_norms
from ..losses import Squared
from . import conjugate_gradient

_DEEP = 0.5  # share of the largest residual admitted at which the search is over


def inside(problem, factors):
    """Dual variables and values of a smooth function whose residuals are smaller than the loss admits, or None.

    Ridge regression with less and less penalty, until its residuals are half of what is admitted.
    """
    radius = problem.loss.largest_residual * (1 if problem.root_weights is None else problem.root_weights)
    top, best, found = problem.term.norm, 1.0, None
    B = None
    for shift in top * np.logspace(1, -15, 33) if top > 0 else ():
        if factors is None or problem.mask is not None:
            ridge = dataclasses.replace(problem, loss=Squared(), penalty=shift)
            B = conjugate_gradient.solve(ridge, tol=1e-10, init=B).dual
        else:
            B = factors.solve(problem.Y, 1.0, shift)
        G = problem.term.apply(B) / shift
        reach = np.max(row_norms(problem.observed(problem.Y - G)) / radius)
        if reach < best:
            best, found = reach, (B * (problem.penalty / shift), G)
        if best <= _DEEP:
            break
    return found


def admitted(problem, solution, tol):
    """The solution with a function that the constraint admits, and the gap of that function.

    Sparse like the dual variables where a function of their samples alone keeps the gap within the tolerance.
    """
    starts, rows = [problem.inside], np.flatnonzero(solution.dual.any(axis=1))
    if problem.separable is not None and 0 < len(rows) < len(problem.Y):
        part = problem.take(rows)
        found = inside(part, part.term.factor("path"))
        if found is not None:
            B = np.zeros_like(problem.Y)
            B[rows] = found[0]
            starts.insert(0, (B, problem.fitted(B)))
    for start in starts:
        near = dataclasses.replace(problem, inside=start)
        function = near.admitted(solution.dual)
        gap = near.gap(function)
        if gap <= tol:
            break
    return dataclasses.replace(solution, function=function, gap=gap, converged=gap <= tol)
