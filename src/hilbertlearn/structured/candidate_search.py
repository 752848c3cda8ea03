"""The best candidates of each query, wherever the candidates are: in memory, in a stream, or on workers."""

from __future__ import annotations

from functools import partial
from itertools import chain

import numpy as np
from sklearn.utils.validation import _num_samples

from ..machine.distributed import is_dask
from .candidate_pools import best_of_all, best_of_each, read_lists
from .candidate_streams import CandidateStream, best_of_stream, is_stream
from .distributed_candidates import best_of_blocks
from .output_scorer import OutputScorer


def best_candidates(scorer: OutputScorer, X, candidates, k):
    """For each query its k best candidates, best first: lists of outputs, of their scores and of their positions.

    X : checked inputs
    candidates : collection for all queries, None for those of ``OutputScorer.pool``
    """
    if is_dask(candidates):
        return best_of_blocks(partial(best_candidates, scorer), X, candidates, k)
    queries_of, features_of = scorer.objective()
    blocks = scorer.query_blocks(X)
    if candidates is not None and is_stream(candidates):
        stream = CandidateStream(candidates, scorer.rules.outputs, scorer.n_features)
        return best_of_stream(queries_of, blocks, stream, features_of, k)
    pool = scorer.pool(candidates)
    best = [best_of_all(queries_of(part), pool, features_of, k) for _, part in blocks]
    indices, scores = map(_concatenate, zip(*best, strict=True))
    return [pool.take(positions) for positions in indices], scores, indices


def best_candidates_per_query(scorer: OutputScorer, X, candidates_per_query, k):
    """The same where every query has its own collection of candidates; positions are in that collection."""
    queries_of, features_of = scorer.objective()
    blocks = scorer.query_blocks(X)
    pool, sizes = read_lists(candidates_per_query, scorer.rules.outputs, _num_samples(X))
    ends = np.cumsum(sizes)
    best = []
    for rows, part in blocks:
        start = ends[rows.start] - sizes[rows.start] if len(sizes) else 0
        block_pool = pool.slice(start, ends[rows.stop - 1]) if len(blocks) > 1 else pool
        best.append(best_of_each(queries_of(part), block_pool, sizes[rows], features_of, k, rows.start))
    indices, scores = map(_concatenate, zip(*best, strict=True))
    positions = [index + start for index, start in zip(indices, ends - sizes, strict=True)]
    return [pool.take(position) for position in positions], scores, indices


def _concatenate(lists):
    return list(chain.from_iterable(lists))
