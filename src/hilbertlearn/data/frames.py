"""Outputs in data frames and series, those of pandas and of polars: their values, and predictions in the same form.

Both are known by what they have, so that neither is imported: pandas' objects by ``iloc``, polars' by ``to_arrow``.
"""

from __future__ import annotations

import numbers
from dataclasses import dataclass
from typing import Any

import numpy as np

from .times import points_in

_NUMBERS = "biuf"  # kinds of dtypes


def check_collected(y, name):
    """Raise if y is a LazyFrame of polars, which has a query in place of rows."""
    if hasattr(y, "collect_schema") and not hasattr(y, "to_arrow"):
        raise TypeError(f"{name} is a {type(y).__name__}, a query without rows; give {name}.collect()")


def is_framed(y):
    """Whether y is a data frame or a series."""
    return _of_pandas(y) or hasattr(y, "to_arrow")


def is_frame(y):
    """Whether y is a data frame."""
    return is_framed(y) and hasattr(y, "columns")


def columns_of(frame):
    """Series of the columns of a data frame, in order, whatever they are called; a series is its only column."""
    if not is_frame(frame):
        return [frame]
    return [frame.iloc[:, j] for j in range(frame.shape[1])] if _of_pandas(frame) else list(frame.get_columns())


def with_columns(frame, values):
    """A copy of a data frame with other values in some columns; values : {position: array (n,)}."""
    if _of_pandas(frame):
        frame = frame.copy(deep=False)
        for j, column in values.items():
            frame.isetitem(j, column)
        return frame
    own = list(frame.get_columns())
    return frame.with_columns([type(own[j])(own[j].name, column) for j, column in values.items()])


def values_of(y):
    """Values (n,) of a series or (n, d) of a data frame; anything else as it is.

    Numbers have NaN where they are missing (None, NaN, pandas.NA); anything else is an array of objects, None there.
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
    """Values (n,) of a series: see ``values_of``."""
    if _of_pandas(column) and column.dtype.kind in _NUMBERS and column.isna().any():  # nullable ones too
        return column.to_numpy(dtype=float, na_value=np.nan)
    values = np.asarray(column.to_numpy())
    return values if values.dtype.kind in _NUMBERS else item_values(column)


def item_values(items):
    """Values (n,) of single objects: numbers if all are, NaN where missing; else the objects, None there."""
    values = np.empty(len(items), dtype=object)
    for i, item in enumerate(items):
        values[i] = None if is_missing(item) else item
    known = [item for item in values if item is not None]
    if not known or not all(isinstance(item, (numbers.Real, np.bool_)) for item in known):
        return values
    return np.array([np.nan if item is None else item for item in values])  # numbers that were kept as objects


def numbers_of(y):
    """``values_of`` a data frame or a series that has numbers only; anything else as it is."""
    values = values_of(y)
    if not is_framed(y) or values.dtype != object:
        return values
    names = y.columns if is_frame(y) else ["y" if y.name is None else y.name]
    odd = [name for name, one in zip(names, columns_of(y), strict=True) if column_values(one).dtype == object]
    raise ValueError(f"{', '.join(map(repr, odd))} holds no numbers; leave it out, or turn it into numbers first")


def integer_dtype(y):
    """The dtype of known values if they are integers or booleans, also where some are missing; None otherwise."""
    known = (column.dropna() if _of_pandas(column) else column.drop_nulls() for column in columns_of(y))
    dtypes = [column_values(column).dtype for column in known]
    return np.result_type(*dtypes) if dtypes and all(dtype.kind in "biu" for dtype in dtypes) else None


def check_order(y, names, name, other):
    """Raise if a data frame has columns of these names in another order: entries are compared by position.

    name, other : what the two are called
    """
    if not is_frame(y):
        return
    seen, wanted = list(y.columns), list(names)
    if seen != wanted and set(seen) == set(wanted):
        raise ValueError(
            f"{name} has the columns of {other} in another order, {seen} in place of {wanted}; give {name}[names] with "
            "these names"
        )


def points_of(y):
    """The points (m,) that names of the columns of a data frame stand for, and their origin: see ``points_in``.

    None for anything else than a data frame, and where names are no points.
    """
    return points_in(y.columns) if is_frame(y) else None


@dataclass(frozen=True)
class FrameForm:
    """How outputs in a data frame or a series were handed over, so that predictions come back in the same form."""

    frame: Any  # a class
    series: Any  # a class, None for a data frame
    names: Any  # the columns, or the name of a series
    dtypes: tuple
    index: Any  # of pandas' objects

    @classmethod
    def from_outputs(cls, y) -> FrameForm | None:
        """None for outputs that are no data frame or series."""
        if not is_framed(y):
            return None
        dtypes, index = tuple(column.dtype for column in columns_of(y)), y.index if _of_pandas(y) else None
        if is_frame(y):
            return cls(type(y), None, y.columns, dtypes, index)
        return cls(type(y.to_frame()), type(y), y.name, dtypes, index)

    def wrap(self, values, index=None, points=None):
        """Outputs (n,) or (n, d) as a series or a data frame; something else, as functions at own points, as it is.

        index : of the samples, None for 0, 1, ...
        points : where functions were evaluated, None for the columns of the training outputs
        """
        if not isinstance(values, np.ndarray):
            return values
        if self.series is not None and points is None:
            return self._series(values, index) if values.ndim == 1 else values
        if values.dtype == object and values.ndim == 1:  # rows, as candidates are
            values = np.array([list(row) for row in values], dtype=object)
        names = self.names if points is None else self._named(points)
        if values.ndim != 2 or values.shape[1] != len(names):
            return values
        if self.index is None:
            made = self.frame(dict(zip(names, map(_plain, values.T), strict=True)))
        else:
            made = self.frame(values, columns=names, index=index)
        return made if points is not None else self._typed(made, values)

    def check(self, y):
        """Raise if y, to be compared with predictions, has the columns of the training outputs in another order."""
        if self.series is None:
            check_order(y, self.names, "y", "the training outputs")

    def _series(self, values, index):
        if self.index is None:
            made = self.series(self.names, _plain(values))
        else:
            made = self.series(values, index=index, name=self.names)
        return self._typed(made, values)

    def _typed(self, made, values):
        """With the dtypes of the training outputs where values are labels, and all of them are among these."""
        if values.dtype.kind == "f":  # numbers that were computed
            return made
        types = self.dtypes[0] if self.series is not None or len(set(self.dtypes)) == 1 else None
        if types is None:
            types = dict(zip(self.names, self.dtypes, strict=True))
        try:
            cast = made.astype(types) if self.index is not None else made.cast(types)
        except Exception:  # of pandas or polars: candidates may be anything
            return made
        lost = values_of(cast) != values_of(made)
        return made if np.any(lost) else cast

    def _named(self, points):
        """Points as names of columns: text where the training columns have text, as all of polars' have."""
        text = self.index is None or (self.series is None and all(isinstance(name, str) for name in self.names))
        if not text:
            return points
        return [str(float(point)) if isinstance(point, numbers.Real) else str(point) for point in points]


def _of_pandas(y):
    return hasattr(y, "iloc")


def is_missing(item):
    """Whether an item is None, NaN, or pandas' NA or NaT."""
    nan = isinstance(item, (float, np.floating)) and np.isnan(item)
    return item is None or nan or type(item).__name__ in ("NAType", "NaTType")  # pandas.NA, pandas.NaT


def _plain(values):
    return values.tolist() if values.dtype == object else values
