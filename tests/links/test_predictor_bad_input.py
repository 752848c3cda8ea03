"""Bad input of link predictors: graphs, settings, nodes."""

import numpy as np
import pytest
from helpers.graph_data import KNOWN, NEW, A, N, W, X, Y, links, regressor
from helpers.refusals import assert_refused, changed
from numpy.testing import assert_array_equal
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import Ridge

from hilbertlearn.kernels import Affinity


def test_infinite_groups():
    assert_refused(lambda: links().fit(X, changed(np.arange(float(N)), np.inf, 3)), ["y", "infinity", "NaN"])


EVERYTHING = [{}, {"loss": "hinge"}, {"center": True, "cosine": True}, {"manifold": 0.1}, {"regressor": Ridge()}]


@pytest.mark.parametrize("settings", EVERYTHING, ids=str)
@pytest.mark.parametrize("alpha", [0.01, "auto"])
def test_a_graph_without_links_works(settings, alpha):
    model = links(alpha=alpha, **settings).fit(X, np.zeros((KNOWN, KNOWN)))
    assert np.isfinite(model.pair_scores(NEW)).all() and model.thresholds_["new"] == np.inf
    assert model.predict_links(NEW).nnz == 0
    assert_refused(lambda: model.score(X, np.zeros((N, N))), ["y has no links", "give another graph"])


@pytest.mark.parametrize("settings", EVERYTHING, ids=str)
def test_a_complete_graph_works(settings):
    model = links(alpha="auto", **settings).fit(X, 1 - np.eye(KNOWN))
    assert np.isfinite(model.pair_scores(NEW)).all() and np.isfinite(model.thresholds_["new"])


@pytest.mark.parametrize("settings", EVERYTHING, ids=str)
def test_isolated_nodes_work(settings):
    assert (A[2] == 0).all()
    model = links(alpha="auto", **settings).fit(X, A)
    assert np.isfinite(model.pair_scores(NEW)).all() and model.embedding_.shape[0] == KNOWN


def test_one_node():
    model = links(alpha="auto").fit(X[:1], np.zeros((1, 1)))
    assert model.pair_scores(NEW).shape == (4, 4)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"output_kernel": "heat"}, ["output_kernel", "'heat'", "diffusion", "normalized_laplacian"]),
        ({"output_kernel": np.eye(4)}, ["output_kernel", "(4, 4)", "9 nodes"]),
        ({"output_kernel": -np.eye(KNOWN)}, ["output_kernel", "PSD"]),
        ({"beta": -1.0}, ["beta", ">= 0", "-1.0"]),
        ({"scoring": "accuracy"}, ["scoring", "'accuracy'", "roc_auc", "average_precision"]),
        ({"center": "yes"}, ["center", "'yes'"]),
        ({"cosine": 3}, ["cosine", "3"]),
        ({"gamma": "mean"}, ["gamma", "'mean'", "auto", "median"]),
        ({"gamma": -1.0}, ["gamma", "-1.0"]),
        ({"alpha": 0.0}, ["alpha", "0"]),
        ({"alpha": -1.0}, ["alpha", "-1.0"]),
        ({"kernel": "rfb"}, ["kernel", "'rfb'", "rbf"]),
        ({"kernel": [("rbf", None)]}, ["kernel"]),
        ({"loss": "hing"}, ["loss", "'hing'", "hinge"]),
        ({"manifold": -0.1}, ["manifold", ">= 0", "-0.1"]),
        ({"manifold": 0.1, "graph": A}, ["graph has 9 nodes", "X 14 samples"]),
        ({"manifold": 0.1, "graph": Affinity(smoother="x")}, ["unknown smoother 'x'"]),
        ({"tol": 0.0}, ["tol", "0"]),
        ({"max_iter": 0}, ["max_iter", "0"]),
        ({"solver": "newton"}, ["solver", "'newton'", "spectral"]),
    ],
    ids=str,
)
def test_settings_of_links(settings, words):
    assert_refused(lambda: links(**settings).fit(X, A), words, (ValueError, TypeError))


def test_numbers_of_nodes():
    assert_refused(lambda: links().fit(X[:5], A), ["y has 9 nodes", "X 5 samples", "features of every node"])
    assert_refused(lambda: links().fit(X, np.arange(5)), ["y has 5 nodes", "X 14 samples", "features of every node"])
    assert_refused(lambda: links().fit(X, None), ["requires y", "give the graph of the nodes"])


def test_features_that_disagree():
    model = links().fit(X, A)
    for method in (model.pair_scores, model.decision_function, model.predict_links):
        assert_refused(lambda method=method: method(NEW[:, :1]), ["1 features", "2 features"])
    assert_refused(lambda: model.pair_scores(NEW, NEW[:, :1]), ["1 features", "2 features"])
    assert_refused(lambda: model.score(NEW, W), ["y has 14 nodes", "X 4 samples"])
    assert_refused(lambda: links().fit(changed(X, np.nan), A), ["NaN"])


@pytest.mark.parametrize("method", ["pair_scores", "decision_function", "predict_links"])
def test_links_before_fit(method):
    with pytest.raises(NotFittedError):
        getattr(links(), method)(X)
    with pytest.raises(NotFittedError):
        links().score(X, W)


def test_a_fit_that_fails_changes_nothing():
    model = links().fit(X, A)
    before, thresholds = model.pair_scores(NEW), model.thresholds_
    for bad in (lambda: model.fit(X, -A), lambda: model.fit(X[:3, :1], A), lambda: model.fit(NEW[:, :1], np.ones(9))):
        assert_refused(bad, [])
        assert_array_equal(model.pair_scores(NEW), before)
        assert model.thresholds_ == thresholds and model.n_features_in_ == 2
    vectors = regressor(graph=W).fit(X, Y)
    before = vectors.predict(NEW)
    assert_refused(lambda: vectors.fit(X[:5], Y[:5]), ["graph has 14 nodes", "X 5 samples"])
    assert_array_equal(vectors.predict(NEW), before)
    assert_array_equal(vectors.loo_residuals(), regressor(graph=W).fit(X, Y).loo_residuals())


@pytest.mark.parametrize("asked", [[0, 1, 2], np.arange(3), ["a", "b"], 5, None, []], ids=str)
@pytest.mark.parametrize("method", ["predict", "decision_function"])
def test_nodes_that_are_no_rows_of_features(method, asked):
    model = links().fit(X, A)
    assert_refused(
        lambda: getattr(model, method)(asked), ["features of new nodes", f"row of {X.shape[1]}", "pairs of names"]
    )


def test_a_graph_to_predict():
    networkx = pytest.importorskip("networkx")
    model = links().fit(X, A)
    assert_refused(lambda: model.predict_links(networkx.path_graph(3)), ["features of new nodes", "predict_links()"])
