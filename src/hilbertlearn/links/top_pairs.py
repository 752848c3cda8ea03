"""The pairs with the highest scores among more of them than fit in memory."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse

from .._utils.validation import check_number

SIZE = 2**22  # scores at a time, 32 MB
_ROUNDING = 2.0**-34  # relative difference of scores that is none


class TopPairs(NamedTuple):
    """Positions (m,), (m,) and scores (m,) of pairs, best first."""

    rows: np.ndarray
    columns: np.ndarray
    scores: np.ndarray

    def placed(self, rows, columns, symmetric) -> TopPairs:
        """The same pairs by other positions, those (n_rows,) and (n_columns,) of the rows and columns.

        Equal scores are in the order of these, and so are the two of a pair if scores are symmetric.
        """
        i, j = rows[self.rows], columns[self.columns]
        if symmetric:
            i, j = np.minimum(i, j), np.maximum(i, j)
        order = np.lexsort((j, i, -_without_rounding(self.scores)))
        return TopPairs(i[order], j[order], self.scores[order])


def top_pairs(block_scores, n_rows, n_columns, k, *, symmetric=False, excluded=None, size=SIZE) -> TopPairs:
    """The k pairs of a row and a column with the highest scores; of equal ones those that come first by position.

    Scores that differ by rounding are equal, so that the order hardly depends on the machine.

    Blocks of whole rows are looked at in turn, each for scores above the k-th best so far, which few have.

    Parameters
    ----------
    block_scores : function (rows, columns) -> scores (r, c), of two slices; NaN does not count. The result is read only
    k : number of pairs; fewer are returned where fewer count
    symmetric : bool, scores are symmetric, (i, j) and (j, i) are one pair and (i, i) is none: those with i < j count
    excluded : sparse (n_rows, n_columns) or None, not zero for pairs that do not count; if symmetric, in either order
    size : scores that are held at a time, but at least one row of them
    """
    check_number(k, "k", integer=True)
    if symmetric and n_rows != n_columns:
        raise ValueError(f"symmetric scores need as many rows as columns, got {n_rows} and {n_columns}")
    without = _ExcludedPairs.of(excluded, (n_rows, n_columns), symmetric)
    positions, scores = np.empty(0, dtype=np.int64), np.empty(0)
    for rows in _blocks(n_rows, n_columns, k, size):
        columns = slice(rows.start if symmetric else 0, n_columns)
        block = np.asarray(block_scores(rows, columns))
        expected = (rows.stop - rows.start, columns.stop - columns.start)
        if block.shape != expected:
            raise ValueError(f"block_scores gave shape {block.shape} for rows and columns of shape {expected}")
        near = np.flatnonzero(block > _below(scores[-1]) if len(scores) == k else ~np.isnan(block))
        found, (i, j) = block.ravel()[near], np.divmod(near, expected[1])
        i, j = i + rows.start, j + columns.start
        counted = ~without.among(rows, keys := i * n_columns + j)
        if symmetric:
            counted &= i < j
        if counted.any():
            positions, scores = _best(
                k, np.concatenate([positions, keys[counted]]), np.concatenate([scores, found[counted]])
            )
    return TopPairs(*np.divmod(positions, max(n_columns, 1)), scores)


def _blocks(n_rows, n_columns, k, size):
    """Slices of rows, small ones first: as long as there are fewer than k scores, each has to be looked at."""
    start, n_columns = 0, max(n_columns, 1)
    limit = max(1, size // n_columns)
    height = min(limit, 1 + 2 * k // n_columns)
    while start < n_rows:
        yield slice(start, min(start + height, n_rows))
        start, height = start + height, min(2 * height, limit)


def _best(k, positions, scores):
    """The k highest scores and their positions, in descending order, those that differ by rounding as they come."""
    if len(scores) > k:
        kept = scores >= _below(np.partition(scores, -k)[-k])
        positions, scores = positions[kept], scores[kept]
    order = np.argsort(-_without_rounding(scores), kind="stable")[:k]
    return positions[order], scores[order]


def _below(score):
    """Less than any score that could be the same but for rounding."""
    if not np.isfinite(score):
        return np.nextafter(score, -np.inf)  # of the smallest of all itself
    return score - 2 * _ROUNDING * abs(score) - np.finfo(float).tiny


def _without_rounding(scores):
    """Scores to about ten digits: nodes that are alike have scores that differ in the last ones."""
    mantissas, exponents = np.frexp(scores)
    return np.ldexp(np.round(mantissas / _ROUNDING) * _ROUNDING, exponents)


class _ExcludedPairs(NamedTuple):
    """Pairs that do not count, as numbers row * n_columns + column in order; those of row i begin at starts[i]."""

    keys: np.ndarray
    starts: np.ndarray

    @classmethod
    def of(cls, excluded, shape, symmetric):
        if excluded is None:
            return cls(np.empty(0, dtype=np.int64), np.zeros(shape[0] + 1, dtype=np.int64))
        if excluded.shape != shape:
            raise ValueError(f"excluded has shape {excluded.shape} for scores of shape {shape}; give one entry a pair")
        pattern = scipy.sparse.csr_array(excluded) != 0
        pattern = scipy.sparse.csr_array(pattern + pattern.T if symmetric else pattern)
        rows, columns = pattern.nonzero()
        keys = np.sort(rows.astype(np.int64) * shape[1] + columns)
        return cls(keys, np.searchsorted(keys, np.arange(shape[0] + 1, dtype=np.int64) * shape[1]))

    def among(self, rows, keys):
        """Mask (m,) of the keys (m,), in order and all of some rows, that are excluded."""
        own = self.keys[self.starts[rows.start] : self.starts[rows.stop]]
        return np.isin(keys, own, assume_unique=True)
