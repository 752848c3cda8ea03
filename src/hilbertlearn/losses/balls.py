"""Norms and projections on the balls of the weighted p-norms, row by row.

A row ``a`` of coordinates represents point values ``v_j = a_j / sqrt(m_j)`` under a measure ``m`` (ones for plain
vectors). Its p-norm is ``(sum_j m_j |v_j|^p)^(1/p)``; the Euclidean norm of ``a`` is the case p = 2 whatever ``m``,
and the norms of exponents p and q, 1/p + 1/q = 1, are dual to each other for the Euclidean product of coordinates.
"""

from __future__ import annotations

import numpy as np

from .._utils.linalg import row_norms

_MAX_NEWTON = 60  # Newton steps at most; a few suffice


def dual_exponent(p: float) -> float:
    """q with 1/p + 1/q = 1."""
    if p == 1:
        return np.inf
    return 1.0 if np.isinf(p) else p / (p - 1)


def point_sizes(A, measure=None):
    """Absolute point values (n, d) of coordinates A (n, d)."""
    return np.abs(A) if measure is None else np.abs(A) / np.sqrt(measure)


def p_norms(A, p: float, measure=None):
    """Weighted p-norm of each row of A (n, d), shape (n,)."""
    if p == 2:
        return row_norms(A)
    V = point_sizes(A, measure)
    if np.isinf(p):
        return V.max(axis=1, initial=0.0)
    m = np.ones(A.shape[1]) if measure is None else measure
    if p == 1:
        return V @ m
    top = V.max(axis=1, initial=0.0)  # divide before the power, so that no p overflows
    safe = np.where(top > 0, top, 1.0)
    return top * ((V / safe[:, None]) ** p @ m) ** (1 / p)


def project_ball(A, radius: float, p: float, measure=None):
    """Euclidean projection of each row of A (n, d) on the ball ``p_norm <= radius``.

    There are closed forms for p in {1, 2, inf}, as in Lambert et al. 2022, proposition 3.5, for {2, inf}. For other p,
    Newton's method computes the multiplier of the constraint, for all rows at once.
    """
    if p == 2:
        return scale_rows(A, np.minimum(row_norms(A), radius))
    root = np.ones(A.shape[1]) if measure is None else np.sqrt(measure)
    if np.isinf(p):
        return np.clip(A, -radius * root, radius * root)
    out = A.copy()
    if radius <= 0:
        out[:] = 0.0
        return out
    outside = p_norms(A, p, measure) > radius
    if not outside.any():
        return out
    V = np.abs(A[outside]) / root
    project = _shrink_l1 if p == 1 else _shrink_lp
    out[outside] = np.copysign(project(V / radius, root**2, p) * (radius * root), A[outside])
    return out


def scale_rows(A, norms):
    """Rows of A rescaled to the given norms (n,); rows of zeros stay zero."""
    r = row_norms(A)
    return A * np.divide(norms, r, out=np.zeros_like(r), where=r > 0)[:, None]


def _shrink_l1(V, m, _p):
    """Soft threshold of V >= 0 at the level where ``sum_j m_j v_j = 1`` (sorting; weighted simplex)."""
    V = V - V.max(axis=1, keepdims=True)  # changes the level only, and keeps the digits of rows far outside
    order = np.argsort(-V, axis=1)
    sorted_values = np.take_along_axis(V, order, axis=1)
    weights = m[order]
    mass = np.cumsum(weights, axis=1)
    level = (np.cumsum(weights * sorted_values, axis=1) - 1) / mass
    last = np.count_nonzero(sorted_values > level, axis=1) - 1
    return np.maximum(V - np.take_along_axis(level, last[:, None], axis=1), 0.0)


def _shrink_lp(V, m, p):
    """Solve ``v + nu v^(p-1) = V`` entry by entry with nu per row such that ``sum_j m_j v_j^p = 1``.

    The optimality condition has no m in it, because measure and distance carry the same weights. Since
    ``nu = ||V - v||_q`` and ||v||_p = 1, nu is at most ||V||_q and not much less: Newton's method on the logarithms of
    the norm and of nu, from the upper end of that bracket, takes a few steps for every p, also near 1.
    """
    q = dual_exponent(p)
    high = p_norms(V * np.sqrt(m), q, m)
    low = np.maximum(high - (m.min() if q >= p else m.sum()) ** (1 / q - 1 / p), 0.0)  # less the largest ||v||_q
    nu, v, active = high.copy(), V.copy(), np.arange(len(V))
    for _ in range(_MAX_NEWTON):
        va = _power_root(V[active], nu[active, None], p)
        powers = va**p * m
        moment = powers.sum(axis=1)
        norm = moment ** (1 / p)
        v[active] = va / norm[:, None]
        low[active] = lo = np.where(norm > 1, nu[active], low[active])
        high[active] = hi = np.where(norm > 1, high[active], nu[active])
        # d log v / d log nu = -(V - v) / (v + (p-1) (V - v)), from v + nu v^(p-1) = V
        shrunk = V[active] - va
        rate = np.divide(powers * shrunk, va + (p - 1) * shrunk, out=np.zeros_like(va), where=va > 0).sum(axis=1)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            guess = nu[active] * np.exp(np.log(norm) * moment / rate)
        new = np.where((guess >= lo) & (guess <= hi), guess, (lo + hi) / 2)
        # norm is accurate to rounding times 1 / (p-1)
        unfinished = (np.abs(norm - 1) > 1e-13 + 1e-15 / (p - 1)) & (np.abs(new - nu[active]) > 4e-16 * nu[active])
        nu[active] = new
        active = active[unfinished]
        if not len(active):
            break
    return v


def _power_root(b, nu, p):
    """Root v >= 0 of ``v + nu v^(p-1) = b`` for b >= 0, entry by entry.

    Written as ``c1 y + c2 y^s = b`` with s >= 1, convex and increasing, so that Newton's method from an upper bound
    decreases to the root: y = v for p >= 2, y = v^(p-1) for p < 2.
    """
    nu = np.broadcast_to(nu, b.shape)
    one = np.ones_like(b)
    s, c1, c2 = (p - 1, one, nu) if p >= 2 else (1 / (p - 1), nu, one)
    with np.errstate(divide="ignore", over="ignore"):
        y = np.minimum(b / c1, (b / c2) ** (1 / s))
    for _ in range(_MAX_NEWTON):
        power = c2 * y ** (s - 1)
        decrease = (y * (c1 + power) - b) / (c1 + s * power)
        y = np.maximum(y - decrease, 0.0)
        if np.all(np.abs(decrease) <= 4e-16 * y):
            break
    return y if p >= 2 else y**s


def power_prox(r, weight, exponent):
    """Root x >= 0 of ``x + weight x^(exponent-1) = r``: the prox of ``weight/exponent x^exponent``, exponent > 1."""
    return _power_root(np.asarray(r, dtype=float), weight, exponent)
