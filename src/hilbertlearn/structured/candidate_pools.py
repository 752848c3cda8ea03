"""Candidates as they are given to queries: one collection for all of them, or one for each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._utils.blocks import row_blocks
from ..data.objects import distinct, kind_of, read_outputs, take, to_array_or_list
from ..decoders.candidates import best_first, top_k, top_k_of_lists

_BLOCK_ENTRIES = 2**23  # of the features of candidates held at once, 64 MB; larger blocks gain nothing
_COPIES = 8  # of these while they are computed, and of the queries beside
TIES = 16  # candidates beyond the k best that are looked at: some may differ from the k-th by rounding only


@dataclass(frozen=True)
class CandidatePool:
    """Candidates, each in its place; equal ones are scored once."""

    distinct: Any  # (c,) outputs
    group: np.ndarray  # (N,) the number of each candidate among them
    given: list | None = None  # (N,) the candidates themselves, where equal ones may be different objects

    @classmethod
    def of(cls, items):
        first, group = distinct(items)
        return cls(take(items, first), group, items if isinstance(items, list) else None)

    def take(self, positions):
        """The candidates in some places."""
        return take(self.distinct, self.group[positions]) if self.given is None else take(self.given, positions)

    def blocks(self, features, width):
        """What ``features``, a function of outputs, says of the distinct candidates, some at a time."""
        for some in row_blocks(len(self.distinct), width, _COPIES, _BLOCK_ENTRIES):
            yield features(self.distinct[some])

    def part(self, start, stop):
        """The pool of the candidates in a range of places."""
        used, group = np.unique(self.group[start:stop], return_inverse=True)
        return CandidatePool(take(self.distinct, used), group)


def best_of_all(queries, pool: CandidatePool, features, k):
    """Positions and scores, a list of m arrays each, of the k best candidates of one pool for each query."""
    found, scores = top_k(queries, pool.blocks(features, queries.shape[1]), k + TIES)
    if len(pool.distinct) == len(pool.group):
        positions, values = best_first(scores, found, k)
        return list(positions), list(values)
    # k distinct candidates, with all their repetitions, have the k best among them
    members, counts = np.argsort(pool.group, kind="stable"), np.bincount(pool.group)
    ends = np.cumsum(counts)
    best = []
    for numbers, values in zip(found, scores, strict=True):
        positions = np.concatenate([members[ends[i] - counts[i] : ends[i]] for i in numbers])
        best.append(best_first(np.repeat(values, counts[numbers]), positions, k))
    return [positions for positions, _ in best], [values for _, values in best]


def best_of_each(queries, pool: CandidatePool, sizes, features, k, first=0):
    """The same where the pool has the candidates of the first query, then those of the second, and so on.

    Positions are in the query's own list. first : the number of the first query, for errors
    """
    lists = np.split(pool.group, (np.cumsum(sizes) - sizes)[1:])
    return top_k_of_lists(queries, lists, pool.blocks(features, queries.shape[1]), k, first)


def read_candidates(candidates, outputs, name):
    """Candidates in the canonical form of the training outputs, after checking that they are of their kind."""
    if isinstance(candidates, (str, bytes)):
        raise ValueError(
            f"{name} must be a list of outputs, got a single {type(candidates).__name__}; put it in a list"
        )
    items, known = read_outputs(to_array_or_list(candidates), like=outputs)
    if not len(known) or not known.all():
        seen = "some that are not" if len(known) else "none"
        raise ValueError(f"{name} must be known outputs, at least one, got {seen}")
    if isinstance(outputs, list):
        kinds, found = ({type(item): item for item in some}.values() for some in (outputs, items))  # one of each type
        odd = next((item for item in found if kind_of(item) not in set(map(kind_of, kinds))), None)
        if odd is not None:
            raise ValueError(
                f"{name} must be of the kind of the training outputs, {type(outputs[0]).__name__}; got "
                f"{type(odd).__name__}: convert them, and give a list even for a single one"
            )
    elif not isinstance(items, np.ndarray) or items.shape[1:] != outputs.shape[1:]:
        wanted = "numbers" if outputs.ndim == 1 else f"rows of shape {outputs.shape[1:]}"
        got = f"shape {items.shape}" if isinstance(items, np.ndarray) else f"a list with {_odd_one(items)}"
        raise ValueError(f"{name} must be {wanted} like the training outputs, got {got}")
    return items


def read_lists(candidates, outputs, m):
    """The candidates of each of m queries, one after the other in a pool, and their numbers (m,)."""
    candidates = list(candidates) if isinstance(candidates, (list, tuple)) else to_array_or_list(candidates)
    if len(candidates) != m:
        raise ValueError(
            f"candidates_per_query: {len(candidates)} lists for {m} queries; give one a query, or one for all as "
            "candidates"
        )
    if _are_whole_rows(candidates):  # nothing is missing in them: only the distinct ones need be read
        every = np.concatenate(candidates)
        first, group = distinct(every)
        pool = CandidatePool(read_candidates(every[first], outputs, "candidates of query 0"), group)
    else:
        parts = [read_candidates(part, outputs, f"candidates of query {i}") for i, part in enumerate(candidates)]
        rows = isinstance(outputs, np.ndarray)
        pool = CandidatePool.of(np.concatenate(parts) if rows else [item for part in parts for item in part])
    return pool, np.array(list(map(len, candidates)))


def _are_whole_rows(candidates):
    """Whether there are rows of integers for every query, of one shape."""
    if not all(isinstance(part, np.ndarray) and part.ndim > 1 and len(part) for part in candidates):
        return False
    return len({part.shape[1:] for part in candidates}) == 1 and all(part.dtype.kind in "biu" for part in candidates)


def _odd_one(items):
    odd = [item for item in items if kind_of(item) not in ("number", "sequence")]
    return type(odd[0] if odd else items[0]).__name__ if items else "nothing"
