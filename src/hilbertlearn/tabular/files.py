"""Tables in files: CSV in the dialects that are met, and Parquet; written whole or not at all."""

from __future__ import annotations

import csv
import io
import os
import re
from pathlib import Path

from .._writing import replacing

SEPARATORS = (",", ";", "\t", "|")
MISSING = ["?"]  # beside the empty cell, NA, NaN, null and the like, which pandas knows
_FORMS = (".csv", ".tsv", ".txt", ".parquet")
_LOOKED_AT = 50  # lines by which separator and decimal mark are told
_NAMELESS = re.compile(r"Unnamed: \d+|")
_DECIMAL_COMMA = re.compile(r"\s*[+-]?\d+,\d+\s*")


class TableError(ValueError):
    """A table, or a choice of its columns, that cannot be worked with; the message says what to do."""


def pandas():
    """The module, or an error that says how to get it."""
    try:
        import pandas
    except ImportError as error:
        raise ImportError("tables need pandas: pip install 'hilbertlearn[cli]'") from error
    return pandas


def read_table(path):
    """The table in a CSV or Parquet file.

    Of CSV files the separator (comma, semicolon, tab, bar), the decimal mark, a byte order mark and the encoding, UTF-8
    or else Windows-1252, are told from the file.

    Parameters
    ----------
    path : of a .csv, .tsv, .txt or .parquet file, whose first line has the names of columns

    Returns
    -------
    data frame of pandas, its columns named by text, a first one without a name "index", its rows numbered from 0

    References
    ----------
    Shafranovich (2005), "Common format and MIME type for comma-separated values (CSV) files", RFC 4180.

    Examples
    --------
    >>> from pathlib import Path
    >>> from hilbertlearn.tabular import read_table
    >>> size = Path("table.csv").write_text("name;size\\nAnna;1,5\\nBo;2,5\\n")
    >>> read_table("table.csv")["size"].tolist()
    [1.5, 2.5]
    """
    path = Path(path)
    if path.suffix.lower() not in _FORMS:
        raise TableError(f"{path}: tables are {', '.join(_FORMS)} files; convert it, or rename it")
    if not path.is_file():
        raise TableError(f"{path}: there is no such file")
    frame = _parquet(path) if path.suffix.lower() == ".parquet" else _csv(path)
    frame.columns = [str(name).strip() for name in frame.columns]
    if _NAMELESS.fullmatch(frame.columns[0]) and "index" not in frame.columns:
        frame = frame.rename(columns={frame.columns[0]: "index"})  # as pandas writes its own
    twice = sorted({name for name in frame.columns if list(frame.columns).count(name) > 1})
    if twice:
        raise TableError(f"{path}: several columns are called {twice[0]!r}; give them names of their own")
    if frame.empty:
        raise TableError(f"{path}: the table has no rows; give one with a line of names and a line for each sample")
    return frame.reset_index(drop=True)


def _parquet(path):
    try:
        frame = pandas().read_parquet(path)
    except ImportError as error:
        if "pandas" in str(error):
            raise
        raise ImportError("Parquet files need pyarrow: pip install 'hilbertlearn[cli]'") from error
    except Exception as error:  # of pyarrow, which has classes of its own
        raise TableError(f"{path}: cannot be read as Parquet ({_line(error)})") from error
    return frame.reset_index() if any(name is not None for name in frame.index.names) else frame


def _csv(path):
    text = _text(path)
    if not text.strip():
        raise TableError(f"{path}: the file is empty; give a table with a line of names and a line for each sample")
    pd = pandas()
    separator = _separator(text)
    decimal = "," if separator != "," and _has_decimal_comma(text, separator) else "."
    try:
        return pd.read_csv(
            io.StringIO(text),
            sep=separator,
            decimal=decimal,
            na_values=MISSING,
            skipinitialspace=True,
            index_col=False,
            low_memory=False,
        )
    except (pd.errors.ParserError, pd.errors.EmptyDataError) as error:
        raise TableError(f"{path}: cannot be read as CSV ({_line(error)})") from error


def _text(path):
    raw = path.read_bytes()
    if b"\0" in raw[:4096]:
        raise TableError(f"{path}: is not a text file; give CSV or Parquet")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        return raw.decode("cp1252", errors="replace")


def _first_rows(text, separator):
    lines = text.splitlines(keepends=True)[:_LOOKED_AT]
    return [row for row in csv.reader(lines, delimiter=separator) if row]


def _separator(text):
    """The separator by which the first lines have as many cells each, and most of them."""

    def cells(separator):
        counts = [len(row) for row in _first_rows(text, separator)]
        return (len(set(counts)) == 1, counts[0]) if counts[0] > 1 else (False, 0)

    return max(SEPARATORS, key=cells)


def _has_decimal_comma(text, separator):
    return any(_DECIMAL_COMMA.fullmatch(cell) for row in _first_rows(text, separator)[1:] for cell in row)


def write_table(frame, path):
    """Write a data frame as CSV or as Parquet: the whole file, or if anything goes wrong none.

    Parameters
    ----------
    frame : data frame of pandas, whose index is not written
    path : of a file in a folder that is there; its name ends in .csv or .parquet

    Returns
    -------
    pathlib.Path of the file

    References
    ----------
    As for ``read_table``.

    Examples
    --------
    >>> import pandas as pd
    >>> from hilbertlearn.tabular import read_table, write_table
    >>> path = write_table(pd.DataFrame({"a": [1, 2]}), "out.csv")
    >>> read_table(path)["a"].tolist()
    [1, 2]
    """
    path = check_output(path, (".csv", ".parquet"))
    with replacing(path) as part:
        if path.suffix.lower() == ".parquet":
            frame.to_parquet(part, index=False)
        else:
            frame.to_csv(part, index=False)
    return path


def check_output(path, suffixes=None):
    """The path of a file to be written, whose folder is there and whose name ends as it should."""
    path = Path(path)
    if path.is_dir():
        raise TableError(f"{path}: is a folder; give the name of a file")
    if not path.parent.is_dir():
        raise TableError(f"{path}: the folder {path.parent} is not there; make it first")
    if not os.access(path.parent, os.W_OK):
        raise TableError(f"{path}: the folder {path.parent} cannot be written to; choose another")
    if suffixes and path.suffix.lower() not in suffixes:
        raise TableError(f"{path}: the name must end in {' or '.join(suffixes)}")
    return path


def _line(error):
    """The message of an error on one line."""
    return " ".join(str(error).split())
