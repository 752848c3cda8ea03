"""Sources of rows of Parquet files, read by pyarrow (the extra ``io``)."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ..._utils.validation import check_number
from .base import Batch, Source, batch_rows, concatenate_batches


class ParquetSource(Source):
    """Rows of Parquet files; see ``from_parquet``."""

    def __init__(self, path, targets, features=None, sample_weight=None, batch_size=None):
        self.paths, self.targets = _files(path), _names(targets, "targets")
        self.one_target = isinstance(targets, str)
        self.weight = sample_weight
        others = [*self.targets, *([] if sample_weight is None else [sample_weight])]
        for path in self.paths:
            schema = self._schema(path)
            if features is None:
                features = [name for name in schema.names if name not in others]
            self.features = _names(features, "features")
            _check_columns(path, schema, [*self.features, *others])
        self.n_rows = sum(self._open(path).metadata.num_rows for path in self.paths)
        if not self.n_rows:
            raise ValueError(f"{_describe_paths(self.paths)} has no rows; give at least one sample")
        self.batch_size = batch_rows(len(self.features), batch_size)

    def __iter__(self):
        for path in self.paths:
            for part in self._open(path).iter_batches(batch_size=self.batch_size, columns=self._columns):
                if part.num_rows:
                    yield self._batch(part)

    def sample(self, number, random_state=0):
        """As ``Source.sample``; only row groups with sampled rows are read."""
        check_number(number, "number", integer=True)
        rows = np.arange(self.n_rows)
        if number < self.n_rows:
            generator = np.random.default_rng(random_state)
            rows = np.sort(generator.choice(self.n_rows, number, replace=False, shuffle=False))
        parts, first = [], 0
        for path in self.paths:
            file = self._open(path)
            for group in range(file.metadata.num_row_groups):
                size = file.metadata.row_group(group).num_rows
                positions = rows[np.searchsorted(rows, first) : np.searchsorted(rows, first + size)] - first
                if len(positions):
                    parts.append(self._batch(file.read_row_group(group, columns=self._columns).take(positions)))
                first += size
        return concatenate_batches(parts)

    @property
    def _columns(self):
        names = [*self.features, *self.targets, *([] if self.weight is None else [self.weight])]
        return list(dict.fromkeys(names))

    def _batch(self, table):
        X, y = (np.column_stack([_numbers(table, name) for name in names]) for names in (self.features, self.targets))
        weights = None if self.weight is None else _numbers(table, self.weight)
        return Batch(X, y[:, 0] if self.one_target else y, weights)

    @staticmethod
    def _open(path):
        return _parquet().ParquetFile(path)

    @staticmethod
    def _schema(path):
        try:
            return _parquet().read_schema(path)
        except (ValueError, OSError) as error:  # including those of pyarrow
            raise ValueError(f"{str(path)!r} is no Parquet file that pyarrow can read: {error}") from error


def from_parquet(path, *, targets, features=None, sample_weight=None, batch_size=None) -> ParquetSource:
    """Rows of a Parquet file, of several, or of all ``*.parquet`` in a directory, in the order of their names.

    Parameters
    ----------
    path : path or list of paths
        One file, several files, or a directory.
    targets : str or list of str
        Names of the columns that are outputs; a single name is one output (n,).
    features : list of str, default=None
        Names of the columns that are inputs; None for all other columns.
    sample_weight : str, default=None
        Name of the column of weights; None for ones.
    batch_size : int, default=None
        Rows of a batch; None for about 16 MB of features.

    Returns
    -------
    source : Source
        Estimators with a ``feature_map`` take it in place of X.

    References
    ----------
    - Apache Parquet, file format: https://parquet.apache.org.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import pyarrow as pa
    >>> import pyarrow.parquet
    >>> from hilbertlearn import streams
    >>> path = Path(tempfile.mkdtemp()) / "houses.parquet"
    >>> table = pa.table({"rooms": [2.0, 3.0, 5.0], "area": [50.0, 70.0, 120.0], "price": [1, 2, 3]})
    >>> pa.parquet.write_table(table, path)
    >>> source = streams.from_parquet(path, targets="price")
    >>> source.n_rows, source.features, source.sample(2).y
    (3, ['rooms', 'area'], array([2., 3.]))
    """
    return ParquetSource(path, targets, features, sample_weight, batch_size)


def _parquet():
    try:
        import pyarrow.parquet
    except ImportError as error:
        raise ImportError("Parquet files are read by pyarrow; pip install 'hilbertlearn[io]'") from error
    return pyarrow.parquet


def _files(path) -> list[Path]:
    """Files of a path, a list of paths, or a directory."""
    inputs = [path] if isinstance(path, (str, os.PathLike)) else list(path)
    paths: list[Path] = []
    for entry in map(Path, inputs):
        if not entry.exists():
            raise FileNotFoundError(f"there is no file {str(entry)!r}")
        files = sorted(entry.glob("*.parquet")) if entry.is_dir() else [entry]
        if not files:
            raise ValueError(f"the directory {str(entry)!r} has no *.parquet files")
        paths += files
    if not paths:
        raise ValueError("path: no files were given")
    empty = [entry for entry in paths if not entry.stat().st_size]
    if empty:
        raise ValueError(f"the file {str(empty[0])!r} is empty; write it with pyarrow, pandas or polars")
    return paths


def _describe_paths(paths):
    """Text of the paths for an error message."""
    return repr(str(paths[0])) + (f" and {len(paths) - 1} more" if len(paths) > 1 else "")


def _names(names, name) -> list[str]:
    out = [names] if isinstance(names, str) else list(names) if isinstance(names, Sequence) else None
    if not out or not all(isinstance(text, str) for text in out):
        raise ValueError(f"{name} must be the name of a column, or a list of names, got {names!r}")
    return out


def _check_columns(path, schema, names):
    """Raise unless a file has all columns and they are numeric."""
    import pyarrow.types as types

    missing = [name for name in names if name not in schema.names]
    if missing:
        columns = ", ".join(map(repr, schema.names[:10])) + (", ..." if len(schema.names) > 10 else "")
        raise ValueError(f"{str(path)!r} has no column {', '.join(map(repr, missing))}; its columns are {columns}")
    for name in names:
        kind = schema.field(name).type
        if not (types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind) or types.is_decimal(kind)):
            raise ValueError(
                f"column {name!r} of {str(path)!r} holds {kind}, and features, targets and weights must be numbers; "
                "leave it out of features, or encode it as numbers"
            )


def _numbers(table, name):
    """A column (n,) as floats, NaN for null."""
    return np.asarray(table.column(name).to_numpy(zero_copy_only=False), dtype=float)
