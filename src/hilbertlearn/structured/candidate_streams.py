"""Candidates that do not fit in memory: the best of them for all queries, from blocks.

More than 65 536 candidates, arrays beyond the working memory and iterators are streams. Only the best k candidates of
each query, and a few that may be tied with them, are kept. A later candidate replaces an earlier one only if it is
better by more than rounding, so that the result is that of all candidates at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
import scipy.sparse

from .._utils.blocks import numbers_at_once, working_memory
from ..decoders.candidates import TopCandidates, check_finite, sort_best_first
from .candidate_pools import TIES, CandidatePool, read_candidates

_LARGEST_POOL = 2**16  # number of candidates that are read at once, if they fit in the working memory
_COPIES = 6  # arrays of the size of a block while candidates are read and their features computed
_BLOCK_ENTRIES = 2**23  # numbers in a block, 64 MB; larger blocks are not faster
_EMPTY = "candidates must be known outputs, at least one, got none"


def is_stream(candidates):
    """Whether candidates are read in blocks: iterators and large collections."""
    if not hasattr(candidates, "__len__") and not hasattr(candidates, "shape"):
        return not isinstance(candidates, (str, bytes)) and hasattr(candidates, "__iter__")
    if not isinstance(candidates, (list, tuple, np.ndarray)) and not scipy.sparse.issparse(candidates):
        return False
    shape = candidates.shape if hasattr(candidates, "shape") else (len(candidates),)
    return bool(shape) and (shape[0] > _LARGEST_POOL or 8 * _COPIES * int(np.prod(shape)) > working_memory())


def is_iterator(candidates):
    """Whether candidates can be read only once."""
    return hasattr(candidates, "__next__")


@dataclass(frozen=True)
class CandidateStream:
    """Candidates in their order, read in blocks; equal candidates of a block are scored once."""

    candidates: Any  # a collection with slices, or an iterable of candidates or of blocks of them
    outputs: Any  # training outputs, which have the kind of the candidates
    n_features: int

    @property
    def is_read_once(self):
        return is_iterator(self.candidates)

    def __iter__(self) -> Iterator[CandidatePool]:
        empty = True
        for block in self._blocks():
            empty = False
            yield CandidatePool.from_candidates(read_candidates(block, self.outputs, "candidates"))
        if empty:
            raise ValueError(_EMPTY)

    def _blocks(self):
        rows = self.candidates
        if hasattr(rows, "__len__") or hasattr(rows, "shape"):
            rows = scipy.sparse.csr_array(rows) if scipy.sparse.issparse(rows) else rows
            return _slices(rows, self._block_size)
        return self._iterate()

    def _iterate(self):
        """Blocks of an iterable, whose items are single candidates or blocks of them."""
        size, single = self._block_size, []
        for item in self.candidates:
            is_block = self._is_block(item)
            if not is_block:
                single.append(item)
            if single and (is_block or len(single) == size):
                yield single
                single = []
            if is_block:
                yield from _slices(item, size)
        if single:
            yield single

    @property
    def _block_size(self):
        """Number of candidates of a block."""
        size_of_one = int(np.prod(self.outputs.shape[1:])) if isinstance(self.outputs, np.ndarray) else 1
        return max(
            1, min(_LARGEST_POOL, numbers_at_once(_COPIES, _BLOCK_ENTRIES) // max(self.n_features + size_of_one, 1))
        )

    def _is_block(self, item):
        """Whether an item of an iterator is a list or an array of candidates, and not a candidate itself."""
        if isinstance(self.outputs, np.ndarray):
            return (item.ndim if hasattr(item, "ndim") else np.ndim(item)) == self.outputs.ndim
        if not isinstance(item, (list, np.ndarray)):
            return False
        kinds = {type(output) for output in islice(self.outputs, 100)}
        # if outputs are lists, a block is a list of lists
        return type(item) not in kinds or (len(item) > 0 and type(item[0]) in kinds)


def _slices(rows, size):
    """Consecutive slices of a collection."""
    number = rows.shape[0] if hasattr(rows, "shape") else len(rows)
    for start in range(0, number, size):
        yield rows[start : start + size]


def best_of_stream(queries_of: Callable, blocks, stream: CandidateStream, features_of, k):
    """For each query its k best candidates, best first: lists of outputs, of scores and of positions.

    queries_of : function of inputs that gives queries (b, r)
    blocks : list of (rows, inputs) that cover the queries
    features_of : function of outputs that gives their features (b, r) and bias (b,) or None

    A collection is read once for each block of queries. An iterator is read once, and queries in several blocks are
    computed again for each block of candidates: neither all queries nor all candidates are in memory.
    """
    if stream.is_read_once and len(blocks) > 1:
        return _search(queries_of, blocks, stream, features_of, k)
    results: tuple[list, list, list] = [], [], []
    for _, inputs in blocks:
        queries = queries_of(inputs)
        block = [(slice(0, len(queries)), queries)]
        for total, part in zip(results, _search(lambda values: values, block, stream, features_of, k), strict=True):
            total.extend(part)
    return results


def _search(queries_of, blocks, stream, features_of, k):
    best, n_read = TopCandidates(blocks[-1][0].stop, k + TIES, tied=True), 0
    kept: dict[int, Any] = {}  # the candidates among the best of any query, by position
    for pool in stream:
        features, bias = features_of(pool.distinct)
        check_finite(features, f"candidates {n_read} to {n_read + len(pool.group) - 1}")
        positions, copies = _positions(pool, n_read)
        for rows, inputs in blocks:
            best.add(rows, queries_of(inputs), features, bias, positions)
            if copies:
                best.repeat(rows, copies)
        used = np.unique(best.indices)
        new = used[used >= n_read]
        kept = {i: kept[i] for i in used[(used >= 0) & (used < n_read)].tolist()}
        kept.update(zip(new.tolist(), pool.take(new - n_read), strict=True))
        n_read += len(pool.group)
    number = min(k + TIES, n_read)
    indices, scores = sort_best_first(best.scores[:, :number], best.indices[:, :number], k)
    outputs = [[kept[i] for i in row] for row in indices.tolist()]
    are_rows = isinstance(stream.outputs, np.ndarray)
    return [np.array(row) if are_rows else row for row in outputs], list(scores), list(indices)


def _positions(pool, start):
    """Positions (c,) of the first of each distinct candidate of a block, and of its later copies by the first."""
    order = np.argsort(pool.group, kind="stable")
    starts = np.searchsorted(pool.group[order], np.arange(len(pool.distinct)))
    firsts = start + order[starts]
    if len(order) == len(firsts):
        return firsts, {}
    groups = np.split(start + order, starts[1:])
    return firsts, {int(positions[0]): positions[1:] for positions in groups if len(positions) > 1}


def refuse_iterator(candidates):
    """Raise if candidates that are a setting can be read only once."""
    if is_iterator(candidates):
        raise ValueError(
            f"candidates: {type(candidates).__name__} can be gone through only once; give it to predict, or a list"
        )
