"""Weights of links are relative: the same in every form of a graph and in any unit; equal weights are none."""

import networkx as nx
import numpy as np
import pandas as pd
import polars
import pytest
import scipy.sparse
from helpers.refusals import assert_refused
from numpy.testing import assert_allclose, assert_array_equal
from scipy.linalg import expm

from hilbertlearn import ConformalPredictor, LinkPredictor, baselines
from hilbertlearn.graphs import Pairs
from hilbertlearn.model_selection import EdgeSplit

N = 26
RNG = np.random.default_rng(1)
X = RNG.uniform(size=(N, 2))
NEW = RNG.uniform(size=(4, 2))
LINKS = np.triu(np.linalg.norm(X[:, None] - X, axis=2) < 0.3, 1)
W = LINKS * RNG.lognormal(sigma=1.0, size=(N, N)).round(3)
W = W + W.T
A = (W > 0).astype(float)


def edges(W):
    return [(int(i), int(j), float(W[i, j])) for i, j in np.argwhere(np.triu(W, 1))]


def weighted_graph(W):
    graph = nx.empty_graph(N)
    graph.add_weighted_edges_from(edges(W))
    return graph


FORMS = {
    "dense": lambda W: W,
    "sparse": scipy.sparse.coo_array,
    "networkx": weighted_graph,
    "tuples": edges,
    "pandas": lambda W: pd.DataFrame(edges(W), columns=["from", "to", "weight"]),
    "polars": lambda W: polars.DataFrame(edges(W), schema=["from", "to", "weight"], orient="row"),
    "square": pd.DataFrame,
    "Pairs": Pairs,
}


def scores(graph, features=None, **settings):
    return LinkPredictor(**settings).fit(features, graph).pair_scores()[np.triu_indices(N, 1)]


@pytest.mark.parametrize("features", [None, X], ids=["graph alone", "features"])
@pytest.mark.parametrize("form", FORMS)
def test_weights_count_alike_in_every_form(form, features):
    expected = scores(W, features)
    assert_allclose(scores(FORMS[form](W), features), expected, atol=1e-9)
    assert np.abs(expected - scores(A, features)).max() > 0.1  # they count


def test_networkx_in_place_of_features():
    graph = weighted_graph(W)
    found = LinkPredictor().fit(graph).pair_scores()[np.triu_indices(N, 1)]
    assert_allclose(found, scores(W), atol=1e-9)


@pytest.mark.parametrize("features", [None, X], ids=["graph alone", "features"])
def test_the_unit_does_not_count(features):
    for unit in (1e-4, 1e4):
        assert_allclose(scores(unit * W, features), scores(W, features), atol=1e-6)


@pytest.mark.parametrize("features", [None, X], ids=["graph alone", "features"])
def test_equal_weights_are_none(features):
    for weight in (0.1, 7.0, 1e4):
        assert_array_equal(scores(weight * A, features), scores(A, features))


def test_order_of_resource_allocation_by_definition():
    """The score of a single similarity increases with ``sum_z (w_xz + w_zy) / 2 / s_z`` over common neighbours."""
    shares = W / np.maximum(W.sum(axis=1), 1e-9)
    expected = ((shares @ A + (shares @ A).T) / 2)[np.triu_indices(N, 1)]
    found = scores(W, similarities="resource_allocation")
    ranks = [np.unique(np.round(values, 8), return_inverse=True)[1] for values in (expected, found)]
    assert_array_equal(*ranks)


def test_the_target_is_the_kernel_of_the_weighted_graph():
    """``exp(-L)`` of weights relative to an average link."""
    relative = W / W[W > 0].mean()
    expected = expm(-(np.diag(relative.sum(axis=1)) - relative))
    V = LinkPredictor(alpha=0.1).fit(X, W).embedding_
    assert_allclose(V @ V.T, expected, atol=1e-10)


@pytest.mark.parametrize("features", [None, X], ids=["graph alone", "features"])
@pytest.mark.parametrize("form", ["dense", "sparse", "networkx", "tuples", "pandas", "polars"])
def test_a_pair_of_weight_0_is_not_linked(form, features):
    first, second, _ = edges(W)[3]
    without, zero = W.copy(), edges(W)
    without[first, second] = without[second, first] = 0.0
    zero[3] = (first, second, 0.0)
    graph = weighted_graph(W)
    graph[first][second]["weight"] = 0.0
    i, j, weights = (np.array(column) for column in zip(*zero, strict=True))
    given = {
        "dense": without,
        "sparse": scipy.sparse.coo_array((np.r_[weights, weights], (np.r_[i, j], np.r_[j, i])), shape=(N, N)),
        "networkx": graph,
        "tuples": zero,
        "pandas": pd.DataFrame(zero),
        "polars": polars.DataFrame(zero, orient="row"),
    }[form]
    model = LinkPredictor().fit(features, given)
    assert_allclose(model.pair_scores()[np.triu_indices(N, 1)], scores(without, features), atol=1e-9)
    assert (first, second) in {(u, v) for u, v, _ in model.predict_links(top_k=N * N)}  # among those to predict


def test_weights_change_by_little_scores_by_little():
    changed = W * (1 + 1e-9 * np.add.outer(np.arange(N), np.arange(N)))
    assert_allclose(scores(changed), scores(W), atol=1e-5)


def test_links_alone_are_what_is_predicted():
    """Metrics, folds of pairs and probabilities ask whether there is a link, not how strong it is."""
    model = LinkPredictor().fit(None, W)
    assert model.score(None, W) == model.score(None, A)
    pairs = Pairs(W)
    assert_array_equal(pairs.linked, Pairs(A).linked)
    for (train, test), expected in zip(EdgeSplit(3).split(pairs), EdgeSplit(3).split(Pairs(A)), strict=True):
        assert_array_equal(test, expected[1])
        part = LinkPredictor().fit(pairs[train], pairs.linked[train])
        hidden = W.copy()
        hidden[pairs.first[test], pairs.second[test]] = hidden[pairs.second[test], pairs.first[test]] = np.nan
        assert_allclose(part.pair_scores(), LinkPredictor().fit(None, hidden).pair_scores(), atol=1e-9)


def test_probabilities_in_any_unit():
    some = [(0, 1), (2, 7), (3, 9)]
    model = ConformalPredictor(LinkPredictor(), method="split", random_state=0)
    found = [model.fit(None, unit * W).predict_probability(some) for unit in (1.0, 1000.0)]
    assert_allclose(*found, atol=1e-6)
    assert np.isfinite(found).all()


BAD = {"negative": (-2.0, ["negative weights", "-2", "strengths", "0 where there is no link"])}
BAD["NaN"] = (np.nan, ["weight NaN", "leave them out", "hidden"])


@pytest.mark.parametrize("bad", BAD)
@pytest.mark.parametrize("form", ["networkx", "tuples", "pandas", "polars"])
def test_bad_weights_of_edges(form, bad):
    value, said = BAD[bad]
    wrong = W.copy()
    first, second, _ = edges(W)[3]
    wrong[first, second] = wrong[second, first] = value
    assert_refused(lambda: LinkPredictor().fit(None, FORMS[form](wrong)), said)


def test_extreme_weights():
    spread = W.copy()
    spread[spread > 0] = 10.0 ** np.linspace(-150, 150, np.count_nonzero(W))
    spread = np.maximum(spread, spread.T)
    for features in (None, X):
        assert np.isfinite(scores(spread, features)).all()


# ---------------------------------------------------------------- compared methods

METHODS = [
    baselines.KernelMetricLearning,
    baselines.LocalLinkModel,
    baselines.KernelMatrixRegression,
    baselines.KernelCCALinks,
    baselines.EMKernelCompletion,
]


@pytest.mark.parametrize("method", METHODS)
def test_compared_methods_take_weights_in_any_unit(method):
    expected = method().fit(X, W).pair_scores(NEW, X)
    assert_allclose(method().fit(X, weighted_graph(1024 * W)).pair_scores(NEW, X), expected, atol=1e-6)
    links = method().fit(X, A).pair_scores(NEW, X)
    assert_allclose(method().fit(X, 7 * A).pair_scores(NEW, X), links, atol=1e-9)
    assert np.abs(expected - links).max() > 1e-3


def test_weights_of_links_are_weights_of_samples():
    """Of the classifiers of local models."""
    from sklearn.metrics.pairwise import rbf_kernel
    from sklearn.svm import SVC

    model = baselines.LocalLinkModel(gamma=2.0).fit(X, W)
    relative, others = W / W[W > 0].mean(), np.arange(1, N)
    samples = np.where(A[0] > 0, relative[0], 1.0)[others]
    expected = SVC(kernel="precomputed").fit(rbf_kernel(X[1:], gamma=2.0), A[0, 1:], sample_weight=samples)
    found = rbf_kernel(NEW, X, gamma=2.0) @ model.dual_coef_[:, 0] + model.intercept_[0]
    assert_allclose(found, expected.decision_function(rbf_kernel(NEW, X[1:], gamma=2.0)), atol=1e-9)
