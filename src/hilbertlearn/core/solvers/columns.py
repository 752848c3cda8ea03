"""The squared loss with an operator and one alpha, without eigenvectors of K: conjugate gradients by column."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..._utils.linalg import dot, to_float64
from .conjugate_gradient import relative_residual_gap
from .requirements import LINEAR_SYSTEM, OPERATOR, SEPARABLE_TERM
from .solution import IterationMonitor, Solution, append_solution

REQUIRES = (LINEAR_SYSTEM, SEPARABLE_TERM, OPERATOR)

_MIN_SAMPLES = 1500  # samples from which iterations may be faster than an eigendecomposition, which is exact
_MIN_ITERATIONS = 20  # iterations that must fit in half the time of an eigendecomposition, else the solver is not tried
_MAX_EXCESS = 3  # expected iterations, relative to the affordable ones, beyond which the solver gives up
_RESTARTS = 3  # restarts in single precision at most, from a residual computed in double precision
_MAX_GAP_RATIO = 0.5  # gap after a restart, relative to the gap before; beyond it the gap is rounding


def affordable_iterations(problem):
    """Iterations that take half the time of an eigendecomposition of K (7.5 n^3 operations, 2 n^2 d an iteration)."""
    n, d = problem.Y.shape
    return int(2 * n / d) if not problem.separable_term.gram.expands else 0  # features have few eigenpairs


def is_promising(problem, factors=None):
    """Whether to try this solver: many samples, few coordinates, no factors yet."""
    return factors is None and len(problem.Y) >= _MIN_SAMPLES and affordable_iterations(problem) >= _MIN_ITERATIONS


def cost(problem, factors):
    """The smallest number of iterations that is worth trying; infinite where an eigendecomposition is faster."""
    n, d = problem.Y.shape
    return 2 * _MIN_ITERATIONS * n**2 * d if is_promising(problem, factors) else np.inf


def solve(problem, *, tol=1e-6, max_iter=1000, init=None, callback=None, factors=None) -> Solution:
    """``c A + K A M / s = Y``: in the eigenbasis of M one system ``c + gamma_j K / s`` for each column, all at once.

    Each column has its own step lengths, so that well-conditioned columns (small gamma_j) do not wait for the others.
    The solver gives up where an eigendecomposition would be faster. In single precision the recursive residuals drift,
    and iterations restart while that reduces the gap.
    """
    result = _iterate(problem, tol, max_iter, init, callback)
    for _ in range(_RESTARTS if problem.is_float32 else 0):
        remaining = 0 if result.stopped else min(affordable_iterations(problem), max_iter) - result.n_iter
        if result.converged or remaining <= 0 or result.history[-2] > tol:  # [-2]: the gap by recursion
            break
        restarted = _iterate(problem, tol, remaining, result.dual, callback)
        if restarted.gap > _MAX_GAP_RATIO * result.gap:  # the rest is rounding, which eigenvectors would not reduce
            return replace(result, gave_up=result.gap > problem.rounding_gap)
        result = append_solution(result, restarted)
    return result


def _iterate(problem, tol, max_iter, init, callback) -> Solution:
    c, term = problem.loss.curvature, problem.separable_term
    gamma, E = term.operator_spectrum
    weights, T = gamma / problem.penalty, problem.Y @ E
    A = np.zeros_like(T) if init is None else init @ E
    residual = (
        T.copy() if init is None else (T - c * to_float64(A) - term.gram.apply(to_float64(A)) * weights).astype(T.dtype)
    )
    direction, square = residual.copy(), np.einsum("ij,ij->j", residual, residual)
    limit = min(affordable_iterations(problem), max_iter)
    # in the null space of M fitted values are 0, and the loss is half the squared targets
    full_rank = problem.is_float32 and E.shape[0] == E.shape[1]
    outside = 0.0 if full_rank else max(dot(problem.Y, problem.Y) - dot(T, T), 0.0) / (2 * c)
    history = [relative_residual_gap(A, residual, T, c, outside)]
    iteration, monitor = 0, IterationMonitor(callback)
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
        is_hopeless = iteration % 10 == 0 and _expected_iterations(history, tol) > _MAX_EXCESS * limit
        if monitor(iteration, history[-1]) or is_hopeless:
            break
    dual = problem.Y / c + (A - T / c) @ E.T
    gap = problem.gap(dual)
    gave_up = gap > tol and iteration < max_iter and not monitor.stopped
    return Solution(dual, gap, iteration, gap <= tol, [*history, gap], gave_up=gave_up, stopped=monitor.stopped)


def _expected_iterations(history, tol):
    """Iterations in all, at the mean rate so far."""
    rate = np.log(max(history[-1], 1e-300) / history[0]) / (len(history) - 1)
    return np.log(tol / history[0]) / rate if rate < 0 else np.inf
