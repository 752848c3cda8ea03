"""Streams: rows that are read in batches and need not fit in memory.

    source = streams.from_npy("X.npy", "y.npy")
    model = OperatorKernelRegressor(feature_map=500).fit(source)

A source can be iterated several times and yields triples (X, y, sample_weight).
"""

from .arrays import ArraySource, from_arrays, from_npy
from .base import Batch, Source
from .iterables import IterableSource, from_batches
from .parquet import ParquetSource, from_parquet
from .reading import as_source, is_source
from .store import BlockStore

__all__ = [
    "Batch",
    "Source",
    "from_arrays",
    "from_batches",
    "from_npy",
    "from_parquet",
]
