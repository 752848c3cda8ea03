"""Links of a graph: table 2 of Brouard et al. 2016 and refits, written out densely."""

import pickle

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse
from helpers.estimator_checks import assert_checks_pass, in_one_line
from helpers.link_tables import ADJACENCY, BETA, CROSS, GRAPH, K_Y, KNOWN, LINKS, NEW, SEMI, K, N, X, links, table_2
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.linear_model import Ridge
from sklearn.metrics import f1_score, roc_auc_score
from sklearn.metrics.pairwise import cosine_similarity
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.utils import get_tags

from hilbertlearn import LinkPredictor


@pytest.mark.parametrize(
    "estimator",
    [
        LinkPredictor(),
        LinkPredictor(alpha=0.1, loss="hinge", similarities=None),  # nothing to choose
        LinkPredictor(center=True, cosine=True, similarities=None),
        LinkPredictor(regressor=Ridge(fit_intercept=False, solver="cholesky"), similarities=None),
    ],
    ids=in_one_line,
)
def test_estimator_checks(estimator):
    assert_checks_pass(estimator)


@pytest.mark.parametrize("loss", ["squared", "hinge"])
@pytest.mark.parametrize("semi", [False, True], ids=["supervised", "semi-supervised"])
@pytest.mark.parametrize("cosine", [False, True], ids=["", "cosine"])
def test_scores_are_those_of_table_2(loss, semi, cosine):
    H = CROSS @ table_2(loss, semi).T  # weights of the known nodes
    expected = H @ K_Y @ H.T
    if cosine:
        length = np.sqrt(np.diag(expected))
        expected = expected / np.outer(length, length)
    model = links(loss=loss, cosine=cosine, **(SEMI if semi else {})).fit(X, ADJACENCY)
    assert_allclose(model.pair_scores(NEW), expected, atol=2e-6)
    assert_allclose(model.embedding_ @ model.embedding_.T, K_Y, atol=1e-8)


@pytest.mark.parametrize("output_kernel", ["normalized_laplacian", "given"])
def test_other_output_kernels(output_kernel):
    degrees = ADJACENCY.sum(axis=1)
    root = np.where(degrees > 0, 1 / np.sqrt(np.maximum(degrees, 1)), 0)
    gram = np.linalg.inv(np.eye(KNOWN) + 0.4 * (np.diag(degrees > 0) - np.outer(root, root) * ADJACENCY))
    given = gram if output_kernel == "given" else output_kernel
    model = links(output_kernel=given, beta=0.4).fit(X, ADJACENCY)
    H = CROSS @ table_2("squared", False).T
    assert_allclose(model.pair_scores(NEW), H @ gram @ H.T, atol=1e-8)


def test_beta_is_the_time_of_diffusion():
    model = links(beta=0.3).fit(X, ADJACENCY)
    expected = np.real(scipy.linalg.fractional_matrix_power(K_Y, 0.3))
    assert_allclose(model.embedding_ @ model.embedding_.T, expected, atol=1e-9)


def test_graphs_in_other_forms():
    expected = links(alpha="auto").fit(X[:KNOWN], ADJACENCY).pair_scores(NEW)
    for graph in (ADJACENCY.astype(bool), ADJACENCY.astype(int), ADJACENCY.tolist(), scipy.sparse.coo_array(ADJACENCY)):
        assert_allclose(links(alpha="auto").fit(X[:KNOWN], graph).pair_scores(NEW), expected, atol=1e-9)
    networkx = pytest.importorskip("networkx")
    graph = networkx.from_numpy_array(ADJACENCY)
    model = links(alpha="auto").fit(X[:KNOWN], graph)
    assert_allclose(model.pair_scores(NEW), expected, atol=1e-9)
    assert model.score(X[:KNOWN], graph) == model.score(X[:KNOWN], ADJACENCY)


@pytest.mark.parametrize("loss", ["squared", "hinge"])
def test_a_graph_is_any_object_with_a_penalty_of_the_gram_matrix(loss):
    class Threshold:
        def penalty(self, gram):
            W = np.where(gram > 0.3, gram, 0.0) * ~np.eye(len(gram), dtype=bool)
            return np.diag(W.sum(axis=1)) - W

    found, expected = (
        links(loss=loss, manifold=BETA, graph=graph).fit(X, ADJACENCY).pair_scores(NEW)
        for graph in (Threshold(), GRAPH)
    )
    assert_allclose(found, expected, atol=1e-7)


@pytest.mark.parametrize("settings", [{}, {"manifold": BETA}, {"loss": "hinge"}], ids=str)
def test_groups_link_their_members(settings):
    names = np.array(["a", "b", "c"])[np.arange(N) % 3]
    member = names[:, None] == names
    np.fill_diagonal(member, False)
    expected = links(**settings).fit(X, member).pair_scores(NEW)
    for y in (names, names.tolist(), np.arange(N) % 3, names.astype(object)):
        assert_allclose(links(**settings).fit(X, y).pair_scores(NEW), expected, atol=1e-9)


def test_nodes_in_no_group_are_known_to_be_alone():
    y = np.where(np.arange(N) < 4, np.nan, np.arange(N) % 3)
    member = (y[:, None] == y) & ~np.eye(N, dtype=bool)
    assert_allclose(links().fit(X, y).pair_scores(NEW), links().fit(X, member).pair_scores(NEW), atol=1e-9)


def test_without_penalty_further_nodes_are_ignored():
    assert_array_equal(
        links(alpha="auto").fit(X, ADJACENCY).pair_scores(NEW),
        links(alpha="auto").fit(X[:KNOWN], ADJACENCY).pair_scores(NEW),
    )


AUTO = {"alpha": "auto"}


@pytest.mark.parametrize(
    "settings", [AUTO, {**AUTO, **SEMI}, {**AUTO, "loss": "hinge"}, {"center": True, **SEMI}], ids=["", "s", "h", "c"]
)
def test_precomputed_equals_named(settings):
    path = np.eye(KNOWN, k=1) + np.eye(KNOWN, k=-1)  # with it links tell all nodes apart, and folds are the same
    graph = np.maximum(ADJACENCY, path)
    named = links(**settings).fit(X, graph)
    given = links(kernel="precomputed", **settings).fit(K, graph)
    assert given.alpha_ == pytest.approx(named.alpha_) and get_tags(given).input_tags.pairwise
    assert_allclose(given.pair_scores(CROSS), named.pair_scores(NEW), atol=1e-6)
    assert_allclose(given.decision_function(CROSS), named.decision_function(NEW), atol=1e-6)
    assert given.thresholds_["new"] == pytest.approx(named.thresholds_["new"], rel=1e-4)


@pytest.mark.parametrize(
    "settings", [{}, SEMI, {"cosine": True}, {"center": True}], ids=["", "semi", "cosine", "centred"]
)
def test_scores_agree_with_each_other(settings):
    model = links(**settings).fit(X, ADJACENCY)
    assert_allclose(model.decision_function(NEW), model.pair_scores(NEW, X[:KNOWN]), atol=1e-10)
    assert_allclose(model.pair_scores(NEW, X), model.pair_scores(np.r_[NEW, X])[:6, 6:], atol=1e-10)
    H = model.fitted_
    expected = cosine_similarity(H) if "cosine" in settings else H @ H.T
    assert_allclose(model.pair_scores(X[:KNOWN]), expected, atol=1e-10)
    every = np.triu_indices(N, 1)
    assert model.score(X, LINKS) == pytest.approx(roc_auc_score(LINKS[every], model.pair_scores(X)[every]))


def test_predicted_links_are_scores_above_the_threshold():
    model = links().fit(X[:KNOWN], ADJACENCY)
    threshold = model.thresholds_["new"]
    expected = model.pair_scores(NEW) >= threshold
    np.fill_diagonal(expected, False)
    found = model.predict_links(NEW)
    assert scipy.sparse.issparse(found) and found.dtype == bool
    assert_array_equal(found.toarray(), expected)
    between = model.predict_links(NEW, X[KNOWN:])
    assert_array_equal(between.toarray(), model.pair_scores(NEW, X[KNOWN:]) >= threshold)
    assert 0 < between.nnz < 6 * (N - KNOWN)
    mixed = model.predict_links(NEW, "known")
    assert_array_equal(mixed.toarray(), model.decision_function(NEW) >= model.thresholds_["mixed"])


def test_grid_search_over_groups():
    y = (X[:, 0] > 0).astype(int) + 2 * (X[:, 1] > 0)
    folds = KFold(3, shuffle=True, random_state=0)
    search = GridSearchCV(links(), {"alpha": [1e-3, 10.0], "gamma": [0.01, 1.0]}, cv=folds, error_score="raise").fit(
        X, y
    )
    for params, mean in zip(search.cv_results_["params"], search.cv_results_["mean_test_score"]):
        scores = []
        for train, test in folds.split(X):
            model = links(**params).fit(X[train], y[train])
            pairs = np.triu_indices(len(test), 1)
            same = y[test][:, None] == y[test]
            scores.append(roc_auc_score(same[pairs], model.pair_scores(X[test])[pairs]))
        assert mean == pytest.approx(np.mean(scores))


def test_unknown_links_are_predicted_from_features():
    rng = np.random.default_rng(0)
    points = rng.uniform(size=(150, 2))
    near = (np.linalg.norm(points[:, None] - points, axis=2) < 0.2) & ~np.eye(150, dtype=bool)
    rest = np.triu(np.ones((150, 150), dtype=bool), 1)
    rest[:60, :60] = False
    model = LinkPredictor().fit(points[:60], near[:60, :60])
    assert roc_auc_score(near[rest], model.pair_scores(points)[rest]) > 0.95
    assert f1_score(near[rest], model.predict_links(points).toarray()[rest]) > 0.5


@pytest.mark.parametrize("settings", [{}, SEMI, {"center": True}, {"regressor": Ridge()}], ids=["", "semi", "c", "r"])
def test_pickle_and_clone(settings):
    model = links(**settings).fit(X, ADJACENCY)
    copy = pickle.loads(pickle.dumps(model))
    assert_array_equal(copy.pair_scores(NEW), model.pair_scores(NEW))
    assert copy.thresholds_["new"] == model.thresholds_["new"]
    fresh = clone(model)
    assert not hasattr(fresh, "embedding_") and fresh.get_params().keys() == model.get_params().keys()
    assert_array_equal(fresh.fit(X, ADJACENCY).pair_scores(NEW), model.pair_scores(NEW))
