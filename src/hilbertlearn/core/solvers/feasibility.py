"""Hard constraints on residuals: a function well within them, towards which others are moved to be admitted."""

from __future__ import annotations

import dataclasses

import numpy as np

from ..._utils.linalg import row_norms
from ...losses import Squared
from . import conjugate_gradient

_APART = 1e-3  # difference between neighbouring quantiles, relative to outputs, that is enough
_DEEP = 0.5  # share of the largest residual admitted at which the search is over


def find_interior(problem, factors):
    """Dual variables and values of a function well within what the loss admits, or None."""
    found = _near_outputs if np.isfinite(problem.loss.largest_residual) else _spread
    return found(problem, factors)


def _spread(problem, factors):
    """For quantiles that must not cross: the constant alone where its levels are apart, else one that spreads them.

    The function that is nearest to values that rise with the level, times what makes them as far apart as outputs are.
    """
    zero = np.zeros_like(problem.Y)
    apart = -problem.loss.violation(problem.Y)
    size = float(np.abs(problem.Y).max(initial=0.0)) or 1.0
    if apart.size == 0 or apart.min() > _APART * size:
        return zero, zero
    root = np.ones((len(zero), 1)) if problem.root_weights is None else problem.root_weights[:, None]
    targets = root * problem.loss.increasing_row(problem.Y.shape[1])
    for shift in problem.term.norm * np.logspace(0, -10, 11) if problem.term.norm > 0 else ():
        B = factors.solve(targets, 1.0, shift)
        G = problem.term.apply(B) / shift
        if problem.loss.violation(G / root).min() > _APART:
            return B * (size * problem.penalty / shift), G * size
    return zero, zero


def _near_outputs(problem, factors):
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
        reach = np.max(row_norms(problem.zero_missing(problem.Y - G)) / radius)
        if reach < best:
            best, found = reach, (B * (problem.penalty / shift), G)
        if best <= _DEEP:
            break
    return found


def make_feasible(problem, solution, tol):
    """The solution with a function that the constraint admits, and the gap of that function.

    Sparse like the dual variables where a function of their samples alone keeps the gap within the tolerance.
    """
    starts, rows = [problem.interior], np.flatnonzero(solution.dual.any(axis=1))
    some = np.isfinite(problem.loss.largest_residual) and 0 < len(rows) < len(problem.Y)
    if some and problem.separable_term is not None:
        part = problem.take(rows)
        found = find_interior(part, part.term.factor("path"))
        if found is not None:
            B = np.zeros_like(problem.Y)
            B[rows] = found[0]
            starts.insert(0, (B, problem.fitted(B)))
    for start in starts:
        near = dataclasses.replace(problem, interior=start)
        function = near.feasible(solution.dual if solution.function is None else solution.function)
        gap = near.gap(function)
        if np.isinf(problem.loss.largest_residual):  # dual variables of the solver may certify it better
            gap = min(gap, near.gap(function, under=solution.dual))
        if gap <= tol:
            break
    return dataclasses.replace(solution, function=function, gap=gap, converged=gap <= tol)
