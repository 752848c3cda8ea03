"""Adjacency matrices from dense and sparse matrices, networkx graphs and groups of nodes; Laplacians."""

from __future__ import annotations

import math
import operator
from functools import reduce

import numpy as np
import scipy.sparse
import scipy.sparse.csgraph
from sklearn.utils import column_or_1d

from ..._utils.validation import SYMMETRY_TOLERANCE, check_number, warn
from ..items import is_missing

_WEAKEST = 1e-100  # smallest weight relative to the largest; squares of smaller weights would underflow


def read_graph(graph, name="adjacency"):
    """The checked adjacency matrix (n, n) of an undirected graph, sparse, without self-loops.

    graph : (n, n) array or sparse matrix of non-negative weights, a networkx graph, or labels (n,): nodes with equal
        labels are linked
    """
    return scipy.sparse.csr_array(read_weights(graph, name))


def read_weights(graph, name):
    """As ``read_graph``, but a dense matrix stays dense."""
    if is_networkx(graph):
        numbers = range(len(graph))  # numbered nodes may have been added in any order
        graph = networkx_weights(graph, name, numbers if set(graph) == set(numbers) else list(graph))
    if scipy.sparse.issparse(graph):
        W = scipy.sparse.csr_array(graph, dtype=float, copy=True)  # a copy: self-loops are dropped in place
        return check_weights(W, W.data, name)
    graph = np.asarray(graph)
    if graph.ndim == 2 and graph.shape[1] == 1 < graph.shape[0]:
        graph = column_or_1d(graph, warn=True)
    if graph.ndim == 1:
        return groups_graph(graph, name)
    try:
        W = np.array(graph, dtype=float)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"{name} must be a square matrix of numbers, a networkx graph or groups (n,), got an array of shape "
            f"{graph.shape} and type {graph.dtype}"
        ) from error
    return check_weights(W, W, name)


def check_weights(W, weights, name):
    """W (n, n) without self-loops, changed in place, after checks; weights : its entries, or the stored ones."""
    if W.ndim != 2 or W.shape[0] != W.shape[1]:
        raise ValueError(
            f"{name} must be a square matrix, one row and column a node, got shape {W.shape}; cross-validation of "
            "scikit-learn cuts rows only: give groups (n,), or cut rows and columns yourself"
        )
    if not W.shape[0]:
        raise ValueError(f"{name} has no nodes; give at least one")
    largest = weights.max(initial=0.0)
    if not np.isfinite(weights.sum()) and not np.isfinite(weights).all():
        raise ValueError(f"{name} contains NaN or infinity; give 0 where there is no link")
    if weights.min(initial=0.0) < 0:
        raise ValueError(
            f"{name} has negative weights, as low as {weights.min():.3g}; weights are strengths of links: give "
            "non-negative similarities, 0 where there is no link"
        )
    asymmetry = abs(W - W.T).max() if weights.size else 0.0
    if asymmetry > SYMMETRY_TOLERANCE * largest:
        raise ValueError(
            f"{name} is not symmetric: entries differ from the transpose by up to {asymmetry:.3g}; for a directed "
            "graph give np.maximum(A, A.T)"
        )
    loops = int(np.count_nonzero(W.diagonal()))
    if loops:
        warn(f"{name} has {loops} self-loops, which were dropped: they say nothing of pairs")
    if scipy.sparse.issparse(W):
        W.setdiag(0.0)
        W.eliminate_zeros()
    else:
        np.fill_diagonal(W, 0.0)
    return W


def relative_weights(W):
    """The sparse graph W (n, n) with weights divided by their mean, so that their unit cancels.

    Equal weights become exactly 1. A link that is much weaker than others stays a link.
    """
    if not W.nnz:
        return W
    relative = W.copy()
    relative.data = np.maximum(W.data / W.data.max(), _WEAKEST)
    relative.data /= math.fsum(relative.data) / W.nnz  # the exact sum does not depend on the order of the nodes
    return relative


def groups_graph(labels, name):
    """The sparse graph (n, n) that links nodes with equal labels (n,); NaN and None are equal to nothing."""
    if labels.dtype.kind == "f" and np.isinf(labels).any():
        raise ValueError(f"Input {name} contains infinity; give labels, NaN for a node in no group")
    missing = np.array([is_missing(label) for label in labels.tolist()], dtype=bool)
    known = np.flatnonzero(~missing)
    if not len(known):
        return scipy.sparse.csr_array((len(labels), len(labels)))
    keys = labels[known].astype(str) if labels.dtype == object else labels[known]
    _, group = np.unique(keys, return_inverse=True)
    member = scipy.sparse.csr_array((np.ones(len(known)), (known, group)), shape=(len(labels), group.max() + 1))
    W = scipy.sparse.csr_array(member @ member.T)
    W.setdiag(0.0)
    W.eliminate_zeros()
    return W


def laplacian(W, normalized=False, power=1):
    """Laplacian ``D - W`` (n, n) of a graph, or ``I - D^-1/2 W D^-1/2`` if normalized, to a power.

    Sparse if W is; rows of isolated nodes are zero.
    """
    check_number(power, "power", integer=True)
    L = scipy.sparse.csgraph.laplacian(W, normed=normalized)
    if scipy.sparse.issparse(W):
        L = scipy.sparse.csr_array(L)
        L.eliminate_zeros()
    return reduce(operator.matmul, [L] * power)


def is_networkx(graph):
    """Whether a graph is a networkx graph, by its attributes."""
    return hasattr(graph, "adj") and hasattr(graph, "nodes")


def networkx_weights(graph, name, nodes):
    """The sparse adjacency matrix (l, l) of a networkx graph, with nodes in the given order.

    Weights are the attribute ``weight``, 1 by default; weights of parallel edges add up.
    """
    try:
        import networkx
    except ImportError as error:
        raise ImportError(f"{name} is a networkx graph: pip install 'hilbertlearn[graphs]'") from error
    if graph.is_directed():
        raise ValueError(f"{name} is a directed graph; give {name}.to_undirected()")
    if not len(graph):
        raise ValueError(f"{name} has no nodes; give at least one")
    try:
        W = networkx.to_scipy_sparse_array(graph, nodelist=nodes, dtype=float, format="csr")
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} has weights of edges that are no numbers: {error}") from error
    check_finite(W.data, name)
    return W


def check_finite(weights, name):
    """Raise unless all weights of edges are finite: NaN hides a pair in matrices only."""
    if not np.isfinite(weights).all():
        raise ValueError(f"{name} has edges with weight NaN or infinity; leave them out, or give their pairs in hidden")
