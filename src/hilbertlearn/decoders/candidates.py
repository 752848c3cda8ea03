"""The k best candidates of a stream for all queries, computed exactly and without all scores in memory."""

from __future__ import annotations

import numpy as np

from .._utils.blocks import numbers_at_once, slices
from ..data.objects import take

_SCORES = 2**19  # scores of a tile of queries and candidates, 4 MB, so that they are compared while in the cache
_COPIES = 8  # temporary arrays of a block, all of which must fit in the working memory
_QUERIES = 1024  # queries of a tile at most
TIE_TOLERANCE = 1e-12  # difference of scores, relative to the largest of the query, that counts as a tie
_DENSE = 30  # cost of the score of a single pair, relative to that of a pair within a product of all pairs
_NOT_FINITE = "{} have NaN or infinite losses or kernel values; remove them or correct the loss"
_LOSSES = 2**22  # losses of a block of candidates at all outputs, 32 MB


def block_size(most):
    """Number of entries of a block: at most `most`, fewer if the working memory requires it."""
    return numbers_at_once(_COPIES, most)


def best_outputs(W, Y, score, pool=None):
    """Indices (m,) of the outputs z in the pool (by default Y) with the largest ``sum_i W[q, i] score(z, Y[i])``.

    Ties go to the first.
    """
    pool = Y if pool is None else pool
    blocks = ((score(pool[part], Y), None) for part in slices(len(pool), block_size(_LOSSES) // max(len(Y), 1)))
    return top_k(W, blocks, 1)[0][:, 0]


def decode_classes(W, Y, loss):
    """Outputs (m,) of smallest weighted loss among ``loss.all_outputs``; exact for any weights."""
    pool = loss.all_outputs(Y)
    return take(pool, best_outputs(-W, Y, loss, pool))


def top_k(queries, blocks, k):
    """Indices and scores, both (m, min(k, number of candidates)), of each query's best candidates, best first.

    `blocks` yields pairs (features (b, r), bias (b,) or None) of consecutive candidates; scores of queries (m, r) are
    ``queries @ features.T + bias``. Ties go to the candidate that comes first. To minimise, negate the queries and the
    bias. Memory holds a block, a tile of scores, and the result.
    """
    queries = np.asarray(queries, dtype=float)
    best = TopCandidates(len(queries), k)
    start = 0
    for features, bias in blocks:
        stop = start + len(features)
        check_finite(features, f"candidates {start} to {stop - 1}")
        best.add(slice(0, len(queries)), queries, features, bias, np.arange(start, stop))
        start = stop
    if start == 0 and len(queries):
        raise ValueError("candidates is empty; give at least one candidate")
    number = min(k, start)
    return best.indices[:, :number], best.scores[:, :number]


def top_k_of_lists(queries, lists, blocks, k, first=0):
    """Lists of m arrays of indices and of scores: the best candidates of each query from its list, best first.

    `lists` has for each query the numbers (c_q,) of its candidates in the stream of `blocks`, which is as in `top_k`; a
    candidate of several queries comes once in the stream. A query with fewer than k candidates gets all of them.
    Indices count within the list of the query; ties go to the first.

    first : number of the first query, for error messages
    """
    for q, candidates in enumerate(lists, first):
        if len(candidates) == 0:
            raise ValueError(f"candidates of query {q} are empty; give at least one candidate for every query")
    if not len(lists):
        return [], []
    sizes = list(map(len, lists))
    owner, numbers = np.repeat(np.arange(len(sizes)), sizes), np.concatenate(lists)
    scores = _scores_of_pairs(np.asarray(queries, dtype=float), owner, numbers, blocks, first)
    by_query = np.split(scores, np.cumsum(sizes)[:-1])
    best = [sort_best_first(values, np.arange(len(values)), k) for values in by_query]
    return [indices for indices, _ in best], [values for _, values in best]


def _scores_of_pairs(queries, owner, numbers, blocks, first):
    """Scores (p,) of pairs of a query `owner` (p,) and a candidate of the stream `numbers` (p,)."""
    by_number = np.argsort(numbers, kind="stable")
    scores, offset = np.empty(len(numbers)), 0
    for features, bias in blocks:
        start, stop = np.searchsorted(numbers, [offset, offset + len(features)], sorter=by_number)
        pairs = by_number[start:stop]
        invalid = np.flatnonzero(~np.isfinite(features).all(axis=1))
        if len(invalid):
            query = owner[numbers == offset + invalid[0]][0]
            raise ValueError(_NOT_FINITE.format(f"candidates of query {first + query}"))
        rows = numbers[pairs] - offset
        scores[pairs] = _products(queries, owner[pairs], features, rows)
        if bias is not None:
            scores[pairs] += bias[rows]
        offset += len(features)
    return scores


def _products(queries, owner, features, rows):
    """Inner products (p,) of the queries `owner` (p,) with the features of the candidates `rows` (p,)."""
    products = np.empty(len(rows))
    if len(rows) * _DENSE > len(queries) * len(features):  # all pairs cost less than single ones
        by_query = np.argsort(owner, kind="stable")
        for part in slices(len(queries), block_size(_LOSSES) // max(len(features), 1)):
            start, stop = np.searchsorted(owner, [part.start, part.stop], sorter=by_query)
            pairs = by_query[start:stop]
            products[pairs] = (queries[part] @ features.T)[owner[pairs] - part.start, rows[pairs]]
        return products
    for part in slices(len(rows), block_size(_LOSSES) // max(queries.shape[1], 1)):
        products[part] = np.einsum("ij,ij->i", features[rows[part]], queries[owner[part]])
    return products


def sort_best_first(scores, positions, k):
    """The k positions (..., k) of highest score, and their scores; ties up to rounding go to the lower position."""
    order, values, level = _levels(scores, positions)
    return np.take_along_axis(positions, order[..., :k], axis=-1), np.take_along_axis(values, level[..., :k], axis=-1)


def _levels(scores, positions):
    """Order (..., c) of scores, best first and ties by position; the sorted scores; the first index of each tie."""
    order = np.lexsort((positions, -scores))
    values = np.take_along_axis(scores, order, axis=-1)
    largest = np.where(np.isfinite(values), np.abs(values), 0.0).max(axis=-1, keepdims=True, initial=0.0)
    with np.errstate(invalid="ignore"):  # infinite scores of free places
        falls = np.diff(values, axis=-1, prepend=np.inf) < -TIE_TOLERANCE * largest
    level = np.maximum.accumulate(np.where(falls, np.arange(values.shape[-1]), 0), axis=-1)
    by_level = np.lexsort((np.take_along_axis(positions, order, axis=-1), level))
    return np.take_along_axis(order, by_level, axis=-1), values, level


class TopCandidates:
    """The k best candidates of each query so far, best first: scores and indices (m, k), -1 where there is none.

    tied : whether scores that differ by rounding are ties; a later candidate must then be better by more
    """

    def __init__(self, m, k, tied=False):
        self.k, self.tied = k, tied
        self.scores = np.full((m, k), -np.inf)
        self.indices = np.full((m, k), -1)

    def add(self, rows, queries, features, bias, positions):
        """Take candidates in increasing positions (b,) into account, with features (b, r) and bias (b,) or None.

        rows : slice of the queries (m', r) that are given
        """
        for part, columns in _tiles(len(queries), len(features)):
            scores = queries[part] @ features[columns].T
            if bias is not None:
                scores += bias[columns]
            self._update(slice(rows.start + part.start, rows.start + part.stop), scores, positions[columns])

    def repeat(self, rows, copies):
        """Add copies of the candidates that are among the best, for the queries `rows` (a slice).

        copies : dict from the position of a candidate to the later, increasing positions (c,) of its copies
        """
        originals, max_copies = np.array(sorted(copies)), max(map(len, copies.values()), default=0)
        for part in slices(rows.stop - rows.start, block_size(_SCORES) // (self.k * max(max_copies, 1))):
            block = slice(rows.start + part.start, rows.start + part.stop)
            query, column = np.nonzero(np.isin(self.indices[block], originals))
            if len(query):
                positions = [copies[position][: self.k] for position in self.indices[block][query, column]]
                sizes = list(map(len, positions))
                scores = np.repeat(self.scores[block][query, column], sizes)
                self._merge(block.start, np.repeat(query, sizes), scores, np.concatenate(positions))

    def _update(self, rows, scores, positions):
        """Update the best of the queries `rows` (a slice) by scores (m', b) of candidates in positions (b,).

        After some blocks few scores exceed the k-th best so far, and only these are sorted. A later candidate with an
        equal score does not exceed it.
        """
        last, free = self.scores[rows, -1:], self.indices[rows, -1:] < 0
        if self.tied:
            largest = np.maximum(np.abs(last), np.abs(self.scores[rows, :1]))
            last = last + np.where(free, 0.0, TIE_TOLERANCE * largest)
        entering = scores > last
        if free.any():  # a score of -inf takes a free place too
            entering |= free
        if np.count_nonzero(entering) > len(scores):
            many = np.flatnonzero(np.count_nonzero(entering, axis=1) > self.k)
            if len(many):
                entering[many] &= _k_largest(scores[many], self.k)
        query, column = np.divmod(np.flatnonzero(entering), scores.shape[1])
        if len(query):
            self._merge(rows.start, query, scores[query, column], positions[column])

    def _merge(self, start, query, scores, indices):
        """Merge new entries, sorted by query and index, into the lists of their queries."""
        changed, row, counts = np.unique(query, return_inverse=True, return_counts=True)
        width = counts.max()
        slot = np.arange(len(query)) - np.repeat(np.cumsum(counts) - counts, counts)
        all_scores = np.full((len(changed), self.k + width), -np.inf)
        all_indices = np.full(all_scores.shape, np.iinfo(int).max)
        all_scores[:, : self.k], all_indices[:, : self.k] = self.scores[start + changed], self.indices[start + changed]
        all_indices[all_indices < 0] = np.iinfo(int).max
        all_scores[row, self.k + slot], all_indices[row, self.k + slot] = scores, indices
        order = _levels(all_scores, all_indices)[0] if self.tied else np.lexsort((all_indices, -all_scores))
        order = order[:, : self.k]
        best = np.take_along_axis(all_indices, order, axis=1)
        self.indices[start + changed] = np.where(best == np.iinfo(int).max, -1, best)
        self.scores[start + changed] = np.take_along_axis(all_scores, order, axis=1)


def select_spread(scores, close, count):
    """Up to `count` good candidates (m, count) of each query that are far from each other, best first.

    scores (m, c); close (c, c) is True for pairs that are too close. When all candidates are close to the selected
    ones, the first is repeated.
    """
    scores = np.array(scores, dtype=float)
    selected = np.empty((len(scores), count), dtype=int)
    rows = np.arange(len(scores))
    for i in range(count):
        best = np.argmax(scores, axis=1)
        selected[:, i] = np.where(scores[rows, best] == -np.inf, selected[:, 0], best) if i else best
        scores[close[best]] = -np.inf
    return selected


def best_of_starts(W, starts, climb):
    """The best local maxima (m, d) from starts (m, s, d); ``climb(W, Z)`` returns local maxima and their values."""
    z, height = climb(np.repeat(W, starts.shape[1], axis=0), starts.reshape(-1, starts.shape[2]))
    best = height.reshape(starts.shape[:2]).argmax(axis=1)
    return z.reshape(starts.shape)[np.arange(len(best)), best]


def _k_largest(scores, k):
    """Mask (m, b) of the k largest of each row of scores (m, b), b >= k; ties go to the first."""
    threshold = np.partition(scores, scores.shape[1] - k, axis=1)[:, -k][:, None]
    above, equal = scores > threshold, scores == threshold
    free = k - np.count_nonzero(above, axis=1)
    above |= equal & (np.cumsum(equal, axis=1, dtype=np.int32) <= free[:, None])
    return above


def check_finite(features, name):
    """Raise an error if features contain NaN or infinity."""
    if not np.isfinite(np.sum(features)):  # a sum is faster than a test of each entry
        raise ValueError(_NOT_FINITE.format(name))


def _tiles(m, b):
    """Pairs of slices that cover m queries and b candidates by tiles."""
    for columns in slices(b, block_size(_SCORES) // max(min(m, _QUERIES), 1)):
        for rows in slices(m, _QUERIES):
            yield rows, columns
