"""Folds of pairs of nodes."""

import numpy as np
import pytest
from helpers.club_graph import CLUB, N, W, masked, networkx
from helpers.refusals import assert_refused
from numpy.testing import assert_array_equal
from sklearn.base import BaseEstimator
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV, KFold, cross_val_predict, cross_val_score

from hilbertlearn.graphs import Pairs
from hilbertlearn.model_selection import EdgeSplit


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
