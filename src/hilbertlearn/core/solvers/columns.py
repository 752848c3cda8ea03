"""The squared loss with an operator and one alpha, without eigenvectors of K: conjugate gradients by column."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..._utils.linalg import dot, exact
from .conjugate_gradient import relative_residual_gap
from .solution import IterationMonitor, Solution

_LARGE = 1500  # samples below which an eigendecomposition takes no time, and is exact
_WORTH = 20  # iterations that must fit in half the time of an eigendecomposition for the attempt to be made
_HOPELESS = 3  # times that number, by the rate so far: give up
_FRESH = 3  # times that iterations in single precision begin again, at the residual computed in double
_FALLS = 0.5  # the share that is left of a gap then, at most


def affordable(problem):
    """Iterations that take half the time of an eigendecomposition of K (7.5 n^3 operations, 2 n^2 d an iteration)."""
    n, d = problem.Y.shape
    return int(2 * n / d) if not problem.separable_term.gram.expands else 0  # features have few eigenpairs


def promising(problem, factors=None):
    """Whether the attempt is worth making: many samples, few coordinates, no factors at hand."""
    return factors is None and len(problem.Y) >= _LARGE and affordable(problem) >= _WORTH


def suits(problem):
    """The squared loss of a separable term with an operator, everything observed."""
    return problem.is_linear_system and problem.separable_term is not None and problem.separable_term.M is not None


def cost(problem, factors):
    """The iterations that an attempt is made for, where it is."""
    n, d = problem.Y.shape
    return 2 * _WORTH * n**2 * d if promising(problem, factors) else np.inf


def solve(problem, *, tol=1e-6, max_iter=1000, init=None, callback=None, factors=None) -> Solution:
    """``c A + K A M / s = Y``: in the eigenbasis of M one system ``c + gamma_j K / s`` for each column, all at once.

    Each column has its own steps, so that the well-conditioned ones of small gamma_j do not wait for the others. Stops
    early, not converged, where an eigendecomposition would be faster. In single precision residuals drift away from
    what they stand for, and iterations begin again while that makes the gap smaller.
    """
    found = _iterate(problem, tol, max_iter, init, callback)
    for _ in range(_FRESH if problem.is_float32 else 0):
        left = 0 if found.stopped else min(affordable(problem), max_iter) - found.n_iter
        if found.converged or left <= 0 or found.history[-2] > tol:  # the last but one is of the recursion
            break
        more = _iterate(problem, tol, left, found.dual, callback)
        if more.gap > _FALLS * found.gap:  # it is rounding, which eigenvectors do not help
            return replace(found, gave_up=found.gap > problem.rounding_gap)
        found = replace(more, n_iter=found.n_iter + more.n_iter, history=[*found.history, *more.history])
    return found


def _iterate(problem, tol, max_iter, init, callback) -> Solution:
    c, term = problem.loss.curvature, problem.separable_term
    gamma, E = term.operator_spectrum
    weights, T = gamma / problem.penalty, problem.Y @ E
    A = np.zeros_like(T) if init is None else init @ E
    residual = T.copy() if init is None else (T - c * exact(A) - term.gram.apply(exact(A)) * weights).astype(T.dtype)
    direction, square = residual.copy(), np.einsum("ij,ij->j", residual, residual)
    limit = min(affordable(problem), max_iter)
    # directions that M drops have the fitted value 0 and cost their whole square
    whole = problem.is_float32 and E.shape[0] == E.shape[1]
    outside = 0.0 if whole else max(dot(problem.Y, problem.Y) - dot(T, T), 0.0) / (2 * c)
    history = [relative_residual_gap(A, residual, T, c, outside)]
    iteration, told = 0, IterationMonitor(callback)
    while history[-1] > tol / 2 and iteration < limit:
        iteration += 1
        image = term.gram.apply(direction) * weights + c * direction
        curvature = np.einsum("ij,ij->j", direction, image)
        length = np.divide(square, curvature, out=np.zeros_like(square), where=curvature > 0)
        A += length * direction
        residual -= length * image
        previous, square = square, np.einsum("ij,ij->j", residual, residual)
        direction *= np.divide(square, previous, out=np.zeros_like(square), where=previous > 0)
        direction += residual
        history.append(relative_residual_gap(A, residual, T, c, outside))
        if told(iteration, history[-1]) or (iteration % 10 == 0 and _expected(history, tol) > _HOPELESS * limit):
            break
    dual = problem.Y / c + (A - T / c) @ E.T
    gap = problem.gap(dual)
    gave_up = gap > tol and iteration < max_iter and not told.stopped
    return Solution(dual, gap, iteration, gap <= tol, [*history, gap], gave_up=gave_up, stopped=told.stopped)


def _expected(history, tol):
    """Iterations in all, at the mean rate so far."""
    rate = np.log(max(history[-1], 1e-300) / history[0]) / (len(history) - 1)
    return np.log(tol / history[0]) / rate if rate < 0 else np.inf
