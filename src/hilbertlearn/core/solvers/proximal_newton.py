"""Proximal point method with semismooth Newton steps, for piecewise linear losses (Li, Sun and Toh 2018).

Splitting takes thousands of iterations to the last digits where the kernel is smooth and few samples lie on their
quantiles. The proximal point of the dual problem is ``argmin dual(B) + ||B - A||^2 / (2 sigma)``. Each Newton
step towards it is a linear system in the dual variables that are free on the current face of the dual polyhedron:
about as many as there are samples near their quantiles.

The certificate pairs the smallest primal value seen with the smallest dual value seen. They may belong to different
iterates; the solution then holds both (``Solution.function``).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..._utils.linalg import cholesky, cholesky_solve, dot
from ..._utils.threads import limit_blas_threads
from ..problem import Problem, relative_gap
from . import splitting
from .requirements import DOUBLE_PRECISION, FIXED_KERNEL, ONE_PART, POLYHEDRAL_LOSS, SEPARABLE_TERM
from .solution import IterationMonitor, Solution

REQUIRES = (POLYHEDRAL_LOSS, SEPARABLE_TERM, DOUBLE_PRECISION, ONE_PART, FIXED_KERNEL)

_LARGEST = 1500  # unknowns of a Newton system at most; twice as many take eight times as long
_FREE = 0.1  # share of the dual variables that are free under the first sigma
_EASY, _HARD = 3, 8  # up to so many Newton steps sigma grows, or stays; beyond, it shrinks
_LARGEST_SIGMA = 1e14  # relative to the first sigma; beyond it, rounding keeps the gap from falling
_ENLARGEMENTS = 8  # of sigma because a system was too large, before the solver gives up
_GROWTH = 3.0  # factor of sigma from one proximal point to the next
_INEXACT = 0.2  # a proximal point is accurate enough when its error bound is this share of ||B - A||^2 / (2 sigma)
_INNER = 12  # Newton steps for one proximal point at most
_ARMIJO = 1e-4  # share of the predicted decrease that a step must reach
_HALVINGS = 30  # of the step length at most
_RIDGES = (1e-15, 1e-13, 1e-11, 1e-9)  # added to the diagonal, relative to its mean, until there is a Cholesky factor


def cost(problem: Problem, factors) -> float:
    """Half of splitting, so that it precedes splitting wherever it suits."""
    return splitting.cost(problem, factors) / 2


@limit_blas_threads(1)  # products of numpy alternate with Cholesky factors of scipy, see ``threads_for``
def solve(problem: Problem, *, tol=1e-6, max_iter=1000, init=None, callback=None, factors=None) -> Solution:
    """Proximal points with growing sigma; the first is that of ``init``, or of zero.

    max_iter : Newton steps of all proximal points
    """
    zero = np.zeros(problem.Y.shape)
    A = problem.prox(zero if init is None else init, 1.0)
    history: list[float] = []
    C, F = A, problem.fitted(A)
    best = _BestCertificate(problem, A, F)
    if problem.primal(zero, zero) < best.primal:  # the function of A divides kernel values by the penalty
        C, F = zero, zero
    sigma, inner, enlarged = _first_sigma(problem, A, F), 0, 0
    last, monitor = _LARGEST_SIGMA * sigma, IterationMonitor(callback)
    for iteration in range(1, max_iter + 1):
        if sigma > last:  # rounding keeps the gap from falling
            return best.solution(iteration, False, history)
        point = _ProximalPoint.evaluate(problem, A, sigma, C, F)
        best.update(point)
        history.append(best.gap)
        if monitor(iteration, best.gap) or best.gap <= tol:
            return replace(best.solution(iteration, best.gap <= tol, history), stopped=monitor.stopped)
        if point.error <= _INEXACT * point.proximal_term or inner == _INNER:  # go to the next proximal point
            growth = _GROWTH if inner <= _EASY else 1.0 if inner <= _HARD else 1 / _GROWTH
            A, sigma, inner = point.dual, sigma * growth, 0
            point = _ProximalPoint.evaluate(problem, A, sigma, C, F)
        system = _newton(problem, point)
        if system is None and enlarged == _ENLARGEMENTS:
            return replace(best.solution(iteration, False, history), gave_up=True)
        if system is None:  # fewer are free with a larger sigma
            sigma, enlarged = _GROWTH * sigma, enlarged + 1
            continue
        C, F, has_decreased = _search(point, *system)
        inner += 1
        if not has_decreased:  # no descent because of rounding: try a larger sigma
            A, sigma, inner = point.dual, _GROWTH * sigma, 0
    return best.solution(max_iter, False, history)


def _first_sigma(problem: Problem, A, F) -> float:
    """The sigma under which a tenth of the dual variables is free, from the sizes of the residuals.

    At the optimum these are no larger than the outputs, and far from it, where kernel values are divided by a small
    penalty, they say nothing.
    """
    tenths = [_tenth(problem, R) for R in (problem.Y - F, problem.Y)]
    return problem.loss.bound / min(tenths) if min(tenths) > 0 else 1.0


def _tenth(problem: Problem, R) -> float:
    """The size below which a tenth of the non-zero residuals R (n, d) is."""
    sizes = np.abs(problem.zero_missing(R))
    if problem.measure is not None:
        sizes = sizes / np.sqrt(problem.measure)
    if problem.root_weights is not None:
        sizes = sizes / problem.root_weights[:, None]
    sizes = sizes[sizes > 0]
    return float(np.quantile(sizes, _FREE)) if len(sizes) else 0.0


class _BestCertificate:
    """The function of smallest primal value so far, and the dual variables of smallest dual value."""

    def __init__(self, problem: Problem, A, F):
        self.problem = problem
        self.function, self.primal = A, problem.primal(A, F)
        self.dual, self.least = A, problem.dual(A, F)

    def update(self, point: _ProximalPoint):
        for C, primal in ((point.dual, point.primal), (point.C, self.problem.primal(point.C, point.F))):
            if primal < self.primal:
                self.function, self.primal = C, primal
        if point.dual_value < self.least:
            self.dual, self.least = point.dual, point.dual_value

    @property
    def gap(self):
        return relative_gap(self.primal, self.least, self.problem.floor)

    def solution(self, iteration, converged, history):
        same = self.function is self.dual
        return Solution(self.dual, self.gap, iteration, converged, history, function=None if same else self.function)


@dataclass(frozen=True)
class _ProximalPoint:
    """A function with coefficients C (n, d) and values F, on the way to the proximal point of A."""

    problem: Problem
    A: np.ndarray
    sigma: float
    C: np.ndarray
    F: np.ndarray
    dual: np.ndarray  # prox of the residuals; equal to C at the proximal point
    value: float  # objective that the proximal point minimises
    error: float  # bound on the distance of ``value`` from its minimum
    proximal_term: float  # ||dual - A||^2 / (2 sigma)
    primal: float  # at the function with coefficients ``dual``
    dual_value: float

    @classmethod
    def evaluate(cls, problem: Problem, A, sigma, C, F):
        """The point with its primal and dual values, which cost one product with the kernel."""
        dual, value = _envelope(problem, A, sigma, C, F)
        G = problem.fitted(dual)
        primal, dual_value = problem.primal_and_dual(dual, G, dual, dot(dual, G))
        error, change = max(dot(C - dual, F - G), 0.0) / 2, dual - A
        proximal_term = dot(change, change) / (2 * sigma)
        return cls(problem, A, sigma, C, F, dual, value, error, proximal_term, primal, dual_value)

    @property
    def argument(self):
        """The argument of the prox."""
        return self.A + self.sigma * (self.problem.Y - self.F)


def _envelope(problem: Problem, A, sigma, C, F):
    """The prox of the residuals, and the objective ``s/2 ||h||^2 + Moreau envelope of the loss``."""
    R = problem.Y - F
    dual = problem.prox(A + sigma * R, sigma)
    change = dual - A
    return dual, dot(C, F) / 2 + dot(dual, R) - dot(change, change) / (2 * sigma)


def _newton(problem: Problem, point: _ProximalPoint):
    """Direction (n, d) of coefficients, its values, and the slope along it; None where the system is too large."""
    root = 1.0 if problem.root_weights is None else problem.root_weights[:, None]
    fixed, rows, V = problem.loss.face(problem.zero_missing(point.argument) / root, problem.measure, problem.mask)
    if len(rows) > _LARGEST:
        return None
    new = problem.zero_missing(fixed * root)
    G, term = problem.fitted(new), problem.separable_term
    if len(rows) and term is not None:
        between = (V if term.M is None else V @ term.M) @ V.T
        S = term.gram.take(rows).dense() * between / problem.penalty
        S += (V @ V.T) * (rows[:, None] == rows) / point.sigma
        residual = np.einsum("ij,ij->i", ((point.A - new) / point.sigma + problem.Y - G)[rows], V)
        free = _solve_system(S, residual)
        if free is None:
            return None
        new = new.copy()
        np.add.at(new, rows, free[:, None] * V)
        G = problem.fitted(new)
    direction, values = new - point.C, G - point.F
    return direction, values, dot(values, point.C - point.dual)


def _solve_system(S, R):
    """Solution of S x = R (k,) with the smallest ridge that gives a Cholesky factor; None if none does."""
    size = float(np.trace(S)) / len(S)
    for ridge in _RIDGES:
        try:
            factor = cholesky(S, ridge * size)
        except np.linalg.LinAlgError:
            continue
        return cholesky_solve(factor, R)
    return None


def _search(point: _ProximalPoint, direction, values, slope):
    """The function after a backtracking step along the direction, and whether the step reduces the objective."""
    step = 1.0
    for _ in range(_HALVINGS):
        C, F = point.C + step * direction, point.F + step * values
        if _envelope(point.problem, point.A, point.sigma, C, F)[1] <= point.value + _ARMIJO * step * slope:
            return C, F, slope < 0
        step /= 2
    return point.C, point.F, False
