"""Pairs of nodes as samples, folds of them, and features from the attributes of nodes."""

import pickle
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from helpers.refusals import assert_refused
from numpy.testing import assert_array_equal
from sklearn.base import BaseEstimator
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV, KFold, cross_val_predict, cross_val_score
from sklearn.utils import _safe_indexing

from hilbertlearn._utils import validation
from hilbertlearn.data.graphs import node_attributes, row_names
from hilbertlearn.graphs import Pairs
from hilbertlearn.model_selection import EdgeSplit

networkx = pytest.importorskip("networkx")
CLUB = networkx.karate_club_graph()
W = networkx.to_numpy_array(CLUB)
N = len(W)


class CommonNeighbours(BaseEstimator):
    """Scores pairs by how many neighbours they have in common in the training graph."""

    def __init__(self, scale=1.0):
        self.scale = scale

    def fit(self, pairs, linked):
        known = pairs.graph(linked)
        self.seen_, self.adjacency_ = known, (known.adjacency > 0).astype(float)
        return self

    def predict(self, pairs):
        return self.scale * (self.adjacency_ @ self.adjacency_).toarray()[pairs.first, pairs.second]

    def score(self, pairs, linked):
        assert self.seen_.hidden.toarray()[pairs.first, pairs.second].all()  # nothing of them was seen
        return roc_auc_score(linked, self.predict(pairs))


def masked(rng, share=0.3):
    mask = np.triu(rng.random((N, N)) < share, 1)
    return mask | mask.T


# ---------------------------------------------------------------- pairs


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


# ---------------------------------------------------------------- folds


@pytest.mark.parametrize("shuffle", [True, False])
@pytest.mark.parametrize("k", [2, 5, 7])
def test_folds(k, shuffle):
    pairs = Pairs(CLUB)
    split = EdgeSplit(k, shuffle=shuffle)
    folds = list(split.split(pairs))
    assert len(folds) == split.get_n_splits(pairs) == k
    for train, test in folds:
        assert_array_equal(np.sort(np.r_[train, test]), np.arange(len(pairs)))
    assert_array_equal(np.sort(np.concatenate([test for _, test in folds])), np.arange(len(pairs)))
    for counts in ([len(test) for _, test in folds], [pairs.linked[test].sum() for _, test in folds]):
        assert max(counts) - min(counts) <= 1
    for form in (CLUB, W, networkx.to_pandas_edgelist(CLUB)[["source", "target"]]):
        for (train, test), (again, again_test) in zip(folds, split.split(form), strict=True):
            assert_array_equal(train, again)
            assert_array_equal(test, again_test)
    first = folds[0][1]
    other = next(iter(EdgeSplit(k, shuffle=shuffle, random_state=1).split(pairs)))[1]
    assert np.array_equal(first, other) != shuffle


def test_folds_by_labels():
    pairs = Pairs(CLUB)
    labels = np.arange(len(pairs)) % 2
    for _, test in EdgeSplit(4).split(pairs, labels):
        assert abs(labels[test].mean() - 0.5) < 0.01
    assert_refused(lambda: list(EdgeSplit().split(pairs, labels[:-1])), ["y", "561 pairs", "pairs.linked"])


@pytest.mark.parametrize("graph", [[(0, 1), (2, 3)], np.zeros((4, 4)), 1 - np.eye(4)], ids=["few", "none", "all"])
def test_few_links(graph):
    folds = list(EdgeSplit(5).split(Pairs(graph)))
    assert [len(test) for _, test in folds] == [2, 1, 1, 1, 1] and all(len(train) >= 4 for train, _ in folds)


def test_scikit_learn_takes_pairs():
    pairs = Pairs(CLUB)
    scores = cross_val_score(CommonNeighbours(), pairs, pairs.linked, cv=EdgeSplit(5))
    expected = []
    for known, fold in EdgeSplit(5).split_graph(W):  # by hand
        A = np.nan_to_num(known.toarray()) > 0
        expected.append(roc_auc_score(fold.linked, (A.astype(int) @ A)[fold.first, fold.second]))
    assert_array_equal(scores, expected)
    assert np.mean(scores) > 0.6
    assert len(cross_val_score(CommonNeighbours(), pairs, pairs.linked, cv=KFold(3, shuffle=True, random_state=0))) == 3
    predicted = cross_val_predict(CommonNeighbours(), pairs, pairs.linked, cv=EdgeSplit(5))
    assert predicted.shape == pairs.linked.shape
    search = GridSearchCV(CommonNeighbours(), {"scale": [-1.0, 1.0]}, cv=EdgeSplit(3)).fit(pairs, pairs.linked)
    assert search.best_params_ == {"scale": 1.0}


def test_split_graph():
    X, hidden = np.ones((N, 1)), masked(np.random.default_rng(2))
    for known, fold in EdgeSplit(3).split_graph(CLUB, X, hidden):
        assert known.hidden.toarray()[fold.first, fold.second].all() and not hidden[fold.first, fold.second].any()
        assert known.hidden.nnz == hidden.sum() + 2 * len(fold)
        seen = ~known.hidden.toarray()
        assert_array_equal(known.adjacency.toarray(), np.where(seen, W, 0))
        assert fold.X is X
    for known, fold in EdgeSplit(2).split_graph(Pairs(CLUB)[:50]):
        assert known.hidden.nnz == N * (N - 1) - 50 and len(fold) == 25


BAD = {
    "features": (EdgeSplit(), np.ones((5, 4)), ["EdgeSplit", "graphs.Pairs(graph, X)", "(5, 4)"]),
    "one fold": (EdgeSplit(1), CLUB, ["n_splits", "> 1", "1"]),
    "half a fold": (EdgeSplit(2.5), CLUB, ["n_splits", "integer", "2.5"]),
    "too many folds": (EdgeSplit(7), np.zeros((4, 4)), ["n_splits=7", "6 known pairs", "fewer"]),
    "shuffle": (EdgeSplit(shuffle="yes"), CLUB, ["shuffle", "'yes'"]),
}


@pytest.mark.parametrize("case", BAD)
def test_refused(case):
    split, graph, words = BAD[case]
    assert_refused(lambda: list(split.split(graph)), words)


def test_names_of_rows():
    assert row_names(None) is None and list(row_names([[1], [2]])) == [0, 1]
    assert list(row_names(pd.DataFrame({"x": [1, 2]}, index=["b", "a"]))) == ["b", "a"]
    assert list(row_names(scipy.sparse.csr_array(np.eye(3)))) == [0, 1, 2]


# ---------------------------------------------------------------- attributes of nodes


def attributed(**changes):
    graph = networkx.path_graph(["a", "b", "c"])
    values = {
        "age": [3, 4.5, np.int64(6)],
        "club": ["red", "blue", "red"],
        "at": [(0, 1), [2.0, 3.0], np.array([4, 5])],
        "free": [True, False, np.True_],
    }
    for key, column in {**values, **changes}.items():
        for node, value in zip(graph, column, strict=True):
            if value is not Ellipsis:
                graph.nodes[node][key] = value
    return graph


def test_node_attributes():
    X, columns = node_attributes(attributed(), ["c", "a", "b"])
    assert columns == ["age", "at_0", "at_1", "club_blue", "club_red", "free"]
    assert_array_equal(X, [[6, 4, 5, 0, 1, 1], [3, 0, 1, 0, 1, 1], [4.5, 2, 3, 1, 0, 0]])
    assert X.dtype == float
    assert node_attributes(networkx.path_graph(3), range(3)) == (None, [])


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"age": [1, Ellipsis, 2]}, ["'b'", "no attribute 'age'", "features X"]),
        ({"age": [1, None, 2]}, ["'b'", "no attribute 'age'"]),
        ({"age": [1, np.nan, 2]}, ["'b'", "no attribute 'age'"]),
        ({"at": [(0, 1), (2, 3), (4, 5, 6)]}, ["attribute 'at'", "one length", "(4, 5, 6)", "'c'"]),
        ({"at": [(0, 1), (2, 3), "here"]}, ["attribute 'at'", "'here'", "'c'"]),
        ({"at": [(0, 1), (2, (3, 4)), (1, 2)]}, ["attribute 'at'", "'b'"]),
        ({"club": ["red", 3, "red"]}, ["attribute 'club'", "'red'"]),
        ({"club": [{}, {}, {}]}, ["attribute 'club'", "{}"]),
    ],
)
def test_attributes_that_are_no_features(changes, words):
    assert_refused(lambda: node_attributes(attributed(**changes), list("abc")), words)


def test_attributes_of_strangers():
    assert_refused(lambda: node_attributes(attributed(), ["a", "z"]), ["nodes", "'z'"])
