"""Graphs in any form, possibly with hidden pairs, matched to rows of features by name."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse
from sklearn.utils import column_or_1d

from ..frames import is_frame, is_framed, values_of
from ..objects import nan_for_missing, unlabelled_mask
from .adjacency import check_weights, groups_graph, is_networkx, networkx_weights, relative_weights
from .edges import edge_columns, edge_positions, edge_weights, nodes_of
from .hidden import check_any_known, check_mask, mask_of_rows, read_hidden, square_frame_names, union_masks
from .names import abbreviate, are_numbers, as_names, check_distinct, find_positions

_REMEDY = "name the rows of X by pd.DataFrame(X, index=names), or give the matrix nx.to_numpy_array(G, nodelist=names)"


@dataclass(frozen=True, eq=False)
class KnownGraph:
    """An undirected graph with hidden pairs: l nodes, in increasing order of their rows of features.

    When it is read again, nodes are matched by name.
    """

    adjacency: Any  # csr_array (l, l) of weights >= 0, symmetric, without self-loops, 0 where a pair is hidden
    hidden: Any  # csr_array (l, l) of booleans, symmetric: mask of hidden pairs
    nodes: np.ndarray  # (l,) names, 0, 1, ... by default
    rows: np.ndarray  # (l,) positions of the nodes among the rows of features

    def __len__(self):
        return len(self.nodes)

    @property
    def shape(self):
        return self.adjacency.shape

    def take(self, nodes):
        """The subgraph of the given nodes, by position."""
        adjacency, hidden = (
            scipy.sparse.csr_array(matrix[nodes][:, nodes]) for matrix in (self.adjacency, self.hidden)
        )
        adjacency.sort_indices()
        return KnownGraph(adjacency, hidden, self.nodes[nodes], self.rows[nodes])

    def in_relative_weights(self):
        """The same graph with weights divided by their mean."""
        return replace(self, adjacency=relative_weights(self.adjacency))

    def toarray(self):
        """The weights (l, l), NaN where a pair is hidden."""
        W = self.adjacency.toarray()
        W[self.hidden.nonzero()] = np.nan
        return W


@dataclass(frozen=True)
class _GraphInput:
    """Weights, hidden pairs and names of the rows of a graph; names are None if the rows are the first rows of X."""

    weights: Any
    hidden: Any = None
    names: Any = None


def read_known_graph(graph, name="y", *, nodes=None, hidden=None) -> KnownGraph:
    """Read a graph in any form.

    Row i of an array is node i. Nodes with names are matched by name; integers are names of the rows of an array X.

    Weights are non-negative strengths of links: a weight of 2 counts as two links. In every form, a pair of weight 0 is
    not linked.

    Parameters
    ----------
    graph : array, sparse matrix, data frame, networkx graph, edge list, groups or KnownGraph
        - a square matrix of weights, dense or sparse, of the first l rows of X; NaN (None, pandas.NA) is a hidden pair
        - a square data frame with the same names as index and columns, or a networkx graph: its nodes may be some of
          the rows of X, in any order. Edges of networkx have the attribute ``weight``, 1 by default
        - an edge list: tuples (u, v) or (u, v, weight), an integer array (m, 2), a data frame of 2 or 3 columns. All
          rows of X are its nodes, and pairs that are not listed are not linked. Without `nodes`, its nodes are those
          with edges
        - groups (l,): nodes with equal labels are linked. A node in no group (None, NaN) has no links. Pairs of an
          unlabelled node (-1 beside at least two other non-negative integers) are hidden
        - a ``KnownGraph``
    name : str, default="y"
        Name of the graph in error messages.
    nodes : sequence, default=None
        Names of the rows of X: ``range(n)`` for an array, the index of a data frame; None without features.
    hidden : array of shape (l, l) or list of pairs, default=None
        Hidden pairs besides those of the graph: a symmetric mask, in the order of the rows of a matrix or of
        ``KnownGraph.nodes``, or a list of pairs of names. Links of hidden pairs are dropped.
    """
    nodes = None if nodes is None else as_names(nodes, "X")
    graph_input = _read_form(graph, name, nodes)
    size = graph_input.weights.shape[0]
    W = check_weights(graph_input.weights, graph_input.weights.data, name)
    W = (W + W.T) / 2  # they differ by rounding
    names, rows = _rows(graph_input, size, name, nodes)
    mask = union_masks(graph_input.hidden, read_hidden(hidden, names, size, "hidden"), size)
    if (np.diff(rows) < 0).any():
        order = np.argsort(rows)
        W, mask, names, rows = W[order][:, order], mask[order][:, order], names[order], rows[order]
    check_any_known(mask, size, name)
    if mask.nnz:
        W = W - W.multiply(mask)
        W.eliminate_zeros()
    W.sort_indices()
    return KnownGraph(scipy.sparse.csr_array(W), mask, names, np.arange(size) if nodes is None else rows)


def _rows(graph_input, size, name, nodes):
    """Names (l,) of the nodes, and their rows (l,) of X, by which they are sorted."""
    if graph_input.names is None:
        if nodes is None:
            return np.arange(size), np.arange(size)
        if size > len(nodes):
            raise ValueError(
                f"{name} has {size} nodes and X {len(nodes)} samples, inconsistent numbers; give features of every "
                "node, the known ones first"
            )
        return nodes[:size], np.arange(size)
    check_distinct(graph_input.names, name)
    if nodes is None:
        return graph_input.names, graph_input.names if graph_input.names.dtype != object else np.arange(size)
    return graph_input.names, _match_rows(graph_input.names, nodes, name)


def _match_rows(names, nodes, name):
    """Positions of names among the names of the rows of X."""
    check_distinct(nodes, "the index of X")
    rows = find_positions(names, nodes)
    if (rows < 0).any():
        raise ValueError(f"{name} has nodes that X does not have: {abbreviate(names[rows < 0])}; {_remedy(nodes)}")
    return rows


def _remedy(nodes):
    """End of an error message: the names of the rows of X, and how to set them."""
    rows = f"numbered from 0 to {len(nodes) - 1}" if are_numbers(nodes) else f"named {abbreviate(nodes)}"
    return f"its rows are {rows}: {_REMEDY}"


# ---------------------------------------------------------------- forms


def _read_form(graph, name, nodes):
    """The graph in the order of a user's mask of hidden pairs."""
    if isinstance(graph, KnownGraph):
        return _GraphInput(graph.adjacency.copy(), graph.hidden, graph.nodes)
    if is_frame(graph):
        return _read_frame(graph, name, nodes)
    if is_networkx(graph):
        return _read_networkx(graph, name, nodes)
    if scipy.sparse.issparse(graph):
        return _read_sparse(graph, name)
    edges = edge_columns(graph, name)
    return _read_array(graph, name, nodes) if edges is None else _read_edges(edges, name, nodes)


def _read_networkx(graph, name, nodes):
    names = as_names(graph, name)
    keys = names if nodes is None else _match_rows(names, nodes, name)
    names = names if keys.dtype == object else names[np.argsort(keys)]
    return _GraphInput(scipy.sparse.csr_array(networkx_weights(graph, name, names.tolist())), names=names)


def _read_frame(frame, name, nodes):
    """A matrix with names, an edge list, or a column of groups."""
    n, width = frame.shape
    names = square_frame_names(frame, name)
    if names is not None:
        weights, hidden = _matrix(values_of(frame), name)
        return _GraphInput(weights, hidden, names)
    if width == 1:
        return _read_groups(frame, name)
    if width in (2, 3):
        return _read_edges(edge_columns(frame, name), name, nodes)
    if n == width and not hasattr(frame, "index"):
        return _GraphInput(*_matrix(values_of(frame), name))
    raise ValueError(
        f"{name} is a data frame of shape {frame.shape} whose index and columns are not the same names; give them to a "
        "square one by set_index or columns=, an edge list of 2 or 3 columns, or to_numpy() if row i is that of X"
    )


def _read_edges(edges, name, nodes):
    first, second, weights = edges
    if nodes is None:
        names = nodes_of(first, second)
    else:
        check_distinct(nodes, "the index of X")
        names = nodes
    i, j = edge_positions(first, second, names, name, "X", _remedy(names))
    return _GraphInput(edge_weights(i, j, weights, names, name), names=names)


def _read_sparse(graph, name):
    W = scipy.sparse.csr_array(graph, dtype=float, copy=True)
    W.sum_duplicates()
    is_hidden = np.isnan(W.data)
    if not is_hidden.any() or W.shape[0] != W.shape[1]:
        return _GraphInput(W)
    hidden = scipy.sparse.csr_array((is_hidden.copy(), W.indices.copy(), W.indptr.copy()), shape=W.shape)
    W.data[is_hidden] = 0.0
    return _GraphInput(W, check_mask(hidden, name))


def _read_array(graph, name, nodes):
    """A dense matrix, groups, or an array of edges, also as lists of lists."""
    if isinstance(graph, np.ma.MaskedArray):
        graph = np.ma.filled(graph.astype(float), np.nan)
    try:
        array = values_of(graph) if is_framed(graph) else np.asarray(graph)
    except ValueError as error:  # rows of different lengths
        raise ValueError(f"{name} must be a square matrix, an edge list of tuples or groups (n,): {error}") from error
    if array.ndim == 1 or (array.ndim == 2 and array.shape[1] == 1 < array.shape[0]):
        return _read_groups(graph, name)
    if array.dtype.kind in "US" and isinstance(graph, list) and all(len(edge) == 2 for edge in graph):
        array = [tuple(edge) for edge in graph]  # numpy converts numbers beside text to text
    edges = edge_columns(array, name)
    return _GraphInput(*_matrix(array, name)) if edges is None else _read_edges(edges, name, nodes)


def _matrix(array, name):
    """Weights and hidden pairs of a dense matrix, both sparse."""
    try:
        if not array.ndim:
            raise TypeError("a matrix has rows and columns")
        W = np.array(nan_for_missing(array), dtype=float)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"{name} must be a square matrix of numbers, a networkx graph, an edge list or groups (n,), got "
            + (f"an array of shape {array.shape} and type {array.dtype}" if array.ndim else f"{array.item()!r}")
        ) from error
    if W.ndim != 2 or W.shape[0] != W.shape[1]:
        raise ValueError(_not_square(array, name))
    is_hidden = np.isnan(W)
    if not is_hidden.any():
        return scipy.sparse.csr_array(W), None
    W[is_hidden] = 0.0
    return scipy.sparse.csr_array(W), check_mask(scipy.sparse.csr_array(is_hidden), name)


def _not_square(array, name):
    """Error message for an array that is not a square matrix, with the likely remedy."""
    message = f"{name} must be a square matrix, one row and column a node, got shape {array.shape}; "
    if array.ndim == 2 and array.shape[0] == 2 and array.dtype.kind in "iu":
        return message + f"for edges in columns give {name}.T"
    if array.ndim == 2 and array.shape[1] in (2, 3):
        return message + f"for edges give integers (m, 2), or list(map(tuple, {name})) of (u, v, weight)"
    return message + "cross-validation of scikit-learn cuts rows only: give groups (n,), or graphs.Pairs"


def _read_groups(groups, name):
    labels = column_or_1d(values_of(groups), warn=not is_frame(groups)) if np.size(groups) else np.empty(0)
    if not len(labels):
        raise ValueError(f"{name} has no nodes; give at least one")
    is_unlabelled = unlabelled_mask(labels)
    if not is_unlabelled.any():
        return _GraphInput(groups_graph(labels, name))
    all_nodes, unlabelled = np.arange(len(labels), dtype=np.int32), np.flatnonzero(is_unlabelled)
    hidden = mask_of_rows(
        [np.delete(all_nodes, i) if hide_all else unlabelled for i, hide_all in enumerate(is_unlabelled)]
    )
    return _GraphInput(groups_graph(labels, name), hidden)
