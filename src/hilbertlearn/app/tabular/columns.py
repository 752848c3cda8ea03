"""Columns of a table: selection by names, globs and ranges; identifiers; numbers in cells."""

from __future__ import annotations

import difflib
import fnmatch
import re

import numpy as np

from .files import TableError, import_pandas

_IDENTIFIER = re.compile(r"(?:.*[\s_.-])?(?:id|idx|index)|unnamed: ?\d+|", re.IGNORECASE)
_MAX_CHARACTERS = 160  # of the names in an error
_NUMBERS_SHARE = 0.8  # smallest share of numbers in a text column whose other cells count as mistakes
_COUNTED_ROWS = 10  # smallest number of rows for which a column that counts them is an identifier
_SENTENCES = 5  # sentences on columns in a list of notes at most


def match_columns(names, pattern, parameter):
    """The names that match a pattern, in the order of the table.

    pattern : names, globs and ranges ``first:last``, separated by commas or in a list
    parameter : name of the pattern in errors
    """
    names = list(names)
    parts = [pattern] if isinstance(pattern, str) else list(pattern)
    matches = {name for part in parts for name in _matches(names, part, parameter)}
    return [name for name in names if name in matches]


def _matches(names, part, parameter):
    if part in names:
        return [part]
    first, colon, last = (piece.strip() for piece in part.partition(":"))
    if colon and first in names and last in names:
        start, stop = names.index(first), names.index(last)
        if start > stop:
            raise TableError(f"{parameter} {part!r}: {last!r} is before {first!r} in the table; swap them")
        return names[start : stop + 1]
    if "," in part:
        return [name for piece in part.split(",") for name in _matches(names, piece.strip(), parameter)]
    matches = [name for name in names if fnmatch.fnmatchcase(name, part)]
    if not matches:
        raise TableError(f"{parameter} {part!r}: no such column; {suggestion(names, part)}")
    return matches


def suggestion(names, name):
    """A hint for a missing column: a similar name, and the columns of the table."""
    similar = difflib.get_close_matches(name, names, 1)
    hint = f"did you mean {similar[0]!r}? " if similar else ""
    return f"{hint}the table has {join_names(names)}"


def join_names(names):
    """The first names, and the number of the others."""
    names = list(names)
    count = 1 + sum(length < _MAX_CHARACTERS for length in np.cumsum([len(name) + 4 for name in names])[1:])
    ending = f" and {len(names) - count} more" if count < len(names) else ""
    return ", ".join(map(repr, names[:count])) + ending


def check_table(frame):
    """Raise if a table is no data frame of pandas."""
    if isinstance(frame, import_pandas().DataFrame):
        return
    remedy = "give its to_pandas()" if hasattr(frame, "to_pandas") else "give pandas.DataFrame(..., columns=names)"
    raise TableError(f"the table must be a data frame of pandas, got {type(frame).__name__}; {remedy}")


def require_columns(frame, names, subject):
    """Raise if a table lacks columns; subject : beginning of the message."""
    check_table(frame)
    missing = [name for name in names if name not in frame.columns]
    if missing:
        raise TableError(
            f"{subject} missing in the table: {join_names(missing)}; {suggestion(list(frame.columns), missing[0])}"
        )


def shorten_notes(sentences):
    """The first sentences on columns, and the number of the others."""
    first = list(sentences[:_SENTENCES])
    return first + [f"and {len(sentences) - _SENTENCES} columns more"] * (len(sentences) > _SENTENCES)


def looks_like_identifier(name, column):
    """Whether a column has unique values and the name of an identifier, or counts the rows from 0 or 1."""
    if column.dtype.kind in "fcmM" or not column.is_unique or len(column) < 2:
        return False
    return bool(_IDENTIFIER.fullmatch(str(name))) or _counts_rows(column)


def _counts_rows(column):
    """Whether a column is 0, 1, 2, ... or 1, 2, 3, ...: a column of years is not."""
    if column.dtype.kind not in "iu" or len(column) < _COUNTED_ROWS:
        return False
    values = column.to_numpy()
    return values[0] in (0, 1) and bool((values == values[0] + np.arange(len(values))).all())


def read_numbers(column, name):
    """Values (n,) of a column as floats, NaN where missing; an error names the first other cell."""
    values, wrong = as_numbers(column)
    if wrong.any():
        row = int(np.flatnonzero(wrong)[0])
        cell = column.iloc[row]
        raise TableError(f"column {name!r} must hold numbers, but row {row + 1} has {cell!r}; mend or empty the cell")
    return values


def is_boolean(column):
    """Whether all known cells are True or False."""
    known = column[column.notna()]
    return bool(len(known)) and (column.dtype.kind == "b" or known.map(lambda cell: isinstance(cell, bool)).all())


def refuse_mistakes(column, name):
    """Raise if most cells of a text column are numbers; the error names the first of the others."""
    _, wrong = as_numbers(column)
    known = column.notna().to_numpy()
    if known.any() and 1 - wrong[known].mean() >= _NUMBERS_SHARE:
        read_numbers(column, name)


def as_numbers(column):
    """Values (n,) of a column as floats, NaN where missing or not a number, and a mask (n,) of the latter."""
    if column.dtype.kind in "biuf":
        values = column.to_numpy(dtype=float, na_value=np.nan)
        return np.where(np.isinf(values), np.nan, values), np.isinf(values)
    values, wrong = np.full(len(column), np.nan), np.zeros(len(column), dtype=bool)
    if column.dtype.kind in "mM":
        return values, ~wrong
    for i, (cell, missing) in enumerate(zip(column, column.isna(), strict=True)):
        if missing:
            continue
        try:
            values[i] = float(cell)
        except (TypeError, ValueError):
            wrong[i] = True
    wrong |= np.isinf(values)
    return values, wrong
