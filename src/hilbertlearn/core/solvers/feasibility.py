"""Feasible functions for losses with hard constraints on residuals.

A solver's function may violate the constraints by rounding. It is moved towards an interior function, which satisfies
them strictly, until it is feasible.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from ..._utils.linalg import row_norms
from ...losses import Squared
from . import conjugate_gradient

_MIN_DISTANCE = 1e-3  # smallest distance of neighbouring quantiles of an interior function, relative to the outputs
_INTERIOR_RADIUS = 0.5  # share of the largest residual allowed at which the search for an interior function ends


def find_interior(problem, factors):
    """Dual variables and values of a function that satisfies the constraints strictly, or None."""
    search = _interpolate_outputs if np.isfinite(problem.loss.largest_residual) else _separate_levels
    return search(problem, factors)


def _separate_levels(problem, factors):
    """For quantiles that must not cross: the constant if its levels are distinct, else a function that separates them.

    That function is a ridge regression on values that increase with the level, scaled to the size of the outputs.
    """
    zero = np.zeros_like(problem.Y)
    distances = -problem.loss.violation(problem.Y)
    size = float(np.abs(problem.Y).max(initial=0.0)) or 1.0
    if distances.size == 0 or distances.min() > _MIN_DISTANCE * size:
        return zero, zero
    root = np.ones((len(zero), 1)) if problem.root_weights is None else problem.root_weights[:, None]
    targets = root * problem.loss.increasing_row(problem.Y.shape[1])
    for shift in problem.term.norm * np.logspace(0, -10, 11) if problem.term.norm > 0 else ():
        B = factors.solve(targets, 1.0, shift)
        G = problem.term.apply(B) / shift
        if problem.loss.violation(G / root).min() > _MIN_DISTANCE:
            return B * (size * problem.penalty / shift), G * size
    return zero, zero


def _interpolate_outputs(problem, factors):
    """Dual variables and values of a smooth function whose residuals are smaller than the loss allows, or None.

    Ridge regression with a falling penalty, until residuals are half of the largest allowed.
    """
    radius = problem.loss.largest_residual * (1 if problem.root_weights is None else problem.root_weights)
    top, smallest, interior = problem.term.norm, 1.0, None
    B = None
    for shift in top * np.logspace(1, -15, 33) if top > 0 else ():
        if factors is None or problem.mask is not None:
            ridge = dataclasses.replace(problem, loss=Squared(), penalty=shift)
            B = conjugate_gradient.solve(ridge, tol=1e-10, init=B).dual
        else:
            B = factors.solve(problem.Y, 1.0, shift)
        G = problem.term.apply(B) / shift
        largest = np.max(row_norms(problem.zero_missing(problem.Y - G)) / radius)
        if largest < smallest:
            smallest, interior = largest, (B * (problem.penalty / shift), G)
        if smallest <= _INTERIOR_RADIUS:
            break
    return interior


def make_feasible(problem, solution, tol):
    """The solution with a feasible function, and the gap of that function.

    The function keeps the sparsity of the dual variables if the gap stays within the tolerance.
    """
    starts, rows = [problem.interior], np.flatnonzero(solution.dual.any(axis=1))
    is_sparse = np.isfinite(problem.loss.largest_residual) and 0 < len(rows) < len(problem.Y)
    if is_sparse and problem.separable_term is not None:
        part = problem.take(rows)
        interior = find_interior(part, part.term.factor("path"))
        if interior is not None:
            B = np.zeros_like(problem.Y)
            B[rows] = interior[0]
            starts.insert(0, (B, problem.fitted(B)))
    for start in starts:
        candidate = dataclasses.replace(problem, interior=start)
        function = candidate.feasible(solution.dual if solution.function is None else solution.function)
        gap = candidate.gap(function)
        if np.isinf(problem.loss.largest_residual):  # dual variables of the solver may certify it better
            gap = min(gap, candidate.gap(function, dual=solution.dual))
        if gap <= tol:
            break
    return dataclasses.replace(solution, function=function, gap=gap, converged=gap <= tol)
