"""Tables in files: CSV with various separators and encodings, and Parquet."""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import os
import re
import zlib
from pathlib import Path

import numpy as np

from ..._utils.atomic_files import write_atomically

SEPARATORS = (",", ";", "\t", "|")
MISSING = ["?"]  # in addition to the empty cell, NA, NaN and null, which pandas knows
_DASHES = ("-", "--", "\u2013", ".")  # missing cells in columns of numbers
_FORMS = (".csv", ".tsv", ".txt", ".parquet")
_FIRST_LINES = 50  # lines for the detection of separator and decimal mark
_NAMELESS = re.compile(r"Unnamed: \d+|")
_DECIMAL_COMMA = re.compile(r"\s*[+-]?(?:\d+|\d{1,3}(?:\.\d{3})+),\d+\s*")
_IN_THOUSANDS = {  # by the decimal mark
    ".": re.compile(r"[+-]?(?:\d+|\d{1,3}(?:,\d{3})+)(?:\.\d+)?"),
    ",": re.compile(r"[+-]?(?:\d+|\d{1,3}(?:\.\d{3})+)(?:,\d+)?"),
}


class TableError(ValueError):
    """An error of a table or of a selection of its columns; the message names the remedy."""


def import_pandas():
    """The module pandas, or an error with the command that installs it."""
    try:
        import pandas
    except ImportError as error:
        raise ImportError("tables need pandas: pip install 'hilbertlearn[cli]'") from error
    return pandas


def read_table(path):
    """Read a table from a CSV or Parquet file.

    For CSV files the separator (comma, semicolon, tab, bar), the decimal mark, the thousands separator, a byte order
    mark and the encoding (UTF-8, UTF-16 or else Windows-1252) are detected. Empty cells, NA and ? are missing, and so
    is a dash in a column of numbers.

    Parameters
    ----------
    path : str or path-like
        A .csv, .tsv, .txt or .parquet file whose first line has the names of columns. Text may be compressed, as in
        .csv.gz.

    Returns
    -------
    pandas.DataFrame
        Column names are text. A first column without a name is called "index". Rows are numbered from 0.

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
    form = Path(path.stem if path.suffix.lower() == ".gz" else path.name).suffix.lower()
    if form not in _FORMS:
        raise TableError(f"{path}: tables are {', '.join(_FORMS)} files; save a spreadsheet as CSV")
    if not path.is_file():
        raise TableError(f"{path}: there is no such file")
    frame = _parquet(path) if form == ".parquet" else _csv(path)
    frame.columns = [str(name).strip() for name in frame.columns]
    if _NAMELESS.fullmatch(frame.columns[0]) and "index" not in frame.columns:
        frame = frame.rename(columns={frame.columns[0]: "index"})  # as pandas writes its index
    _check_names(frame.columns, path)
    if frame.empty:
        raise TableError(f"{path}: the table has no rows; give one with a line of names and a line for each sample")
    return frame.reset_index(drop=True)


def _check_names(names, path):
    """Raise if columns share a name."""
    twice = sorted({name for name in names if list(names).count(name) > 1})
    if twice:
        raise TableError(f"{path}: several columns are called {twice[0]!r}; give them different names")


def _parquet(path):
    try:
        frame = import_pandas().read_parquet(path)
    except ImportError as error:
        if "pandas" in str(error):
            raise
        raise ImportError("Parquet files need pyarrow: pip install 'hilbertlearn[cli]'") from error
    except Exception as error:  # pyarrow has various classes of errors
        raise TableError(f"{path}: cannot be read as Parquet ({_line(error)})") from error
    return frame.reset_index() if any(name is not None for name in frame.index.names) else frame


def _csv(path):
    text = _text(path)
    if not text.strip():
        raise TableError(f"{path}: the file is empty; give a table with a line of names and a line for each sample")
    pd = import_pandas()
    separator = _separator(text)
    decimal = "," if separator != "," and _has_decimal_comma(text, separator) else "."
    names, ends = _names(text, separator, path)
    try:
        frame = pd.read_csv(
            io.StringIO(text),
            sep=separator,
            decimal=decimal,
            header=0,
            names=names + ends,
            na_values=MISSING,
            skipinitialspace=True,
            index_col=False,
            low_memory=False,
        )
    except (pd.errors.ParserError, pd.errors.EmptyDataError) as error:
        raise TableError(f"{path}: cannot be read as CSV ({_line(error)})") from error
    for row in np.flatnonzero(frame[ends].notna().any(axis=1)):
        excess = f"more cells than the {len(names)} names in the first line"
        raise TableError(f"{path}: row {row + 1} has {excess}; name all columns, also a column of row names")
    return frame[names].apply(_as_written_numbers, decimal=decimal)


def _names(text, separator, path):
    """Names of columns in the first line, and names for further cells of other lines, which are empty as a rule."""
    first, *rows = _first_rows(text, separator)
    _check_names([name.strip() for name in first if name.strip()], path)
    names = [name.strip() or f"Unnamed: {j}" for j, name in enumerate(first)]
    width = max([len(names), *map(len, rows)])
    return names, [f"beyond {j}" for j in range(len(names), width)]


def _as_written_numbers(column, decimal):
    """A column of text as numbers, if all its cells are numbers with thousands separators, or dashes."""
    if column.dtype.kind in "biufM":
        return column
    cells = column.map(lambda cell: cell.strip() if isinstance(cell, str) else cell)
    written = cells[cells.notna() & ~cells.isin(_DASHES)]
    other = "," if decimal == "." else "."
    is_ambiguous = written.map(lambda cell: _is_number(cell, decimal) and other in cell).any()  # as 1,234
    # cells in quotes may have the other decimal mark
    for mark, thousands, is_possible in ((decimal, other, True), (other, decimal, not is_ambiguous)):
        if is_possible and len(written) and written.map(lambda cell, mark=mark: _is_number(cell, mark)).all():
            plain = written.map(lambda cell, mark=mark, sep=thousands: cell.replace(sep, "").replace(mark, "."))
            return plain.astype(float).reindex(column.index)
    return column


def _is_number(cell, decimal):
    return isinstance(cell, str) and _IN_THOUSANDS[decimal].fullmatch(cell) is not None


def _text(path):
    try:
        raw = gzip.decompress(path.read_bytes()) if path.suffix.lower() == ".gz" else path.read_bytes()
    except (OSError, EOFError, zlib.error) as error:
        raise TableError(f"{path}: cannot be read ({_line(error)})") from error
    if raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return raw.decode("utf-16", errors="replace")
    if b"\0" in raw[:4096]:
        raise TableError(f"{path}: is not a text file; give CSV or Parquet")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        return raw.decode("cp1252", errors="replace")


def _first_rows(text, separator):
    lines = text.splitlines(keepends=True)[:_FIRST_LINES]
    return [row for row in csv.reader(lines, delimiter=separator) if row]


def _separator(text):
    """The separator that gives all first lines the same number of cells, and the most cells."""

    def cells(separator):
        counts = [len(row) for row in _first_rows(text, separator)]
        return (len(set(counts)) == 1, counts[0]) if counts[0] > 1 else (False, 0)

    return max(SEPARATORS, key=cells)


def _has_decimal_comma(text, separator):
    return any(_DECIMAL_COMMA.fullmatch(cell) for row in _first_rows(text, separator)[1:] for cell in row)


def write_table(frame, path):
    """Write a data frame as CSV or Parquet. If this fails, an existing file stays as it is.

    Parameters
    ----------
    frame : pandas.DataFrame
        The table. Its index is not written.
    path : str or path-like
        File in an existing folder, with the suffix .csv or .parquet.

    Returns
    -------
    pathlib.Path
        The path of the file.

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
    with write_atomically(path) as part:
        if path.suffix.lower() == ".parquet":
            frame.to_parquet(part, index=False)
        else:
            frame.to_csv(part, index=False)
    return path


def check_output(path, suffixes=None):
    """The path of a file to write, after a check of its folder and suffix."""
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
