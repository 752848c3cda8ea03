"""Douglas-Rachford splitting (ADMM) whose linear step is the squared-loss solver: the default for other losses."""

from __future__ import annotations

import numpy as np

from ..._utils.linalg import dot, exact
from ..problem import relative_gap
from .anderson import Anderson
from .solution import IterationMonitor, Solution

_RELAXATION = 1.6
_BALANCE_EVERY = 15
_BALANCE_BEYOND = 1.5  # factors of rho closer to 1 are not worth starting afresh
_CHECK_AT_LEAST_EVERY = 25
_ADMIT = 1e-6  # step of a prox that makes dual variables admissible, and leaves them as they are if they were
# distances, in single precision and in double, of whose fraction of the gap nothing is known any more, ..
_ROUNDED, _ROUNDED_DOUBLE = 4e-7, 1e-14
_CHECK_THEN_EVERY = 3  # .. so that one looks after so many iterations: in double the order of sums is not to decide
_PATIENCE = 4  # gaps in a row, in single precision and as small as rounding may make them, that do not fall any more
_FALLS = 0.7  # to this share of the smallest before, at least


def suits(problem):
    """Any loss, while systems with the map can be solved."""
    return problem.term.inversion is not None


def cost(problem, factors):
    """The factors, and some sixty steps with them; twenty for the squared loss, whose gaps are all that a prox sees."""
    n, d = problem.Y.shape
    factorisation, step = problem.term.without_mask().iteration_costs(n, d)
    steps = 20 if problem.loss.quadratic else 60
    return (0.0 if factors is not None else factorisation) + steps * step


def solve(problem, *, tol=1e-6, max_iter=1000, init=None, callback=None, factors=None, certificate=None) -> Solution:
    """Alternate ``(c + rho) X + K X M / s = Y + rho (2 Z - W)`` with Z, the prox of g* at W, for one term.

    W moves along X - Z, accelerated; rho is balanced so that this residual and the change of Z stay alike. The gap of
    Z, the only one that counts, costs a product with the kernel. The primal value at X and the dual value at Z, to
    first order around X, cost none, and their distance is a steady fraction of that gap: it says when to look. In
    single precision X is refined, with a residual in double, once rounding keeps the gap from falling.
    """
    c, Y = problem.loss.curvature, problem.Y
    # gaps are the prox's, and may as well be missing from the map: one factor then serves all columns
    factors = problem.term.without_mask().factor("iterations") if factors is None else factors.without_mask()
    rho = 1.5 if c > 0 else _start(problem)
    W = np.zeros_like(Y)
    if init is not None:  # at the optimum rho (W - Z) is minus the gradient of the smooth part at Z
        Z = problem.prox(init, _ADMIT)
        W = Z + problem.zero_missing(Y - c * Z - problem.fitted(Z)) / rho
    accelerated = Anderson(Y.shape, Y.dtype, problem.total)
    history: list[float] = []
    best, stalled, least = None, 0, problem.rounding_gap if certificate is None else 0.0
    refining, lowest = False, np.inf
    fraction, last_check, previous, told = 1.0, 0, W, IterationMonitor(callback)
    for iteration in range(1, max_iter + 1):
        Z = problem.prox(W, 1 / rho)
        R = Y + rho * (2 * Z - W)
        X = factors.solve(R, c + rho, problem.penalty)
        X = _refined(problem, factors, X, R, c + rho) if refining else X
        F = R - (c + rho) * X  # fitted values of X
        quadratic = 2 * dot(Z, F) - dot(X, F)
        primal, dual = problem.primal_and_dual(X, F, Z, quadratic)
        distance = relative_gap(primal, dual, problem.floor)
        known = distance > (_ROUNDED if least else _ROUNDED_DOUBLE)
        every = _CHECK_AT_LEAST_EVERY if known else _CHECK_THEN_EVERY
        if (known and distance <= fraction * tol) or iteration - last_check >= every or iteration == max_iter:
            history.append(problem.gap(Z) if certificate is None else certificate(Z, F))
            last_check = iteration
            if told(iteration, history[-1]) or history[-1] <= tol:
                return Solution(Z, history[-1], iteration, history[-1] <= tol, history, stopped=told.stopped)
            # with a tol that rounding keeps out of reach iterations may drift away again
            best = (Z, history[-1]) if best is None or history[-1] < best[1] else best
            if least:
                stalled, lowest = (0, history[-1]) if history[-1] < _FALLS * lowest else (stalled + 1, lowest)
                if stalled >= _PATIENCE and refining and best[1] <= least:
                    return Solution(best[0], best[1], iteration, False, history)
                if stalled >= _PATIENCE and not refining:
                    refining, stalled, lowest = True, 0, np.inf
                    accelerated.restart()
            fraction = min(distance / history[-1], 1.0) if known else fraction
        factor = 1.0
        if iteration % _BALANCE_EVERY == 0:
            # each relative to the terms it is made of: dual variables may be of any size, as small as alpha n
            x, z, y, f, beside, apart, moved = problem.norms(X, Z, Y, F, W - Z, X - Z, Z - previous)
            factor = _balance(apart * max(y, f, rho * beside), rho * moved * max(x, z))
        if factor != 1:
            rho, W = rho * factor, Z + (W - Z) / factor
            accelerated.restart()
        else:
            W = accelerated.step(W, _RELAXATION * (X - Z))
        previous = Z
    assert best is not None  # the last iteration is looked at
    return Solution(*best, max_iter, False, history)


def _refined(problem, factors, X, R, shift):
    """A linear step in single precision, nearer to the solution by a residual in double."""
    whole = exact(X)
    rest = R - shift * whole - problem.term.without_mask().apply(whole) / problem.penalty
    return (whole + factors.solve(rest, shift, problem.penalty)).astype(X.dtype)


def _start(problem):
    """rho for c = 0: W - Z is a residual over rho, and should not be of another size than the dual variables."""
    size, of_outputs = problem.norms(problem.prox(problem.Y, 1.0), problem.Y)
    return max(0.3, 0.1 * float(of_outputs / size)) if size > 0 else 0.3


def _balance(primal_residual, dual_residual):
    """Factor of rho that makes the two residuals more alike."""
    if max(primal_residual, dual_residual) == 0:
        return 1.0
    factor = float(np.clip(np.sqrt(primal_residual / dual_residual), 0.1, 10)) if dual_residual > 0 else 10.0
    return factor if max(factor, 1 / factor) > _BALANCE_BEYOND else 1.0
