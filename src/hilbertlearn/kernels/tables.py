"""Tables of inputs: columns of numbers, text, categories or functions."""

from __future__ import annotations

import numbers
import reprlib

import numpy as np
import scipy.sparse

from ..data.frames import column_values, columns_of, is_frame, item_values
from ..data.functions import has_points
from ..data.items import is_missing


class InputTable:
    """Columns of n samples by name: arrays (n,) of numbers or objects, or containers of n functions.

    Rows are selected as in arrays, so that scikit-learn can split the table.
    """

    def __init__(self, names, columns):
        self.names, self.columns = tuple(names), list(columns)

    @classmethod
    def from_data(cls, X, names=None):
        """Read a data frame, an array (n, p), or a list of rows; `names` are for inputs without column names."""
        if isinstance(X, InputTable):
            return X
        if is_frame(X):
            return cls(X.columns, [_read_series(column) for column in columns_of(X)])
        rows = X.toarray() if scipy.sparse.issparse(X) else np.asarray(X)
        if rows.dtype.kind not in "biuf":
            rows = np.array(X, dtype=object)
        if rows.ndim != 2:
            raise ValueError(
                f"X must have columns: give a data frame or an array (n, p), got {type(X).__name__} of shape "
                f"{rows.shape}"
            )
        columns = [item_values(column) for column in rows.T] if rows.dtype == object else list(rows.T)
        return cls(range(rows.shape[1]) if names is None else names, columns)

    @property
    def shape(self):
        """Numbers of samples and columns."""
        return (len(self.columns[0]) if self.columns else 0, len(self.columns))

    @property
    def parts(self):
        """Names and columns as lists, by which two tables are compared."""
        return [list(self.names), self.columns]

    def __len__(self):
        return self.shape[0]

    def __getitem__(self, rows):
        rows = rows[0] if isinstance(rows, tuple) else rows  # scikit-learn indexes with [rows, ...]
        rows = [rows] if isinstance(rows, numbers.Integral) else rows
        return InputTable(self.names, [column[rows] for column in self.columns])

    def __repr__(self):
        return f"InputTable({len(self)} samples, columns {reprlib.repr(list(self.names))})"

    def take(self, positions):
        """Select columns by position."""
        return InputTable([self.names[j] for j in positions], [self.columns[j] for j in positions])

    def row_keys(self):
        """A hashable key for each sample, equal for equal samples; a function is equal only to itself."""
        keys = [np.arange(len(column)) if has_points(column) else category_codes(column) for column in self.columns]
        return list(zip(*keys))


def _read_series(column):
    """Values of a series: numbers, objects, or functions."""
    array = getattr(column, "array", None)  # of pandas
    return array if has_points(array) else column_values(column)


def category_codes(values):
    """Integer codes (n,), equal for equal values; all missing values (None, NaN) are equal."""
    code_of: dict = {}
    out = np.empty(len(values), dtype=int)
    for i, value in enumerate(values.tolist()):
        value = None if is_missing(value) else value
        try:
            out[i] = code_of.setdefault(value, len(code_of))
        except TypeError:
            raise ValueError(
                f"categories must be text, numbers or other values that can be hashed, got {type(value).__name__}"
            ) from None
    return out


def column_names(X):
    """Names of the columns of inputs, for an array their positions; None if there are no columns."""
    if isinstance(X, InputTable):
        return X.names
    return tuple(range(X.shape[1])) if getattr(X, "ndim", 0) == 2 else None


def column_positions(columns, names, description):
    """Positions of selected columns: a name, a number, a list of these, or a slice.

    Numbers are positions if all names are text or there are none, and names otherwise.

    description : the selection in words, for error messages
    """
    if isinstance(columns, slice):
        indices = _slice_positions(columns, names, description)
    else:
        is_single = is_single_column(columns) or (isinstance(columns, tuple) and columns in names)
        indices = [_position(column, names, description) for column in ([columns] if is_single else list(columns))]
    if not indices:
        raise ValueError(f"{description} has no columns; give at least one, or leave the part out")
    duplicates = [names[j] for j in set(indices) if indices.count(j) > 1]
    if duplicates:
        raise ValueError(f"{description} has the column {duplicates[0]!r} more than once; give it once")
    return indices


def is_single_column(columns):
    """Whether a setting is a single column and not a list."""
    return isinstance(columns, (str, numbers.Number))


def _slice_positions(columns, names, description):
    """Positions of a slice of numbers, or of names, which includes both ends."""
    ends = [end for end in (columns.start, columns.stop) if end is not None]
    if all(isinstance(end, numbers.Integral) for end in ends) and _numbers_are_positions(names):
        return list(range(len(names))[columns])
    first, last = (
        default if end is None else _position(end, names, description)
        for end, default in ((columns.start, 0), (columns.stop, len(names) - 1))
    )
    return list(range(first, last + 1))[:: columns.step]


def _position(column, names, description):
    """Position of one column, by name or number."""
    if isinstance(column, (int, np.integer)) and not isinstance(column, bool) and _numbers_are_positions(names):
        if not -len(names) <= column < len(names):
            raise ValueError(f"{description} takes column {column}, but X has {len(names)} columns, numbered from 0")
        return int(column) % len(names)
    matches = [j for j, name in enumerate(names) if name == column]
    if len(matches) == 1:
        return matches[0]
    if matches:
        raise ValueError(f"{description}: X has {len(matches)} columns named {column!r}; give each a name of its own")
    if names == tuple(range(len(names))):
        raise ValueError(
            f"{description} takes column {column!r}, but X has no names; give a data frame, or numbers of columns"
        )
    raise ValueError(
        f"{description} takes column {column!r}, which X does not have; its columns are {reprlib.repr(list(names))}"
    )


def _numbers_are_positions(names):
    """Whether numbers in a selection are positions and not names."""
    return all(isinstance(name, str) for name in names) or names == tuple(range(len(names)))
