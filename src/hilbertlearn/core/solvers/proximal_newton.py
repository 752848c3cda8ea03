"""Proximal points by Newton's method, for losses that are piecewise linear: their dual variables are in polyhedra.

Splitting is quick to the first digits and slow to the last where the kernel is smooth and few samples are on their
quantiles. Here the proximal point of the dual problem, ``argmin dual(B) + ||B - A||^2 / (2 sigma)``, is found by
semismooth Newton steps in the function (as for the lasso by Li, Sun and Toh 2018). Each is a linear system in the dual
variables that are free on the face that the prox is on, as many as there are samples near their quantiles.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..._utils.linalg import cholesky, cholesky_solve, dot
from ..._utils.sums import same
from ..problem import Problem, relative_gap
from . import splitting
from .solution import IterationMonitor, Solution

_LARGEST = 1500  # unknowns of a system
_BEGIN = 30  # steps of splitting
_FREE = 0.1  # share of the dual variables that are free at first
_EASY, _HARD = 3, 8  # Newton steps after which sigma may grow, or stays
_LAST = 1e14  # the largest sigma, relative to the first
_SHRUNK = 8  # times that systems may turn out too large
_GROWTH = 3.0  # of sigma from one proximal point to the next
_INEXACT = 0.2  # what is left to gain of a proximal point, relative to the gap, when the next is looked for
_INNER = 12  # Newton steps for a proximal point, at most
_ARMIJO, _HALVINGS = 1e-4, 30
_RIDGES = (1e-15, 1e-13, 1e-11, 1e-9)  # added to the diagonal of a system, relative, until it has a factor


def suits(problem: Problem) -> bool:
    """Losses that know their faces, kernels ``k(x, z) M`` in double precision, all samples in one place."""
    if (
        not hasattr(problem.loss, "face")
        or problem.separable_term is None
        or problem.is_float32
        or problem.total is not same
    ):
        return False
    return not problem.separable_term.gram.depends_on_alpha


def cost(problem: Problem, factors) -> float:
    """Less than splitting, which it begins with and goes on where that would take long."""
    return splitting.cost(problem, factors) / 2


def solve(problem: Problem, *, tol=1e-6, max_iter=1000, init=None, callback=None, factors=None) -> Solution:
    """A few steps of splitting, then proximal points with ever larger sigma.

    max_iter : steps in all. The certificate is that of the function with the smallest primal value seen and of the
    best dual variables; where these are not those of the function, it is returned beside them.
    """
    start = splitting.solve(problem, tol=tol, max_iter=min(_BEGIN, max_iter), init=init, factors=factors)
    if start.converged:
        return start
    A, history = start.dual, list(start.history)
    C, F = A, problem.fitted(A)
    best = _Best(problem, A, F)
    sigma, inner, large = _first_sigma(problem, A, F), 0, 0
    last, told = _LAST * sigma, IterationMonitor(callback)
    for iteration in range(start.n_iter + 1, max_iter + 1):
        if sigma > last:  # rounding keeps the gap from falling
            return best.solution(iteration, False, history)
        at = _Point.of(problem, A, sigma, C, F)
        best.see(at)
        history.append(best.gap)
        if told(iteration, best.gap) or best.gap <= tol:
            return replace(best.solution(iteration, best.gap <= tol, history), stopped=told.stopped)
        if at.left <= _INEXACT * at.moved or inner == _INNER:  # the next proximal point
            growth = _GROWTH if inner <= _EASY else 1.0 if inner <= _HARD else 1 / _GROWTH
            A, sigma, inner = at.dual, sigma * growth, 0
            at = _Point.of(problem, A, sigma, C, F)
        system = _newton(problem, at)
        if system is None and large == _SHRUNK:
            return replace(best.solution(iteration, False, history), gave_up=True)
        if system is None:  # fewer are free with a larger sigma
            sigma, large = _GROWTH * sigma, large + 1
            continue
        C, F, moved = _search(at, *system)
        inner += 1
        if not moved:  # rounding: another sigma, or the end
            A, sigma, inner = at.dual, _GROWTH * sigma, 0
    return best.solution(max_iter, False, history)


def _first_sigma(problem: Problem, A, F) -> float:
    """Such that a tenth of the dual variables is free at first, by the sizes of residuals."""
    sizes = np.abs(problem.zero_missing(problem.Y - F))
    if problem.measure is not None:
        sizes = sizes / np.sqrt(problem.measure)
    if problem.root_weights is not None:
        sizes = sizes / problem.root_weights[:, None]
    sizes = sizes[sizes > 0]
    return problem.loss.bound / float(np.quantile(sizes, _FREE)) if len(sizes) else 1.0


class _Best:
    """The function of smallest primal value so far, and the dual variables of smallest dual value."""

    def __init__(self, problem: Problem, A, F):
        self.problem = problem
        self.function, self.primal = A, problem.primal(A, F)
        self.dual, self.least = A, problem.dual(A, F)

    def see(self, at: _Point):
        for C, primal in ((at.dual, at.primal), (at.C, self.problem.primal(at.C, at.F))):
            if primal < self.primal:
                self.function, self.primal = C, primal
        if at.dual_value < self.least:
            self.dual, self.least = at.dual, at.dual_value

    @property
    def gap(self):
        return relative_gap(self.primal, self.least, self.problem.floor)

    def solution(self, iteration, converged, history):
        own = self.function is self.dual
        return Solution(self.dual, self.gap, iteration, converged, history, function=None if own else self.function)


@dataclass(frozen=True)
class _Point:
    """A function with coefficients C (n, d) and values F, on the way to the proximal point of A."""

    problem: Problem
    A: np.ndarray
    sigma: float
    C: np.ndarray
    F: np.ndarray
    dual: np.ndarray  # what the prox makes of the residuals; C itself at the proximal point
    value: float  # of what the proximal point minimises
    gap: float = np.inf  # of the dual variables
    left: float = np.inf  # bound on what is left to gain of the proximal point
    moved: float = 0.0  # what it costs to be away from A
    primal: float = np.inf  # of the dual variables' function
    dual_value: float = np.inf

    @classmethod
    def of(cls, problem: Problem, A, sigma, C, F):
        """With its gap, which takes a product with the kernel."""
        dual, value = _envelope(problem, A, sigma, C, F)
        G = problem.fitted(dual)
        primal, dual_value = problem.primal_and_dual(dual, G, dual, dot(dual, G))
        left, apart = max(dot(C - dual, F - G), 0.0) / 2, dual - A
        gap = relative_gap(primal, dual_value, problem.floor)
        return cls(problem, A, sigma, C, F, dual, value, gap, left, dot(apart, apart) / (2 * sigma), primal, dual_value)

    @property
    def argument(self):
        """What the prox is taken of."""
        return self.A + self.sigma * (self.problem.Y - self.F)


def _envelope(problem: Problem, A, sigma, C, F):
    """The dual variables that residuals have, and the value ``||h||^2 s/2 + envelope of the loss`` of the function."""
    R = problem.Y - F
    dual = problem.prox(A + sigma * R, sigma)
    apart = dual - A
    return dual, dot(C, F) / 2 + dot(dual, R) - dot(apart, apart) / (2 * sigma)


def _newton(problem: Problem, at: _Point):
    """Direction (n, d) of coefficients, its values, and the slope along it; None where the system is too large."""
    root = 1.0 if problem.root_weights is None else problem.root_weights[:, None]
    fixed, rows, V = problem.loss.face(problem.zero_missing(at.argument) / root, problem.measure, problem.mask)
    if len(rows) > _LARGEST:
        return None
    new = problem.zero_missing(fixed * root)
    G, term = problem.fitted(new), problem.separable_term
    if len(rows) and term is not None:
        between = (V if term.M is None else V @ term.M) @ V.T
        S = term.gram.take(rows).dense() * between / problem.penalty
        S += (V @ V.T) * (rows[:, None] == rows) / at.sigma
        left = np.einsum("ij,ij->i", ((at.A - new) / at.sigma + problem.Y - G)[rows], V)
        free = _solved(S, left)
        if free is None:
            return None
        new = new.copy()
        np.add.at(new, rows, free[:, None] * V)
        G = problem.fitted(new)
    direction, values = new - at.C, G - at.F
    return direction, values, dot(values, at.C - at.dual)


def _solved(S, R):
    """Solution of the system S x = R (k,), with a ridge that rounding asks for; None where none is enough."""
    size = float(np.trace(S)) / len(S)
    for ridge in _RIDGES:
        try:
            factor = cholesky(S, ridge * size)
        except np.linalg.LinAlgError:
            continue
        return cholesky_solve(factor, R)
    return None


def _search(at: _Point, direction, values, slope):
    """The function a step along the direction, by halving, and whether there was one."""
    step = 1.0
    for _ in range(_HALVINGS):
        C, F = at.C + step * direction, at.F + step * values
        if _envelope(at.problem, at.A, at.sigma, C, F)[1] <= at.value + _ARMIJO * step * slope:
            return C, F, slope < 0
        step /= 2
    return at.C, at.F, False
