"""Numbers: minimise ``sum_i w_i loss(z, y_i)`` over z, for all queries at once, to the global minimum.

Losses made of quadratic pieces are minimised exactly, by running sums over their kinks. For the others the objectives
of all queries on a grid are one matrix product. Queries with a basin in common then share a polynomial through nodes in
it, again a product, and Newton's method refines uncertain minimisers. Where numba is installed, compiled loops process
many weights; they use Newton's method only.

Weights may be negative. The objective of an unbounded loss may then have no minimum: z is confined to ``loss.span(Y)``,
the range of the outputs, which contains the minimum if no weight is negative.
"""

from __future__ import annotations

import numpy as np
from numpy.polynomial import chebyshev

from .._utils.blocks import slices
from .candidates import block_size

_POINTS_PER_WIDTH = 3  # grid points on the distance `loss.width` over which the loss bends
_EVEN_POINTS = 25  # smallest number of grid points, evenly spaced over the range of predictions
_GRID_LOSSES = 2**24  # largest number of losses of all outputs at all grid points, 128 MB
_NODES = 16  # nodes of the polynomial that interpolates the objective in a basin
_ROWS = 2048  # queries of a block; vectors of this length fit in the cache
_PIECES = 64  # kinks after which a block is searched for minima
_CACHED = 2**15  # loss terms of a block, 256 kB, so that several such matrices fit in the second-level cache
_NEGLIGIBLE = 1e-5  # Newton step, relative to the width, after which iterations end; the next would be about its square
_MAX_STEPS = 60  # steps of Newton's method at most, or of bisection, which needs about 40
_COMPILED_FROM = 2**22  # number of weights from which compiled loops save more time than loading numba takes


def decode_scalar(W, Y, loss):
    """Predictions (m,) from weights W (m, n) of the outputs Y (n,) under a scalar loss."""
    W, Y = np.asarray(W, dtype=float), np.asarray(Y, dtype=float)
    if Y.ndim != 1 or W.shape != (len(W), len(Y)):  # compiled loops do not check shapes
        raise ValueError(f"weights {W.shape} must have a column for each of the outputs {Y.shape}")
    low, high = loss.span(Y)
    if low == high:
        return np.full(len(W), low)
    compiled = _compiled() if W.size >= _COMPILED_FROM else None
    kinks = loss.kinks(Y)
    if kinks is not None:
        terms = np.stack([loss.value(low, Y), *loss.derivatives(low, Y)])
        pieces = _sorted_kinks(kinks, low, high)
        if compiled and len(pieces[0]) > 1:
            return np.concatenate(compiled.in_threads(lambda part: compiled.by_pieces(part, terms, low, *pieces), W))
        return _by_pieces(W, terms, low, *pieces)
    if compiled and not compiled.has_formula(loss):
        compiled = None
    grid = _grid(Y, loss)
    grid_losses = loss.value(grid[:, None], Y)

    def decode_part(part):
        blocks = slices(len(part), block_size(2**22) // len(grid))  # 32 MB of objectives on the grid
        return np.concatenate(
            [np.empty(0), *(_by_grid(part[rows], Y, loss, grid, grid_losses, compiled) for rows in blocks)]
        )

    return np.concatenate(compiled.in_threads(decode_part, W)) if compiled else decode_part(W)


def _compiled():
    """The module of compiled loops, None where numba is not installed."""
    try:
        from . import scalar_compiled
    except ImportError:
        return None
    return scalar_compiled


# ------------------------------------------------------------------ losses made of quadratic pieces


def _sorted_kinks(kinks, low, high):
    """Positions of the kinks inside (low, high) in order, the outputs they belong to, jumps of slope and curvature.

    The last one is high, without a jump.
    """
    positions = np.concatenate([np.empty(0), *(position for position, _, _ in kinks)])
    n = len(positions) // max(len(kinks), 1)
    order = np.argsort(positions, kind="stable")
    order = order[(positions[order] > low) & (positions[order] < high)]
    jumps = (np.repeat([kink[i] for kink in kinks], n)[order] for i in (1, 2))
    return np.append(positions[order], high), np.append(order % max(n, 1), 0), *(np.append(j, 0.0) for j in jumps)


def _by_pieces(W, terms, low, knots, owner, slope_jumps, curvature_jumps):
    """Exact minimisers (m,). `terms` (3, n) are value, slope and second derivative of each output's loss at low."""
    z = np.empty(len(W))
    # all blocks share this memory: allocating new pages takes longer than filling them
    columns, slopes = (np.empty((rows, min(len(W), _ROWS))) for rows in (len(W.T), _PIECES + 2))
    is_curved = bool(terms[2].any() or curvature_jumps.any())
    unit = max(abs(slope_jumps).max(), abs(curvature_jumps).max()) or 1.0  # the unit in which most jumps are 1 or -1
    kinks = list(zip(*(part.tolist() for part in (knots, owner, slope_jumps / unit, curvature_jumps / unit))))
    for rows in slices(len(W), _ROWS):
        m = rows.stop - rows.start
        value, slope, curvature = (W[rows] @ term / unit for term in terms)
        if len(kinks) > 1:
            columns[:, :m] = W[rows].T
        z[rows] = _scan(columns[:, :m], slopes[:, :m], value, slope, curvature, low, kinks, is_curved)
    return z


def _scan(columns, slopes, value, slope, curvature, low, kinks, is_curved):
    """Minimisers (m,), from the slopes of all objectives at the knots and the values where a slope turns positive.

    The rows of `slopes` are overwritten.
    """
    z, best, change = np.full(len(value), low), value.copy(), np.empty(len(value))
    slopes[0], at = slope, [low]
    # plain Python numbers, because there is little work for each kink
    for end, i, slope_jump, curvature_jump in kinks:
        k = len(at)
        if is_curved:
            np.add(slopes[k - 1], np.multiply(curvature, end - at[-1], out=change), out=slopes[k])
            at.append(end)
            k += 1
        if slope_jump or not is_curved:
            _add(slopes[k - 1], columns[i], slope_jump, slopes[k])
            at.append(end)
        if curvature_jump:
            _add(curvature, columns[i], curvature_jump, curvature)
        if len(at) > _PIECES or end == kinks[-1][0]:
            value = _turning_points(z, best, value, slopes[: len(at)], np.array(at), is_curved)
            slopes[0], at = slopes[len(at) - 1], at[-1:]
    return np.where(value < best, at[-1], z)


def _add(a, b, times, out):
    """a + times * b, into out."""
    if times == 1:
        np.add(a, b, out=out)
    elif times == -1:
        np.subtract(a, b, out=out)
    else:
        np.add(a, times * b, out=out)


def _turning_points(z, best, value, slopes, at, is_curved):
    """Update z and best by the minima between at[0] and at[-1]; return the values at at[-1].

    slopes : (k, m) at positions `at` (k,); linear between them if `is_curved`, else constant up to the next position
    value : (m,) values at at[0]
    """
    # integrals of the slope up to each position are weights (k, k) @ slopes
    weights = np.tri(len(at), k=-1) * np.append(np.diff(at), 0.0)
    if is_curved:
        weights[:, 1:] += weights[:, :-1]
        weights /= 2
    negative = slopes < 0
    k, row = np.divmod(np.flatnonzero(negative[:-1] > negative[1:]), len(value))
    if is_curved:  # from a slope a < 0 to b >= 0
        a, b = slopes[k, row], slopes[k + 1, row]
        shift = (at[k + 1] - at[k]) * (a / (a - b))
        depth = np.einsum("pk,kp->p", weights[k], slopes[:, row]) + a * shift / 2
        minima = np.minimum(at[k] + shift, at[k + 1])
    else:
        depth = np.einsum("pk,kp->p", weights[k + 1], slopes[:, row])
        minima = at[k + 1]
    depth += value[row]
    order = np.argsort(-depth)
    order = order[depth[order] < best[row[order]]]  # the deepest minimum of a query is written last
    z[row[order]], best[row[order]] = minima[order], depth[order]
    return value + weights[-1] @ slopes


# ------------------------------------------------------------------ smooth losses


def _by_grid(W, Y, loss, grid, grid_losses, compiled):
    """Global minimisers: objectives on the grid, then a local search in every basin that may be the deepest."""
    # the product is faster in this order
    objectives = compiled.product(W, grid_losses) if compiled else (grid_losses @ W.T).T
    query, j, z = find_basins(objectives, grid)
    left, right = grid[np.maximum(j - 1, 0)], grid[np.minimum(j + 1, len(grid) - 1)]
    if compiled:
        z = compiled.newton(W, query, z, left, right, Y, loss, _MAX_STEPS, _NEGLIGIBLE)
    else:
        coarse = _by_polynomials(z, W, query, j, left, right, Y, loss)
        z[coarse] = _newton(W, query[coarse], z[coarse], left[coarse], right[coarse], Y, loss)
    return _deepest(W, query, z, Y, loss)


def _grid(Y, loss):
    """Increasing points over the span of the predictions, dense around the outputs.

    Around outputs, where the slope of the objective changes, steps are a fraction of the width of the loss. An outlier
    adds a few points only. If there are too many points, steps are larger, and the result may be a local minimum: with
    1000 outputs, if the width is less than 1/5000 of their range.
    """
    low, high = loss.span(Y)
    step = min(loss.width / _POINTS_PER_WIDTH, (high - low) / (_EVEN_POINTS - 1))
    while True:
        even = np.linspace(0, (high - low) / step, _EVEN_POINTS)
        offsets = np.arange(-_POINTS_PER_WIDTH, _POINTS_PER_WIDTH + 1)
        around_outputs = np.unique(np.round((Y - low) / step))[:, None] + offsets
        cells = np.unique(np.round(np.concatenate([even, around_outputs.ravel()])))
        inside = low + step * cells
        inside = inside[(inside > low + step / 2) & (inside < high - step / 2)]
        if len(inside) <= max(_GRID_LOSSES // len(Y), 2 * _EVEN_POINTS):
            return np.concatenate([[low], inside, [high]])
        step *= 2


def find_basins(F, grid):
    """Points near which the global minimum of objectives F (m, g) on the grid may be: query, grid point, start (p,).

    A parabola through a local minimum and its neighbours is deeper than the grid by at most an eighth of their second
    difference. A local minimum is a start if twice this depth would reach the lowest point. Points above the lowest by
    less than a fifth of the largest second difference are starts too: there may be two minima close to them, or one
    between grid points.
    """
    lowest, steps = F.min(axis=1), np.diff(grid)
    bends = np.abs(np.diff(np.diff(F, axis=1) / steps, axis=1))
    bends *= 2 * np.minimum(steps[1:], steps[:-1]) ** 2 / (steps[1:] + steps[:-1])
    is_low = (lowest + 0.2 * bends.max(axis=1))[:, None] > F
    local = np.ones(F.shape, dtype=bool)
    np.less(F[:, 1:], F[:, :-1], out=local[:, 1:])
    local[:, :-1] &= F[:, :-1] <= F[:, 1:]
    query, j = np.divmod(np.flatnonzero(local | is_low), len(grid))
    middle = np.clip(j, 1, len(grid) - 2)
    d1, d2 = ((F[query, i + 1] - F[query, i]) / steps[i] for i in (middle - 1, middle))
    h1, h2 = steps[middle - 1], steps[middle]
    slope, curvature = (d1 * h2 + d2 * h1) / (h1 + h2), 2 * (d2 - d1) / (h1 + h2)
    turns = (j == middle) & (curvature > 0)  # at the ends of the grid the start is the end itself
    shift = np.where(turns, np.clip(-slope / np.where(turns, curvature, 1.0), -h1, h2), 0.0)
    start, local, is_low = grid[j] + shift, local[query, j], is_low[query, j]
    keep = is_low | (F[query, j] - np.abs(curvature) * h1 * h2 / 4 <= lowest[query])
    # a point is dropped if its parabola has nearly the same minimum as that of a local minimum next to it
    agree = (np.diff(query) == 0) & (np.abs(np.diff(start)) < 0.1 * np.minimum(h1, h2)[1:])
    keep[1:] &= ~(agree & local[:-1]) | local[1:]
    keep[:-1] &= ~(agree & local[1:]) | local[:-1]
    return query[keep], j[keep], start[keep]


def _by_polynomials(z, W, query, j, left, right, Y, loss):
    """Put minimisers of interpolating polynomials into z (p,) where basins hold enough queries.

    Returns the indices of basins whose minimiser is not accurate, estimated from the last coefficients.
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
    is_accurate = np.zeros(len(z), dtype=bool)
    is_accurate[members[error * half <= 1e-8 * loss.width]] = True  # accurate enough without a Newton step
    return np.flatnonzero(~is_accurate)


def _coefficients(W, query, left, right, Y, loss):
    """Chebyshev coefficients (p, _NODES) of the objectives of rows `query` (p,) of W between left and right."""
    nodes = chebyshev.chebpts1(_NODES)
    transform = chebyshev.chebvander(nodes, _NODES - 1) * (2 / _NODES)
    transform[:, 0] /= 2
    at_nodes = loss.value(left + (right - left) / 2 * (1 + nodes[:, None]), Y)
    weighted = transform.T @ at_nodes
    # few rows at a time, which are still in the cache when they are multiplied
    return np.concatenate([W[query[part]] @ weighted.T for part in slices(len(query), block_size(_CACHED) // len(Y))])


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
        u, previous = np.clip(u + step, -1, 1), u
    moved = np.abs(u - previous)
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
    for part in slices(len(z), block_size(_CACHED) // len(Y)):
        weights = W[query[part]]
        first, second = loss.derivatives(z[part, None], Y)
        slope[part], curvature[part] = _row_products(weights, first), _row_products(weights, second)
    return slope, curvature


def _deepest(W, query, z, Y, loss):
    """Of the minimisers z (p,) of each query, the best (m,); minimisers of one query are adjacent."""
    # several starts may lead to the same minimiser
    is_distinct = (np.diff(query, prepend=-1) > 0) | (np.abs(np.diff(z, prepend=np.inf)) > 1e-7 * loss.width)
    is_distinct |= z == loss.span(Y)[1]  # bisection does not reach the end exactly
    query, z = query[is_distinct], z[is_distinct]
    first = np.flatnonzero(np.diff(query, prepend=-1))
    out = z[first]
    counts = np.diff(np.append(first, len(query)))
    several = np.flatnonzero(np.repeat(counts > 1, counts))
    value = np.empty(len(several))
    for part in slices(len(several), block_size(_CACHED) // len(Y)):
        pairs = several[part]
        value[part] = _row_products(W[query[pairs]], loss.value(z[pairs, None], Y))
    order = several[np.lexsort((value, query[several]))]
    best = order[np.flatnonzero(np.diff(query[order], prepend=-1))]
    out[query[best]] = z[best]
    return out


def _row_products(A, B):
    """Inner products (p,) of the rows of A and B; faster than einsum."""
    return (A[:, None, :] @ B[:, :, None])[:, 0, 0]
