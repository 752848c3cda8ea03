"""Dask collections as blocks of rows, which stay where they are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from sklearn.utils.validation import _num_samples

from ...data.streams.base import Batch, concatenate_batches
from . import parallel


def is_dask(X) -> bool:
    """Whether X is a Dask array, data frame or series."""
    return (
        hasattr(X, "__dask_graph__")
        and hasattr(X, "to_delayed")
        and (hasattr(X, "chunks") or hasattr(X, "npartitions"))
    )


def current_client():
    """The client that is running, None without one."""
    try:
        from distributed import get_client
    except ImportError:
        return None
    try:
        return get_client()
    except ValueError:
        return None


@dataclass(frozen=True)
class Blocks:
    """Rows of inputs, outputs and weights, in blocks.

    pieces : a ``Batch`` each, futures of a running client or, without one, delayed objects of Dask's own scheduler
    lengths : (b,) numbers of rows
    """

    pieces: list
    lengths: np.ndarray
    client: Any

    @classmethod
    def from_collections(cls, X, y, sample_weight, check: Callable) -> Blocks:
        """Blocks of Dask collections; arrays in memory, as long as X, are split like X.

        check : function of a block's inputs that raises where they cannot be read
        """
        import dask

        client = current_client()
        named = {"X": _by_rows(X, "X")}
        for name, rows in (("y", y), ("sample_weight", sample_weight)):
            if rows is not None:
                named[name] = _by_rows(rows, name) if is_dask(rows) else _split_like(named["X"], rows, name)
        for name, rows in named.items():
            _check_chunks(named["X"], rows, name)
        columns = [[None] * len(_lengths(named["X"]))] * 3
        for i, name in enumerate(("X", "y", "sample_weight")):
            if name in named:
                columns[i] = list(np.ravel(np.asarray(named[name].to_delayed(), dtype=object)))
        make_batch = dask.delayed(_make_batch, pure=False)
        pieces = [make_batch(number, *parts) for number, parts in enumerate(zip(*columns, strict=True))]
        pieces = pieces if client is None else client.compute(pieces)
        blocks = cls(pieces, np.empty(0, dtype=int), client)
        lengths = np.array(blocks.each(_check_block, dict.fromkeys(range(len(pieces)), check)), dtype=int)
        if not lengths.sum():
            raise ValueError(f"X has no rows in any of its {len(lengths)} blocks; give at least one sample")
        return cls(pieces, lengths, client)

    def each(self, function, arguments: dict) -> list:
        """Results of ``function(number, block, argument)`` for the blocks that have an argument, on their workers."""
        import dask

        if self.client is None:
            lazy = dask.delayed(function, pure=False)
            return list(dask.compute(*(lazy(i, self.pieces[i], argument) for i, argument in arguments.items())))
        submit = partial(self.client.submit, function, pure=False)
        return self.client.gather([submit(i, self.pieces[i], argument) for i, argument in arguments.items()])

    def sum(self, partial: Callable, shared, report: Callable | None = None):
        """The sum over all blocks of ``partial(blocks, shared)``, by a tree of tasks; report : see ``parallel``."""
        import dask

        if self.client is not None:
            return parallel.sum_over_parts(self.client, self.pieces, partial, shared, report)
        level = [dask.delayed(partial, pure=False)([piece], shared) for piece in self.pieces]
        while len(level) > 1:
            level = [dask.delayed(parallel.add_parts, pure=False)(level[i : i + 2]) for i in range(0, len(level), 2)]
        return level[0].compute()

    def run_on_parts(self, work: Callable, shared, report: Callable | None = None) -> parallel.PartsResult:
        """Run ``work(blocks of a worker, total, shared)`` on all workers at the same time, see ``parallel``."""
        if self.client is None:
            raise ValueError(
                "losses other than the squared one take a running client on Dask collections, whose workers keep the "
                "rows between iterations; use: from dask.distributed import Client; client = Client()"
            )
        return parallel.run_on_parts(self.client, self.pieces, work, shared, report)

    def sample(self, number, random_state=0) -> Batch:
        """A uniform sample of so many rows, or all rows, without replacement, in their order."""
        n = int(self.lengths.sum())
        rows = np.arange(n)
        if number < n:
            rows = np.sort(np.random.default_rng(random_state).choice(n, number, replace=False))
        ends = np.cumsum(self.lengths)
        block = np.searchsorted(ends, rows, side="right")
        positions = {int(k): rows[block == k] - (ends[k] - self.lengths[k]) for k in np.unique(block)}
        return concatenate_batches(self.each(_take_rows, positions))


def map_blocks(collection, function, shared) -> list:
    """``function(block, shared)`` of each block of a collection, computed on the workers of the blocks."""
    import dask

    client, lazy = current_client(), dask.delayed(function, pure=False)
    pieces = list(np.ravel(np.asarray(_by_rows(collection, "candidates").to_delayed(), dtype=object)))
    if client is None:
        return list(dask.compute(*(lazy(piece, shared) for piece in pieces)))
    (sent,) = client.scatter([shared], broadcast=True, hash=False)
    return client.gather(client.compute([lazy(piece, sent) for piece in pieces]))


def map_blocks_lazily(function, X):
    """A Dask collection of the results of a function of rows for each block of X."""
    if not hasattr(X, "chunks"):
        return X.map_partitions(function, meta=_first_rows(function(_example_row(X)), 0))
    if any(len(sizes) > 1 for sizes in X.chunks[1:]):
        X = X.rechunk(dict.fromkeys(range(1, X.ndim), -1))
    example = _array(function(np.zeros((1, *X.shape[1:]), dtype=X.dtype)))
    changed = {"drop_axis": list(range(example.ndim, X.ndim)), "new_axis": list(range(X.ndim, example.ndim))}
    chunks = (X.chunks[0], *((size,) for size in example.shape[1:]))
    return X.map_blocks(
        partial(_as_array, function, example.shape[1:]),
        dtype=example.dtype,
        chunks=chunks,
        meta=example[:0],
        **{name: axes for name, axes in changed.items() if axes},
    )


def _example_row(X):
    """A row with the types of a Dask data frame; nothing is computed."""
    import pandas

    values = {name: 0 if kind.kind in "biuf" else "a" for name, kind in X.dtypes.items()}
    return pandas.DataFrame(values, index=[0]).astype(dict(X.dtypes))


def _as_array(function, shape, X):
    return _array(function(X)) if len(X) else np.empty((0, *shape))


def _array(outputs):
    """Predictions as an array; texts, of any length, are objects."""
    values = np.asarray(outputs)
    return values.astype(object) if values.dtype.kind in "US" else values


def _first_rows(outputs, number):
    return outputs.iloc[:number] if hasattr(outputs, "iloc") else outputs[:number]


def _make_batch(number, X, y, weights):
    """Run on a worker: a block of rows."""
    lengths = {
        name: _num_samples(part) for name, part in (("X", X), ("y", y), ("sample_weight", weights)) if part is not None
    }
    if len(set(lengths.values())) > 1:
        sizes = " and ".join(f"{length} of {name}" for name, length in lengths.items())
        raise ValueError(f"block {number} has {sizes}; give X, y and sample_weight the same blocks of rows")
    return Batch(X, y, weights)


def _check_block(number, batch, check):
    """Run on a worker: the number of rows, after the check of their inputs."""
    if _num_samples(batch.X):
        try:
            check(batch.X)
        except ValueError as error:
            raise ValueError(f"in block {number} of the rows: {error}") from error
    return _num_samples(batch.X)


def _take_rows(number, batch, rows):
    """Run on a worker: rows of a block, by their positions."""
    return batch.take(rows)


def _by_rows(part, name):
    """A collection whose blocks are of whole rows."""
    if not is_dask(part):
        raise ValueError(
            f"{name} must be a Dask array or data frame where others are, got {type(part).__name__}; use "
            f"dask.array.from_array({name}, chunks=...)"
        )
    if hasattr(part, "chunks") and len(part.chunks) > 1 and any(len(sizes) > 1 for sizes in part.chunks[1:]):
        return part.rechunk(dict.fromkeys(range(1, len(part.chunks)), -1))
    return part


def _lengths(part):
    """Lengths of blocks, as far as they are known without computing."""
    return part.chunks[0] if hasattr(part, "chunks") else (np.nan,) * part.npartitions


def _check_chunks(X, part, name):
    """Refuse other blocks of rows than those of X; blocks of unknown length are compared on the workers."""
    expected, lengths = _lengths(X), _lengths(part)
    pairs = zip(expected, lengths)
    if len(expected) != len(lengths) or any(a != b for a, b in pairs if np.isfinite(a + b)):
        raise ValueError(
            f"X and {name} must have the same blocks of rows, got chunks {_short(expected)} of X and {_short(lengths)} "
            f"of {name}; use {name}.rechunk, or X.repartition for data frames"
        )


def _short(chunks):
    sizes = ", ".join("?" if np.isnan(size) else str(size) for size in chunks[:6])
    return f"({sizes}{', ..' if len(chunks) > 6 else ''})"


def _split_like(X, part, name):
    """An array in memory as a Dask array with the blocks of X."""
    import dask.array

    lengths = _lengths(X)
    if not np.isfinite(lengths).all():
        raise ValueError(
            f"{name} is in memory and X has blocks of unknown length; use X.compute_chunk_sizes(), for data frames "
            f"X.to_dask_array(lengths=True), or give {name} as a Dask collection too"
        )
    if _num_samples(part) != sum(lengths):
        raise ValueError(
            f"X and {name} must have as many samples, got inconsistent numbers {sum(lengths)} and {_num_samples(part)}"
        )
    values = np.asarray(part)
    return dask.array.from_array(values, chunks=(lengths, *values.shape[1:]))
