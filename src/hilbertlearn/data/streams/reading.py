"""Sources from the arguments of ``fit``."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from .arrays import from_npy
from .base import Source
from .iterables import from_batches
from .parquet import from_parquet


def is_source(X) -> bool:
    """Whether X is a source, a memory-mapped array, a path, an iterator or a callable."""
    if isinstance(X, (Source, np.memmap, str, os.PathLike)):
        return True
    # containers of functional data are callable too, but have a length
    return hasattr(X, "__next__") or (callable(X) and not isinstance(X, type) and not hasattr(X, "__len__"))


def as_source(X, y=None, sample_weight=None) -> Source:
    """The source from the arguments of ``fit``.

    X : a source, or an iterator of batches or a callable that returns one, with y=None; a memory-mapped array, or the
        path of a .npy file, with y an array or a path; the path of a Parquet file or of a directory of these, with the
        names of the target columns for y
    """
    if isinstance(X, np.memmap):
        return from_npy(X, y, sample_weight)
    if isinstance(X, (str, os.PathLike)):
        return _from_path(X, y, sample_weight)
    if y is not None or sample_weight is not None:
        name = "y" if y is not None else "sample_weight"
        raise ValueError(
            f"{name} must be None where X is a source of batches, which bring it with them; give from_arrays(X, y, "
            "sample_weight) of hilbertlearn.streams"
        )
    return X if isinstance(X, Source) else from_batches(X)


def _from_path(path, y, sample_weight):
    """The source of a .npy or Parquet file."""
    suffix = Path(path).suffix.lower()
    if suffix == ".npy":
        if y is None:
            raise ValueError("y must be an array, or the path of a .npy file, beside the path of a .npy file for X")
        return from_npy(path, y, sample_weight)
    if suffix in (".parquet", ".pq") or Path(path).is_dir():
        if y is None:
            raise ValueError("y must be the names of the target columns, such as y=['price'], of a Parquet file")
        return from_parquet(path, targets=y, sample_weight=sample_weight)
    raise ValueError(
        f"X is the path {str(path)!r}, and files are read that end in .npy or .parquet; read others with "
        "hilbertlearn.streams.from_batches, a batch at a time"
    )
