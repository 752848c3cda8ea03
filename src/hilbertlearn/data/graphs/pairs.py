"""Pairs of nodes as samples: link prediction in scikit-learn's terms."""

from __future__ import annotations

import copy
import numbers

import numpy as np
import scipy.sparse

from ..._utils.validation import check_memory
from .hidden import mask_of_rows
from .known import KnownGraph, read_known_graph
from .names import row_names

_COPIES = 2  # memory in units of 8 l^2 bytes: 12 to 16 bytes a pair to store, and as much again to create


class Pairs:
    """All pairs of nodes of a graph that are not hidden, as a sequence of samples.

    It is indexed as arrays are, so that scikit-learn can split it; nodes and features stay the same.

    Parameters
    ----------
    graph : array or sparse matrix of shape (l, l), edge list, data frame or networkx graph
        A graph in any form that link estimators take.
    X : array or data frame of l rows, default=None
        Features of the nodes: row i of an array is node i; names match the index of a data frame.
    hidden : array or sequence of pairs, default=None
        Hidden pairs, besides those of the graph.

    Attributes
    ----------
    first, second : integer arrays of shape (m,)
        Positions of the nodes of each pair among ``nodes``, first < second.
    linked : integer array of shape (m,)
        1 for linked pairs, 0 for others.
    weights : array of shape (m,)
        Weights of the links, 0 for pairs without a link.
    names : array of shape (m, 2)
        Names of the nodes of each pair.
    nodes : array of shape (l,)
        Names of the nodes.
    rows : integer array of shape (l,)
        Rows of X of the nodes.
    X : array, data frame or None
        The given features.

    References
    ----------
    - Liben-Nowell and Kleinberg (2007). The link-prediction problem for social networks. Journal of the American
      Society for Information Science and Technology 58.
    - Lü and Zhou (2011). Link prediction in complex networks: a survey. Physica A 390(6).

    Examples
    --------
    >>> from hilbertlearn.graphs import Pairs
    >>> pairs = Pairs([("a", "b"), ("b", "c")])
    >>> pairs.names.tolist(), pairs.linked.tolist()
    ([['a', 'b'], ['a', 'c'], ['b', 'c']], [1, 0, 1])
    >>> pairs[[0, 2]].graph().toarray()
    array([[ 0.,  1., nan],
           [ 1.,  0.,  1.],
           [nan,  1.,  0.]])
    """

    def __init__(self, graph, X=None, hidden=None):
        known = read_known_graph(graph, "graph", nodes=row_names(X), hidden=hidden)
        self.X, self.nodes, self.rows = X, known.nodes, known.rows
        l = len(known)
        check_memory(l, _COPIES, f"graph has {l} nodes: all their pairs", "give a part of the nodes")
        first = np.repeat(np.arange(l, dtype=np.int32), np.arange(l)[::-1])
        start = _pair_index(np.arange(l), np.arange(l), l)  # position of the pair of a node with itself
        second = (np.arange(len(first)) - start[first] + first).astype(np.int32)
        weights, is_known = np.zeros(len(first)), np.ones(len(first), dtype=bool)
        upper, hidden = (scipy.sparse.triu(W, k=1, format="coo") for W in (known.adjacency, known.hidden))
        weights[_pair_index(upper.row, upper.col, l)] = upper.data
        is_known[_pair_index(hidden.row, hidden.col, l)] = False
        self.first, self.second, self.weights = first[is_known], second[is_known], weights[is_known]

    @property
    def linked(self):
        return (self.weights > 0).astype(int)

    @property
    def names(self):
        return np.column_stack([self.nodes[self.first], self.nodes[self.second]])

    @property
    def shape(self):
        """(m, 2), or (m, m) if X may be a Gram matrix: scikit-learn expects square data for precomputed kernels."""
        shape: tuple = getattr(self.X, "shape", ())
        return (len(self), len(self) if len(shape) == 2 and shape[0] == shape[1] else 2)

    def __len__(self):
        return len(self.first)

    def __getitem__(self, key):
        key = key[0] if isinstance(key, tuple) else key  # scikit-learn indexes by [key, ...] or [np.ix_(key, key)]
        key = np.ravel(key) if np.ndim(key) > 1 else key
        key = [key] if isinstance(key, numbers.Integral) else key
        pairs = copy.copy(self)
        pairs.first, pairs.second, pairs.weights = self.first[key], self.second[key], self.weights[key]
        return pairs

    def with_pairs(self, first, second) -> Pairs:
        """Other pairs of the same nodes.

        Parameters
        ----------
        first, second : integer arrays of shape (m,)
            Positions of the nodes of each pair among ``nodes``.

        Returns
        -------
        pairs : Pairs
            Pairs of weight 0, of which nothing is known.
        """
        pairs = copy.copy(self)
        pairs.first, pairs.second, pairs.weights = first, second, np.zeros(len(first))
        return pairs

    def __repr__(self):
        return f"Pairs({len(self)} of {len(self.nodes)} nodes, {np.count_nonzero(self.weights)} linked)"

    def graph(self, linked=None) -> KnownGraph:
        """The graph in which these pairs have the given labels and all other pairs are hidden.

        Parameters
        ----------
        linked : array of shape (m,), default=None
            Positive for a link, NaN for a hidden pair; None for the links of the graph. Links of the graph keep their
            weights; other links have the mean weight, 1 without any.

        Returns
        -------
        graph : KnownGraph
            A graph that link estimators take.
        """
        linked = self.weights if linked is None else np.asarray(linked)
        if linked.dtype.kind not in "biuf":
            raise ValueError(
                f"linked must be 0 or 1 for each pair, NaN where it is not known, got {linked.dtype} values"
            )
        if linked.shape != (len(self),):
            raise ValueError(f"linked must be the labels of {len(self)} pairs, got shape {linked.shape}")
        l = len(self.nodes)
        is_hidden = np.ones((l, l), dtype=bool)
        is_hidden[self.first, self.second] = is_hidden[self.second, self.first] = np.isnan(linked)
        np.fill_diagonal(is_hidden, False)
        is_link = linked > 0
        i, j = self.first[is_link], self.second[is_link]
        has_weight = self.weights > 0
        mean = self.weights[has_weight].mean() if has_weight.any() else 1.0
        weights = np.where(has_weight, self.weights, mean)[is_link]
        entries = (np.r_[weights, weights], (np.r_[i, j], np.r_[j, i]))
        adjacency = scipy.sparse.csr_array(entries, shape=(l, l))
        adjacency.sort_indices()
        return KnownGraph(adjacency, mask_of_rows([np.flatnonzero(row) for row in is_hidden]), self.nodes, self.rows)


def _pair_index(i, j, l):
    """Positions of pairs i < j among all pairs of l nodes, row by row."""
    i, j = np.asarray(i, dtype=np.int64), np.asarray(j, dtype=np.int64)
    return i * l - i * (i + 1) // 2 + j - i - 1
