"""An order of nodes by what they are: renumbered, the same graph has the same matrix in it."""

import networkx as nx
import numpy as np
import pytest
from numpy.testing import assert_array_equal

from hilbertlearn.data.graphs import canonical_order, read_known_graph

GRAPHS = {
    "random": nx.gnp_random_graph(30, 0.15, seed=0),
    "club": nx.karate_club_graph(),  # has nodes with the same neighbours
    "women": nx.davis_southern_women_graph(),
    "tree": nx.balanced_tree(2, 4),
    "pairs": nx.union_all([nx.path_graph(2)] * 6, rename=[f"{k}." for k in range(6)]),
    "ring": nx.cycle_graph(11),
    "grid": nx.grid_2d_graph(4, 5),
    "star and others": nx.union_all([nx.star_graph(5), nx.empty_graph(4), nx.complete_graph(4)], rename="abc"),
    "long path": nx.path_graph(300),
    "one": nx.empty_graph(1),
    "none": nx.empty_graph(7),
}


def plain(graph):
    return nx.to_numpy_array(graph, weight=None)


def in_order(W, features=None, hidden=None):
    """The matrix of a graph in the order, and this."""
    known = read_known_graph(W, hidden=hidden)
    order = canonical_order(known, np.zeros(len(W), dtype=int) if features is None else features)
    assert_array_equal(np.sort(order), np.arange(len(W)))
    return known.toarray()[np.ix_(order, order)], order


@pytest.mark.parametrize("name", GRAPHS)
def test_renumbered_graphs_have_the_same_matrix(name):
    W = plain(GRAPHS[name])
    expected, _ = in_order(W)
    for seed in range(5):
        renumbered = np.random.default_rng(seed).permutation(len(W))
        assert_array_equal(in_order(W[np.ix_(renumbered, renumbered)])[0], expected)


def test_weights_features_and_hidden_pairs_tell_nodes_apart():
    ring, renumbered = plain(nx.cycle_graph(9)), np.random.default_rng(0).permutation(9)
    features = np.arange(9) % 4
    weighted = ring * np.add.outer(np.arange(9.0) ** 2, np.arange(9.0) ** 2)
    mask = np.zeros((9, 9), dtype=bool)
    mask[0, 4] = mask[4, 0] = True
    other = np.ix_(renumbered, renumbered)
    for given, again in (
        (in_order(ring, features), in_order(ring[other], features[renumbered])),
        (in_order(weighted), in_order(weighted[other])),
        (in_order(ring, hidden=mask), in_order(ring[other], hidden=mask[other])),
    ):
        assert_array_equal(given[0], again[0])
    order, again = in_order(ring, features)[1], in_order(ring[other], features[renumbered])[1]
    assert_array_equal(features[order], features[renumbered][again])


def test_links_come_before_numbers():
    """Where links tell all nodes apart, a change of weights or features changes nothing."""
    W = plain(nx.gnp_random_graph(30, 0.25, seed=3))
    rng = np.random.default_rng(0)
    weights = rng.random(W.shape)
    order = in_order(W)[1]
    assert_array_equal(in_order(W * (weights + weights.T), rng.permutation(30))[1], order)
