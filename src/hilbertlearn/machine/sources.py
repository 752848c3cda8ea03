"""Where training data come from: arrays in memory, batches of rows, or Dask collections."""

from __future__ import annotations

from ..data import streams
from .batches import BatchSource, is_read_into_memory, read_into_memory
from .distributed import is_dask
from .distributed.source import DaskSource
from .in_memory import DataSource, MemorySource
from .spec import Spec


def open_source(spec: Spec, X, y, sample_weight) -> DataSource:
    """The source of training data as given to ``fit``."""
    if spec.takes_batches and (is_dask(X) or is_dask(y)):
        return DaskSource(X, y, sample_weight)
    if spec.takes_batches and streams.is_source(X):
        rows = streams.as_source(X, y, sample_weight)
        return read_into_memory(rows) if is_read_into_memory(spec, X, rows) else BatchSource(rows)
    return MemorySource(X, y, sample_weight)
