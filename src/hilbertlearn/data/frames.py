"""Outputs in data frames and series of pandas and polars: their values, and predictions in the same form.

Neither library is imported: objects of pandas have ``iloc``, objects of polars ``to_arrow``.
"""

from __future__ import annotations

import numbers
from dataclasses import dataclass
from typing import Any

import numpy as np

from .items import is_missing, object_array
from .times import points_in

_NUMBERS = "biuf"  # kinds of numeric dtypes


def check_collected(y, name):
    """Raise if y is a LazyFrame of polars, which is a query without rows."""
    if hasattr(y, "collect_schema") and not hasattr(y, "to_arrow"):
        raise TypeError(f"{name} is a {type(y).__name__}, a query without rows; give {name}.collect()")


def is_framed(y):
    """Whether y is a data frame or a series."""
    return _is_pandas(y) or hasattr(y, "to_arrow")


def is_frame(y):
    """Whether y is a data frame."""
    return is_framed(y) and hasattr(y, "columns")


def columns_of(frame):
    """The columns of a data frame as series, in order, also if names repeat; a series is its only column."""
    if not is_frame(frame):
        return [frame]
    return [frame.iloc[:, j] for j in range(frame.shape[1])] if _is_pandas(frame) else list(frame.get_columns())


def with_columns(frame, values):
    """A copy of a data frame with columns replaced; values : {position: array (n,)}."""
    if _is_pandas(frame):
        frame = frame.copy(deep=False)
        for j, column in values.items():
            frame.isetitem(j, column)
        return frame
    columns = list(frame.get_columns())
    return frame.with_columns([type(columns[j])(columns[j].name, column) for j, column in values.items()])


def values_of(y):
    """Values (n,) of a series or (n, d) of a data frame; other data unchanged.

    Missing values (None, NaN, pandas.NA) are NaN among numbers; other values become an array of objects with None.
    """
    if not is_framed(y):
        return y
    columns = [column_values(column) for column in columns_of(y)]
    if not is_frame(y):
        return columns[0]
    if all(column.dtype.kind in _NUMBERS for column in columns):
        return np.column_stack(columns) if columns else np.empty((len(y), 0))
    out = np.empty((len(y), len(columns)), dtype=object)
    for j, column in enumerate(columns):
        out[:, j] = column
    return out


def column_values(column):
    """Values (n,) of a series, as in ``values_of``."""
    if _is_pandas(column) and column.dtype.kind in _NUMBERS and column.isna().any():  # also nullable dtypes
        return column.to_numpy(dtype=float, na_value=np.nan)
    values = np.asarray(column.to_numpy())
    return values if values.dtype.kind in _NUMBERS else item_values(column)


def item_values(items):
    """Values (n,) of objects: numbers with NaN for missing values, or the objects with None."""
    values = object_array([None if is_missing(item) else item for item in items])
    known = [item for item in values if item is not None]
    if not known or not all(isinstance(item, (numbers.Real, np.bool_)) for item in known):
        return values
    return np.array([np.nan if item is None else item for item in values])  # numbers stored as objects


def numbers_of(y):
    """``values_of`` a data frame or a series, which must be numeric; other data unchanged."""
    values = values_of(y)
    if not is_framed(y) or values.dtype != object:
        return values
    names = y.columns if is_frame(y) else ["y" if y.name is None else y.name]
    columns = zip(names, columns_of(y), strict=True)
    not_numeric = [name for name, column in columns if column_values(column).dtype == object]
    raise ValueError(
        f"{', '.join(map(repr, not_numeric))} holds no numbers; leave it out, or turn it into numbers first"
    )


def integer_dtype(y):
    """The common dtype of integer or boolean columns, ignoring missing values; None for other columns."""
    known = (column.dropna() if _is_pandas(column) else column.drop_nulls() for column in columns_of(y))
    dtypes = [column_values(column).dtype for column in known]
    return np.result_type(*dtypes) if dtypes and all(dtype.kind in "biu" for dtype in dtypes) else None


def check_order(y, names, name, other):
    """Raise if a data frame has columns of these names in another order: entries are compared by position.

    name, other : names of the two in the message
    """
    if not is_frame(y):
        return
    columns, expected = list(y.columns), list(names)
    if columns != expected and set(columns) == set(expected):
        raise ValueError(
            f"{name} has the columns of {other} in another order, {columns} in place of {expected}; "
            f"give {name}[names] with these names"
        )


def points_of(y):
    """Points (m,) from the column names of a data frame, and their origin, by ``points_in``; None without points."""
    return points_in(y.columns) if is_frame(y) else None


@dataclass(frozen=True)
class FrameForm:
    """The form of outputs in a data frame or a series, in which predictions are returned."""

    frame: Any  # class of the data frame
    series: Any  # class of the series, None for a data frame
    names: Any  # columns of a data frame, or name of a series
    dtypes: tuple
    index: Any  # in pandas, None in polars

    @classmethod
    def from_outputs(cls, y) -> FrameForm | None:
        """The form of outputs y; None unless they are a data frame or a series."""
        if not is_framed(y):
            return None
        dtypes, index = tuple(column.dtype for column in columns_of(y)), y.index if _is_pandas(y) else None
        if is_frame(y):
            return cls(type(y), None, y.columns, dtypes, index)
        return cls(type(y.to_frame()), type(y), y.name, dtypes, index)

    def wrap(self, values, index=None, points=None):
        """Outputs (n,) or (n, d) as a series or a data frame; other data, such as irregular functions, unchanged.

        index : of the samples, None for 0, 1, ...
        points : points of functions, None for the columns of the training outputs
        """
        if not isinstance(values, np.ndarray):
            return values
        if self.series is not None and points is None:
            return self._series(values, index) if values.ndim == 1 else values
        if values.dtype == object and values.ndim == 1:  # rows of candidates
            values = np.array([list(row) for row in values], dtype=object)
        names = self.names if points is None else self._column_names(points)
        if values.ndim != 2 or values.shape[1] != len(names):
            return values
        if self.index is None:
            frame = self.frame(dict(zip(names, map(_as_list, values.T), strict=True)))
        else:
            frame = self.frame(values, columns=names, index=index)
        return frame if points is not None else self._typed(frame, values)

    def check(self, y):
        """Raise if y has the columns of the training outputs in another order: scores compare by position."""
        if self.series is None:
            check_order(y, self.names, "y", "the training outputs")

    def _series(self, values, index):
        if self.index is None:
            series = self.series(self.names, _as_list(values))
        else:
            series = self.series(values, index=index, name=self.names)
        return self._typed(series, values)

    def _typed(self, frame, values):
        """The frame with the dtypes of the training outputs, if these can represent all its labels."""
        if values.dtype.kind == "f":  # computed numbers, not labels
            return frame
        types = self.dtypes[0] if self.series is not None or len(set(self.dtypes)) == 1 else None
        if types is None:
            types = dict(zip(self.names, self.dtypes, strict=True))
        try:
            cast = frame.astype(types) if self.index is not None else frame.cast(types)
        except Exception:  # errors of pandas and polars: candidates may be any objects
            return frame
        is_changed = values_of(cast) != values_of(frame)
        return frame if np.any(is_changed) else cast

    def _column_names(self, points):
        """Points as column names: text if the training columns have text names, as all columns of polars have."""
        text = self.index is None or (self.series is None and all(isinstance(name, str) for name in self.names))
        if not text:
            return points
        return [str(float(point)) if isinstance(point, numbers.Real) else str(point) for point in points]


def _is_pandas(y):
    return hasattr(y, "iloc")


def _as_list(values):
    """A list of objects, which polars needs; numbers stay an array."""
    return values.tolist() if values.dtype == object else values
