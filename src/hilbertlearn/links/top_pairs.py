"""The pairs with the highest scores, from blocks of scores that fit in memory."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse

from .._utils.validation import check_number

SIZE = 2**22  # scores of a block, 32 MB
_ROUNDING = 2.0**-34  # relative difference below which scores count as equal, about 6e-11


class TopPairs(NamedTuple):
    """Positions (m,), (m,) and scores (m,) of pairs, best first."""

    rows: np.ndarray
    columns: np.ndarray
    scores: np.ndarray

    def reindex(self, rows, columns, symmetric) -> TopPairs:
        """The same pairs with the new positions rows (n_rows,) and columns (n_columns,).

        Equal scores are in the order of the new positions, and so are the nodes of a pair if scores are symmetric.
        """
        i, j = rows[self.rows], columns[self.columns]
        if symmetric:
            i, j = np.minimum(i, j), np.maximum(i, j)
        order = np.lexsort((j, i, -_round(self.scores)))
        return TopPairs(i[order], j[order], self.scores[order])


def top_pairs(block_scores, n_rows, n_columns, k, *, symmetric=False, excluded=None, size=SIZE) -> TopPairs:
    """The k pairs of a row and a column with the highest scores, and of equal scores those with the first positions.

    Scores that differ by rounding only are equal, so that the order hardly depends on the machine. In each block of
    rows, only scores above the k-th best so far are sorted.

    Parameters
    ----------
    block_scores : function (rows, columns) -> scores (r, c) of two slices
        Pairs with NaN do not count. The result is not changed.
    n_rows, n_columns : int
    k : int
        Number of pairs; fewer are returned if there are fewer.
    symmetric : bool, default=False
        Scores are symmetric: (i, j) and (j, i) are one pair, (i, i) is none, and pairs with i < j are returned.
    excluded : sparse (n_rows, n_columns) or None, default=None
        Not zero for pairs that do not count, if symmetric in either order.
    size : int, default=2**22
        Number of scores in memory, at least one row.

    Returns
    -------
    TopPairs
    """
    check_number(k, "k", integer=True)
    if symmetric and n_rows != n_columns:
        raise ValueError(f"symmetric scores need as many rows as columns, got {n_rows} and {n_columns}")
    exclusion = _ExcludedPairs.from_matrix(excluded, (n_rows, n_columns), symmetric)
    positions, scores = np.empty(0, dtype=np.int64), np.empty(0)
    for rows in _blocks(n_rows, n_columns, k, size):
        columns = slice(rows.start if symmetric else 0, n_columns)
        block = np.asarray(block_scores(rows, columns))
        expected = (rows.stop - rows.start, columns.stop - columns.start)
        if block.shape != expected:
            raise ValueError(f"block_scores gave shape {block.shape} for rows and columns of shape {expected}")
        candidates = np.flatnonzero(block > _below(scores[-1]) if len(scores) == k else ~np.isnan(block))
        values, (i, j) = block.ravel()[candidates], np.divmod(candidates, expected[1])
        i, j = i + rows.start, j + columns.start
        keys = i * n_columns + j
        used = ~exclusion.contains(rows, keys)
        if symmetric:
            used &= i < j
        if used.any():
            positions, scores = _best(
                k, np.concatenate([positions, keys[used]]), np.concatenate([scores, values[used]])
            )
    return TopPairs(*np.divmod(positions, max(n_columns, 1)), scores)


def _blocks(n_rows, n_columns, k, size):
    """Slices of rows, small ones first: while there are fewer than k scores, all of a block are sorted."""
    start, n_columns = 0, max(n_columns, 1)
    limit = max(1, size // n_columns)
    height = min(limit, 1 + 2 * k // n_columns)
    while start < n_rows:
        yield slice(start, min(start + height, n_rows))
        start, height = start + height, min(2 * height, limit)


def _best(k, positions, scores):
    """The k highest scores and their positions, in descending order; equal scores keep their order."""
    if len(scores) > k:
        candidates = scores >= _below(np.partition(scores, -k)[-k])
        positions, scores = positions[candidates], scores[candidates]
    order = np.argsort(-_round(scores), kind="stable")[:k]
    return positions[order], scores[order]


def _below(score):
    """A bound below all scores that are equal to this one up to rounding."""
    if not np.isfinite(score):
        return np.nextafter(score, -np.inf)
    return score - 2 * _ROUNDING * abs(score) - np.finfo(float).tiny


def _round(scores):
    """Scores rounded to about ten digits."""
    mantissas, exponents = np.frexp(scores)
    return np.ldexp(np.round(mantissas / _ROUNDING) * _ROUNDING, exponents)


class _ExcludedPairs(NamedTuple):
    """Excluded pairs as sorted keys ``row * n_columns + column``; those of row i begin at starts[i]."""

    keys: np.ndarray
    starts: np.ndarray

    @classmethod
    def from_matrix(cls, excluded, shape, symmetric):
        if excluded is None:
            return cls(np.empty(0, dtype=np.int64), np.zeros(shape[0] + 1, dtype=np.int64))
        if excluded.shape != shape:
            raise ValueError(f"excluded has shape {excluded.shape} for scores of shape {shape}; give one entry a pair")
        pattern = scipy.sparse.csr_array(excluded) != 0
        pattern = scipy.sparse.csr_array(pattern + pattern.T if symmetric else pattern)
        rows, columns = pattern.nonzero()
        keys = np.sort(rows.astype(np.int64) * shape[1] + columns)
        return cls(keys, np.searchsorted(keys, np.arange(shape[0] + 1, dtype=np.int64) * shape[1]))

    def contains(self, rows, keys):
        """Mask (m,) of the sorted keys (m,), all in a slice of rows, that are excluded."""
        keys_of_rows = self.keys[self.starts[rows.start] : self.starts[rows.stop]]
        return np.isin(keys, keys_of_rows, assume_unique=True)
