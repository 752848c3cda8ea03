"""Points of grids: checks, the unit interval, quadrature, and interpolation between them."""

from __future__ import annotations

import reprlib

import numpy as np

from ..._utils.validation import check_choice
from ..times import read_points


def to_unit(points, domain):
    """Points of an interval mapped to [0, 1]; the only point of a degenerate interval to 0."""
    low, high = domain
    return np.clip((np.asarray(points, dtype=float) - low) / (high - low if high > low else 1.0), 0.0, 1.0)


def quadrature(points, weights="trapezoid", name="weights"):
    """Weights (m,), of sum 1, of increasing points (m,): what integrals over the unit interval are computed with.

    weights : "trapezoid" for the trapezoid rule, "equal", or non-negative numbers (m,) of any positive sum
    """
    m = len(points)
    if isinstance(weights, str):
        check_choice(weights, name, ("trapezoid", "equal"))
        steps = np.diff(points, prepend=points[0], append=points[-1])
        weights = np.ones(m) if weights == "equal" or m == 1 else steps[:-1] + steps[1:]
    else:
        wanted = f"{name} must be 'trapezoid', 'equal' or {m} non-negative numbers, one for each point of the grid"
        weights = non_negative(weights, m, wanted)
        if not weights.any():
            raise ValueError(f"{wanted}, got zeros only")
        weights = weights / weights.max()  # so that the sum is finite
    return weights / weights.sum()


def scattered_quadrature(points):
    """Weights (m,), of sum 1, of the trapezoid rule at points (m,) in any order, from the first to the last.

    Points that are all the same count equally.
    """
    order = np.argsort(points)
    if not len(points) or points[order[0]] == points[order[-1]]:
        return np.full(len(points), 1 / max(len(points), 1))
    weights = np.empty(len(points))
    weights[order] = quadrature(points[order])
    return weights


def non_negative(values, number, wanted):
    """Values as an array of so many finite floats >= 0, or a ValueError that says what is wanted and what was seen."""
    try:
        given = np.asarray(values, dtype=float)
    except (TypeError, ValueError):
        given = np.array(np.nan)  # refused below
    fine = np.isfinite(given) & (given >= 0)
    if given.shape != (number,):
        raise ValueError(f"{wanted}, got {reprlib.repr(values)} of shape {given.shape}")
    if not fine.all():
        raise ValueError(f"{wanted}, got {given[~fine][0]:g} at index {np.argmin(fine)}")
    return given


def check_inside(points, domain, name):
    """Raise unless all points lie in the interval."""
    low, high = domain
    slack = 1e-9 * max(high - low, abs(low), abs(high))
    outside = (points < low - slack) | (points > high + slack)
    if outside.any():
        raise ValueError(
            f"{name} must lie in the domain [{low:g}, {high:g}], got {points[outside][0]:g}; "
            "give points inside it, or the wider domain when the functions are made"
        )


def check_grids(axes, sizes, name):
    """Raise unless each grid increases and has as many points as its axis of the values."""
    for axis, size in zip(axes, sizes, strict=True):
        if axis.ndim != 1 or len(axis) != size:
            raise ValueError(
                f"grid must have one point for each value on its axis: {name} has {size}, got {axis.shape} points"
            )
        if not np.isfinite(axis).all():
            raise ValueError(f"grid must be finite numbers, got {axis!r}; leave such points out, and {name} there")
        if (np.diff(axis) <= 0).any():
            raise ValueError(f"grid must increase from point to point, got {axis!r}; sort it, and {name} with it")


def as_axes(grid, origins=None):
    """The tuple of grids behind the setting: one array, or a tuple of arrays for several variables.

    origins : that dates are counted from, see ``read_axes``
    """
    return read_axes(grid, origins)[0]


def read_axes(grid, origins=None):
    """The tuple of grids behind the setting, and of the origins of those that are dates, None for others.

    origins : of dates on each axis; missing or None for axes that must not have dates; None for the first date of each
    """
    several = isinstance(grid, tuple) and len(grid) > 0 and np.ndim(grid[0]) > 0
    given = grid if several else (grid,)
    wanted = [None] * len(given) if origins is None else [*origins, *[None] * len(given)]
    try:
        axes = [[axis] if np.ndim(axis) == 0 else axis for axis in given]
        read = [read_points(axis, origin) for axis, origin in zip(axes, wanted)]
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"grid must be an array of points, or a tuple of them for several variables, got {reprlib.repr(grid)}"
        ) from error
    if origins is not None and any(own is not None and origin is None for (_, own), origin in zip(read, wanted)):
        raise ValueError(f"grid has dates, and the training outputs have numbers for points; got {reprlib.repr(grid)}")
    return tuple(axis for axis, _ in read), tuple(origin for _, origin in read)


def same_points(a, b):
    """Whether two arrays of points are equal to rounding, in whatever units."""
    a, b = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    slack = 1e-9 * max(np.abs(a).max(initial=0.0), np.abs(b).max(initial=0.0))
    return a.shape == b.shape and bool((np.abs(a - b) <= slack).all())


def interpolate_observed(points, values, at):
    """Linear interpolation through the finite values at increasing points; NaN if there is none."""
    seen = np.isfinite(values)
    return np.interp(at, points[seen], values[seen]) if seen.any() else np.full(len(at), np.nan)


def interpolate_rows(axis, rows, points):
    """Values (n, p) at points of functions with values rows (n, m) on the axis: linear, constant beyond its ends."""
    return np.array([np.interp(points, axis, row) for row in rows]).reshape(len(rows), len(points))


def interpolate_linear(values, grid, points, axis=-1):
    """Values at points (p,) of functions with values on an increasing grid (m,) along an axis: linear, constant beyond.

    NaN at a point of the grid are NaN from its neighbours on.
    """
    values = np.moveaxis(np.asarray(values, dtype=float), axis, -1)
    right = np.clip(np.searchsorted(grid, points), min(1, len(grid) - 1), len(grid) - 1)
    left = np.maximum(right - 1, 0)
    steps = np.where(right > left, grid[right] - grid[left], 1.0)
    share = np.clip((points - grid[left]) / steps, 0.0, 1.0)
    # on a point of the grid its value counts alone, whatever is beside it
    found = np.where(share < 1, (1 - share) * values[..., left], 0.0) + np.where(
        share > 0, share * values[..., right], 0.0
    )
    return np.moveaxis(found, -1, axis)


def fill_gaps(values, axes):
    """Values (n, m_1, ..., m_k, p) with NaN replaced by linear interpolation, constant beyond the ends.

    It runs along the first axis where that has values, then along the next. Functions without any value stay NaN.
    """
    values = np.array(values, dtype=float)
    for k, axis in enumerate(axes, start=1):
        if not np.isnan(values).any():
            break
        lines = np.moveaxis(values, k, -1)
        for index in np.argwhere(np.isnan(lines).any(axis=-1)):
            line = lines[tuple(index)]
            gaps = np.isnan(line)
            line[gaps] = interpolate_observed(axis, line, axis[gaps])
    return values
