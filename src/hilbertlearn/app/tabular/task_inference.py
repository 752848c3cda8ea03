"""Inference of the task from the cells and names of target columns."""

from __future__ import annotations

import re

import numpy as np

from ...data.times import points_in
from .columns import as_numbers, is_boolean, join_names, refuse_mistakes
from .files import TableError
from .inputs import DATE, column_kind

_CURVE = 8  # columns of a curve at least
_SMOOTH = 0.5  # a row is smooth below this ratio of mean squared steps: to the next column over to any column
_CLASSES = 10  # classes that are whole numbers, at most
_EACH = 5  # rows of each of these classes, at least
_WITH_UNIT = re.compile(r"[+-]?\d+(?:[.,]\d+)?\s*[A-Za-zµ°%/²³]*")


def infer_task(frame, names):
    """The name of the task, and the reason for it."""
    columns = [as_numbers(frame[name]) for name in names]
    text = [name for name, (_, wrong) in zip(names, columns, strict=True) if wrong.any()]
    for name in text:
        _refuse_numbers(frame[name], name)
    if text and len(names) > 1:
        raise TableError(f"targets {join_names(text)} hold no numbers; leave them out, or choose one")
    if text:
        return "structured", "the target is text"
    if len(names) == 1:
        return _infer_from_column(frame[names[0]], columns[0][0])
    return _infer_from_columns(frame, names, np.column_stack([values for values, _ in columns]))


def _infer_from_column(column, values):
    """The task of one column with values (n,)."""
    if is_boolean(column):
        return "structured", "true or false, taken for classes"
    if _are_classes(values):
        return "structured", "few whole numbers, taken for classes"
    return "vector", "numbers"


def _infer_from_columns(frame, names, Y):
    """The task of several columns with values Y (n, d)."""
    known = Y[np.isfinite(Y).all(axis=1)]
    if np.isin(Y[np.isfinite(Y)], (0, 1)).all():
        return "multilabel", "all cells are 0 or 1"
    if len(known) and any((np.sort(known, axis=1) == np.arange(first, len(names) + first)).all() for first in (0, 1)):
        return "ranking", f"each row holds the ranks of {len(names)} labels"
    if are_curves(frame, names):
        return "functional", "points in the names of columns, and rows that are smooth"
    return "vector", "numbers"


def _refuse_numbers(column, name):
    """Raise if most cells of a text column are numbers, if all are numbers with a unit, or if they are many dates."""
    refuse_mistakes(column, name)
    cells = column[column.notna()].astype(str).str.strip()
    if cells.nunique() <= _CLASSES:
        return
    if column_kind(column, name)[0] == DATE:
        raise TableError(
            f"target {name!r} holds dates or durations; write days since a date of your choice, as numbers, or ask for "
            "the task structured to take them for text"
        )
    if cells.map(lambda cell: _WITH_UNIT.fullmatch(cell) is not None).all():
        raise TableError(
            f"target {name!r} has cells such as {cells.iloc[0]!r}, numbers with a unit or another decimal mark; write "
            "plain numbers, or ask for the task structured to take them for text"
        )


def are_curves(frame, names):
    """Whether the names of columns are points, and rows are smooth functions of these."""
    if len(names) < _CURVE:
        return False
    points, _ = points_in_names(names)
    if points is None:
        return False
    return _is_smooth(np.column_stack([as_numbers(frame[names[j]])[0] for j in np.argsort(points)]))


def points_in_names(names):
    """The distinct points (m,) in names of columns, and the origin of dates; None, None if there are none."""
    points = points_in(names)
    if points is None or len(set(points[0])) < len(names):
        return None, None
    return points


def _are_classes(y):
    values, counts = np.unique(y[np.isfinite(y)], return_counts=True)
    consecutive = len(values) > 1 and values[0] in (0, 1) and (np.diff(values) == 1).all()
    return bool(consecutive and len(values) <= _CLASSES and counts.min() >= _EACH)


def _is_smooth(Y):
    """Whether neighbouring columns differ less than any two columns do on average."""
    any_two = 2 * np.nanmean(np.nanvar(Y, axis=1))
    return bool(np.nanmean(np.diff(Y, axis=1) ** 2) < _SMOOTH * any_two)
