"""Candidates in a Dask bag or array: each block is searched where it is, and only its best candidates are sent back."""

from __future__ import annotations

import itertools

import numpy as np

from ..decoders.candidates import sort_best_first
from ..machine.distributed import map_blocks
from .candidate_pools import TIES


def best_of_blocks(search, X, candidates, k):
    """For each query its k best candidates of all blocks: lists of outputs, of their scores and of their positions.

    search : function (X, candidates, k) with the same result for candidates in memory
    X : checked inputs
    """
    results = map_blocks(candidates, _search_block, (search, X, k + TIES))
    sizes = [size for size, _ in results]
    if not sum(sizes):
        raise ValueError("candidates is empty; give at least one candidate")
    starts = np.cumsum(sizes) - sizes
    best = [(start, part) for start, (_, part) in zip(starts, results, strict=True) if part is not None]
    outputs, scores, indices = [], [], []
    for q in range(len(best[0][1][1])):
        candidates = list(itertools.chain.from_iterable(part[0][q] for _, part in best))
        values = np.concatenate([part[1][q] for _, part in best])
        positions = np.concatenate([start + part[2][q] for start, part in best])
        index_of = {int(position): i for i, position in enumerate(positions)}
        positions, values = sort_best_first(values, positions, k)
        outputs.append([candidates[index_of[int(position)]] for position in positions])
        scores.append(values)
        indices.append(positions)
    return outputs, scores, indices


def _search_block(block, shared):
    """Runs on a worker: the number of candidates of a block, and the best of them."""
    search, X, k = shared
    items = block if isinstance(block, np.ndarray) else list(block)
    return len(items), search(X, items, k) if len(items) else None
