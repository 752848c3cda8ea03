"""Inner loops of the scalar decoder, compiled by numba; ``scalar._compiled`` imports this module.

They read W once or twice, in blocks of a few rows that stay in the cache. ``in_threads`` distributes the rows over
threads.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numba
import numpy as np

from ..output_losses import L2L1, Cauchy, Fair, GemanMcClure

_LANES = 64  # queries of a block, whose weights fit in the second-level cache
_CHUNK = 512  # outputs in a block of a product; four rows of them fit in the first-level cache
_FORMULAS = {Cauchy: 0, GemanMcClure: 1, Fair: 2, L2L1: 3}  # numbers of the losses in `_derivatives`


def _compile(function):
    """Machine code of a function, cached in a file if there is a writable folder."""
    # sums in any order and divisions that do not raise: without either, loops are not vectorised
    settings: dict[str, Any] = {
        "nogil": True,
        "error_model": "numpy",
        "fastmath": {"reassoc", "contract", "arcp", "nsz"},
    }
    try:
        return numba.njit(cache=True, **settings)(function)
    except RuntimeError:
        return numba.njit(**settings)(function)


def in_threads(function, W):
    """``function(part)`` of parts of the rows of W, in order; compiled code and numpy release the interpreter lock."""
    threads = numba.config.NUMBA_NUM_THREADS  # type: ignore[attr-defined]
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(function, np.array_split(W, 4 * threads)))  # small parts, in case a thread is slow


# ------------------------------------------------------------------ losses made of quadratic pieces


def by_pieces(W, terms, low, knots, owner, slope_jumps, curvature_jumps):
    """Exact minimisers (m,); arguments as those of ``scalar._by_pieces``."""
    z = np.empty(len(W))
    _scan(np.ascontiguousarray(W), terms, low, knots, owner, slope_jumps, curvature_jumps, z)
    return z


@_compile
def _visit_minima(value, slope, curvature, start, length, at, best):
    """Update the best points of the rows that have a minimum inside this piece; rare, and not vectorised."""
    for i in range(_LANES):
        if slope[i] < 0 and slope[i] + length * curvature[i] > 0:
            shift = -slope[i] / curvature[i]
            depth = value[i] + slope[i] * shift / 2
            if depth < best[i]:
                best[i], at[i] = depth, start + shift


@_compile
def _scan(W, terms, low, knots, owner, slope_jumps, curvature_jumps, z):
    """Put exact minimisers into z (m,): running sums over the knots, for `_LANES` queries at once."""
    columns = np.zeros((W.shape[1], _LANES))
    at, best = np.empty(_LANES), np.empty(_LANES)
    value, slope, curvature = np.empty(_LANES), np.empty(_LANES), np.empty(_LANES)
    for begin in range(0, len(W), _LANES):
        rows = W[begin : begin + _LANES]
        for i, row in enumerate(rows):
            for j in range(len(row)):
                columns[j, i] = row[j]
        value[:], slope[:], curvature[:] = 0.0, 0.0, 0.0
        for j, w in enumerate(columns):
            v, s, c = terms[0, j], terms[1, j], terms[2, j]
            for i in range(_LANES):
                value[i] += v * w[i]
                slope[i] += s * w[i]
                curvature[i] += c * w[i]
        at[:], best[:] = low, value
        start = low
        for k, end in enumerate(knots):
            length = end - start
            turns = False
            for i in range(_LANES):
                turns |= (slope[i] < 0) & (slope[i] + length * curvature[i] > 0)
            if turns:
                _visit_minima(value, slope, curvature, start, length, at, best)
            w, s, c = columns[owner[k]], slope_jumps[k], curvature_jumps[k]
            for i in range(_LANES):
                value[i] += length * (slope[i] + length / 2 * curvature[i])
                slope[i] += length * curvature[i] + s * w[i]
                curvature[i] += c * w[i]
                better = value[i] < best[i]
                at[i] = end if better else at[i]
                best[i] = value[i] if better else best[i]
            start = end
        z[begin : begin + len(rows)] = at[: len(rows)]


# ------------------------------------------------------------------ smooth losses


def product(W, G):
    """W (m, n) times the transpose of G (g, n), of few rows: BLAS would spend most of its time on copying W."""
    m, g = len(W), len(G)
    F = np.zeros((g + g % 2, m + -m % 4))  # tiles of four queries and two rows of G
    _multiply(np.ascontiguousarray(W), G if g % 2 == 0 else np.concatenate([G, G[-1:]]), F)
    return F[:g, :m].T


@_compile
def _multiply(W, G, F):
    """Add ``G W'`` to F, in tiles of four rows of W and two rows of G."""
    m, n = W.shape
    for i in range(0, m, 4):
        for start in range(0, n, _CHUNK):
            part = slice(start, start + _CHUNK)
            p, q, r, s = W[i, part], W[min(i + 1, m - 1), part], W[min(i + 2, m - 1), part], W[min(i + 3, m - 1), part]
            for k in range(0, len(G), 2):
                u, v = G[k, part], G[k + 1, part]
                pu = pv = qu = qv = ru = rv = su = sv = 0.0
                for j in range(len(u)):
                    pu += p[j] * u[j]
                    qu += q[j] * u[j]
                    ru += r[j] * u[j]
                    su += s[j] * u[j]
                    pv += p[j] * v[j]
                    qv += q[j] * v[j]
                    rv += r[j] * v[j]
                    sv += s[j] * v[j]
                for row, a, b in ((i, pu, pv), (i + 1, qu, qv), (i + 2, ru, rv), (i + 3, su, sv)):
                    F[k, row] += a
                    F[k + 1, row] += b


def has_formula(loss):
    """Whether `newton` knows the derivatives of the loss."""
    return type(loss) in _FORMULAS


def newton(W, query, z, left, right, Y, loss, max_steps, negligible):
    """Local minimisers (p,); arguments as those of ``scalar._newton`` and its two constants."""
    z = z.copy()
    formula = _FORMULAS[type(loss)]
    _descend(np.ascontiguousarray(W), query, z, left, right, Y, formula, float(loss.width), max_steps, negligible)
    return z


@_compile
def _derivatives(formula, r, c):
    """First and second derivatives at the residual r."""
    if formula == 0:  # Cauchy
        u = 1 / (1 + r * r / (c * c))
        return 2 * r * u, 2 * u * (2 * u - 1)
    if formula == 1:  # Geman-McClure
        u = 1 / (1 + r * r / (c * c))
        return 2 * r * u * u, u * u * (8 * u - 6)
    if formula == 2:  # Fair
        u = c / (abs(r) + c)
        return r * u, u * u
    u = 1 / np.sqrt(1 + r * r)  # L2-L1
    return r * u, u * u * u


@_compile
def _descend(W, query, z, left, right, Y, formula, width, max_steps, negligible):
    """Move z (p,) to local minimisers by Newton's method, with bisection where it fails."""
    for p in range(len(z)):
        w, at, a, b = W[query[p]], z[p], left[p], right[p]
        for _ in range(max_steps):
            slope, curvature = 0.0, 0.0
            for j in range(len(w)):
                s, c = _derivatives(formula, at - Y[j], width)
                slope += w[j] * s
                curvature += w[j] * c
            if slope == 0:
                break
            if slope < 0:
                a = at
            else:
                b = at
            new, small = (a + b) / 2, 1e-12 * (abs(at) + width)
            if curvature > 0 and a <= at - slope / curvature <= b:
                new, small = at - slope / curvature, negligible * width
            moved, at = abs(new - at), new
            if moved <= small:
                break
        z[p] = at
