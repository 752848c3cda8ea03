"""Projected Newton method for the box-constrained dual of the hinge."""

from __future__ import annotations

import numpy as np
import scipy.linalg

from .solution import Solution

_JITTER = 1e-12  # relative, so that singular kernels can be factored; the objective is not changed
_SMALLEST_JITTER = 1e-200  # of a kernel of zeros; its inverse must not overflow
_SUFFICIENT = 1e-4


def solve(problem, *, tol=1e-6, max_iter=1000, init=None, callback=None) -> Solution:
    """minimise ``b' Q b / 2 - <w, b>`` over ``0 <= b <= w`` (b and w scaled by 1/sqrt(w) when there are weights).

    Each iteration solves for the variables that are free, by Cholesky, and searches along the projected path
    (Bertsekas 1982); the set of free variables settles after a few of them.
    """
    Q = problem.terms[0].K / problem.penalty
    top = np.ones(len(Q)) if problem.root_weights is None else problem.root_weights
    jitter = max(_JITTER * np.trace(Q), _SMALLEST_JITTER)
    b = np.clip(top if init is None else init[:, 0], 0.0, top)
    Qb = Q @ b
    history = [_gap(problem, b, Qb)]
    for iteration in range(1, max_iter + 1):
        if history[-1] <= tol:
            return Solution(b[:, None], history[-1], iteration - 1, True, history)
        gradient = Qb - top
        free = np.flatnonzero(~(((b <= 0) & (gradient > 0)) | ((b >= top) & (gradient < 0))))
        direction = _newton_direction(Q, gradient, free, jitter)
        value = b @ (Qb / 2 - top)
        step = 1.0
        while True:
            trial = b.copy()
            trial[free] = np.clip(b[free] + step * direction, 0.0, top[free])
            Q_trial = Q @ trial
            if trial @ (Q_trial / 2 - top) <= value + _SUFFICIENT * gradient @ (trial - b) or step < 1e-12:
                break
            step /= 2
        b, Qb = trial, Q_trial
        history.append(_gap(problem, b, Qb))
        if callback is not None:
            callback(iteration, history[-1])
    return Solution(b[:, None], history[-1], max_iter, history[-1] <= tol, history)


def _newton_direction(Q, gradient, free, jitter):
    S = Q[np.ix_(free, free)]
    S.flat[:: len(free) + 1] += jitter
    try:
        factor = scipy.linalg.cholesky(S.T, lower=True, overwrite_a=True, check_finite=False)
    except np.linalg.LinAlgError:  # rounding made it indefinite: a scaled gradient still descends
        return -gradient[free] / np.maximum(np.abs(Q[np.ix_(free, free)]).sum(axis=1), np.finfo(float).tiny)
    return scipy.linalg.cho_solve((factor, True), -gradient[free], check_finite=False)


def _gap(problem, b, Qb):
    return problem.gap(b[:, None], Qb[:, None])
