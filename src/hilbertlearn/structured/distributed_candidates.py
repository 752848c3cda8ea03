"""Candidates in a Dask bag or array: scored block by block where they are, the best of each block travel."""

from __future__ import annotations

import itertools

import numpy as np

from ..decoders.candidates import best_first
from ..machine.distributed import of_each_block
from .candidate_pools import TIES


def best_of_blocks(model, X, candidates, k):
    """For each query its k best candidates of all blocks: lists of outputs, of their scores and of their positions.

    X : checked inputs
    """
    found = of_each_block(candidates, _of_block, (model, X, k + TIES))
    sizes = [size for size, _ in found]
    if not sum(sizes):
        raise ValueError("candidates is empty; give at least one candidate")
    starts = np.cumsum(sizes) - sizes
    best = [(start, part) for start, (_, part) in zip(starts, found, strict=True) if part is not None]
    outputs, scores, indices = [], [], []
    for q in range(len(best[0][1][1])):
        own = list(itertools.chain.from_iterable(part[0][q] for _, part in best))
        values = np.concatenate([part[1][q] for _, part in best])
        places = np.concatenate([start + part[2][q] for start, part in best])
        positions, values = best_first(values, places, k)
        where = {int(place): i for i, place in enumerate(places)}
        outputs.append([own[where[int(position)]] for position in positions])
        scores.append(values)
        indices.append(positions)
    return outputs, scores, indices


def _of_block(block, shared):
    """Run on a worker: the number of candidates of a block, and what ``best_candidates`` says of them."""
    model, X, k = shared
    items = block if isinstance(block, np.ndarray) else list(block)
    return len(items), model.best_candidates(X, items, k) if len(items) else None
