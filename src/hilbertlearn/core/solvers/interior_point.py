"""Interior-point method for a quadratic on a box."""

from __future__ import annotations

import numpy as np

from ..._utils.linalg import cholesky, cholesky_solve, transposed_times

_JITTER = 1e-14  # added to the diagonal, relative to its mean, and raised until the system has a Cholesky factor
_SMALLEST_JITTER = 1e-200  # jitter for a kernel of zeros; its inverse must not overflow
_BOUNDARY = 0.995  # share of the way to the boundary that a step may go
_AHEAD = 0.1  # share of tol at which variables are first put on bounds; a tenth of it after each failure
_LAST = 1e-4  # share of tol at which the method stops trying to put variables on bounds
_STALLED = 1e-8  # step lengths below this are rounding
_VANISHED = 1e-25  # products of variables and multipliers below this, relative to the first, count as zero
_POLISHING = 5  # Newton steps on the variables strictly inside the box


def minimise(Q, top, gap, b, *, tol, max_iter, callback=None):
    """minimise ``b' Q b / 2 - <top, b>`` over ``0 <= b <= top``: (b, its gap, the gaps of all iterations).

    Mehrotra's predictor-corrector method: about twenty Cholesky factorisations, whatever the conditioning of Q. When
    the gap is small enough, variables close to a bound are put on it, so that zeros are exact. If the gap then exceeds
    tol, a few more iterations separate the variables better.

    gap : function of b and Q b
    b : starting value; it is returned if no iterate is better
    """

    def with_gap(b):
        return b, gap(b, transposed_times(Q, b))

    best = with_gap(b)
    history = [best[1]]
    b = top / 2
    gradient = transposed_times(Q, b) - top
    spread = np.abs(gradient).mean() or 1.0
    low, high = np.maximum(gradient, 0) + spread, np.maximum(-gradient, 0) + spread  # multipliers of the two bounds
    wanted, length = _AHEAD * tol, 1.0
    while len(history) <= max_iter and length > _STALLED:
        if best[1] <= wanted:
            snapped = with_gap(_snap_to_bounds(Q, top, b, low, high))
            if snapped[1] <= tol or wanted < _LAST * tol:
                best = snapped if snapped[1] <= tol else best
                break
            wanted *= _AHEAD
        rest = top - b
        complementarity = (b @ low + rest @ high) / (2 * len(b))
        if complementarity < _VANISHED * spread or min(b.min(), rest.min()) <= 0:  # at a bound up to rounding
            break
        solve_system = system_solver(Q, low / b + high / rest)
        residual = gradient - low + high
        step = _direction(solve_system, residual, b, rest, low, high, 0.0, (0.0, 0.0))
        db, dlow, dhigh = (_length(step, b, rest, low, high) * part for part in step)
        reached = ((b + db) @ (low + dlow) + (rest - db) @ (high + dhigh)) / (2 * len(b))
        target = complementarity * (reached / complementarity) ** 3
        second_order = (step[0] * step[1], -step[0] * step[2])
        step = _direction(solve_system, residual, b, rest, low, high, target, second_order)
        length = _BOUNDARY * _length(step, b, rest, low, high)
        b, low, high = (part + length * change for part, change in zip((b, low, high), step, strict=True))
        gradient = transposed_times(Q, b) - top
        history.append(gap(b, gradient + top))
        if history[-1] < best[1]:
            best = b, history[-1]
        if callback is not None and callback(len(history) - 1, history[-1]):
            break
    return *best, history


def system_solver(Q, diagonal=0.0):
    """Function that solves ``(Q + diag(diagonal)) x = r``."""
    jitter = max(_JITTER * np.trace(Q) / len(Q), _SMALLEST_JITTER)
    S = Q.copy()
    S.flat[:: len(Q) + 1] += diagonal
    while True:
        try:
            factor = cholesky(S, jitter)
        except np.linalg.LinAlgError:
            jitter *= 100
            continue
        return lambda r: cholesky_solve(factor, r)


def _direction(solve_system, residual, b, rest, low, high, target, second_order):
    """Newton step of (b, low, high) towards products ``b low`` and ``rest high`` equal to the target."""
    from_low = (target - b * low - second_order[0]) / b
    from_high = (target - rest * high - second_order[1]) / rest
    db = solve_system(from_low - from_high - residual)
    return db, from_low - low / b * db, from_high + high / rest * db


def _length(step, b, rest, low, high):
    """The longest step, at most 1, that keeps all variables positive."""
    db, dlow, dhigh = step
    longest = 1.0
    for value, change in ((b, db), (rest, -db), (low, dlow), (high, dhigh)):
        falling = change < 0
        if falling.any():
            longest = min(longest, float((value[falling] / -change[falling]).min()))
    return longest


def _snap_to_bounds(Q, top, b, low, high):
    """b with the variables near a bound put on it, and the others moved to where the gradient is zero."""
    # b and its multiplier have a product near zero: the one that is relatively smaller is the zero
    largest = max(low.max(), high.max())
    at_low = b * largest < low * b.max()
    at_high = (top - b) * largest < high * top
    b = np.where(at_low, 0.0, np.where(at_high, top, b))
    free = np.flatnonzero(~(at_low | at_high))
    if not len(free):
        return b
    solve_system = system_solver(Q[np.ix_(free, free)])
    for _ in range(_POLISHING):
        b[free] = np.clip(b[free] - solve_system((transposed_times(Q, b) - top)[free]), 0.0, top[free])
    return b
