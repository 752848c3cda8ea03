"""Summaries of test data: kinds of inputs, ranges and missing entries of columns."""

from __future__ import annotations

import numpy as np
import scipy.sparse

from ...data.frames import column_values, columns_of, is_framed
from ...data.functions import IrregularFunctions, as_curves, has_points
from ...data.graphs import Pairs, is_networkx
from ...data.items import is_missing
from .parts import Meter, ReportTable
from .text import NONE, format_count, format_number, format_percent, join_first

_COLUMNS = 40  # rows of a table of columns at most
_OPEN = 8  # a table of more inputs is folded
NUMBERS = "numbers"


def describe_inputs(X) -> str:
    """The inputs in words, as "7 columns"."""
    if X is None:
        return "the links that are known"
    if isinstance(X, Pairs):
        features = "" if X.X is None else " and features of the nodes"
        return f"the known links of {format_count(len(X.nodes), 'node')}{features}"
    if is_networkx(X):
        return f"a network of {format_count(len(X), 'node')}"
    if has_points(X):
        return "curves"
    shape: tuple = getattr(X, "shape", ())
    if len(shape) == 3:
        return f"curves with {shape[1]} points" + (f" in {shape[2]} channels" if shape[2] > 1 else "")
    if len(shape) == 2:
        return format_count(shape[1], "column")
    first = X[0] if len(X) else None
    if (
        isinstance(first, (list, tuple, np.ndarray))
        and np.ndim(first) == 1
        and all(np.isscalar(entry) for entry in first)
    ):
        return format_count(len(first), "column")
    return "texts" if isinstance(first, str) else "objects"


def inputs_table(X, names) -> ReportTable | None:
    """Ranges and missing entries of input columns; None if inputs have no columns."""
    columns = _columns(X)
    if columns is None:
        return None
    names = [str(j) for j in range(len(columns))] if names is None or len(names) != len(columns) else names
    title = f"Inputs, {format_count(len(columns), 'column')}"
    return _table(title, columns, names, "column", folded=len(columns) > _OPEN)


def outputs_table(columns, names, title="Outputs", first="output") -> ReportTable:
    """Ranges and missing entries of output columns (d arrays)."""
    return _table(title, columns, list(names), first)


def _table(title, columns, names, first, folded=False) -> ReportTable:
    """A row for each column, with their values unless all are numbers."""
    rows = [_row(column) for column in columns[:_COLUMNS]]
    head, note = ["missing", "smallest", "median", "largest"], ""
    if any(row[-1] != NUMBERS for row in rows):
        head.append("values")
    if len(columns) > _COLUMNS:
        note = f"The first {_COLUMNS} of {len(columns)}."
    rows = [row[: len(head)] for row in rows]
    return ReportTable(title, head, rows, names[:_COLUMNS], note, first=first, text=("values",), folded=folded)


def _row(column):
    """Cells on one column: the missing share, and the range of numbers or some of other values."""
    column = np.asarray(column)
    if column.dtype.kind in "biuf":
        values = column.astype(float)
        known = values[np.isfinite(values)]
        ends = [format_number(f(known)) if len(known) else NONE for f in (np.min, np.median, np.max)]
        kinds = len(np.unique(known))
        return [
            _missing(1 - len(known) / max(len(values), 1)),
            *ends,
            format_count(kinds, "value") if kinds < 6 else NUMBERS,
        ]
    known = [str(item) for item in column if not is_missing(item)]
    texts = sorted(set(known))
    words = (
        join_first(texts, most=4)
        if len(texts) <= max(10, len(known) // 2)
        else format_count(len(texts), "different text")
    )
    return [_missing(1 - len(known) / max(len(column), 1)), NONE, NONE, NONE, words]


def _missing(share) -> Meter:
    return Meter(float(share), format_percent(share) if share else "none")


def _columns(X):
    """Columns of a data frame or an array (n, d), None for anything else."""
    if isinstance(X, Pairs):
        X = X.X
    if X is None or is_networkx(X) or has_points(X) or scipy.sparse.issparse(X):
        return None
    if is_framed(X):
        return [column_values(column) for column in columns_of(X)]
    if isinstance(X, (list, tuple)) and any(isinstance(row, (str, bytes)) for row in X):
        return None
    try:
        X = np.asarray(X)
    except ValueError:  # ragged
        return None
    return list(X.T) if X.ndim == 2 and X.dtype.kind in "biufOUS" else None


def missing_share(X) -> float | None:
    """The missing share of the entries of inputs; None if inputs have no entries."""
    if X is not None and not isinstance(X, Pairs) and not is_networkx(X) and has_points(X):
        curves = as_curves(X)
        values = curves.values if isinstance(curves, IrregularFunctions) else [curves.data_matrix]
        return _share([np.isnan(np.asarray(curve, dtype=float)) for curve in values])
    columns = _columns(X)
    if columns is None:
        return None
    return _share([_missing_mask(column) for column in columns])


def _missing_mask(column):
    """Mask (n,) of missing entries."""
    if column.dtype.kind in "biuf":
        return np.isnan(column)
    return np.array([is_missing(item) for item in column], dtype=bool)


def _share(masks):
    total = sum(mask.size for mask in masks)
    return float(sum(mask.sum() for mask in masks) / total) if total else 0.0
