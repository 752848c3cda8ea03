"""Conjugate gradients for the squared loss when there is no closed form: sums of terms, entries not observed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..._utils.linalg import dot
from ..problem import relative_gap
from . import splitting
from .requirements import SQUARED_LOSS
from .solution import IterationMonitor, Solution

REQUIRES = (SQUARED_LOSS,)


def cost(problem, factors):
    """With missing entries up to 20 times as many iterations as splitting; irregular functions have their own cost."""
    n, d = problem.Y.shape
    krylov = problem.term.krylov_cost(n, d)
    return 20 * splitting.cost(problem, factors) if krylov is None else krylov


def solve(problem, *, tol=1e-6, max_iter=1000, init=None, callback=None, factors=None) -> Solution:
    """``c A + sum_t K_t A M_t / s = Y`` on the observed entries, preconditioned by the nearest single term.

    For the squared loss the duality gap is half the squared residual over c, so each iteration has a certificate.
    """
    c, Y = problem.loss.curvature, problem.zero_missing(problem.Y)
    krylov = problem.term.krylov()
    if krylov is not None:
        return _solve_by_krylov(krylov, problem, tol, max_iter, init, callback)
    step = factors or problem.term.preconditioner()

    def multiply(A):
        return c * A + problem.zero_missing(problem.fitted(A))

    def precondition(R):
        return R if step is None else problem.zero_missing(step.solve(R, c, problem.penalty))

    A = np.zeros_like(Y) if init is None else problem.zero_missing(init)
    residual = Y - multiply(A) if init is not None else Y.copy()
    history = [relative_residual_gap(A, residual, Y, c)]
    conjugate = precondition(residual)
    direction, rate, monitor = conjugate, np.vdot(residual, conjugate), IterationMonitor(callback)
    for iteration in range(1, max_iter + 1):
        if monitor.stopped or history[-1] <= tol:
            return replace(_make_solution(problem, A, iteration - 1, tol, history), stopped=monitor.stopped)
        image = multiply(direction)
        length = rate / np.vdot(direction, image)
        A = A + length * direction
        residual = residual - length * image
        history.append(relative_residual_gap(A, residual, Y, c))
        monitor(iteration, history[-1])
        conjugate = precondition(residual)
        rate, previous = np.vdot(residual, conjugate), rate
        direction = conjugate + rate / previous * direction
    return _make_solution(problem, A, max_iter, tol, history)


def relative_residual_gap(A, residual, Y, c, constant=0.0):
    """Relative gap from the residual of the linear system: its fitted values are ``Y - c A - residual``.

    constant : loss of the directions outside the system
    """
    errors = c * A + residual  # Y - fitted
    primal = dot(errors, errors) / (2 * c) + dot(A, Y - errors) / 2 + constant
    return relative_gap(primal, dot(residual, residual) / (2 * c) - primal)


def _make_solution(problem, A, n_iter, tol, history):
    gap = problem.gap(A)  # recomputed: the recursion's residual drifts by rounding
    return Solution(A, gap, n_iter, gap <= max(tol, 1e-14), [*history, gap])


def _solve_by_krylov(system, problem, tol, max_iter, init, callback):
    """Conjugate gradients of the term, more accurate until the gap is at most tol."""
    c, T = problem.loss.curvature, problem.zero_missing(problem.Y)
    if init is not None:
        system.start(init, problem.penalty)
    error, history, monitor = np.sqrt(tol), [], IterationMonitor(callback)
    while True:
        dual = system.solve(T, c, problem.penalty, error=error, max_iter=max_iter - system.n_iter)
        history.append(problem.gap(dual))
        stop = monitor(system.n_iter, history[-1])
        if stop or history[-1] <= tol or system.n_iter >= max_iter or error < np.finfo(float).eps:
            return Solution(dual, history[-1], system.n_iter, history[-1] <= tol, history, stopped=stop)
        error /= 10
