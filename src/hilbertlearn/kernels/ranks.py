"""Ranks of inputs by their values, independent of the order in which they are given."""

from __future__ import annotations

import itertools
import numbers

import numpy as np
import scipy.sparse
from sklearn.utils.validation import _num_samples

from ..data.frames import column_values, columns_of, is_frame
from ..data.graphs import combined_ranks
from .tables import InputTable


def input_ranks(X, precomputed=False):
    """Compute ranks (n,) from 0 of inputs by their values. Equal inputs, and objects without an order, share a rank.

    precomputed : whether X is a Gram matrix, whose rows are compared by their sums
    """
    return _lexicographic_ranks([np.sort(X, axis=1).sum(axis=1)] if precomputed else _columns(X), _num_samples(X))


def _lexicographic_ranks(columns, n):
    """Ranks (n,) by several columns (n,), in lexicographic order."""
    ranks = np.zeros(n, dtype=np.int64)
    for column in columns:
        ranks = combined_ranks(ranks, _ranks(column))
        if ranks.max(initial=-1) == n - 1:
            break
    return ranks


def evenly_spread_rows(X, max_rows):
    """Indices, in increasing order, of at most `max_rows` rows that are evenly spread in the order of their values.

    A statistic of these rows does not depend on the order of the samples.
    """
    n = _num_samples(X)
    if n <= max_rows:
        return np.arange(n)
    order = np.argsort(_lexicographic_ranks(_columns(X), n), kind="stable")
    return np.sort(order[np.unique(np.linspace(0, n - 1, max_rows).astype(int))])


def _columns(X):
    """Columns (n,) of numbers or objects that identify the inputs."""
    n = _num_samples(X)
    if is_frame(X):
        return (column_values(column) for column in columns_of(X))
    if isinstance(X, InputTable):
        return X.columns
    if scipy.sparse.issparse(X):
        return [_sparse_rows(X)]
    if isinstance(X, np.ndarray) and X.dtype != object:
        return X.reshape(n, -1).T
    if hasattr(X, "parts"):
        return [part for part in X.parts if isinstance(part, list) and len(part) == n]
    return [X]


def _sparse_rows(X):
    """Each row of a sparse matrix as bytes, because there may be far more columns than entries."""
    X = scipy.sparse.csr_array(X, copy=True)
    X.sum_duplicates()  # also sorts the indices
    X.eliminate_zeros()
    rows = itertools.pairwise(X.indptr)
    return [X.indices[start:stop].tobytes() + X.data[start:stop].tobytes() for start, stop in rows]


def _ranks(column):
    """Ranks (n,) of numbers, text, or lists of these."""
    if isinstance(column, np.ndarray) and column.dtype != object:
        return np.unique(column, return_inverse=True)[1].ravel()
    return np.unique(np.array([_sort_key(item) for item in column], dtype=object), return_inverse=True)[1]


def _sort_key(item):
    """Text by which an object is sorted; empty for an object whose representation is not unique."""
    if isinstance(item, np.ndarray):
        item = item.tolist()
    if isinstance(item, (list, tuple)):
        return "(" + ", ".join(map(_sort_key, item)) + ")"
    return repr(item) if isinstance(item, (str, bytes, numbers.Number)) else ""
