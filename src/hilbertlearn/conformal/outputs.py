"""Outputs as rows of numbers, and back in the form in which they came."""

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
from .observed import AtOwnPoints, Rows

_NEAR = 0.02  # share of the domain over which scales are smoothed


@dataclass(frozen=True)
class OutputForm:
    """How outputs become rows (n, d) of numbers, and sets of them come back.

    Numbers, vectors, arrays of any shape (functions on a grid), data frames, and containers of functions: on a grid, or
    each at points of its own, for which there is a grid that models predict on.
    """

    shape: tuple  # of one output in an array, () for a number
    frame: FrameForm | None = None
    layout: Layout | None = None  # of a container of functions
    axes: Any = None  # grids of the variables of functions, where they are known
    domain: Any = None
    irregular: bool = False
    origins: tuple = ()  # of the grids that are dates

    @classmethod
    def of(cls, y, grid=None) -> OutputForm:
        """grid : setting of the estimator that says where arrays have their points, and irregular functions a grid"""
        if not has_points(y):
            shape = _numbers(y).shape[1:]
            axes, origins = _axes_of(points_of(y), grid, shape)
            return cls(shape, FrameForm.from_outputs(y), axes=axes, origins=origins)
        data, layout = read_functions(y)
        if isinstance(data, GridFunctions):
            return cls(data.values.shape[1:], None, layout, data.axes, data.domain, origins=layout.origins)
        low, high = data.domain
        even = np.linspace(low, high, DEFAULT_POINTS if low < high else 1)
        (axis,) = (even,) if grid is None else as_axes(grid, layout.origins)
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

    def seen(self, y) -> Rows | AtOwnPoints:
        """What was seen of outputs: on the points of the training ones, or anywhere in their domain."""
        if not has_points(y):
            return Rows(self.rows(y))
        data, _ = read_functions(y, origins=self.origins)
        if isinstance(data, IrregularFunctions):
            return self._at_own_points(data.points, data.values)
        if len(data.axes) == len(self._grids) == 1 and not same_points(data.axes[0], self._grids[0]):
            return self._at_own_points([data.axes[0]] * len(data), list(data.values))
        return Rows(self.rows(y))

    def seen_on(self, y, axes) -> Rows | AtOwnPoints:
        """The same, where an array y is on other grids than the training outputs."""
        if has_points(y) or len(axes) != 1:
            return self.seen(y)
        values = _numbers(y)
        if values.ndim < 2 or values.shape[1] != len(axes[0]):
            return self.seen(y)
        return self._at_own_points([axes[0]] * len(values), list(values))

    def _at_own_points(self, points, values):
        grids = self._grids
        if len(grids) != 1:
            raise ValueError(f"y must be functions of {len(grids)} variables on the training grid, got points of one")
        curves = self.size // len(grids[0])
        for at, own in zip(points, values, strict=True):
            if np.size(own) != len(at) * curves:
                raise ValueError(
                    f"y must have {curves} curve{'s' * (curves > 1)} a sample, as in training, got "
                    f"{np.size(own) // len(at)}"
                )
            check_inside(at, (grids[0][0], grids[0][-1]) if self.domain is None else self.domain[0], "points of y")
        values = [own.reshape(len(at), curves) for at, own in zip(points, values, strict=True)]
        return AtOwnPoints(list(points), values, grids[0])

    # ---------------------------------------------------------------- other points

    @property
    def _grids(self):
        """Grids of the variables; without any, the first axis of arrays has even steps on [0, 1]."""
        if self.axes is not None:
            return self.axes
        return (np.linspace(0.0, 1.0, self.shape[0] if self.shape else 1),)

    def moved(self, grid):
        """The form on other grids, and what takes rows (..., d) there: linear interpolation."""
        old, new = self._grids, as_axes(grid, self.origins)
        if len(new) != len(old):
            raise ValueError(
                f"grid must have the points of {len(old)} variables, as in training, got {len(new)} arrays"
            )
        check_grids(new, [len(axis) for axis in new], "the band")
        for points, axis, own in zip(new, old, self.domain or [None] * len(old), strict=True):
            check_inside(points, (axis[0], axis[-1]) if own is None else own, "grid")
        sizes, rest = [len(axis) for axis in old], self.shape[len(old) :]

        def move(rows):
            values = rows.reshape(*rows.shape[:-1], *sizes, -1)
            for k, (axis, points) in enumerate(zip(old, new, strict=True)):
                values = interpolate_linear(values, axis, points, axis=k - len(old) - 1)
            return values.reshape(*rows.shape[:-1], -1)

        return replace(self, shape=(*(len(axis) for axis in new), *rest), axes=new, frame=None), move

    # ---------------------------------------------------------------- back

    def array(self, rows):
        """Rows (n, d) in the shape of the outputs, (n, *shape)."""
        return rows.reshape(len(rows), *self.shape)

    def wrap(self, rows, X=None):
        """Rows (n, d) in the form of the training outputs; X : inputs, whose index a data frame takes over."""
        if self.layout is not None:
            values = rows.reshape(len(rows), *(len(axis) for axis in self.axes), -1)
            if self.irregular:  # whose containers hold no infinite values
                values = np.where(np.isfinite(values), values, np.nan)
            return self.layout.wrap(values, self.axes, self.domain)
        values = self.array(rows)
        if self.frame is not None:
            return self.frame.wrap(values, X.index if hasattr(X, "iloc") else None)
        return values

    def smoothed(self, rows):
        """Positive rows (..., d) as local root mean squares along each axis of the domain."""
        values = rows.reshape(*rows.shape[:-1], *(len(axis) for axis in self._grids), -1) ** 2
        for k, axis in enumerate(self._grids):
            weights = np.exp(-((np.subtract.outer(axis, axis) / (_NEAR * (np.ptp(axis) or 1.0))) ** 2) / 2)
            weights *= quadrature(axis)
            along = np.moveaxis(values, k - len(self._grids) - 1, -1) @ (weights / weights.sum(axis=1)[:, None]).T
            values = np.moveaxis(along, -1, k - len(self._grids) - 1)
        return np.sqrt(values).reshape(rows.shape)

    def common(self, units):
        """Units (..., d) of functions at each point as those of the whole curve, the largest of them."""
        curves = units.reshape(-1, int(np.prod([len(axis) for axis in self._grids])), self._n_curves)
        return np.broadcast_to(curves.max(axis=1, keepdims=True), curves.shape).reshape(units.shape)

    @property
    def _n_curves(self):
        return self.size // int(np.prod([len(axis) for axis in self._grids]))

    def mean(self, rows):
        """Means (n,) of rows over the domain, by the trapezoidal rule where grids are known, and over curves."""
        if self.axes is None:
            return rows.mean(axis=1)
        values = rows.reshape(len(rows), *(len(axis) for axis in self.axes), -1).mean(axis=-1)
        for axis in reversed(self.axes):
            values = values @ quadrature(axis)
        return values


def with_common_domain(y):
    """Functions at points of their own as one container, whose parts have the domain of all; a list has none."""
    return read_functions(y)[0] if isinstance(y, (list, tuple, np.ndarray)) else y


def _axes_of(named, grid, shape):
    """Grids of an array of functions, and origins of their dates.

    None and () where there is no grid, or it has another shape, as the model will say.

    named : points that names of columns stand for and their origin, or None
    """
    if grid is not None:
        axes, origins = read_axes(grid)
    elif named is not None:
        axes, origins = named[:1], named[1:]
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
