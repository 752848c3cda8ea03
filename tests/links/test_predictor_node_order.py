"""The order of the nodes does not change a link predictor."""

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from helpers.link_order import KNOWN, NEW, ORDER, L, N, X, assert_same
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.ensemble import ExtraTreesRegressor
from sklearn.metrics.pairwise import rbf_kernel

from hilbertlearn import LinkPredictor, kernels

SETTINGS = {
    "": {},
    "gamma": {"gamma": "auto"},
    "hinge": {"loss": "hinge", "alpha": 0.1},
    "of folds": {"loss": "huber", "similarities": None},
    "nodes": {"criterion": "nodes"},
    "centred": {"center": True},
    "landmarks": {"feature_map": 10},
    "manifold": {"manifold": 0.1},
    "trees": {"regressor": ExtraTreesRegressor(5, random_state=0)},
    "known": {"similarities": None, "score_with": "known"},
}


@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS)
def test_permuted_nodes(settings):
    model = LinkPredictor(**settings).fit(X, KNOWN)
    known = ORDER[:L]
    assert_same(model, LinkPredictor(**settings).fit(X[ORDER], KNOWN[np.ix_(known, known)]), ORDER)


GRAPHS = {
    "links alone": KNOWN,
    "weights": KNOWN * np.add.outer(np.arange(L), np.arange(L)),
    "club": nx.to_numpy_array(nx.karate_club_graph()),
    "grid": nx.to_numpy_array(nx.grid_2d_graph(5, 6)),  # all nodes have others like them
    "tree": nx.to_numpy_array(nx.balanced_tree(2, 4)),
}


@pytest.mark.parametrize("name", GRAPHS)
def test_permuted_graphs_without_features(name):
    W = GRAPHS[name]
    order = np.random.default_rng(1).permutation(len(W))
    again = LinkPredictor().fit(None, W[np.ix_(order, order)])
    assert_same(LinkPredictor().fit(None, W), again, order)


def test_hidden_pairs():
    order = np.random.default_rng(1).permutation(L)
    W = KNOWN.copy()
    W[::5, ::7] = np.nan
    W[np.isnan(W.T)] = np.nan
    model, again = LinkPredictor().fit(X[:L], W), LinkPredictor().fit(X[:L][order], W[np.ix_(order, order)])
    assert_allclose(again.pair_scores(), model.pair_scores()[np.ix_(order, order)], atol=1e-8)
    found = {(frozenset((int(order[i]), int(order[j]))), round(s, 6)) for i, j, s in again.predict_links(top_k=10)}
    assert found == {(frozenset((i, j)), round(s, 6)) for i, j, s in model.predict_links(top_k=10)}


def texts(rows):
    return ["abcde"[int(2 + x) % 5 :] + "fgh"[: int(2 + y) % 4] for x, y in X[rows]]


def table(rows):
    kind = np.where(X[:, 0] > 0, "east", "west").astype(object)
    kind[3] = None
    return pd.DataFrame({"kind": kind, "x": X[:, 0], "y": X[:, 1]}).iloc[rows].reset_index(drop=True)


FEATURES = {
    "sparse": ("rbf", lambda rows: scipy.sparse.csr_array(X[rows])),
    "precomputed": ("precomputed", lambda rows: rbf_kernel(X)[np.ix_(rows, rows)]),
    "columns": (kernels.Columns([("rbf", ["x", "y"]), (kernels.CategoricalKernel(), ["kind"])]), table),
    "texts": (kernels.NGrams(), texts),
}


@pytest.mark.parametrize("form", FEATURES)
def test_permuted_features_of_any_kind(form):
    kernel, make = FEATURES[form]
    known = ORDER[:L]
    model = LinkPredictor(kernel, alpha=0.1).fit(make(np.arange(N)), KNOWN)
    again = LinkPredictor(kernel, alpha=0.1).fit(make(ORDER), KNOWN[np.ix_(known, known)])
    off = ~np.eye(N, dtype=bool)
    assert_allclose(again.pair_scores()[off], model.pair_scores()[np.ix_(ORDER, ORDER)][off], atol=1e-8)


def test_an_output_kernel_that_is_given():
    K_Y, known = rbf_kernel(X[:L], gamma=2.0), ORDER[:L]
    model = LinkPredictor(output_kernel=K_Y).fit(X, KNOWN)
    again = LinkPredictor(output_kernel=K_Y[np.ix_(known, known)]).fit(X[ORDER], KNOWN[np.ix_(known, known)])
    assert_same(model, again, ORDER)
    assert_allclose(model.embedding_ @ model.embedding_.T, K_Y, atol=1e-8)


def test_names_and_pairs_are_in_the_order_of_the_rows():
    model = LinkPredictor(alpha=0.1).fit(X, KNOWN)
    assert_array_equal(model.known_, np.arange(L))
    found = model.predict_links(top_k=50)
    assert all(first < second for first, second, _ in found)
    new = model.predict_links(NEW, "known", top_k=3)
    scores = model.decision_function(NEW)
    assert_allclose([scores[i, j] for i, j, _ in new], [s for _, _, s in new], atol=1e-12)
    assert_allclose(model.pair_scores(NEW, "known"), scores, atol=1e-12)
    assert_array_equal(model.predict(NEW), scores.argmax(axis=1))
    assert_array_equal(model.predict_links(NEW, "known").toarray(), scores >= model.thresholds_["mixed"])
