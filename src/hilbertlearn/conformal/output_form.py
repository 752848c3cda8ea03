"""Conversion of outputs to rows of numbers, and of sets back to the form of the outputs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.utils import check_array

from ..data.frames import FrameForm, numbers_of, points_of
from ..data.functions import (
    DEFAULT_POINTS,
    GridFunctions,
    IrregularFunctions,
    Layout,
    as_axes,
    check_grids,
    check_inside,
    has_points,
    interpolate_linear,
    quadrature,
    read_axes,
    read_functions,
    rows_of_none,
    same_points,
)
from .observations import IrregularOutputs, RowOutputs

_SMOOTHING = 0.02  # standard deviation of the Gaussian smoother of scales, as a share of the domain


@dataclass(frozen=True)
class OutputForm:
    """The form of outputs, and their conversion to rows (n, d) and back.

    Outputs are numbers, vectors, arrays of any shape (functions on a grid), data frames, or containers of functions: on
    a grid, or irregular ones, for which models predict on a common grid.
    """

    shape: tuple  # of one output as an array, () for a number
    frame: FrameForm | None = None  # of a data frame
    layout: Layout | None = None  # of a container of functions
    axes: Any = None  # grids of the variables of functions, None where they are not known
    domain: Any = None
    irregular: bool = False
    origins: tuple = ()  # first dates of the grids that are dates

    @classmethod
    def from_outputs(cls, y, grid=None) -> OutputForm:
        """Read the form of y; grid : parameter of the estimator, the points of arrays or the grid of predictions."""
        if not has_points(y):
            shape = _numbers(y).shape[1:]
            axes, origins = _axes_of(points_of(y), grid, shape)
            return cls(shape, FrameForm.from_outputs(y), axes=axes, origins=origins)
        data, layout = read_functions(y)
        if isinstance(data, GridFunctions):
            return cls(data.values.shape[1:], None, layout, data.axes, data.domain, origins=layout.origins)
        low, high = data.domain
        even_steps = np.linspace(low, high, DEFAULT_POINTS if low < high else 1)
        (axis,) = (even_steps,) if grid is None else as_axes(grid, layout.origins)
        shape = (len(axis), data.n_curves) if data.n_curves > 1 else (len(axis),)
        return cls(shape, None, layout, (axis,), (data.domain,), irregular=True, origins=layout.origins)

    @property
    def size(self) -> int:
        return int(np.prod(self.shape))

    # ---------------------------------------------------------------- to rows

    def rows(self, y):
        """Outputs on the points of the training ones, or predictions, as rows (n, d), NaN where not observed."""
        if not has_points(y):
            if self.frame is not None:
                self.frame.check(y)
            values = _numbers(y)
        else:
            data, _ = read_functions(y, origins=self.origins)
            values = data.to_array() if isinstance(data, IrregularFunctions) else data.values
        if int(np.prod(values.shape[1:])) != self.size:
            raise ValueError(
                f"y must have the shape (n, {', '.join(map(str, self.shape))}) of the training outputs, got "
                f"{values.shape}"
            )
        return values.reshape(len(values), self.size)

    def observations(self, y) -> RowOutputs | IrregularOutputs:
        """Observed outputs: on the training points, or anywhere in their domain."""
        if not has_points(y):
            return RowOutputs(self.rows(y))
        data, _ = read_functions(y, origins=self.origins)
        if isinstance(data, IrregularFunctions):
            return self._irregular_outputs(data.points, data.values)
        if len(data.axes) == len(self._grids) == 1 and not same_points(data.axes[0], self._grids[0]):
            return self._irregular_outputs([data.axes[0]] * len(data), list(data.values))
        return RowOutputs(self.rows(y))

    def observations_on(self, y, axes) -> RowOutputs | IrregularOutputs:
        """``observations``, where an array y is on other grids than the training outputs."""
        if has_points(y) or len(axes) != 1:
            return self.observations(y)
        values = _numbers(y)
        if values.ndim < 2 or values.shape[1] != len(axes[0]):
            return self.observations(y)
        return self._irregular_outputs([axes[0]] * len(values), list(values))

    def _irregular_outputs(self, points, values):
        grids = self._grids
        if len(grids) != 1:
            raise ValueError(f"y must be functions of {len(grids)} variables on the training grid, got points of one")
        curves = self.size // len(grids[0])
        for axis, function in zip(points, values, strict=True):
            if np.size(function) != len(axis) * curves:
                raise ValueError(
                    f"y must have {curves} curve{'s' * (curves > 1)} a sample, as in training, got "
                    f"{np.size(function) // len(axis)}"
                )
            check_inside(axis, (grids[0][0], grids[0][-1]) if self.domain is None else self.domain[0], "points of y")
        values = [function.reshape(len(axis), curves) for axis, function in zip(points, values, strict=True)]
        return IrregularOutputs(list(points), values, grids[0])

    # ---------------------------------------------------------------- other points

    @property
    def _grids(self):
        """Grids of the variables; an unknown grid of arrays has even steps on [0, 1]."""
        if self.axes is not None:
            return self.axes
        return (np.linspace(0.0, 1.0, self.shape[0] if self.shape else 1),)

    def on_grid(self, grid):
        """The form on other grids, and the linear interpolation of rows (..., d) to them."""
        old, new = self._grids, as_axes(grid, self.origins)
        if len(new) != len(old):
            raise ValueError(
                f"grid must have the points of {len(old)} variables, as in training, got {len(new)} arrays"
            )
        check_grids(new, [len(axis) for axis in new], "the band")
        for points, axis, domain in zip(new, old, self.domain or [None] * len(old), strict=True):
            check_inside(points, (axis[0], axis[-1]) if domain is None else domain, "grid")
        sizes, n_curves = [len(axis) for axis in old], self.shape[len(old) :]

        def interpolate(rows):
            values = rows.reshape(*rows.shape[:-1], *sizes, -1)
            for k, (axis, points) in enumerate(zip(old, new, strict=True)):
                values = interpolate_linear(values, axis, points, axis=k - len(old) - 1)
            return values.reshape(*rows.shape[:-1], -1)

        return replace(self, shape=(*(len(axis) for axis in new), *n_curves), axes=new, frame=None), interpolate

    # ---------------------------------------------------------------- back

    def array(self, rows):
        """Rows (n, d) in the shape of the outputs, (n, *shape)."""
        return rows.reshape(len(rows), *self.shape)

    def wrap(self, rows, X=None):
        """Rows (n, d) in the form of the training outputs; X : inputs, whose index a data frame has too."""
        if self.layout is not None:
            values = rows.reshape(len(rows), *(len(axis) for axis in self.axes), -1)
            if self.irregular:  # containers of irregular functions hold no infinite values
                values = np.where(np.isfinite(values), values, np.nan)
            return self.layout.wrap(values, self.axes, self.domain)
        values = self.array(rows)
        if self.frame is not None:
            return self.frame.wrap(values, X.index if hasattr(X, "iloc") else None)
        return values

    def smooth(self, rows):
        """Local root mean squares of positive rows (..., d) along each axis of the domain."""
        values = rows.reshape(*rows.shape[:-1], *(len(axis) for axis in self._grids), -1) ** 2
        for k, axis in enumerate(self._grids):
            weights = np.exp(-((np.subtract.outer(axis, axis) / (_SMOOTHING * (np.ptp(axis) or 1.0))) ** 2) / 2)
            weights *= quadrature(axis)
            along = np.moveaxis(values, k - len(self._grids) - 1, -1) @ (weights / weights.sum(axis=1)[:, None]).T
            values = np.moveaxis(along, -1, k - len(self._grids) - 1)
        return np.sqrt(values).reshape(rows.shape)

    def maximum_over_curves(self, units):
        """Units (..., d) at each point, replaced by the largest of its curve."""
        n_points = int(np.prod([len(axis) for axis in self._grids]))
        curves = units.reshape(-1, n_points, self.size // n_points)
        return np.broadcast_to(curves.max(axis=1, keepdims=True), curves.shape).reshape(units.shape)

    def mean(self, rows):
        """Means (n,) of rows over the domain, by the trapezoidal rule where grids are known, and over curves."""
        if self.axes is None:
            return rows.mean(axis=1)
        values = rows.reshape(len(rows), *(len(axis) for axis in self.axes), -1).mean(axis=-1)
        for axis in reversed(self.axes):
            values = values @ quadrature(axis)
        return values


def with_common_domain(y):
    """Irregular functions as one container, whose parts keep the domain of all; parts of a list would not."""
    return read_functions(y)[0] if isinstance(y, (list, tuple, np.ndarray)) else y


def _axes_of(column_points, grid, shape):
    """Grids of an array of functions, and origins of their dates; None and () where there is no suitable grid.

    column_points : points in the names of columns and their origin, or None
    """
    if grid is not None:
        axes, origins = read_axes(grid)
    elif column_points is not None:
        axes, origins = column_points[:1], column_points[1:]
    else:
        return None, ()
    fits = len(axes) <= len(shape) and all(len(axis) == size for axis, size in zip(axes, shape, strict=False))
    return (axes, origins) if fits and all((np.diff(axis) > 0).all() for axis in axes) else (None, ())


def _numbers(y):
    """Numbers (n, ...) of an array, a list or a data frame."""
    try:
        return check_array(
            rows_of_none(numbers_of(y)),
            dtype=np.float64,
            ensure_2d=False,
            allow_nd=True,
            ensure_all_finite="allow-nan",
            input_name="y",
        )
    except (TypeError, ValueError) as error:
        raise ValueError(f"y must be numbers for intervals, regions and bands: {error}") from error
