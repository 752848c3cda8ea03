"""Accelerated proximal gradient with restart: the algorithm of the papers, for any sum of terms."""

from __future__ import annotations

import numpy as np

from .solution import IterationMonitor, Solution

REQUIRES = ()  # products with the map and the prox suffice


def cost(problem, factors):
    """Conditioning decides on the number of iterations, so this is the last resort: a million products."""
    return 1e6 * len(problem.Y) ** 2 * problem.Y.shape[1]


def solve(problem, *, tol=1e-6, max_iter=1000, init=None, callback=None, factors=None) -> Solution:
    """Lambert et al. 2022, algorithm 1, with the gap as stopping rule (Beck & Teboulle 2009; O'Donoghue & Candes 2015).

    The fitted values of the extrapolated point follow from those of the last two iterates, because they are linear:
    one product with the kernel serves the gradient, the step-size test and the gap.
    """
    Z = problem.prox(np.zeros_like(problem.Y) if init is None else init, 1.0)
    F = problem.fitted(Z)
    V, FV, momentum = Z, F, 1.0
    lipschitz = problem.lipschitz
    history, monitor = [problem.gap(Z, F)], IterationMonitor(callback)
    for iteration in range(1, max_iter + 1):
        if monitor.stopped or history[-1] <= tol:
            return Solution(Z, history[-1], iteration - 1, history[-1] <= tol, history, stopped=monitor.stopped)
        previous, F_previous = Z, F
        gradient = problem.gradient(V, FV)
        while True:
            Z = problem.prox(V - gradient / lipschitz, 1 / lipschitz)
            F = problem.fitted(Z)
            move = Z - V
            curvature = problem.loss.curvature * np.vdot(move, move) + np.vdot(move, F - FV)
            if curvature <= lipschitz * (1 + 1e-9) * np.vdot(move, move):
                break
            lipschitz *= 1.5  # the norm was underestimated
        if np.vdot(V - Z, Z - previous) > 0:  # the momentum points uphill: restart
            momentum, V, FV = 1.0, Z, F
        else:
            faster = (1 + np.sqrt(1 + 4 * momentum**2)) / 2
            beta, momentum = (momentum - 1) / faster, faster
            V, FV = Z + beta * (Z - previous), F + beta * (F - F_previous)
        history.append(problem.gap(Z, F))
        monitor(iteration, history[-1])
    return Solution(Z, history[-1], max_iter, history[-1] <= tol, history)
