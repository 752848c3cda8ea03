"""Douglas-Rachford splitting (ADMM) whose linear step is the squared-loss solver: the default for other losses."""

from __future__ import annotations

import numpy as np

from .linear_step import linear_step
from .solution import Solution

_RELAXATION = 1.6
_BALANCE_EVERY = 10


def solve(problem, *, tol=1e-6, max_iter=1000, init=None, callback=None) -> Solution:
    """Alternate ``(c + rho) X + K X M / s = Y + rho (Z - U)`` with the prox of g*, for one separable term.

    rho is balanced every few iterations so that primal and dual residuals stay alike. The fitted values of X come
    without a product, those of Z cost one: the gap of Z, the only one that counts, is computed when the primal value
    at X and the dual value at Z, to first order around X, say that it may be small enough.
    """
    c, Y = problem.loss.curvature, problem.Y
    step = linear_step(problem.separable, problem.penalty)
    rho = 1.0 if c > 0 else 0.1
    Z = problem.prox(np.zeros_like(Y) if init is None else init, 1 / rho)
    U = np.zeros_like(Y)
    if init is not None:  # at the optimum rho U is minus the gradient of the smooth part
        U = problem.observed(Y - c * Z - problem.fitted(Z)) / rho
    history: list[float] = []
    check_from = 0
    for iteration in range(1, max_iter + 1):
        R = Y + rho * (Z - U)
        X = step.solve(R, c + rho)
        F = R - (c + rho) * X
        mixed = _RELAXATION * X + (1 - _RELAXATION) * Z
        previous, Z = Z, problem.prox(mixed + U, 1 / rho)
        U += mixed - Z
        primal_residual, dual_residual = np.linalg.norm(X - Z), rho * np.linalg.norm(Z - previous)
        if iteration >= check_from and (iteration == max_iter or problem.estimated_gap(X, F, Z) <= tol):
            history.append(problem.gap(Z))
            if callback is not None:
                callback(iteration, history[-1])
            if history[-1] <= tol:
                return Solution(Z, history[-1], iteration, True, history)
            # linear convergence: a gap far from tol will not be there in the next iteration
            check_from = iteration + 1 + int(0.05 * iteration * np.log10(max(history[-1] / tol, 1)))
        if iteration % _BALANCE_EVERY == 0 and min(primal_residual, dual_residual) > 0:
            factor = float(np.clip(np.sqrt(primal_residual / dual_residual), 0.1, 10))
            if not 1 / 1.5 < factor < 1.5:
                rho, U = rho * factor, U / factor
    return Solution(Z, history[-1], max_iter, False, history)
