"""An order of the nodes of a graph that does not depend on their numbering.

Nodes and pairs are drawn at random in this order, so that draws do not depend on the order of the rows.

References
----------
- Weisfeiler and Leman (1968). The reduction of a graph to canonical form and the algebra which appears therein.
"""

from __future__ import annotations

import itertools
import math

import numpy as np
import scipy.sparse
import scipy.sparse.csgraph

from .names import find_positions, sort_names

_ROUNDS = 1000  # largest number of refinements; a path of 2000 nodes needs as many
_SPLITS = 50  # largest number of splits of equivalent nodes; each costs a refinement


def canonical_order(graph, features):
    """Positions (l,) of the nodes of a ``KnownGraph``, in an order that renumbering the nodes does not change.

    Nodes are distinguished by the links around them, then by the sums of their weights, then by features. Links come
    first, so that a small change of numbers rarely changes the order. Equivalent nodes are sorted by name, along the
    links.

    features : ranks (l,) of the nodes by their features; equal features have equal ranks
    """
    W = graph.adjacency
    weights = np.unique(W.data, return_inverse=True)[1]
    ranks = _refine(np.unique(np.diff(graph.hidden.indptr), return_inverse=True)[1], W, np.zeros_like(weights))
    for key in (_strengths(W), features):
        ranks = _refine(combined_ranks(ranks, np.unique(key, return_inverse=True)[1]), W, weights)
    by_name = np.argsort(find_positions(sort_names(graph.nodes), graph.nodes))
    if not _all_differ(ranks):
        ranks = _split(_refine(_order_twins(ranks, graph, by_name), W, weights), W, weights, by_name)
    order = np.lexsort((by_name, ranks))
    return order if _all_differ(ranks) else order[_breadth_first(W[order][:, order])]


def _order_twins(ranks, graph, by_name):
    """Ranks (l,) in which interchangeable nodes, those with the same neighbours, are sorted by name."""
    l, W, hidden = len(ranks), graph.adjacency, graph.hidden
    hashes = _hash(np.arange(l))
    links = _sums(_hash(W.data.view(np.uint64) ^ hashes[W.indices]), W)
    links += _sums(_hash(hashes)[hidden.indices], hidden)
    with_itself = links + _hash(hashes ^ np.float64(1).view(np.uint64))  # equal for twins that are linked
    for neighbour_hashes in (links, with_itself):
        twin_class = combined_ranks(ranks, np.unique(neighbour_hashes, return_inverse=True)[1])
        order = np.lexsort((by_name, twin_class))
        starts = np.flatnonzero(np.diff(twin_class[order], prepend=-1))
        index = np.empty(l, dtype=np.int64)
        index[order] = np.arange(l) - np.repeat(starts, np.diff(starts, append=l))
        ranks = combined_ranks(ranks, index)
    return ranks


def _split(ranks, W, weights, by_name):
    """Ranks (l,) in which the first by name of several equivalent nodes comes first, refined each time."""
    for _ in range(_SPLITS):
        counts = np.bincount(ranks)
        if counts.max() == 1:
            break
        equivalent = np.flatnonzero(ranks == np.argmax(counts > 1))
        first = equivalent[np.argmin(by_name[equivalent])]
        ranks = _refine(combined_ranks(ranks, (np.arange(len(ranks)) != first).astype(np.int64)), W, weights)
    return ranks


def _strengths(W):
    """Sums (l,) of the weights of each node, exactly rounded, so that they do not depend on the order."""
    return np.array([math.fsum(W.data[start:stop]) for start, stop in itertools.pairwise(W.indptr)])


def combined_ranks(first, second):
    """Ranks (n,) of pairs of ranks in lexicographic order."""
    return np.unique(first * (second.max(initial=0) + 1) + second, return_inverse=True)[1]


def _refine(ranks, W, weights):
    """Ranks (l,) refined by the ranks of the neighbours until they are stable.

    weights : ranks (nnz,) of the weights of the links
    """
    weights = weights.astype(np.uint64)
    for _ in range(_ROUNDS):
        if _all_differ(ranks):
            break
        neighbour_hashes = _sums(_hash(_hash(ranks)[W.indices] + weights), W)
        refined = combined_ranks(ranks, np.unique(neighbour_hashes, return_inverse=True)[1])
        if refined.max(initial=0) == ranks.max(initial=0):
            break
        ranks = refined
    return ranks


def _sums(hashes, W):
    """Sums (l,) of marks (nnz,) of the entries in each row, modulo 2^64: exact in any order."""
    sums = np.concatenate([np.zeros(1, dtype=np.uint64), np.cumsum(hashes, dtype=np.uint64)])
    return sums[W.indptr[1:]] - sums[W.indptr[:-1]]


def _all_differ(ranks):
    return ranks.max(initial=-1) == len(ranks) - 1


def _hash(numbers):
    """Hashes of integers, whose sums distinguish sets (the finaliser of splitmix64)."""
    x = numbers.astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def _breadth_first(W):
    """Positions (l,) of all nodes, breadth first from the first of each component.

    If equivalent nodes are exchanged, the nodes that they lead to are exchanged in the same way.
    """
    l = W.shape[0]
    _, component = scipy.sparse.csgraph.connected_components(W, directed=False)
    starts = np.sort(np.unique(component, return_index=True)[1])
    links = scipy.sparse.coo_array(W)
    i, j = np.r_[links.row, np.full(len(starts), l)], np.r_[links.col, starts]  # node l leads to all components
    graph = scipy.sparse.csr_array((np.ones(len(i)), (i, j)), shape=(l + 1, l + 1))
    graph.sort_indices()
    return scipy.sparse.csgraph.breadth_first_order(graph, l, return_predecessors=False)[1:]
