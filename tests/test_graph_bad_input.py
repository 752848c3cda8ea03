"""Graphs, unlabelled samples and links that cannot be used are refused with a remedy; odd ones work as documented."""

import warnings

import numpy as np
import pytest
import scipy.sparse
from helpers.refusals import assert_refused, changed
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import Ridge

from hilbertlearn import (
    FunctionalRegressor,
    IrregularFunctions,
    LinkPredictor,
    OperatorKernelRegressor,
    RegularizationPathCV,
    StructuredPredictor,
    kernels,
    losses,
    spaces,
)
from hilbertlearn.data.graphs import laplacian, read_graph
from hilbertlearn.kernels import Affinity

N, KNOWN = 14, 9
RNG = np.random.default_rng(5)
X, NEW = RNG.normal(size=(N, 2)), RNG.normal(size=(4, 2))
Y = np.c_[X[:, 0] + 1, np.sin(X[:, 1])]
Y[KNOWN:] = np.nan
W = ((np.linalg.norm(X[:, None] - X, axis=2) < 1.5) & ~np.eye(N, dtype=bool)).astype(float)
W[2], W[:, 2] = 0.0, 0.0
A = W[:KNOWN, :KNOWN]
PAIR = tuple(np.argwhere(A)[0])


def regressor(**settings):
    return OperatorKernelRegressor(**{"alpha": 0.01, "manifold": 0.1, **settings})


def links(**settings):
    return LinkPredictor(**{"alpha": 0.01, "similarities": None, "cosine": False, **settings})


def as_sparse(graph):
    return scipy.sparse.csr_array(graph)


# ---------------------------------------------------------------- graphs


BAD_GRAPHS = {
    "asymmetric": (changed(A, 3.0, PAIR), ["not symmetric", "up to 2", "np.maximum(A, A.T)"]),
    "one-sided": (np.triu(A), ["not symmetric", "np.maximum(A, A.T)"]),
    "negative": (-0.5 * A, ["negative", "-0.5", "non-negative"]),
    "NaN": (changed(A, np.nan), ["NaN or infinity", "0 where there is no link"]),
    "infinite": (changed(A, np.inf), ["NaN or infinity"]),
    "not square": (A[:, :-1], ["square", "(9, 8)"]),
    "three dimensions": (np.zeros((KNOWN, KNOWN, 2)), ["square matrix", "(9, 9, 2)"]),
    "words": (np.full((KNOWN, KNOWN), "no"), ["square matrix of numbers", "networkx", "groups"]),
}


@pytest.mark.parametrize("name", BAD_GRAPHS)
def test_graphs_that_are_none(name):
    graph, words = BAD_GRAPHS[name]
    assert_refused(lambda: read_graph(graph), ["adjacency", *words])
    if graph.ndim == 2 and graph.dtype == float:
        assert_refused(lambda: read_graph(as_sparse(graph)), words)
    if name != "NaN":  # a pair that is not known
        assert_refused(lambda: links().fit(X, graph), ["y", *words])
    assert_refused(lambda: regressor(graph=graph).fit(X[:KNOWN], Y[:KNOWN]), ["graph", *words])


def test_directed_networkx_graph():
    networkx = pytest.importorskip("networkx")
    graph = networkx.from_numpy_array(A, create_using=networkx.DiGraph)
    assert_refused(lambda: links().fit(X[:KNOWN], graph), ["y", "directed", "y.to_undirected()"])
    assert_refused(lambda: regressor(graph=graph).fit(X, Y), ["graph", "directed", "graph.to_undirected()"])


def test_infinite_groups():
    assert_refused(lambda: links().fit(X, changed(np.arange(float(N)), np.inf, 3)), ["y", "infinity", "NaN"])


@pytest.mark.parametrize("form", [np.asarray, as_sparse], ids=["dense", "sparse"])
def test_self_loops_are_said_and_dropped(form):
    loops = A + np.diag([1.0, 2.0] + [0.0] * (KNOWN - 2))
    with pytest.warns(UserWarning, match="adjacency has 2 self-loops, which were dropped"):
        assert_array_equal(read_graph(form(loops)).toarray(), A)
    with pytest.warns(UserWarning, match="y has 2 self-loops"):
        model = links(output_kernel="normalized_laplacian").fit(X[:KNOWN], form(loops))
    expected = links(output_kernel="normalized_laplacian").fit(X[:KNOWN], A).pair_scores(NEW)
    assert_allclose(model.pair_scores(NEW), expected, atol=1e-12)
    with pytest.warns(UserWarning, match="graph has 2 self-loops"):
        model = regressor(graph=form(loops)).fit(X[:KNOWN], Y[:KNOWN])
    expected = regressor(graph=A).fit(X[:KNOWN], Y[:KNOWN]).predict(NEW)
    assert_allclose(model.predict(NEW), expected, atol=1e-12)


def test_no_warning_without_self_loops():
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        links().fit(X, as_sparse(A))
        regressor(graph=as_sparse(W)).fit(X, Y)
    assert not said


def test_rounding_is_not_asymmetry():
    noisy = W * (1 + 1e-13 * RNG.normal(size=W.shape))
    assert_allclose(regressor(graph=noisy).fit(X, Y).predict(NEW), regressor(graph=W).fit(X, Y).predict(NEW))


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


def test_a_graph_without_links_has_no_penalty():
    model = regressor(graph=np.zeros((N, N)), gamma=0.5).fit(X, Y)
    assert_allclose(model.predict(NEW), regressor(manifold=0.0, gamma=0.5).fit(X, Y).predict(NEW), atol=1e-10)


def test_power_of_a_laplacian():
    assert_refused(lambda: laplacian(W, power=0), ["power", "0"])
    assert_refused(lambda: laplacian(W, power=1.5), ["power", "1.5"])


# ---------------------------------------------------------------- semi-supervision


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"manifold": -0.1}, ["manifold", ">= 0", "-0.1"]),
        ({"manifold": np.nan}, ["manifold", "nan"]),
        ({"manifold": "auto"}, ["manifold", "auto"]),
        ({"manifold": None}, ["manifold", "None"]),
        ({"graph": W[:-1, :-1]}, ["graph has 13 nodes", "X 14 samples", "one row a sample", "Affinity"]),
        ({"graph": np.zeros((N + 1, N + 1))}, ["graph has 15 nodes", "X 14 samples"]),
        ({"graph": Affinity(0)}, ["Affinity: n_neighbors", "0"]),
        ({"graph": Affinity(2.5)}, ["Affinity: n_neighbors", "2.5"]),
        ({"graph": Affinity(-0.5)}, ["Affinity: n_neighbors", "-0.5"]),
        ({"graph": Affinity(smoother="laplace")}, ["unknown smoother 'laplace'", "laplacian", "('iterated', k)"]),
        ({"graph": Affinity(smoother=("iterated",))}, ["unknown smoother", "('diffusion', t)"]),
        ({"graph": Affinity(smoother=("iterated", 0))}, ["('iterated', k): k", "0"]),
        ({"graph": Affinity(smoother=("diffusion", -1.0))}, ["('diffusion', t): t", "-1.0"]),
        ({"kernel": [("rbf", None), ("linear", None)]}, ["manifold", "one kernel", "manifold=0"]),
        ({"kernel": kernels.OutputBuilt("iii")}, ["manifold", "one kernel", "manifold=0"]),
    ],
    ids=str,
)
def test_settings(settings, words):
    assert_refused(lambda: regressor(**settings).fit(X, Y), words, (ValueError, TypeError))


@pytest.mark.parametrize("graph", [Affinity, "knn"], ids=str)
def test_graph_of_another_type(graph):
    assert_refused(lambda: regressor(graph=graph).fit(X, Y), ["graph", "kernels.Affinity(...)"], TypeError)


def test_no_output_at_all():
    assert_refused(lambda: regressor().fit(X, np.full((N, 2), np.nan)), ["y", "NaN", "at least one"])
    assert_refused(lambda: StructuredPredictor(manifold=0.1).fit(X, [None] * N), ["y", "at least one"])


CURVES = np.sin(np.linspace(0, 3, 60) * X[:, :1])
CURVES[KNOWN:] = np.nan


def test_operators_with_many_eigenvalues():
    given = {"manifold": 0.1, "alpha": 0.01}
    operators = ({}, {"operator": None}, {"space": spaces.Eigen(n_components=20)}, {"operator": 2 * np.eye(60)})
    for settings in (*operators, {"operator": "learned"}):
        assert np.isfinite(FunctionalRegressor(**given, **settings).fit(X, CURVES).predict(NEW)).all()


def test_curves_at_points_of_their_own():
    points = [np.sort(RNG.uniform(size=12)) for _ in range(N)]
    curves = IrregularFunctions(points, [np.sin(3 * t + x) for t, x in zip(points, X[:, 0])], (0, 1))
    model = FunctionalRegressor(manifold=0.1, alpha=0.01, space="eigen")
    assert_refused(lambda: model.fit(X, curves), ["manifold", "common grid", "irregular='projected'"])
    assert model.set_params(irregular="projected").fit(X, curves).dual_gap_ <= 1e-6
    gaps = changed(np.sin(np.linspace(0, 3, 30) * X[:, :1]), np.nan, (0, 0))
    eigen = FunctionalRegressor(manifold=0.1, alpha=0.01, space="eigen")
    assert_refused(lambda: eigen.fit(X, gaps), ["manifold", "irregular='projected'"])


def test_leave_one_out_needs_the_squared_loss():
    model = regressor(loss=losses.Huber(0.1)).fit(X, Y)
    assert_refused(model.loo_residuals, ["squared loss", "cv=5"])
    path = RegularizationPathCV(regressor(loss="huber"), cv="loo")
    assert_refused(lambda: path.fit(X, Y), ["cv='loo'", "cv=5"])


@pytest.mark.parametrize("operator", [None, np.diag([2.0, 1.0])], ids=["identity", "operator"])
def test_one_labelled_sample(operator):
    y = Y.copy()
    y[1:] = np.nan
    model = regressor(alpha="auto", operator=operator).fit(X, y)
    assert_allclose(model.predict(NEW), np.tile(Y[0], (4, 1)))  # all is centred away


# ---------------------------------------------------------------- links


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
