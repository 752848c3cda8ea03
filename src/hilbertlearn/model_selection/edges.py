"""Folds of the pairs of nodes of a graph."""

from __future__ import annotations

import numpy as np
from sklearn.model_selection import BaseCrossValidator
from sklearn.utils import check_random_state

from .._utils.validation import check_choice, check_number
from ..data.graphs import Pairs


class EdgeSplit(BaseCrossValidator):
    """Folds of the known pairs of a graph, linked and not: each has as many links as another, and as many pairs.

    Unlike folds of nodes, every node is in the training graph, without its pairs of the fold. With fewer links than
    folds some folds have none, which the area under the ROC curve cannot be computed of.

    Parameters
    ----------
    n_splits : number of folds, at least 2
    shuffle : bool, deal out pairs in random order; False for that of the nodes
    random_state : seed or generator of the order

    References
    ----------
    - Lu, L. and Zhou, T. (2011). Link prediction in complex networks: a survey. Physica A 390(6).

    Examples
    --------
    >>> from hilbertlearn.graphs import Pairs
    >>> from hilbertlearn.model_selection import EdgeSplit
    >>> pairs = Pairs([(0, 1), (1, 2), (2, 3), (3, 4)])
    >>> [(len(train), len(test), int(pairs.linked[test].sum())) for train, test in EdgeSplit(2).split(pairs)]
    [(5, 5, 2), (5, 5, 2)]
    """

    def __init__(self, n_splits=5, *, shuffle=True, random_state=0):
        self.n_splits, self.shuffle, self.random_state = n_splits, shuffle, random_state

    def get_n_splits(self, X=None, y=None, groups=None):
        """The number of folds."""
        return self.n_splits

    def split(self, X, y=None, groups=None):
        """Positions of the pairs to train with and to test with, fold by fold.

        Parameters
        ----------
        X : ``graphs.Pairs``, or a graph in any form of which ``Pairs(X)`` are split
        y : (m,) whether the pairs are linked; None for what the graph says
        groups : ignored
        """
        fold = self._folds(_pairs_of(X), y)
        for k in range(self.n_splits):
            yield np.flatnonzero(fold != k), np.flatnonzero(fold == k)

    def split_graph(self, graph, X=None, hidden=None):
        """For loops by hand: the graph in which the pairs of a fold are hidden, and these pairs, fold by fold.

        Yields a ``graphs.KnownGraph`` and the ``graphs.Pairs`` of the fold; parameters as those of ``graphs.Pairs``.
        """
        pairs = graph if isinstance(graph, Pairs) else Pairs(graph, X, hidden)
        for train, test in self.split(pairs):
            yield pairs[train].graph(), pairs[test]

    def _folds(self, pairs, y):
        """The fold (m,) of each pair: links are dealt out in turn, then the others."""
        check_number(self.n_splits, "n_splits", low=1, integer=True)
        check_choice(self.shuffle, "shuffle", (True, False))
        linked = pairs.linked if y is None else np.asarray(y)
        if linked.shape != (len(pairs),):
            raise ValueError(f"y must be the labels of {len(pairs)} pairs, got shape {linked.shape}; give pairs.linked")
        if len(pairs) < self.n_splits:
            raise ValueError(f"n_splits={self.n_splits} is more than the {len(pairs)} known pairs; give fewer folds")
        order = np.arange(len(pairs))
        if self.shuffle:
            order = check_random_state(self.random_state).permutation(order)
        order = order[np.argsort(linked[order] <= 0, kind="stable")]
        fold = np.empty(len(pairs), dtype=int)
        fold[order] = np.arange(len(pairs)) % self.n_splits
        return fold


def _pairs_of(X):
    if isinstance(X, Pairs):
        return X
    try:
        return Pairs(X)
    except ValueError as error:
        raise ValueError(
            f"EdgeSplit splits pairs of nodes, graphs.Pairs(graph, X) or a graph, and X is none: {error}"
        ) from error
