"""Folds of the pairs of nodes of a graph."""

from __future__ import annotations

import numpy as np
from sklearn.model_selection import BaseCrossValidator
from sklearn.utils import check_random_state

from .._utils.validation import check_choice, check_number
from ..data.graphs import Pairs


class EdgeSplit(BaseCrossValidator):
    """Folds of the known pairs of a graph, linked and not, with equal numbers of links and of pairs up to one.

    Unlike with folds of nodes, every node is in the training graph, without its pairs of the test part. With fewer
    links than folds some folds have none, and the area under the ROC curve is not defined there.

    Parameters
    ----------
    n_splits : int, default=5
        Number of folds, at least 2.
    shuffle : bool, default=True
        Whether pairs are assigned to folds in random order; False is the order of the nodes.
    random_state : int, RandomState or None, default=0
        Seed of the order.

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
        """Return the number of folds.

        Parameters
        ----------
        X, y, groups : ignored, default=None

        Returns
        -------
        n_splits : int
        """
        return self.n_splits

    def split(self, X, y=None, groups=None):
        """Yield positions of the training and the test pairs of each fold.

        Parameters
        ----------
        X : ``graphs.Pairs`` or a graph
            The pairs to split; a graph in any form is read as ``Pairs(X)``.
        y : (m,) array, default=None
            Whether the pairs are linked; None is the state in the graph.
        groups : ignored, default=None

        Yields
        ------
        train, test : arrays of int
        """
        fold = self._folds(_read_pairs(X), y)
        for k in range(self.n_splits):
            yield np.flatnonzero(fold != k), np.flatnonzero(fold == k)

    def split_graph(self, graph, X=None, hidden=None):
        """Yield the graph without the pairs of a fold, and these pairs, for loops without scikit-learn's tools.

        Parameters
        ----------
        graph : ``graphs.Pairs`` or a graph
        X : features of the nodes, default=None
        hidden : hidden pairs, default=None
            As in ``graphs.Pairs``.

        Yields
        ------
        known : graphs.KnownGraph
            The graph in which the pairs of the fold are hidden.
        pairs : graphs.Pairs
            The pairs of the fold.
        """
        pairs = graph if isinstance(graph, Pairs) else Pairs(graph, X, hidden)
        for train, test in self.split(pairs):
            yield pairs[train].graph(), pairs[test]

    def _folds(self, pairs, y):
        """The fold (m,) of each pair: links are assigned in turn, then the other pairs."""
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


def _read_pairs(X):
    if isinstance(X, Pairs):
        return X
    try:
        return Pairs(X)
    except ValueError as error:
        raise ValueError(
            f"EdgeSplit splits pairs of nodes, graphs.Pairs(graph, X) or a graph, got another X: {error}"
        ) from error
