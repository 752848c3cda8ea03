"""Candidates: the exact k best of a stream of them for all queries, without ever holding all scores."""

from __future__ import annotations

import numpy as np

from .._utils.blocks import numbers_at_once, slices
from ..data.objects import take

_SCORES = 2**19  # scores of some queries and candidates at once, 4 MB: they are looked at while still in the cache
_COPIES = 8  # of numbers that are worked on at once, within the working memory
_QUERIES = 1024  # of these queries, at most
TIED = 1e-12  # relative to the largest score of the query: such differences are rounding
_DENSE = 30  # times that a product in a sum of all pairs is cheaper than one of a pair that is looked for
_NOT_FINITE = "{} have NaN or infinite losses or kernel values; remove them or correct the loss"
_LOSSES = 2**22  # losses of some candidates at all outputs, computed at once, 32 MB


def at_once(most):
    """How many numbers of a kind are worked on at once: at most so many, and less if the working memory asks for it."""
    return numbers_at_once(_COPIES, most)


def best_outputs(W, Y, score, pool=None):
    """Indices (m,) of the outputs z in the pool, by default Y (n,), of largest ``sum_i W[q, i] score(z, Y[i])``.

    Of equal ones the first.
    """
    pool = Y if pool is None else pool
    blocks = ((score(pool[some], Y), None) for some in slices(len(pool), at_once(_LOSSES) // max(len(Y), 1)))
    return top_k(W, blocks, 1)[0][:, 0]


def classes(W, Y, loss):
    """Outputs (m,) of the smallest weighted loss among all that the loss knows of, exact for any weights."""
    pool = loss.all_outputs(Y)
    return take(pool, best_outputs(-W, Y, loss, pool))


def top_k(queries, blocks, k):
    """Indices and scores, both (m, min(k, number of candidates)), of each query's best candidates, best first.

    `blocks` yields pairs (features (b, r), bias (b,) or None) of consecutive candidates; scores of queries (m, r) are
    ``queries @ features.T + bias``. Of equal scores the candidate that came first is better. To minimise, negate the
    queries and the bias. Memory is that of a block, a tile of scores, and the result.
    """
    queries = np.asarray(queries, dtype=float)
    best = Best(len(queries), k)
    seen = 0
    for features, bias in blocks:
        check_finite(features, f"candidates {seen} to {seen + len(features) - 1}")
        best.take_in(slice(0, len(queries)), queries, features, bias, np.arange(seen, seen + len(features)))
        seen += len(features)
    if seen == 0 and len(queries):
        raise ValueError("candidates is empty; give at least one candidate")
    found = min(k, seen)
    return best.indices[:, :found], best.scores[:, :found]


def top_k_of_lists(queries, lists, blocks, k, first=0):
    """Lists of m indices and of m scores: for each query the best of candidates of its own, best first.

    `lists` has for each query the numbers (c_q,) of its candidates, repeated ones too, in the stream of `blocks`, which
    are those of `top_k`: a candidate of many queries comes once. A query with fewer than k candidates gets all of them.
    Indices count within the query's list; of equal scores the first is better.

    first : the number of the first query, for errors
    """
    for q, own in enumerate(lists, first):
        if len(own) == 0:
            raise ValueError(f"candidates of query {q} are empty; give at least one candidate for every query")
    if not len(lists):
        return [], []
    sizes = list(map(len, lists))
    owner, numbers = np.repeat(np.arange(len(sizes)), sizes), np.concatenate(lists)
    scores = _scores_of_pairs(np.asarray(queries, dtype=float), owner, numbers, blocks, first)
    best = [best_first(own, np.arange(len(own)), k) for own in np.split(scores, np.cumsum(sizes)[:-1])]
    return [indices for indices, _ in best], [values for _, values in best]


def _scores_of_pairs(queries, owner, numbers, blocks, first):
    """Scores (p,) of pairs of a query, by `owner` (p,), and a candidate of the stream, by `numbers` (p,)."""
    by_number = np.argsort(numbers, kind="stable")
    scores, seen = np.empty(len(numbers)), 0
    for features, bias in blocks:
        start, stop = np.searchsorted(numbers, [seen, seen + len(features)], sorter=by_number)
        pairs = by_number[start:stop]
        odd = np.flatnonzero(~np.isfinite(features).all(axis=1))
        if len(odd):
            query = owner[numbers == seen + odd[0]][0]
            raise ValueError(_NOT_FINITE.format(f"candidates of query {first + query}"))
        rows, own = numbers[pairs] - seen, owner[pairs]
        scores[pairs] = _products(queries, own, features, rows)
        if bias is not None:
            scores[pairs] += bias[rows]
        seen += len(features)
    return scores


def _products(queries, own, features, rows):
    """Inner products (p,) of the queries `own` (p,) with the features of the candidates `rows` (p,)."""
    products = np.empty(len(rows))
    if len(rows) * _DENSE > len(queries) * len(features):  # all pairs cost less than to look for some
        by_query = np.argsort(own, kind="stable")
        for some in slices(len(queries), at_once(_LOSSES) // max(len(features), 1)):
            start, stop = np.searchsorted(own, [some.start, some.stop], sorter=by_query)
            pairs = by_query[start:stop]
            products[pairs] = (queries[some] @ features.T)[own[pairs] - some.start, rows[pairs]]
        return products
    for some in slices(len(rows), at_once(_LOSSES) // max(queries.shape[1], 1)):
        products[some] = np.einsum("ij,ij->i", features[rows[some]], queries[own[some]])
    return products


def best_first(scores, positions, k):
    """The k positions (..., k) of highest score, and their scores; of equal ones up to rounding the lower position."""
    order, values, level = _levels(scores, positions)
    return np.take_along_axis(positions, order[..., :k], axis=-1), np.take_along_axis(values, level[..., :k], axis=-1)


def _levels(scores, positions):
    """Order (..., c) of scores, best first, equal ones up to rounding by position; sorted scores; levels' starts."""
    order = np.lexsort((positions, -scores))
    values = np.take_along_axis(scores, order, axis=-1)
    largest = np.where(np.isfinite(values), np.abs(values), 0.0).max(axis=-1, keepdims=True, initial=0.0)
    with np.errstate(invalid="ignore"):  # between free places there is no fall
        falls = np.diff(values, axis=-1, prepend=np.inf) < -TIED * largest
    level = np.maximum.accumulate(np.where(falls, np.arange(values.shape[-1]), 0), axis=-1)
    again = np.lexsort((np.take_along_axis(positions, order, axis=-1), level))
    return np.take_along_axis(order, again, axis=-1), values, level


class Best:
    """The k best candidates of each query so far, best first: scores and indices (m, k), -1 where there is none.

    tied : whether scores that differ by rounding are equal: later candidates must be better by more to take a place
    """

    def __init__(self, m, k, tied=False):
        self.k, self.tied = k, tied
        self.scores = np.full((m, k), -np.inf)
        self.indices = np.full((m, k), -1)

    def take_in(self, rows, queries, features, bias, positions):
        """Look at candidates in increasing positions (b,), with features (b, r) and bias (b,) or None.

        rows : a slice, which queries (m', r) are given
        """
        for some, columns in _tiles(len(queries), len(features)):
            scores = queries[some] @ features[columns].T
            if bias is not None:
                scores += bias[columns]
            self._update(slice(rows.start + some.start, rows.start + some.stop), scores, positions[columns])

    def repeat(self, rows, copies):
        """Give places to copies of candidates that have one, for the queries `rows` (a slice).

        copies : dict of the position of a candidate to those (c,) of its copies, later and increasing
        """
        firsts, most = np.array(sorted(copies)), max(map(len, copies.values()), default=0)
        for some in slices(rows.stop - rows.start, at_once(_SCORES) // (self.k * max(most, 1))):
            here = slice(rows.start + some.start, rows.start + some.stop)
            query, column = np.nonzero(np.isin(self.indices[here], firsts))
            if len(query):
                more = [copies[position][: self.k] for position in self.indices[here][query, column]]
                sizes = list(map(len, more))
                scores = np.repeat(self.scores[here][query, column], sizes)
                self._merge(here.start, np.repeat(query, sizes), scores, np.concatenate(more))

    def _update(self, rows, scores, positions):
        """Take in the scores (m', b) of the queries `rows` (a slice) and of candidates in their positions (b,).

        Few scores pass the k-th best so far once some blocks have been seen, so that only those are sorted. A later
        candidate of an equal score does not pass.
        """
        last, free = self.scores[rows, -1:], self.indices[rows, -1:] < 0
        if self.tied:
            largest = np.maximum(np.abs(last), np.abs(self.scores[rows, :1]))
            last = last + np.where(free, 0.0, TIED * largest)
        passed = scores > last
        if free.any():  # places that even a score of -inf takes
            passed |= free
        if np.count_nonzero(passed) > len(scores):
            many = np.flatnonzero(np.count_nonzero(passed, axis=1) > self.k)
            if len(many):
                passed[many] &= _k_largest(scores[many], self.k)
        query, column = np.divmod(np.flatnonzero(passed), scores.shape[1])
        if len(query):
            self._merge(rows.start, query, scores[query, column], positions[column])

    def _merge(self, start, query, scores, indices):
        """Sort new entries, ordered by query and index, into the lists of the queries that have any."""
        changed, row, counts = np.unique(query, return_inverse=True, return_counts=True)
        width = counts.max()
        slot = np.arange(len(query)) - np.repeat(np.cumsum(counts) - counts, counts)
        all_scores = np.full((len(changed), self.k + width), -np.inf)
        all_indices = np.full(all_scores.shape, np.iinfo(int).max)
        all_scores[:, : self.k], all_indices[:, : self.k] = self.scores[start + changed], self.indices[start + changed]
        all_indices[all_indices < 0] = np.iinfo(int).max
        all_scores[row, self.k + slot], all_indices[row, self.k + slot] = scores, indices
        order = (_levels(all_scores, all_indices)[0] if self.tied else np.lexsort((all_indices, -all_scores)))[
            :, : self.k
        ]
        kept = np.take_along_axis(all_indices, order, axis=1)
        self.indices[start + changed] = np.where(kept == np.iinfo(int).max, -1, kept)
        self.scores[start + changed] = np.take_along_axis(all_scores, order, axis=1)


def spread(scores, near, count):
    """Up to `count` good candidates (m, count) of each query that are not near each other, best first.

    scores (m, c), near (c, c) true for candidates that are too close. When all are near those already taken, the
    first is repeated.
    """
    scores = np.array(scores, dtype=float)
    chosen = np.empty((len(scores), count), dtype=int)
    rows = np.arange(len(scores))
    for i in range(count):
        best = np.argmax(scores, axis=1)
        chosen[:, i] = np.where(scores[rows, best] == -np.inf, chosen[:, 0], best) if i else best
        scores[near[best]] = -np.inf
    return chosen


def best_of_starts(W, starts, climb):
    """The highest points (m, d) to which ``climb(W, Z)`` leads from starts (m, s, d); it gives points and heights."""
    z, height = climb(np.repeat(W, starts.shape[1], axis=0), starts.reshape(-1, starts.shape[2]))
    best = height.reshape(starts.shape[:2]).argmax(axis=1)
    return z.reshape(starts.shape)[np.arange(len(best)), best]


def _k_largest(scores, k):
    """Mask (m, b) of the k largest of each row of scores (m, b), b >= k; of ties the first ones."""
    least = np.partition(scores, scores.shape[1] - k, axis=1)[:, -k][:, None]
    above, equal = scores > least, scores == least
    free = k - np.count_nonzero(above, axis=1)
    above |= equal & (np.cumsum(equal, axis=1, dtype=np.int32) <= free[:, None])
    return above


def check_finite(features, name):
    if not np.isfinite(np.sum(features)):  # a sum is cheaper than a look at each entry
        raise ValueError(_NOT_FINITE.format(name))


def _tiles(m, b):
    """Pairs of slices that cover m queries and b candidates, with few scores each."""
    for columns in slices(b, at_once(_SCORES) // max(min(m, _QUERIES), 1)):
        for rows in slices(m, _QUERIES):
            yield rows, columns
