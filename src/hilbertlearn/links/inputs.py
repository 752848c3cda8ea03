"""Nodes and graphs as link predictors read them, and the base class of methods that predict links."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples

from .. import kernels
from .._utils.naming import unnamed_in_errors
from ..data.graphs import KnownGraph, Pairs, canonical_order, is_networkx, node_attributes, read_known_graph, row_names
from ..data.graphs.names import as_names
from ..data.items import is_missing
from ..machine.inputs import check_inputs
from ..machine.named_settings import NamedSettings
from ..metrics import link_roc_auc


@dataclass(frozen=True)
class Nodes:
    """All n nodes of a fit, and the known links between l of them.

    Rows of X are in an internal order: known nodes first, then the others.
    """

    X: Any  # inputs of the n nodes in internal order; None without features
    graph: KnownGraph  # of the known nodes, in internal order
    names: np.ndarray  # (n,) in the user's order
    order: np.ndarray  # (n,) position in the user's order of each node
    has_known_pair: np.ndarray  # (g,) mask of the nodes of the user's graph with at least one known pair

    @property
    def known_positions(self):
        """Internal positions (l,) of the known nodes, in the user's order."""
        return np.argsort(self.order[: len(self.graph)])

    def in_canonical_order(self, precomputed):
        """The same nodes, ordered by their links and features: random draws do not depend on the user's order."""
        l, n = len(self.graph), len(self.order)
        ranks = np.zeros(n, dtype=np.int64) if self.X is None else kernels.input_ranks(self.X, precomputed)
        known, others = canonical_order(self.graph, ranks[:l]), l + np.argsort(ranks[l:], kind="stable")
        rows = np.r_[known, others]
        X = None if self.X is None else take_inputs(self.X, rows, precomputed)
        return replace(self, X=X, graph=self.graph.take(known), order=self.order[rows])


def take_inputs(X, rows, precomputed):
    """Inputs at some positions; rows and columns of a Gram matrix. X itself if these are all positions in order."""
    if np.array_equal(rows, np.arange(_num_samples(X))):
        return X
    return X[np.ix_(rows, rows)] if precomputed else _safe_indexing(X, rows)


def are_groups(y):
    """Whether a graph is given by group labels of its nodes."""
    if isinstance(y, (list, tuple)):
        return not any(isinstance(item, (list, tuple, np.ndarray)) for item in y)
    return getattr(y, "ndim", 0) == 1


def same_inputs(X, Z):
    """Whether two collections of inputs are equal: arrays, lists, sparse matrices, tables and curves."""
    if type(X) is not type(Z):
        return False
    if scipy.sparse.issparse(X):
        return X.shape == Z.shape and (X != Z).nnz == 0
    if isinstance(X, np.ndarray) and X.dtype != object:
        return np.array_equal(X, Z, equal_nan=X.dtype.kind == "f")
    if isinstance(X, (list, np.ndarray)):
        return len(X) == len(Z) and all(map(_same, X, Z))
    return X is Z or (hasattr(X, "parts") and same_inputs(X.parts, Z.parts))


def _same(x, z):
    if x is z or (is_missing(x) and is_missing(z)):
        return True
    if isinstance(x, (list, np.ndarray)) or hasattr(x, "parts"):
        return same_inputs(x, z)
    try:
        return bool(np.all(x == z))
    except (TypeError, ValueError):  # objects that cannot be compared
        return False


def _as_graph(y):
    """The known graph of ``Pairs``, anything else as it is."""
    return y.graph() if isinstance(y, Pairs) else y


@unnamed_in_errors
class LinkEstimator(NamedSettings):
    """Base class of methods that predict links: reads nodes and graphs, and has the score and scikit-learn's tags."""

    def _read_nodes(self, X, y, hidden=None) -> Nodes:
        """Check the kernel, and read nodes and graph."""
        if isinstance(self.kernel, (list, tuple)) or kernels.provides_operator(self.kernel):
            raise TypeError(
                f"kernel must be a single kernel of the nodes, got {self.kernel!r}; for a sum give a callable"
            )
        kernels.check_kernel(self.kernel)
        kernels.check_kernel_params([self.kernel], self.kernel_params)
        X, names, read_graph = self._read_graph(X, _as_graph(y), hidden)
        if X is None:
            graph = read_graph().in_relative_weights()
            everyone = np.arange(len(graph))
            return Nodes(None, graph, graph.nodes, everyone, np.ones(len(graph), dtype=bool))
        X = check_inputs(self, X, [self.kernel], reset=True)
        graph, n = read_graph(), _num_samples(X)
        l = len(graph)
        has_known_pair = np.ones(l, dtype=bool)
        if l > 1:
            has_known_pair = np.asarray(graph.hidden.sum(axis=1)).ravel() < l - 1
        if not has_known_pair.all():  # nodes without a known pair are not nodes of the graph
            graph = graph.take(np.flatnonzero(has_known_pair))
        graph = graph.in_relative_weights()
        order = np.r_[graph.rows, np.setdiff1d(np.arange(n), graph.rows)]
        X = take_inputs(X, order, kernels.is_precomputed(self.kernel))
        return Nodes(X, graph, as_names(names, "X"), order, has_known_pair)

    def _read_graph(self, X, y, hidden):
        """Features or None, names of their rows, and a function that reads the graph."""
        if isinstance(X, Pairs):
            if hidden is not None:
                raise ValueError(
                    "hidden: pairs that are not among graphs.Pairs are hidden; leave them out of X instead"
                )
            if not len(X):
                raise ValueError("X has no pairs of nodes; give some whose links are known")
            graph = X.graph(y)
            return X.X, graph.nodes if X.X is None else row_names(X.X), lambda: graph
        if is_networkx(X) and y is None:
            graph = read_known_graph(X, "X", hidden=hidden)
            return node_attributes(X, graph.nodes.tolist())[0], graph.nodes, lambda: graph
        if y is None:
            raise ValueError(
                f"This {type(self).__name__} estimator requires y to be passed, but the target y is None: give the "
                "graph of the nodes, or a networkx graph in place of X"
            )
        names = row_names(X)
        return X, names, lambda: read_known_graph(y, "y", nodes=names, hidden=hidden)

    def score(self, X, y=None):
        """Area under the ROC curve of the scores of pairs.

        Parameters
        ----------
        X : ``graphs.Pairs``, features of nodes, or None
            Pairs, or nodes of which all pairs are scored; None for the nodes of fit.
        y : array (m,) of 0 and 1, graph of the nodes, or None, default=None
            Whether the pairs are linked, None for the labels that ``graphs.Pairs`` hold; or the graph of the nodes X.
            Hidden pairs do not count.

        Returns
        -------
        float
        """
        if isinstance(X, Pairs):
            auc = link_roc_auc(X.linked if y is None else y, self.decision_function(X))
        else:
            graph = read_known_graph(_as_graph(y), "y", nodes=self.nodes_ if X is None else row_names(X))
            scores = self.pair_scores(X)[np.ix_(graph.rows, graph.rows)]
            auc = link_roc_auc(graph.adjacency, scores, known_pair_mask(graph))
        if np.isnan(auc):
            raise ValueError(
                "y has no links, or nothing else, so that there is nothing to tell apart; give another graph"
            )
        return auc

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = kernels.is_precomputed(self.kernel)
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        return tags


def known_pair_mask(graph):
    """Mask (l, l) of the pairs i < j that are known."""
    mask = np.arange(len(graph))[:, None] < np.arange(len(graph))
    mask[graph.hidden.nonzero()] = False
    return mask
