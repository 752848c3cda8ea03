"""One graph of nodes with features, in several forms."""

import networkx as nx
import numpy as np

from hilbertlearn import LinkPredictor

L, N = 34, 40  # known nodes, and all
RNG = np.random.default_rng(3)
POINTS = RNG.uniform(size=(N, 2))
NEAR = np.linalg.norm(POINTS[:, None] - POINTS, axis=2) < 0.25
A = (NEAR & ~np.eye(N, dtype=bool)).astype(float)
A[5], A[:, 5] = 0.0, 0.0  # a node alone
KNOWN = A[:L, :L]
NAMES = [f"v{k:02d}" for k in RNG.permutation(100)[:N]]  # not in order
PAIRS = [(i, j) for i in range(L) for j in range(i)]
HIDDEN = [pair for pair in PAIRS if RNG.random() < 0.15]


def named(pairs, names):
    return [(names[i], names[j]) for i, j in pairs]


def graph_of(W, names, rng, X=None):
    """A networkx graph whose nodes and edges come in any order."""
    graph = nx.Graph()
    graph.add_nodes_from(names[i] for i in rng.permutation(len(W)))
    graph.add_edges_from((names[j], names[i]) for i, j in rng.permutation(np.argwhere(np.triu(W))))
    if X is not None:
        nx.set_node_attributes(graph, {names[i]: {"x": X[i, 0], "y": X[i, 1]} for i in range(len(W))})
    return graph


def model(**settings):
    return LinkPredictor(**settings)


def edges_of(W, names):
    return named(np.argwhere(np.triu(W)).tolist(), names)
