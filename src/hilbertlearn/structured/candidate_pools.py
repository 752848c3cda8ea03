"""Candidates in memory: one collection for all queries, or one for each.

Every candidate keeps its position. Equal candidates are scored once, scores that differ by rounding count as equal, and
ties are in the order of the positions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._utils.blocks import row_blocks
from ..data.objects import distinct, kind_of, read_outputs, take, to_array_or_list
from ..decoders.candidates import sort_best_first, top_k, top_k_of_lists

_BLOCK_ENTRIES = 2**23  # features of candidates in a block, 64 MB; larger blocks are not faster
_COPIES = 8  # arrays of that size while features are computed, with the queries
TIES = 16  # candidates beyond the k best that are sorted too: some may differ from the k-th by rounding only


@dataclass(frozen=True)
class CandidatePool:
    """N candidates, of which c are distinct."""

    distinct: Any  # (c,) outputs
    group: np.ndarray  # (N,) number of each candidate among them
    items: list | None = None  # (N,) the candidates themselves, if equal ones may be different objects

    @classmethod
    def from_candidates(cls, items):
        first, group = distinct(items)
        return cls(take(items, first), group, items if isinstance(items, list) else None)

    def take(self, positions):
        """The candidates at some positions."""
        return take(self.distinct, self.group[positions]) if self.items is None else take(self.items, positions)

    def blocks(self, features, width):
        """Results of ``features``, a function of outputs, for blocks of the distinct candidates."""
        for rows in row_blocks(len(self.distinct), width, _COPIES, _BLOCK_ENTRIES):
            yield features(self.distinct[rows])

    def slice(self, start, stop):
        """The pool of the candidates in a range of positions."""
        used, group = np.unique(self.group[start:stop], return_inverse=True)
        return CandidatePool(take(self.distinct, used), group)


def best_of_all(queries, pool: CandidatePool, features, k):
    """Positions and scores, a list of m arrays each, of the k best candidates of one pool for each query."""
    best_distinct, scores = top_k(queries, pool.blocks(features, queries.shape[1]), k + TIES)
    if len(pool.distinct) == len(pool.group):
        positions, values = sort_best_first(scores, best_distinct, k)
        return list(positions), list(values)
    # the k best candidates are among the k best distinct ones with all their repetitions
    members, counts = np.argsort(pool.group, kind="stable"), np.bincount(pool.group)
    ends = np.cumsum(counts)
    best = []
    for numbers, values in zip(best_distinct, scores, strict=True):
        positions = np.concatenate([members[ends[i] - counts[i] : ends[i]] for i in numbers])
        best.append(sort_best_first(np.repeat(values, counts[numbers]), positions, k))
    return [positions for positions, _ in best], [values for _, values in best]


def best_of_each(queries, pool: CandidatePool, sizes, features, k, first=0):
    """The same where the pool has the candidates of the first query, then those of the second, and so on.

    Positions are those in the list of the query. first : number of the first query, for errors
    """
    lists = np.split(pool.group, (np.cumsum(sizes) - sizes)[1:])
    return top_k_of_lists(queries, lists, pool.blocks(features, queries.shape[1]), k, first)


def read_candidates(candidates, outputs, name):
    """Candidates in the form of the training outputs, after checking that they are of the same kind."""
    if isinstance(candidates, (str, bytes)):
        raise ValueError(
            f"{name} must be a list of outputs, got a single {type(candidates).__name__}; put it in a list"
        )
    items, known = read_outputs(to_array_or_list(candidates), like=outputs)
    if not len(known) or not known.all():
        problem = "some that are not" if len(known) else "none"
        raise ValueError(f"{name} must be known outputs, at least one, got {problem}")
    if isinstance(outputs, list):
        known_kinds = set(map(kind_of, _one_of_each_type(outputs)))
        other = next((item for item in _one_of_each_type(items) if kind_of(item) not in known_kinds), None)
        if other is not None:
            raise ValueError(
                f"{name} must be of the kind of the training outputs, {type(outputs[0]).__name__}; got "
                f"{type(other).__name__}: convert them, and give a list even for a single one"
            )
    elif not isinstance(items, np.ndarray) or items.shape[1:] != outputs.shape[1:]:
        expected = "numbers" if outputs.ndim == 1 else f"rows of shape {outputs.shape[1:]}"
        got = f"shape {items.shape}" if isinstance(items, np.ndarray) else f"a list with {_unexpected_type(items)}"
        raise ValueError(f"{name} must be {expected} like the training outputs, got {got}")
    return items


def _one_of_each_type(items):
    return {type(item): item for item in items}.values()


def read_lists(candidates, outputs, m):
    """The candidates of m queries, one list after the other in a pool, and the lengths (m,) of the lists."""
    candidates = list(candidates) if isinstance(candidates, (list, tuple)) else to_array_or_list(candidates)
    if len(candidates) != m:
        raise ValueError(
            f"candidates_per_query: {len(candidates)} lists for {m} queries; give one a query, or one for all as "
            "candidates"
        )
    if _are_integer_rows(candidates):  # none is missing, so that only the distinct ones are read
        rows = np.concatenate(candidates)
        first, group = distinct(rows)
        pool = CandidatePool(read_candidates(rows[first], outputs, "candidates of query 0"), group)
    else:
        parts = [read_candidates(part, outputs, f"candidates of query {i}") for i, part in enumerate(candidates)]
        are_rows = isinstance(outputs, np.ndarray)
        items = np.concatenate(parts) if are_rows else [item for part in parts for item in part]
        pool = CandidatePool.from_candidates(items)
    return pool, np.array(list(map(len, candidates)))


def _are_integer_rows(candidates):
    """Whether every query has rows of integers, all of one shape."""
    if not all(isinstance(part, np.ndarray) and part.ndim > 1 and len(part) for part in candidates):
        return False
    return len({part.shape[1:] for part in candidates}) == 1 and all(part.dtype.kind in "biu" for part in candidates)


def _unexpected_type(items):
    """The name of the type of the first item that is no number or sequence, or else of the first item."""
    others = [item for item in items if kind_of(item) not in ("number", "sequence")]
    return type(others[0] if others else items[0]).__name__ if items else "nothing"
