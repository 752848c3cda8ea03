"""Douglas-Rachford splitting (ADMM) whose linear step is the squared-loss solver: the default for other losses."""

from __future__ import annotations

import numpy as np

from ..._utils.linalg import dot, to_float64
from ..problem import relative_gap
from .anderson import Anderson
from .requirements import FACTORS
from .solution import IterationMonitor, Solution

REQUIRES = (FACTORS,)

_RELAXATION = 1.6  # over-relaxation of the steps, in (0, 2); Boyd et al. 2011, section 3.4.3, advise 1.5 to 1.8
_BALANCE_EVERY = 15  # iterations between two adjustments of rho; each costs a restart of the acceleration
_BALANCE_BEYOND = 1.5  # factors of rho closer to 1 are ignored, because a restart costs more than they gain
_CHECK_AT_LEAST_EVERY = 25  # iterations between two gaps, each of which costs a product with the kernel
_FEASIBLE_STEP = 1e-6  # step of the prox that makes a starting point feasible, and changes a feasible one very little
# relative gap estimates below which rounding decides, in single and in double precision; the gap is then computed ..
_ROUNDING, _ROUNDING_DOUBLE = 4e-7, 1e-14
_CHECK_AT_ROUNDING_EVERY = 3  # .. after so many iterations, so that the result does not depend on the order of sums
_PATIENCE = 4  # gaps in a row, in single precision, that do not fall: the iterations have stalled
_FALL = 0.7  # a gap counts as fallen if it is below this share of the smallest one before


def cost(problem, factors):
    """The factors, and about 60 steps with them; 20 for the squared loss, where the prox only masks entries."""
    n, d = problem.Y.shape
    factorisation, step = problem.term.without_mask().iteration_costs(n, d)
    steps = 20 if problem.loss.quadratic else 60
    return (0.0 if factors is not None else factorisation) + steps * step


def solve(problem, *, tol=1e-6, max_iter=1000, init=None, callback=None, factors=None, certificate=None) -> Solution:
    """Alternate ``(c + rho) X + K X M / s = Y + rho (2 Z - W)`` with Z, the prox of g* at W.

    W moves along X - Z, accelerated; rho is balanced so that this residual and the change of Z have the same size. The
    gap of Z costs a product with the kernel. A free estimate, from the primal value at X and the dual value at Z to
    first order around X, is a nearly constant fraction of it and decides when to compute the gap. In single precision
    X is refined by a residual in double precision once the gap stalls.

    certificate : function of Z and F that replaces the gap of the problem
    """
    c, Y = problem.loss.curvature, problem.Y
    # the prox keeps missing entries at zero, so the factors of the unmasked map serve all columns
    factors = problem.term.without_mask().factor("iterations") if factors is None else factors.without_mask()
    rho = 1.5 if c > 0 else _initial_rho(problem)
    W = np.zeros_like(Y) if init is None else _warm_start(problem, rho, init)
    accelerated = Anderson(Y.shape, Y.dtype, problem.total)
    gaps = _GapHistory(tol, max_iter, problem.rounding_gap if certificate is None else 0.0)
    previous, monitor = W, IterationMonitor(callback)
    for iteration in range(1, max_iter + 1):
        Z = problem.prox(W, 1 / rho)
        R = Y + rho * (2 * Z - W)
        X = _linear_step(problem, factors, R, c + rho, gaps.refining)
        F = R - (c + rho) * X  # fitted values of X
        estimate = _estimate_gap(problem, X, Z, F)
        if gaps.is_due(iteration, estimate):
            gap = problem.gap(Z) if certificate is None else certificate(Z, F)
            was_refining = gaps.refining
            gaps.record(iteration, Z, gap, estimate)
            if monitor(iteration, gap) or gap <= tol:
                return Solution(Z, gap, iteration, gap <= tol, gaps.history, stopped=monitor.stopped)
            if gaps.has_stalled:
                return gaps.best_solution(iteration)
            if gaps.refining and not was_refining:
                accelerated.restart()
        factor = _balance(problem, rho, X, Z, F, W, previous) if iteration % _BALANCE_EVERY == 0 else 1.0
        if factor != 1:
            rho, W = rho * factor, Z + (W - Z) / factor
            accelerated.restart()
        else:
            W = accelerated.step(W, _RELAXATION * (X - Z))
        previous = Z
    return gaps.best_solution(max_iter)


class _GapHistory:
    """The gaps computed so far: when the next one is due, the best iterate, and whether iterations have stalled.

    rounding_gap : gap that rounding may leave in single precision; 0 in double precision
    """

    def __init__(self, tol, max_iter, rounding_gap):
        self.tol, self.max_iter, self.rounding_gap = tol, max_iter, rounding_gap
        self.history: list[float] = []
        self.best: tuple[np.ndarray, float] | None = None  # iterate of the smallest gap, and this gap
        self.refining = self.has_stalled = False
        self._fraction, self._last_check = 1.0, 0  # estimate over gap; the last iteration with a gap
        self._stalled, self._lowest = 0, np.inf

    def is_due(self, iteration, estimate) -> bool:
        """Whether to compute the gap: the estimate is small enough, the last gap is old, or iterations end."""
        reliable = self._is_reliable(estimate)
        interval = _CHECK_AT_LEAST_EVERY if reliable else _CHECK_AT_ROUNDING_EVERY
        promising = reliable and estimate <= self._fraction * self.tol
        return promising or iteration - self._last_check >= interval or iteration == self.max_iter

    def record(self, iteration, Z, gap, estimate):
        """Take note of the gap of the iterate Z."""
        self.history.append(gap)
        self._last_check = iteration
        if self.best is None or gap < self.best[1]:
            self.best = Z, gap
        if self.rounding_gap:
            self._watch(gap)
        if self._is_reliable(estimate) and gap > 0:
            self._fraction = min(estimate / gap, 1.0)

    def best_solution(self, n_iter) -> Solution:
        """The iterate of the smallest gap; the tolerance was not reached."""
        assert self.best is not None  # the last iteration computes a gap
        return Solution(*self.best, n_iter, False, self.history)

    def _is_reliable(self, estimate):
        return estimate > (_ROUNDING if self.rounding_gap else _ROUNDING_DOUBLE)

    def _watch(self, gap):
        """In single precision a stalled gap starts refinement; if it stalls again, iterations end."""
        fallen = gap < _FALL * self._lowest
        self._stalled, self._lowest = (0, gap) if fallen else (self._stalled + 1, self._lowest)
        if self._stalled < _PATIENCE:
            return
        if self.refining:
            self.has_stalled = min(self.history) <= self.rounding_gap
        else:
            self.refining, self._stalled, self._lowest = True, 0, np.inf


def _warm_start(problem, rho, init):
    """W from dual variables: at the optimum rho (W - Z) is minus the gradient of the smooth part at Z."""
    Z = problem.prox(init, _FEASIBLE_STEP)
    return Z + problem.zero_missing(problem.Y - problem.loss.curvature * Z - problem.fitted(Z)) / rho


def _estimate_gap(problem, X, Z, F):
    """Relative distance of the primal value at X and the dual value at Z, to first order around X."""
    quadratic = 2 * dot(Z, F) - dot(X, F)
    primal, dual = problem.primal_and_dual(X, F, Z, quadratic)
    return relative_gap(primal, dual, problem.floor)


def _linear_step(problem, factors, R, shift, refine):
    """The solution X of ``shift X + K X M / s = R``; refine : whether to correct it once in double precision."""
    X = factors.solve(R, shift, problem.penalty)
    if not refine:
        return X
    X64 = to_float64(X)
    residual = R - shift * X64 - problem.term.without_mask().apply(X64) / problem.penalty
    return (X64 + factors.solve(residual, shift, problem.penalty)).astype(X.dtype)


def _initial_rho(problem):
    """rho for c = 0: W - Z is a residual over rho, and should have the size of the dual variables."""
    size, output_size = problem.norms(problem.prox(problem.Y, 1.0), problem.Y)
    return max(0.3, 0.1 * float(output_size / size)) if size > 0 else 0.3


def _balance(problem, rho, X, Z, F, W, previous):
    """Factor of rho that makes primal and dual residuals more alike, 1 if it is not worth a restart.

    Each residual is relative to the terms it consists of: dual variables may be as small as alpha n.
    """
    x, z, y, f, offset, distance, change = problem.norms(X, Z, problem.Y, F, W - Z, X - Z, Z - previous)
    primal_residual, dual_residual = distance * max(y, f, rho * offset), rho * change * max(x, z)
    if max(primal_residual, dual_residual) == 0:
        return 1.0
    factor = float(np.clip(np.sqrt(primal_residual / dual_residual), 0.1, 10)) if dual_residual > 0 else 10.0
    return factor if max(factor, 1 / factor) > _BALANCE_BEYOND else 1.0
