"""Numbers: minimise ``sum_i w_i loss(z, y_i)`` over z, for all queries at once, to the global minimum.

Losses made of quadratic pieces are minimised exactly, by running sums over their kinks. For the others the objectives
of all queries on a grid are one matrix product. Queries with a basin in common then share a polynomial through nodes in
it, again a product, and Newton's method refines what the polynomial leaves uncertain.
Weights may be negative. The objective of an unbounded loss may then have no minimum: z is confined to ``loss.span(Y)``,
the range of the outputs, in which it lies anyway when weights are not negative.
"""

from __future__ import annotations

from itertools import zip_longest

import numpy as np
from numpy.polynomial import chebyshev

_POINTS_PER_WIDTH = 3  # of the grid, on the distance over which the loss bends
_EVEN_POINTS = 25  # over the whole range, however wide it is
_ON_GRID = 2**24  # losses of all outputs on the grid, 128 MB
_NODES = 16  # of the polynomial in a basin
_BLOCK = 2**22  # entries of a matrix of objectives, 32 MB
_ROWS = 2048  # queries of one scan over the kinks: vectors of them fit in the cache
_PIECES = 32  # knots of a scan between two looks for the least value
_CACHED = 2**15  # entries of a matrix of loss terms: several of them fit in the second-level cache
_NEGLIGIBLE = 1e-5  # Newton step relative to the width: the one after it would be of its squared order
_ACCURATE = 1e-8  # error of a polynomial's minimiser, relative to the width, that needs no Newton step
_MAX_STEPS = 60


def decode(W, Y, loss):
    """Predictions (m,) from weights W (m, n) of the outputs Y (n,) under a scalar loss."""
    W, Y = np.asarray(W, dtype=float), np.asarray(Y, dtype=float)
    low, high = loss.span(Y)
    if low == high:
        return np.full(len(W), low)
    kinks = loss.kinks(Y)
    if kinks is None:
        grid = _grid(Y, loss)
        on_grid = loss.value(grid[:, None], Y)
        parts = [_by_grid(W[rows], Y, loss, grid, on_grid) for rows in _blocks(len(W), _BLOCK // len(grid))]
    else:
        parts = [_by_pieces(W[rows], Y, loss, kinks) for rows in _blocks(len(W), _ROWS)]
    return np.concatenate(parts) if parts else np.empty(0)


# ------------------------------------------------------------------ losses made of quadratic pieces


def _by_pieces(W, Y, loss, kinks):
    """Exact minimisers: from knot to knot, with value, slope and second derivative of all objectives."""
    low, high = loss.span(Y)
    knots, owner, slope_jumps, curvature_jumps = _sorted_kinks(kinks, low, high)
    value, slope, curvature = np.column_stack([loss.value(low, Y), *loss.derivatives(low, Y)]).T @ W.T
    columns = np.ascontiguousarray(W.T)
    bent = curvature_jumps.any() or curvature.any()
    z, best, term = np.full(len(W), low), value.copy(), np.empty(len(W))
    values = np.empty((_PIECES, len(W)))
    knots = np.append(knots, high)
    start = low
    # the piece that ends at a knot, then what jumps there: plain numbers, since there is little else to do for each
    for k, (end, i, slope_jump, curvature_jump) in enumerate(
        zip_longest(knots.tolist(), owner.tolist(), slope_jumps.tolist(), curvature_jumps.tolist(), fillvalue=0)
    ):
        if bent:
            _turning_points(z, best, start, end - start, value, slope, curvature)
            slope += np.multiply(curvature, (end - start) / 2, out=term)  # the mean slope of the piece, ...
        value = np.add(value, np.multiply(slope, end - start, out=term), out=values[k % _PIECES])
        if bent:
            slope += np.multiply(curvature, (end - start) / 2, out=term)  # ... then the one at its end
        if (k + 1) % _PIECES == 0 or k + 1 == len(knots):
            _best_knots(z, best, knots[k - k % _PIECES : k + 1], values)
        if slope_jump:
            slope += np.multiply(columns[i], slope_jump, out=term)
        if curvature_jump:
            curvature += np.multiply(columns[i], curvature_jump, out=term)
        start = end
    return z


def _best_knots(z, best, knots, values):
    """Put into z and best the least of values (at least k, m) at knots (k,), where it is better."""
    better = np.flatnonzero(values[: len(knots)].min(axis=0) < best)
    some = values[: len(knots), better]
    least = some.argmin(axis=0)
    z[better], best[better] = knots[least], some[least, np.arange(len(better))]


def _turning_points(z, best, start, length, value, slope, curvature):
    """Put into z and best the minima inside a piece, where they are better."""
    turns = np.flatnonzero((slope < 0) & (slope + length * curvature > 0))
    shift = -slope[turns] / curvature[turns]
    depth = value[turns] + slope[turns] * shift / 2
    better = depth < best[turns]
    best[turns[better]] = depth[better]
    z[turns[better]] = start + shift[better]


def _sorted_kinks(kinks, low, high):
    """Positions of the kinks inside (low, high) in order, the outputs they belong to, jumps of slope and curvature."""
    if not kinks:
        empty = np.empty(0)
        return empty, np.empty(0, dtype=int), empty, empty
    positions = np.concatenate([position for position, _, _ in kinks])
    n = len(positions) // len(kinks)
    order = np.argsort(positions, kind="stable")
    order = order[(positions[order] > low) & (positions[order] < high)]
    slope_jumps, curvature_jumps = (np.repeat([kink[i] for kink in kinks], n)[order] for i in (1, 2))
    return positions[order], order % n, slope_jumps, curvature_jumps


# ------------------------------------------------------------------ smooth losses


def _by_grid(W, Y, loss, grid, on_grid):
    """Global minimisers: the objectives on the grid, then every basin that may be the deepest."""
    query, j, z = basins((on_grid @ W.T).T, grid)  # in this order the product is faster
    left, right = grid[np.maximum(j - 1, 0)], grid[np.minimum(j + 1, len(grid) - 1)]
    unsure = _by_polynomials(z, W, query, j, left, right, Y, loss)
    z[unsure] = _newton(W, query[unsure], z[unsure], left[unsure], right[unsure], Y, loss)
    return _deepest(W, query, z, Y, loss)


def _grid(Y, loss):
    """Points over the span of the predictions, close together where there are outputs, sorted.

    Steps are a fraction of the loss's width near outputs, where the objective bends. An outlier adds a few points only.
    When that makes too many points they are further apart, and the minimum found may be one of several local ones: with
    1000 outputs, when the width is less than 1/5000 of their range.
    """
    low, high = loss.span(Y)
    step = min(loss.width / _POINTS_PER_WIDTH, (high - low) / (_EVEN_POINTS - 1))
    while True:
        even = np.linspace(0, (high - low) / step, _EVEN_POINTS)
        near = np.unique(np.round((Y - low) / step))[:, None] + np.arange(-_POINTS_PER_WIDTH, _POINTS_PER_WIDTH + 1)
        cells = np.unique(np.round(np.concatenate([even, near.ravel()])))
        inside = low + step * cells
        inside = inside[(inside > low + step / 2) & (inside < high - step / 2)]
        if len(inside) <= max(_ON_GRID // len(Y), 2 * _EVEN_POINTS):
            return np.concatenate([[low], inside, [high]])
        step *= 2


def basins(F, grid):
    """Local minima of the objectives F (m, g) on the grid that may be the global one: query, grid point, start (p,).

    A parabola through three points says how much deeper than its grid point a basin is; twice that is granted to each.
    """
    lower = np.ones(F.shape, dtype=bool)
    np.less(F[:, 1:], F[:, :-1], out=lower[:, 1:])
    lower[:, :-1] &= F[:, :-1] <= F[:, 1:]
    query, j = np.divmod(np.flatnonzero(lower), len(grid))
    middle = np.clip(j, 1, len(grid) - 2)
    d1, d2 = ((F[query, i + 1] - F[query, i]) / (grid[i + 1] - grid[i]) for i in (middle - 1, middle))
    h1, h2 = grid[middle] - grid[middle - 1], grid[middle + 1] - grid[middle]
    slope, curvature = (d1 * h2 + d2 * h1) / (h1 + h2), 2 * (d2 - d1) / (h1 + h2)
    turns = (j == middle) & (curvature > 0)  # at the ends of the grid the start is the end itself
    shift = np.where(turns, -slope / np.where(turns, curvature, 1.0), 0.0)
    keep = F[query, j] + slope * shift <= F.min(axis=1)[query]
    return query[keep], j[keep], grid[j[keep]] + shift[keep]


def _by_polynomials(z, W, query, j, left, right, Y, loss):
    """Put minimisers of interpolating polynomials into z (p,) where basins hold enough queries.

    Returns the basins (indices) whose minimiser is not accurate: the size of the last coefficients tells.
    """
    groups = np.split(np.argsort(j, kind="stable"), np.cumsum(np.bincount(j))[:-1])
    groups = [group for group in groups if len(group) > _NODES]
    if not groups:
        return np.arange(len(z))
    coefficients = np.concatenate([_coefficients(W, query[g], left[g[0]], right[g[0]], Y, loss) for g in groups])
    members = np.concatenate(groups)
    u, error = _polynomial_minimisers(coefficients)
    half = (right - left)[members] / 2
    z[members] = np.clip(left[members] + half * (1 + u), left[members], right[members])
    sure = np.zeros(len(z), dtype=bool)
    sure[members[error * half <= _ACCURATE * loss.width]] = True
    return np.flatnonzero(~sure)


def _coefficients(W, query, left, right, Y, loss):
    """Chebyshev coefficients (p, _NODES) of the objectives of rows `query` (p,) of W between left and right."""
    nodes = chebyshev.chebpts1(_NODES)
    transform = chebyshev.chebvander(nodes, _NODES - 1) * (2 / _NODES)
    transform[:, 0] /= 2
    at_nodes = loss.value(left + (right - left) / 2 * (1 + nodes[:, None]), Y)
    weighted = transform.T @ at_nodes
    # few rows at a time, which are still in the cache when they are multiplied
    return np.concatenate([W[query[part]] @ weighted.T for part in _blocks(len(query), _CACHED // len(Y))])


def _polynomial_minimisers(coefficients):
    """Minimisers (p,) in [-1, 1] of Chebyshev series (p, k), and their errors as estimated from the last terms."""
    samples = np.linspace(-1, 1, 2 * _NODES + 1)
    u = samples[np.argmin(coefficients @ chebyshev.chebvander(samples, _NODES - 1).T, axis=1)]
    first = coefficients @ chebyshev.chebder(np.eye(_NODES)).T
    second = first @ chebyshev.chebder(np.eye(_NODES - 1)).T
    for _ in range(5):
        polynomials = chebyshev.chebvander(u, _NODES - 2)
        slope = np.einsum("ij,ij->i", first, polynomials)
        curvature = np.einsum("ij,ij->i", second, polynomials[:, :-1])
        step = np.clip(-slope / np.where(curvature > 0, curvature, np.inf), -0.5 / _NODES, 0.5 / _NODES)
        u, before = np.clip(u + step, -1, 1), u
    moved = np.abs(u - before)
    tail = np.abs(coefficients[:, -2:]).max(axis=1) * _NODES**2  # bounds the slope's error
    at_end = (np.abs(u) == 1) & (slope * u < -tail)
    error = np.where(curvature > 0, moved + tail / np.where(curvature > 0, curvature, 1.0), np.inf)
    return u, np.where(at_end, 0.0, error)


def _newton(W, query, z, left, right, Y, loss):
    """Local minimisers (p,) of the objectives of rows `query` of W, each between left and right, from z.

    Bisection by the sign of the slope replaces Newton steps that leave the bracket or meet negative curvature.
    """
    z, left, right = z.copy(), left.copy(), right.copy()
    active = np.arange(len(z))
    for _ in range(_MAX_STEPS):
        slope, curvature = _derivatives(W, query[active], z[active], Y, loss)
        at, a, b = z[active], left[active], right[active]
        a, b = np.where(slope < 0, at, a), np.where(slope > 0, at, b)
        left[active], right[active] = a, b
        step = -slope / np.where(curvature > 0, curvature, np.inf)
        newton = (curvature > 0) & (at + step >= a) & (at + step <= b)
        new = np.where(newton, at + step, (a + b) / 2)
        new = np.where(slope == 0, at, new)
        z[active] = new
        small = np.where(newton, _NEGLIGIBLE * loss.width, 1e-12 * (abs(at) + loss.width))
        active = active[abs(new - at) > small]
        if not len(active):
            break
    return z


def _derivatives(W, query, z, Y, loss):
    """Slope and second derivative (p,) of the objective of row query[p] of W at z[p]."""
    slope, curvature = np.empty(len(z)), np.empty(len(z))
    for part in _blocks(len(z), _CACHED // len(Y)):
        weights = W[query[part]]
        first, second = loss.derivatives(z[part, None], Y)
        slope[part] = np.einsum("ij,ij->i", weights, first)
        curvature[part] = np.einsum("ij,ij->i", weights, second)
    return slope, curvature


def _deepest(W, query, z, Y, loss):
    """Of the minimisers z (p,) of each query, the one of least objective (m,); a query's minimisers are adjacent."""
    first = np.flatnonzero(np.diff(query, prepend=-1))
    out = z[first]
    counts = np.diff(np.append(first, len(query)))
    several = np.flatnonzero(np.repeat(counts > 1, counts))
    value = np.empty(len(several))
    for part in _blocks(len(several), _CACHED // len(Y)):
        pairs = several[part]
        value[part] = np.einsum("ij,ij->i", W[query[pairs]], loss.value(z[pairs, None], Y))
    order = several[np.lexsort((value, query[several]))]
    best = order[np.flatnonzero(np.diff(query[order], prepend=-1))]
    out[query[best]] = z[best]
    return out


def _blocks(total, size):
    """Slices that cover range(total), each of at most `size` (at least one)."""
    size = max(int(size), 1)
    return (slice(start, min(start + size, total)) for start in range(0, total, size))
