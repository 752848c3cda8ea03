"""Compared methods of link prediction against their definitions: dense formulas, generic solvers, brute force."""

import pickle

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse
from helpers.estimator_checks import assert_checks_pass, in_one_line
from helpers.link_baselines import DIFFUSION, GROUPS, LAPLACIAN, NEW, L, W, X, rows
from helpers.refusals import assert_refused
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize
from sklearn.exceptions import NotFittedError
from sklearn.metrics import roc_auc_score
from sklearn.metrics.pairwise import laplacian_kernel, linear_kernel, rbf_kernel
from sklearn.svm import SVC
from sklearn.utils import get_tags

from hilbertlearn.baselines import (
    EMKernelCompletion,
    KernelCCALinks,
    KernelMatrixRegression,
    KernelMetricLearning,
    LocalLinkModel,
    NaiveLinkPredictor,
)

SIMPLE = [NaiveLinkPredictor, LocalLinkModel, KernelMetricLearning]
WITH_OUTPUT_KERNEL = [KernelMatrixRegression, KernelCCALinks, EMKernelCompletion]
ALL = SIMPLE + WITH_OUTPUT_KERNEL


@pytest.mark.parametrize(
    "estimator", [*(method() for method in ALL), EMKernelCompletion(model="spectral")], ids=in_one_line
)
def test_estimator_checks(estimator):
    assert_checks_pass(estimator)


# ---------------------------------------------------------------- what all share


@pytest.mark.parametrize("method", ALL)
def test_a_graph_in_any_form(method):
    networkx = pytest.importorskip("networkx")
    expected = method().fit(X, W).pair_scores(NEW, X)
    for graph in (W.astype(bool), scipy.sparse.coo_matrix(W), networkx.from_numpy_array(W)):
        assert_allclose(method().fit(X, graph).pair_scores(NEW, X), expected, atol=1e-12)
    by_labels = method().fit(X, GROUPS).pair_scores(NEW)
    links = (GROUPS[:, None] == GROUPS) & ~np.eye(L, dtype=bool)
    assert_allclose(method().fit(X, links).pair_scores(NEW), by_labels, atol=1e-12)


@pytest.mark.parametrize("method", ALL)
def test_scores_of_a_gram_matrix_are_those_of_the_kernel(method):
    named = method(gamma=0.3).fit(X, W)
    given = method("precomputed").fit(rows(X), W)
    assert_allclose(given.decision_function(rows(NEW)), named.decision_function(NEW), atol=1e-8)
    assert_allclose(given.pair_scores(rows(NEW), rows(X)), named.pair_scores(NEW, X), atol=1e-8)
    assert get_tags(given).input_tags.pairwise and not get_tags(named).input_tags.pairwise
    if method is not NaiveLinkPredictor:
        assert_allclose(given.pair_scores(rows(NEW)), named.pair_scores(NEW), atol=1e-8)


@pytest.mark.parametrize("method", ALL)
@pytest.mark.parametrize(
    ("kernel", "gram"),
    [
        ("laplacian", lambda A, B: laplacian_kernel(A, B, gamma=0.5)),
        (linear_kernel, linear_kernel),
        (lambda A, B: rbf_kernel(A, B, gamma=2.0), lambda A, B: rbf_kernel(A, B, gamma=2.0)),
    ],
    ids=["name", "linear", "callable"],
)
def test_any_kernel_and_sparse_inputs(method, kernel, gram):
    model = method(kernel, gamma=0.5).fit(X, W)
    by_gram = method("precomputed").fit(gram(X, X), W)
    assert_allclose(model.decision_function(NEW), by_gram.decision_function(gram(NEW, X)), atol=1e-7)
    if kernel is not laplacian_kernel and kernel != "laplacian":
        return
    of_sparse = method(kernel, gamma=0.5).fit(scipy.sparse.csr_matrix(X), W)
    assert_allclose(of_sparse.pair_scores(scipy.sparse.csr_matrix(NEW)), model.pair_scores(NEW), atol=1e-10)


@pytest.mark.parametrize("method", ALL)
def test_shapes_symmetry_and_known_nodes(method):
    model = method(gamma=0.3).fit(X, W)
    assert model.n_labelled_ == L and model.gamma_ == 0.3
    assert model.decision_function(NEW).shape == (5, L)
    assert model.pair_scores(NEW, X[:3]).shape == (5, 3)
    assert_allclose(model.pair_scores(NEW, X[:3]).T, model.pair_scores(X[:3], NEW), atol=1e-10)
    assert_allclose(model.pair_scores(NEW), model.pair_scores(NEW, NEW), atol=1e-10)
    if method is not EMKernelCompletion:  # there a node of known links is not one of unknown links
        assert_allclose(model.decision_function(NEW), model.pair_scores(NEW, X[:L]), atol=1e-10)


@pytest.mark.parametrize("method", ALL)
def test_unlabelled_nodes_count_where_they_are_said_to(method):
    all_nodes, labelled = method(gamma=0.3).fit(X, W), method(gamma=0.3).fit(X[:L], W)
    same = np.allclose(all_nodes.pair_scores(NEW), labelled.pair_scores(NEW), atol=1e-9)
    assert same == (method is not EMKernelCompletion)
    # of the pairs with labelled nodes the e-step of the input kernel needs nothing else
    if method is EMKernelCompletion:
        new = X[L:]
        assert_allclose(all_nodes.decision_function(new), labelled.decision_function(new), atol=1e-7)


@pytest.mark.parametrize("method", ALL)
def test_pickles_and_isolated_nodes(method):
    empty = np.zeros((L, L))
    for graph in (W, empty, np.ones((L, L)) - np.eye(L)):
        model = method().fit(X, graph)
        scores = model.pair_scores(NEW, X)
        assert np.isfinite(scores).all() and np.isfinite(model.decision_function(NEW)).all()
        assert_array_equal(pickle.loads(pickle.dumps(model)).pair_scores(NEW, X), scores)


@pytest.mark.parametrize("method", ALL)
def test_settings_changed_after_fit_change_no_scores(method):
    model = method(gamma=0.3).fit(X, W)
    expected = model.pair_scores(NEW)
    assert_array_equal(model.set_params(kernel="precomputed", gamma=1.0).pair_scores(NEW), expected)


@pytest.mark.parametrize("method", ALL)
def test_a_single_node(method):
    model = method().fit(X[:1], [[0]])
    assert np.isfinite(model.pair_scores(NEW)).all()
    assert np.isfinite(model.decision_function(NEW)).all()


@pytest.mark.parametrize("method", WITH_OUTPUT_KERNEL)
def test_output_kernels(method):
    few = {"n_components": 2} if method is KernelCCALinks else {}  # all together do not depend on the outputs
    scores = {
        name: method(output_kernel=kernel, beta=beta, **few).fit(X, W).pair_scores(NEW)
        for name, kernel, beta in (
            ("diffusion", "diffusion", 0.7),
            ("diffusion by hand", DIFFUSION, 1.0),
            ("laplacian", "normalized_laplacian", 0.7),
            ("laplacian by hand", normalised_laplacian_kernel(0.7), 1.0),
        )
    }
    assert_allclose(scores["diffusion"], scores["diffusion by hand"], atol=1e-9)
    assert_allclose(scores["laplacian"], scores["laplacian by hand"], atol=1e-9)
    assert np.abs(scores["laplacian"] - scores["diffusion"]).max() > 1e-3


def normalised_laplacian_kernel(beta):
    G = np.eye(L)
    for i in range(L):
        G[i, i] += beta * (W[i].sum() > 0)
        for j in np.flatnonzero(W[i]):
            G[i, j] -= beta / np.sqrt(W[i].sum() * W[j].sum())
    return np.linalg.inv(G)


@pytest.mark.parametrize("method", [*SIMPLE[1:], *WITH_OUTPUT_KERNEL])
def test_groups_are_found(method):
    rng = np.random.default_rng(1)
    groups = rng.integers(0, 3, size=90)
    inputs = np.array([[0.0, 0.0], [2.0, 0.0], [0.0, 2.0]])[groups] + 0.3 * rng.normal(size=(90, 2))
    few = {"n_components": 2} if method in (KernelCCALinks, KernelMetricLearning) else {}
    model = method(**few).fit(inputs[:60], groups[:60])
    linked = groups[60:, None] == groups[:60]
    assert roc_auc_score(linked.ravel(), model.decision_function(inputs[60:]).ravel()) > 0.95
    pairs = np.triu_indices(30, 1)
    among = groups[60:, None] == groups[60:]
    assert roc_auc_score(among[pairs], model.pair_scores(inputs[60:])[pairs]) > 0.9


# ---------------------------------------------------------------- naive


def test_naive_scores_are_kernel_values():
    model = NaiveLinkPredictor(gamma=0.3).fit(X, W)
    assert_allclose(model.pair_scores(NEW), rbf_kernel(NEW, gamma=0.3))
    assert_allclose(model.pair_scores(NEW, X), rows(NEW))
    assert_allclose(model.decision_function(NEW), rows(NEW)[:, :L])


def test_naive_scores_of_a_gram_matrix_are_exact_if_one_node_was_seen():
    model = NaiveLinkPredictor("precomputed").fit(rows(X), W)
    assert_allclose(model.pair_scores(rows(NEW), rows(X[3:])), rows(NEW)[:, 3:], atol=1e-8)
    nystroem = rows(NEW) @ np.linalg.solve(rows(X), rows(NEW).T)
    assert_allclose(model.pair_scores(rows(NEW)), nystroem, atol=1e-8)


# ---------------------------------------------------------------- local models


def test_local_models_are_support_vector_classifiers():
    model = LocalLinkModel(gamma=0.3, C=2.0).fit(X, W)
    scores = model.decision_function(NEW)
    assert not W[2].any()
    for i in range(L):
        others = [j for j in range(L) if j != i]
        if not W[i].any():
            assert_array_equal(scores[:, i], -1.0)
            continue
        direct = SVC(C=2.0, gamma=0.3).fit(X[others], W[i, others])
        assert_allclose(scores[:, i], direct.decision_function(NEW), atol=1e-8)


def test_local_model_of_a_node_linked_to_all():
    graph = W.copy()
    graph[0, 1:] = graph[1:, 0] = 1.0
    assert_array_equal(LocalLinkModel().fit(X, graph).decision_function(NEW)[:, 0], 1.0)


def test_local_models_of_both_nodes_are_averaged_and_new_ones_take_the_nearest():
    model = LocalLinkModel(gamma=0.3).fit(X, W)
    of_known, of_new = model.pair_scores(X[:L]), model.pair_scores(NEW)
    classifiers = rows(X[:L])[:, :L] @ model.dual_coef_ + model.intercept_
    assert_allclose(of_known, (classifiers + classifiers.T) / 2, atol=1e-10)
    said = rows(NEW)[:, :L] @ model.dual_coef_ + model.intercept_
    nearest = [np.argmin([np.sum((rows(z[None]) - rows(x[None]))[0, :L] ** 2) for x in X[:L]]) for z in NEW]
    for i in range(5):
        for j in range(5):
            assert_allclose(of_new[i, j], (said[i, nearest[j]] + said[j, nearest[i]]) / 2, atol=1e-10)


# ---------------------------------------------------------------- kernel metric learning


def quotient(f, norm, alpha):
    links = sum((f[i] - f[j]) ** 2 for i in range(L) for j in range(i) if W[i, j])
    return (links + alpha * L * norm) / (f @ f)


def test_learnt_coordinates_solve_the_eigenproblem_of_explicit_features():
    alpha = 0.05
    model = KernelMetricLearning("linear", alpha=alpha, n_components=2).fit(X, W)
    mean = X[:L].mean(axis=0)
    centred = X[:L] - mean
    values, w = scipy.linalg.eigh(centred.T @ LAPLACIAN @ centred + alpha * L * np.eye(3), centred.T @ centred)
    assert_allclose(model.quotients_, values[:2])
    for j in range(2):
        assert_allclose(quotient(centred @ w[:, j], w[:, j] @ w[:, j], alpha), values[j])
    places = (NEW - mean) @ w[:, :2]
    assert_allclose(model.pair_scores(NEW), -(np.linalg.norm(places[:, None] - places, axis=2) ** 2), atol=1e-9)


def test_learnt_coordinates_minimise_the_quotient():
    alpha = 0.02
    model = KernelMetricLearning(gamma=0.3, alpha=alpha, n_components=1).fit(X, W)
    C = np.eye(L) - 1 / L
    K = C @ rows(X)[:L, :L] @ C

    def objective(a):
        return quotient(K @ a, a @ K @ a, alpha)

    assert_allclose(objective(model.dual_coef_[:, 0]), model.quotients_[0])
    starts = np.random.default_rng(0).normal(size=(5, L))
    best = min(minimize(objective, start, method="BFGS", options={"maxiter": 300}).fun for start in starts)
    assert model.quotients_[0] <= best * (1 + 1e-9)
    assert_allclose(model.quotients_[0], best, rtol=1e-4)


def test_more_components_than_there_are():
    model = KernelMetricLearning("linear", n_components=50).fit(X, W)
    assert model.dual_coef_.shape == (L, 3)
    assert KernelCCALinks("linear", n_components=50).fit(X, W).correlations_.shape == (3,)


# ---------------------------------------------------------------- refusals


@pytest.mark.parametrize("method", ALL)
def test_bad_graphs_and_nodes(method):
    asymmetric, negative = np.triu(W), W - 2 * (W > 0)
    assert_refused(lambda: method().fit(X, asymmetric), ["y ", "not symmetric"])
    assert_refused(lambda: method().fit(X, negative), ["y ", "negative"])
    assert_refused(lambda: method().fit(X[: L - 1], W), ["y ", str(L), str(L - 1)])
    assert_refused(lambda: method().fit(X, W[:3]), ["y ", "square"])
    assert_refused(lambda: method().fit(X, None), ["requires y"])
    assert_refused(lambda: method().pair_scores(X), ["not fitted"], NotFittedError)
    assert_refused(lambda: method().decision_function(X), ["not fitted"], NotFittedError)
    model = method().fit(X, W)
    assert_refused(lambda: model.decision_function(NEW[:, :2]), ["2 features", "3 features"])
    assert_refused(lambda: model.pair_scores(NEW, NEW[:, :2]), ["2 features", "3 features"])
    assert_refused(lambda: method("precomputed").fit(rows(NEW), W), ["square Gram matrix"])
    with pytest.warns(UserWarning, match="self-loops"):
        looped = method().fit(X, W + np.eye(L))
    assert_allclose(looped.pair_scores(NEW), model.pair_scores(NEW))


@pytest.mark.parametrize("method", ALL)
def test_bad_settings(method):
    assert_refused(lambda: method("gaussian").fit(X, W), ["kernel", "gaussian"])
    assert_refused(lambda: method(gamma=-1.0).fit(X, W), ["gamma"])
    assert_refused(lambda: method(kernel_params={"bandwidth": 1}).fit(X, W), ["kernel_params"])
    known = method().get_params()
    for name, value in (("alpha", 0.0), ("C", -1), ("n_components", 0), ("model", "best"), ("tol", -1), ("beta", -1.0)):
        if name in known:
            assert_refused(lambda name=name, value=value: method(**{name: value}).fit(X, W), [name])


@pytest.mark.parametrize("method", WITH_OUTPUT_KERNEL)
def test_bad_output_kernels(method):
    assert_refused(lambda: method(output_kernel="heat").fit(X, W), ["output_kernel", "diffusion"])
    assert_refused(lambda: method(output_kernel=np.eye(L - 1)).fit(X, W), ["output_kernel", str(L)])
    assert_refused(lambda: method(output_kernel=-np.eye(L)).fit(X, W), ["output_kernel", "positive"])
    if method is EMKernelCompletion:
        assert_refused(lambda: method(output_kernel=np.zeros((L, L))).fit(X, W), ["output_kernel", "zero"])


@pytest.mark.parametrize("method", ALL)
def test_a_fit_that_fails_changes_nothing(method):
    model = method().fit(X, W)
    before = model.pair_scores(X[:4])
    with pytest.raises(ValueError):
        model.fit(X[:5, :2], W)
    assert_array_equal(model.pair_scores(X[:4]), before)


@pytest.mark.parametrize("method", [LocalLinkModel, KernelMetricLearning, KernelCCALinks, KernelMatrixRegression])
def test_unlabelled_nodes_do_not_change_the_bandwidth(method):
    model, labelled_only = method().fit(X, W), method().fit(X[:L], W)
    assert model.gamma_ == labelled_only.gamma_
    assert_allclose(model.pair_scores(X[L:]), labelled_only.pair_scores(X[L:]))


@pytest.mark.parametrize("method", ALL)
def test_scores_are_between_zero_and_one(method):
    graph = (np.linalg.norm(X[:, None] - X, axis=2) < 1.6) & ~np.eye(len(X), dtype=bool)
    assert 0 <= method().fit(X[:L], W).score(X, graph) <= 1
