"""Conversions between orders and ranks, two notations of rankings; losses and scores take ranks."""

from __future__ import annotations

import numpy as np


def ranks_from_order(order, labels=None):
    """Ranks of labels, entry j the rank of label j, from orders, which name the labels from the first to the last.

    Losses and scores of rankings take ranks. Orders and ranks are both permutations of numbers, so an order that is
    given in place of ranks cannot be detected, and its loss has no meaning.

    Parameters
    ----------
    order : array of shape (M,) or (n, M)
        Labels of each ranking from the first to the last: numbers 0 to M - 1, or names.
    labels : sequence of length M, default=None
        Names of the labels, in the order of the columns of the result; None for numbers.

    Returns
    -------
    ranks : integer array of the shape of order
        1 for the first label. Give the negative of ranks where larger numbers are better.

    References
    ----------
    - Marden (1995). Analyzing and Modeling Rank Data. Chapman & Hall.

    Examples
    --------
    >>> from hilbertlearn.metrics import ranks_from_order
    >>> ranks_from_order([2, 0, 1])  # label 2 comes first, then 0, then 1
    array([2, 3, 1])
    >>> ranks_from_order([["pear", "apple", "fig"], ["fig", "pear", "apple"]], labels=["apple", "fig", "pear"])
    array([[2, 3, 1],
           [3, 1, 2]])
    """
    orders = _as_rows(order, "order")
    numbers = np.atleast_2d(orders)
    names = np.arange(numbers.shape[1]) if labels is None else np.asarray(labels)
    if names.ndim != 1 or len(set(names.tolist())) != len(names):
        raise ValueError(f"labels must be names that differ, one a column, got {labels!r}")
    if (names.dtype.kind in "US") != (numbers.dtype.kind in "US"):
        remedy = "give labels, the names in the order of the columns" if labels is None else "name labels as in order"
        raise ValueError(f"order has entries such as {numbers.flat[0]!r}, labels such as {names[0]!r}; {remedy}")
    for i, row in enumerate(numbers):
        if len(row) != len(names) or set(row.tolist()) != set(names.tolist()):
            text = f"0 to {len(names) - 1}" if labels is None else ", ".join(map(str, names))
            raise ValueError(f"order must name each of the labels {text} once; row {i} is {row.tolist()}")
    ranks = np.empty(numbers.shape, dtype=int)
    ranks[:, np.argsort(names)] = np.argsort(numbers, axis=1) + 1
    return ranks.reshape(orders.shape)


def order_from_ranks(ranks, labels=None):
    """Labels in increasing order of their ranks: the inverse of ``ranks_from_order``.

    Parameters
    ----------
    ranks : array of shape (M,) or (n, M)
        Entry j is the rank of label j; equal ranks are in the order of the columns.
    labels : sequence of length M, default=None
        Names of the labels; None for numbers from 0.

    Returns
    -------
    order : array of the shape of ranks
        Numbers of the labels, or their names.

    References
    ----------
    - Marden (1995). Analyzing and Modeling Rank Data. Chapman & Hall.

    Examples
    --------
    >>> from hilbertlearn.metrics import order_from_ranks
    >>> order_from_ranks([2, 3, 1])
    array([2, 0, 1])
    >>> order_from_ranks([2, 3, 1], labels=["apple", "fig", "pear"]).tolist()
    ['pear', 'apple', 'fig']
    """
    ranks = _as_rows(ranks, "ranks")
    if ranks.dtype.kind not in "biuf" or np.isnan(ranks).any():
        raise ValueError("ranks must be numbers, one for each label; labels without a rank have no place in an order")
    order = np.argsort(ranks, axis=-1, kind="stable")
    if labels is None:
        return order
    if len(labels) != ranks.shape[-1]:
        raise ValueError(f"labels must be {ranks.shape[-1]} names, one a column of ranks, got {len(labels)}")
    return np.asarray(labels)[order]


def _as_rows(values, name):
    try:
        array = np.asarray(values)
    except ValueError:
        raise ValueError(f"{name} must be rankings of all labels, rows of one length; got several lengths") from None
    if array.ndim not in (1, 2) or not array.size:
        raise ValueError(f"{name} must be one ranking (M,) or several (n, M), got shape {array.shape}")
    return array
