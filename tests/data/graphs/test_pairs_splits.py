"""Pairs of nodes of a graph, and parts of them."""

import pickle
from itertools import combinations

import numpy as np
import pandas as pd
import scipy.sparse
from helpers.club_graph import CLUB, N, W, masked, networkx
from helpers.refusals import assert_refused
from numpy.testing import assert_array_equal
from sklearn.utils import _safe_indexing

from hilbertlearn._utils import validation
from hilbertlearn.data.graphs import row_names
from hilbertlearn.graphs import Pairs


def test_pairs_are_all_known_ones():
    mask = masked(np.random.default_rng(0))
    for graph in (W, scipy.sparse.csr_array(W), CLUB, CLUB.subgraph(reversed(list(CLUB)))):
        pairs = Pairs(graph, hidden=mask)
        expected = [(i, j) for i, j in combinations(range(N), 2) if not mask[i, j]]
        assert list(zip(pairs.first.tolist(), pairs.second.tolist(), strict=True)) == expected
        assert_array_equal(pairs.weights, [W[pair] for pair in expected])
        assert_array_equal(pairs.linked, [int(W[pair] > 0) for pair in expected])
        assert_array_equal(pairs.names, expected)
    assert pairs.first.dtype == pairs.second.dtype == np.int32
    assert len(Pairs([[0]])) == 0
    assert repr(Pairs(W)) == f"Pairs({N * (N - 1) // 2} of {N} nodes, 78 linked)"


def test_some_pairs():
    pairs = Pairs(CLUB, np.arange(2.0 * N).reshape(N, 2))
    m = len(pairs)
    assert pairs.shape == (m, 2)
    keys = [[3, 1, 7], np.array([5]), slice(4, 20, 3), np.arange(m) % 7 == 0, -1, [], np.zeros(m, dtype=bool)]
    for key in keys:
        for part in (pairs[key], pairs[key, ...], pickle.loads(pickle.dumps(pairs))[key]):
            assert_array_equal(part.names, pairs.names[np.atleast_1d(np.arange(m)[key])])
            assert_array_equal(part.linked, part.weights > 0)
            assert_array_equal(part.X, pairs.X)
            assert_array_equal(part.nodes, pairs.nodes)
    assert_array_equal(_safe_indexing(pairs, np.array([3, 8])).names, pairs.names[[3, 8]])
    assert_array_equal(pairs[10:][[2, 0]].names, pairs.names[[12, 10]])


def test_pairs_of_named_rows():
    """The graph has some of the rows of X, in another order."""
    names = list("gfedcba")
    X = pd.DataFrame({"x": np.arange(7.0)}, index=names)
    pairs = Pairs(networkx.Graph([("a", "c"), ("c", "f")]), X)
    assert pairs.nodes.tolist() == ["f", "c", "a"] and pairs.rows.tolist() == [1, 4, 6]
    assert pairs.names.tolist() == [["f", "c"], ["f", "a"], ["c", "a"]] and pairs.linked.tolist() == [1, 0, 1]
    assert pairs.X is X and pairs.graph().rows.tolist() == [1, 4, 6]
    assert_refused(lambda: Pairs(CLUB, X), ["graph", "0, 1, 2", "pd.DataFrame(X, index=names)"])


def test_graph_of_pairs():
    rng = np.random.default_rng(1)
    pairs = Pairs(CLUB)
    key = rng.permutation(len(pairs))[:200]
    part = pairs[key]
    known = part.graph()
    inside = np.zeros((N, N), dtype=bool)
    inside[part.first, part.second] = inside[part.second, part.first] = True
    assert_array_equal(known.hidden.toarray(), ~inside & ~np.eye(N, dtype=bool))
    assert_array_equal(known.adjacency.toarray(), np.where(inside, W, 0))
    assert_array_equal(part.graph(part.linked).toarray(), known.toarray())  # links keep their weights
    labels = rng.integers(0, 2, 200)
    given = part.graph(labels).adjacency.toarray()[part.first, part.second]
    average = part.weights[part.weights > 0].mean()  # links of which the graph says nothing are as strong as others
    assert_array_equal(given, np.where(labels == 1, np.where(part.weights > 0, part.weights, average), 0))
    again = Pairs(known)
    order = np.argsort(key)
    assert_array_equal(again.names, part.names[order])
    assert_array_equal(again.weights, part.weights[order])
    assert_refused(lambda: part.graph(labels[:-1]), ["linked", "200 pairs", "(199,)"])


def test_too_many_pairs(monkeypatch):
    monkeypatch.setattr(validation, "_physical_memory", lambda: 1e4)
    assert_refused(lambda: Pairs(W), ["graph has 34 nodes", "GiB", "part of the nodes"])


def test_names_of_rows():
    assert row_names(None) is None and list(row_names([[1], [2]])) == [0, 1]
    assert list(row_names(pd.DataFrame({"x": [1, 2]}, index=["b", "a"]))) == ["b", "a"]
    assert list(row_names(scipy.sparse.csr_array(np.eye(3)))) == [0, 1, 2]
