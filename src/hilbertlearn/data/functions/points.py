"""Points of grids: checks, the map to the unit interval, quadrature, and interpolation."""

from __future__ import annotations

import reprlib

import numpy as np

from ..._utils.validation import check_choice
from ..times import read_points


def to_unit(points, domain):
    """Points of an interval mapped to [0, 1]; the point of a degenerate interval to 0."""
    low, high = domain
    return np.clip((np.asarray(points, dtype=float) - low) / (high - low if high > low else 1.0), 0.0, 1.0)


def quadrature(points, weights="trapezoid", name="weights"):
    """Quadrature weights (m,) of sum 1 for increasing points (m,) of the unit interval.

    weights : "trapezoid" for the trapezoid rule, "equal", or non-negative numbers (m,) with a positive sum
    """
    m = len(points)
    if isinstance(weights, str):
        check_choice(weights, name, ("trapezoid", "equal"))
        steps = np.diff(points, prepend=points[0], append=points[-1])
        weights = np.ones(m) if weights == "equal" or m == 1 else steps[:-1] + steps[1:]
    else:
        message = f"{name} must be 'trapezoid', 'equal' or {m} non-negative numbers, one for each point of the grid"
        weights = non_negative(weights, m, message)
        if not weights.any():
            raise ValueError(f"{message}, got zeros only")
        weights = weights / weights.max()  # avoids overflow of the sum
    return weights / weights.sum()


def scattered_quadrature(points):
    """Weights (m,) of sum 1 of the trapezoid rule at points (m,) in any order; equal weights if all points coincide."""
    order = np.argsort(points)
    if not len(points) or points[order[0]] == points[order[-1]]:
        return np.full(len(points), 1 / max(len(points), 1))
    weights = np.empty(len(points))
    weights[order] = quadrature(points[order])
    return weights


def non_negative(values, number, message):
    """Values as an array (number,) of finite floats >= 0; a ValueError with the message and the bad value otherwise."""
    try:
        numbers = np.asarray(values, dtype=float)
    except (TypeError, ValueError):
        numbers = np.array(np.nan)  # refused below
    valid = np.isfinite(numbers) & (numbers >= 0)
    if numbers.shape != (number,):
        raise ValueError(f"{message}, got {reprlib.repr(values)} of shape {numbers.shape}")
    if not valid.all():
        raise ValueError(f"{message}, got {numbers[~valid][0]:g} at index {np.argmin(valid)}")
    return numbers


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
    """Raise unless each grid increases and has one point for each value on its axis."""
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
    """Grids as a tuple of arrays, from one array, or from a tuple of arrays for several variables.

    origins : as in ``read_axes``
    """
    return read_axes(grid, origins)[0]


def read_axes(grid, origins=None):
    """Grids as a tuple of arrays, and a tuple of the origins of dates, None for axes without dates.

    origins : origins of dates of each axis; missing or None for axes that must not have dates. None takes the first
        date of each axis
    """
    has_several_axes = isinstance(grid, tuple) and len(grid) > 0 and np.ndim(grid[0]) > 0
    grids = grid if has_several_axes else (grid,)
    all_origins = [None] * len(grids) if origins is None else [*origins, *[None] * len(grids)]
    try:
        axes = [[axis] if np.ndim(axis) == 0 else axis for axis in grids]
        axes_with_origins = [read_points(axis, origin) for axis, origin in zip(axes, all_origins)]
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"grid must be an array of points, or a tuple of them for several variables, got {reprlib.repr(grid)}"
        ) from error
    if origins is not None and any(
        date_origin is not None and origin is None for (_, date_origin), origin in zip(axes_with_origins, all_origins)
    ):
        raise ValueError(f"grid has dates, and the training outputs have numbers for points; got {reprlib.repr(grid)}")
    return tuple(axis for axis, _ in axes_with_origins), tuple(origin for _, origin in axes_with_origins)


def same_points(a, b):
    """Whether two arrays of points are equal up to rounding, relative to the largest."""
    a, b = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    slack = 1e-9 * max(np.abs(a).max(initial=0.0), np.abs(b).max(initial=0.0))
    return a.shape == b.shape and bool((np.abs(a - b) <= slack).all())


def interpolate_observed(points, values, targets):
    """Linear interpolation of the finite values at increasing points, constant beyond them; NaN without any."""
    is_observed = np.isfinite(values)
    return (
        np.interp(targets, points[is_observed], values[is_observed])
        if is_observed.any()
        else np.full(len(targets), np.nan)
    )


def interpolate_rows(axis, rows, points):
    """Values (n, p) at points of functions with values (n, m) on an axis (m,), linear and constant beyond its ends."""
    return np.array([np.interp(points, axis, row) for row in rows]).reshape(len(rows), len(points))


def interpolate_linear(values, grid, points, axis=-1):
    """Linear interpolation at points (p,) along an axis of values on an increasing grid (m,), constant beyond its ends.

    NaN at a grid point makes all values between its neighbours NaN.
    """
    values = np.moveaxis(np.asarray(values, dtype=float), axis, -1)
    right = np.clip(np.searchsorted(grid, points), min(1, len(grid) - 1), len(grid) - 1)
    left = np.maximum(right - 1, 0)
    steps = np.where(right > left, grid[right] - grid[left], 1.0)
    share = np.clip((points - grid[left]) / steps, 0.0, 1.0)
    # at a grid point only its own value is used, also next to NaN
    result = np.where(share < 1, (1 - share) * values[..., left], 0.0) + np.where(
        share > 0, share * values[..., right], 0.0
    )
    return np.moveaxis(result, -1, axis)


def fill_gaps(values, axes):
    """Values (n, m_1, ..., m_k, p) with NaN replaced by linear interpolation, constant beyond the ends.

    Gaps are filled along the first axis, the rest along the next. Functions without any value stay NaN.
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
