"""Interior-point method for a quadratic on a box."""

from __future__ import annotations

import numpy as np

from ..._utils.linalg import cholesky, cholesky_solve, transposed_times

_JITTER = 1e-14  # added to the diagonal, relative to its mean, and raised until the system has a Cholesky factor
_SMALLEST_JITTER = 1e-200  # jitter for a kernel of zeros; its inverse must not overflow
_BOUNDARY = 0.995  # share of the way to the boundary that a step may go
_SNAP_SHARE = 0.1  # share of tol at which variables are first put on bounds; a tenth of it after each failure
_LAST_SNAP_SHARE = 1e-4  # share of tol at which the method stops trying to put variables on bounds
_MIN_STEP = 1e-8  # step lengths below this are rounding
_MIN_PRODUCT = 1e-25  # products of variables and multipliers below this, relative to the first, count as zero
_POLISHING_STEPS = 5  # Newton steps on the variables strictly inside the box


def minimise(Q, upper, gap, b, *, tol, max_iter, callback=None):
    """minimise ``b' Q b / 2 - <upper, b>`` over ``0 <= b <= upper``: (b, its gap, the gaps of all iterations).

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
    b = upper / 2
    gradient = transposed_times(Q, b) - upper
    spread = np.abs(gradient).mean() or 1.0
    low, high = np.maximum(gradient, 0) + spread, np.maximum(-gradient, 0) + spread  # multipliers of the two bounds
    snap_gap, length = _SNAP_SHARE * tol, 1.0
    while len(history) <= max_iter and length > _MIN_STEP:
        if best[1] <= snap_gap:
            snapped = with_gap(_snap_to_bounds(Q, upper, b, low, high))
            if snapped[1] <= tol or snap_gap < _LAST_SNAP_SHARE * tol:
                best = snapped if snapped[1] <= tol else best
                break
            snap_gap *= _SNAP_SHARE
        slack = upper - b
        complementarity = (b @ low + slack @ high) / (2 * len(b))
        if complementarity < _MIN_PRODUCT * spread or min(b.min(), slack.min()) <= 0:  # at a bound up to rounding
            break
        solve_system = system_solver(Q, low / b + high / slack)
        residual = gradient - low + high
        step = _direction(solve_system, residual, b, slack, low, high, 0.0, (0.0, 0.0))
        db, dlow, dhigh = (_length(step, b, slack, low, high) * part for part in step)
        predicted = ((b + db) @ (low + dlow) + (slack - db) @ (high + dhigh)) / (2 * len(b))
        target = complementarity * (predicted / complementarity) ** 3
        second_order = (step[0] * step[1], -step[0] * step[2])
        step = _direction(solve_system, residual, b, slack, low, high, target, second_order)
        length = _BOUNDARY * _length(step, b, slack, low, high)
        b, low, high = (part + length * change for part, change in zip((b, low, high), step, strict=True))
        gradient = transposed_times(Q, b) - upper
        history.append(gap(b, gradient + upper))
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


def _direction(solve_system, residual, b, slack, low, high, target, second_order):
    """Newton step of (b, low, high) towards products ``b low`` and ``slack high`` equal to the target."""
    from_low = (target - b * low - second_order[0]) / b
    from_high = (target - slack * high - second_order[1]) / slack
    db = solve_system(from_low - from_high - residual)
    return db, from_low - low / b * db, from_high + high / slack * db


def _length(step, b, slack, low, high):
    """The longest step, at most 1, that keeps all variables positive."""
    db, dlow, dhigh = step
    longest = 1.0
    for value, change in ((b, db), (slack, -db), (low, dlow), (high, dhigh)):
        falling = change < 0
        if falling.any():
            longest = min(longest, float((value[falling] / -change[falling]).min()))
    return longest


def _snap_to_bounds(Q, upper, b, low, high):
    """b with the variables near a bound put on it, and the others moved to where the gradient is zero."""
    # b and its multiplier have a product near zero: the relatively smaller factor is the zero
    largest = max(low.max(), high.max())
    is_low = b * largest < low * b.max()
    is_high = (upper - b) * largest < high * upper
    b = np.where(is_low, 0.0, np.where(is_high, upper, b))
    free = np.flatnonzero(~(is_low | is_high))
    if not len(free):
        return b
    solve_system = system_solver(Q[np.ix_(free, free)])
    for _ in range(_POLISHING_STEPS):
        b[free] = np.clip(b[free] - solve_system((transposed_times(Q, b) - upper)[free]), 0.0, upper[free])
    return b
