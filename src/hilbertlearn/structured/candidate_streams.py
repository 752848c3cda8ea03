"""Candidates that are too many to be held: the best of them for all queries, block by block."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
import scipy.sparse

from .._utils.blocks import numbers_at_once, working_memory
from ..decoders.candidates import Best, best_first, check_finite
from .candidate_pools import TIES, CandidatePool, read_candidates

_WHOLE = 2**16  # candidates up to which they are read at once, if they fit in the working memory
_COPIES = 6  # of features and of candidates, while they are read and computed
_BLOCK_ENTRIES = 2**23  # of these in a block; larger ones gain nothing
_EMPTY = "candidates must be known outputs, at least one, got none"


def streams(candidates):
    """Whether candidates are looked at block by block: iterators, and collections that are large."""
    if not hasattr(candidates, "__len__") and not hasattr(candidates, "shape"):
        return not isinstance(candidates, (str, bytes)) and hasattr(candidates, "__iter__")
    if not isinstance(candidates, (list, tuple, np.ndarray)) and not scipy.sparse.issparse(candidates):
        return False
    shape = candidates.shape if hasattr(candidates, "shape") else (len(candidates),)
    return bool(shape) and (shape[0] > _WHOLE or 8 * _COPIES * int(np.prod(shape)) > working_memory())


def is_used_up(candidates):
    """Whether candidates can be gone through only once."""
    return hasattr(candidates, "__next__")


@dataclass(frozen=True)
class CandidateStream:
    """Candidates in the order in which they come, read some at a time; equal ones of a block are scored once."""

    candidates: Any  # a collection that has slices, or anything to iterate over: of candidates, or of blocks of them
    outputs: Any  # training outputs, of whose kind candidates are
    width: int  # of their features

    @property
    def once(self):
        return is_used_up(self.candidates)

    def __iter__(self) -> Iterator[CandidatePool]:
        empty = True
        for block in self._blocks():
            empty = False
            yield CandidatePool.of(read_candidates(block, self.outputs, "candidates"))
        if empty:
            raise ValueError(_EMPTY)

    def _blocks(self):
        size = self._size
        if hasattr(self.candidates, "__len__") or hasattr(self.candidates, "shape"):
            rows = self.candidates
            rows = scipy.sparse.csr_array(rows) if scipy.sparse.issparse(rows) else rows
            number = rows.shape[0] if hasattr(rows, "shape") else len(rows)
            for start in range(0, number, size):
                yield rows[start : start + size]
            return
        single: list = []
        for item in self.candidates:
            if not self._is_block(item):
                single.append(item)
                if len(single) == size:
                    yield single
                    single = []
                continue
            if single:
                yield single
                single = []
            number = item.shape[0] if hasattr(item, "shape") else len(item)
            for start in range(0, number, size):
                yield item[start : start + size]
        if single:
            yield single

    @property
    def _size(self):
        """Candidates of a block."""
        own = int(np.prod(self.outputs.shape[1:])) if isinstance(self.outputs, np.ndarray) else 1
        return max(1, min(_WHOLE, numbers_at_once(_COPIES, _BLOCK_ENTRIES) // max(self.width + own, 1)))

    def _is_block(self, item):
        """Whether an item of an iterator is a list or an array of candidates, and not a candidate itself."""
        if isinstance(self.outputs, np.ndarray):
            return (item.ndim if hasattr(item, "ndim") else np.ndim(item)) == self.outputs.ndim
        if not isinstance(item, (list, np.ndarray)):
            return False
        kinds = {type(output) for output in islice(self.outputs, 100)}
        # lists of lists are blocks where outputs are lists
        return type(item) not in kinds or (len(item) > 0 and type(item[0]) in kinds)


def best_of_stream(ask: Callable, parts, stream: CandidateStream, features, k):
    """For each query its k best candidates, best first: lists of outputs, of scores and of positions.

    ask : function of inputs that gives queries (b, r)
    parts : list of (rows, inputs) that cover the queries
    features : function of outputs that gives their features (b, r) and bias (b,) or None

    A collection is gone through for each part. An iterator is gone through once, and the queries of several parts are
    computed again for each block of candidates: neither the queries nor the candidates are held as a whole.
    """
    if stream.once and len(parts) > 1:
        return _search(ask, parts, stream, features, k)
    found: tuple[list, list, list] = [], [], []
    for _, part in parts:
        queries = ask(part)
        here = [(slice(0, len(queries)), queries)]
        for every, own in zip(found, _search(lambda values: values, here, stream, features, k), strict=True):
            every.extend(own)
    return found


def _search(ask, parts, stream, features, k):
    best, seen = Best(parts[-1][0].stop, k + TIES, tied=True), 0
    kept: dict[int, Any] = {}  # candidates that have a place, by position
    for pool in stream:
        values, bias = features(pool.distinct)
        check_finite(values, f"candidates {seen} to {seen + len(pool.group) - 1}")
        positions, copies = _places(pool, seen)
        for rows, part in parts:
            best.take_in(rows, ask(part), values, bias, positions)
            if copies:
                best.repeat(rows, copies)
        used = np.unique(best.indices)
        new = used[used >= seen]
        kept = {i: kept[i] for i in used[(used >= 0) & (used < seen)].tolist()}
        kept.update(zip(new.tolist(), pool.take(new - seen), strict=True))
        seen += len(pool.group)
    number = min(k + TIES, seen)
    indices, scores = best_first(best.scores[:, :number], best.indices[:, :number], k)
    outputs = [[kept[i] for i in own] for own in indices.tolist()]
    rows = isinstance(stream.outputs, np.ndarray)
    return [np.array(own) if rows else own for own in outputs], list(scores), list(indices)


def _places(pool, seen):
    """Positions (c,) of the first of each distinct candidate of a block, and those of later copies by the first."""
    order = np.argsort(pool.group, kind="stable")
    starts = np.searchsorted(pool.group[order], np.arange(len(pool.distinct)))
    firsts = seen + order[starts]
    if len(order) == len(firsts):
        return firsts, {}
    own = np.split(seen + order, starts[1:])
    return firsts, {int(places[0]): places[1:] for places in own if len(places) > 1}


def refuse_iterator(candidates):
    """Raise if candidates that are a setting can be gone through only once."""
    if is_used_up(candidates):
        raise ValueError(
            f"candidates: {type(candidates).__name__} can be gone through only once; give it to predict, or a list"
        )
