"""Ranks of inputs by their values, whatever they are and in whatever order they come."""

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
    """Ranks (n,) from 0 of inputs by their values; equal inputs, and those that have no order, have equal ones.

    precomputed : X is a Gram matrix, whose rows are compared by their sums
    """
    return _ranks_of_columns([np.sort(X, axis=1).sum(axis=1)] if precomputed else _columns(X), _num_samples(X))


def _ranks_of_columns(columns, n):
    """Ranks (n,) by several columns (n,), the first counting most."""
    ranks = np.zeros(n, dtype=np.int64)
    for column in columns:
        ranks = combined_ranks(ranks, _ranks(column))
        if ranks.max(initial=-1) == n - 1:
            break
    return ranks


def evenly_spread_rows(X, most, columns=None):
    """Increasing positions of at most so many rows, evenly spread in their order by value: all where these are fewer.

    A statistic of these rows does not depend on the order in which all rows come.

    columns : list of arrays (n,), where X is given by its columns
    """
    n = _num_samples(X if columns is None else columns[0])
    if n <= most:
        return np.arange(n)
    ranks = _ranks_of_columns(_columns(X) if columns is None else columns, n)
    order = np.argsort(ranks, kind="stable")
    return np.sort(order[np.unique(np.linspace(0, n - 1, most).astype(int))])


def _columns(X):
    """Numbers or objects (n,) that tell the inputs, one after the other."""
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
    """Each row of a sparse matrix as bytes: there may be many more columns than entries of a row."""
    X = scipy.sparse.csr_array(X, copy=True)
    X.sum_duplicates()  # sorts indices too
    X.eliminate_zeros()
    rows = itertools.pairwise(X.indptr)
    return [X.indices[start:stop].tobytes() + X.data[start:stop].tobytes() for start, stop in rows]


def _ranks(column):
    """Ranks (n,) of numbers, or of objects that are text or numbers, or lists of them."""
    if isinstance(column, np.ndarray) and column.dtype != object:
        return np.unique(column, return_inverse=True)[1].ravel()
    return np.unique(np.array([_text(item) for item in column], dtype=object), return_inverse=True)[1]


def _text(item):
    """What an object is sorted by; nothing for one that may not be written in the same way again."""
    if isinstance(item, np.ndarray):
        item = item.tolist()
    if isinstance(item, (list, tuple)):
        return "(" + ", ".join(map(_text, item)) + ")"
    return repr(item) if isinstance(item, (str, bytes, numbers.Number)) else ""
