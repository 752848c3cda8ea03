"""Compared methods of link prediction against their definitions: dense formulas, generic solvers, brute force."""

import pickle

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse
from numpy.testing import assert_allclose, assert_array_equal
from refusals import assert_refused
from scipy.optimize import minimize, minimize_scalar
from sklearn.cross_decomposition import CCA
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.metrics import roc_auc_score
from sklearn.metrics.pairwise import laplacian_kernel, linear_kernel, rbf_kernel
from sklearn.svm import SVC
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import parametrize_with_checks

from hilbertlearn.baselines import (
    EMKernelCompletion,
    KernelCCALinks,
    KernelMatrixRegression,
    KernelMetricLearning,
    LocalLinkModel,
    NaiveLinkPredictor,
)

L, N = 14, 18  # labelled nodes, all nodes of fit
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, 3))
NEW = RNG.normal(size=(5, 3))
GROUPS = np.argmax(X @ RNG.normal(size=(3, 3)), axis=1)[:L]
W = ((np.linalg.norm(X[:L, None] - X[:L], axis=2) < 1.6) & ~np.eye(L, dtype=bool)).astype(float)
W[2], W[:, 2] = 0.0, 0.0  # an isolated node
LAPLACIAN = np.diag(W.sum(axis=1)) - W
DIFFUSION = scipy.linalg.expm(-0.7 * LAPLACIAN)

SIMPLE = [NaiveLinkPredictor, LocalLinkModel, KernelMetricLearning]
WITH_OUTPUT_KERNEL = [KernelMatrixRegression, KernelCCALinks, EMKernelCompletion]
ALL = SIMPLE + WITH_OUTPUT_KERNEL


@parametrize_with_checks([*(method() for method in ALL), EMKernelCompletion(model="spectral")])
def test_estimator_checks(estimator, check):
    check(estimator)


def rows(Z, gamma=0.3):
    return rbf_kernel(Z, X, gamma=gamma)


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
    starts = RNG.normal(size=(5, L))
    best = min(minimize(objective, start, method="BFGS", options={"maxiter": 300}).fun for start in starts)
    assert model.quotients_[0] <= best * (1 + 1e-9)
    assert_allclose(model.quotients_[0], best, rtol=1e-4)


def test_more_components_than_there_are():
    model = KernelMetricLearning("linear", n_components=50).fit(X, W)
    assert model.dual_coef_.shape == (L, 3)
    assert KernelCCALinks("linear", n_components=50).fit(X, W).correlations_.shape == (3,)


# ---------------------------------------------------------------- kernel CCA


def test_correlations_solve_the_generalised_eigenproblem():
    alpha, outputs = 0.01, RNG.normal(size=(L, 4))
    model = KernelCCALinks("linear", output_kernel=outputs @ outputs.T, alpha=alpha, n_components=3).fit(X, W)
    A, B = X[:L] - X[:L].mean(axis=0), outputs - outputs.mean(axis=0)
    cross = np.block([[np.zeros((3, 3)), A.T @ B], [B.T @ A, np.zeros((4, 4))]])
    within = scipy.linalg.block_diag(A.T @ A + alpha * L * np.eye(3), B.T @ B + alpha * L * np.eye(4))
    values, vectors = scipy.linalg.eigh(cross, within)
    assert_allclose(model.correlations_, values[:-4:-1])
    features = (NEW - X[:L].mean(axis=0)) @ vectors[:3, :-4:-1]
    features /= np.linalg.norm(features, axis=1, keepdims=True)
    assert_allclose(model.pair_scores(NEW), features @ features.T, atol=1e-9)


def test_small_regularisation_gives_canonical_correlations():
    outputs = np.c_[X[:L, 0] + 0.3 * RNG.normal(size=L), RNG.normal(size=L)]
    model = KernelCCALinks("linear", output_kernel=outputs @ outputs.T, alpha=1e-10).fit(X, W)
    left, right = CCA(2, scale=False, tol=1e-12, max_iter=10_000).fit(X[:L], outputs).transform(X[:L], outputs)
    expected = [np.corrcoef(left[:, j], right[:, j])[0, 1] for j in range(2)]
    assert_allclose(model.correlations_, expected, rtol=1e-6)


# ---------------------------------------------------------------- kernel matrix regression


def test_kernel_matrix_regression_is_least_squares_where_that_is_positive():
    alpha, K = 1e-6, rows(X, gamma=2.0)[:L, :L]
    model = KernelMatrixRegression(gamma=2.0, beta=0.7, alpha=alpha).fit(X, W)
    square = np.kron(K, K)  # 1/(2 l) ||vec G - square a||^2 + alpha/2 <vec K, a>
    right = square @ DIFFUSION.ravel() - alpha * L / 2 * K.ravel()
    A = np.linalg.solve(square @ square, right).reshape(L, L)
    assert np.linalg.eigvalsh((A + A.T) / 2).min() > 0
    k = rows(NEW, gamma=2.0)[:, :L]
    assert_allclose(model.pair_scores(NEW), k @ A @ k.T, rtol=1e-6, atol=1e-8)
    assert_allclose(model.decision_function(NEW), k @ A @ K, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("alpha", [0.01, 0.3])
def test_kernel_matrix_regression_of_explicit_features(alpha):
    cvxpy = pytest.importorskip("cvxpy")
    model = KernelMatrixRegression("linear", beta=0.7, alpha=alpha).fit(X, W)
    B = cvxpy.Variable((3, 3), PSD=True)  # of the features: X' A X
    misfit = cvxpy.sum_squares(DIFFUSION - X[:L] @ B @ X[:L].T)
    problem = cvxpy.Problem(cvxpy.Minimize(misfit / (2 * L) + alpha / 2 * cvxpy.trace(B)))
    problem.solve(cvxpy.CLARABEL, tol_gap_abs=1e-10, tol_gap_rel=1e-10, tol_feas=1e-10)
    if alpha == 0.3:
        assert np.linalg.eigvalsh(B.value)[0] < 1e-6  # the constraint is active
    assert_allclose(model.pair_scores(NEW), NEW @ B.value @ NEW.T, atol=1e-5)


def test_kernel_matrix_regression_of_a_nearly_singular_kernel():
    """Optimality conditions of the problem in K^1/2 A K^1/2, in longer numbers than doubles."""
    mpmath = pytest.importorskip("mpmath")
    alpha, gamma = 1e-3, 0.002
    K = rbf_kernel(X[:L], gamma=gamma)
    assert np.linalg.cond(K) > 1e10
    model = KernelMatrixRegression(gamma=gamma, beta=0.7, alpha=alpha).fit(X, W)
    with mpmath.workdps(60):
        exact, G = mpmath.matrix(K.tolist()), mpmath.matrix(DIFFUSION.tolist())
        values, vectors = mpmath.eigsy(G - alpha * L / 2 * exact**-1)
        A = mpmath.zeros(L)
        for value, j in zip(values, range(L), strict=True):
            if value > 0:
                column = exact**-1 * vectors[:, j]
                A += value * column * column.T
        k = mpmath.matrix(rbf_kernel(NEW, X[:L], gamma=gamma).tolist())
        expected = np.array((k * A * k.T).tolist(), dtype=float)
    assert_allclose(model.pair_scores(NEW), expected, rtol=1e-5)


# ---------------------------------------------------------------- em


def divergence(D, M):
    return (np.trace(np.linalg.solve(M, D)) - np.linalg.slogdet(D)[1] + np.linalg.slogdet(M)[1] - len(D)) / 2


def spectral(max_iter=10_000, **settings):
    return EMKernelCompletion(gamma=0.3, beta=0.7, model="spectral", alpha=1e-3, tol=0.0, max_iter=max_iter, **settings)


def test_the_input_model_has_the_best_factor_and_completes_by_regression():
    model = EMKernelCompletion(gamma=0.3, beta=0.7, alpha=0.02).fit(X, W)
    regularised = rows(X) + 0.02 * L * np.eye(N)
    best = minimize_scalar(
        lambda w: divergence(DIFFUSION, w * regularised[:L, :L]), bounds=(1e-3, 10), method="bounded"
    )
    assert_allclose(model.model_, best.x * regularised, rtol=1e-4)
    assert_allclose(model.completed_[L:, :L], rows(X)[L:, :L] @ np.linalg.solve(regularised[:L, :L], DIFFUSION))
    assert model.n_iter_ == 1


@pytest.mark.filterwarnings("ignore:EMKernelCompletion")
@pytest.mark.parametrize("make", [EMKernelCompletion, spectral], ids=["input", "spectral"])
def test_the_completion_is_nearest_to_the_model(make):
    model = make(max_iter=4).fit(X, W) if make is spectral else make(beta=0.7).fit(X, W)
    D, M = model.completed_, model.model_
    assert_allclose(D, D.T, atol=1e-12)
    assert_allclose(D[:L, :L], DIFFUSION, atol=1e-12)
    # up to a constant of the known block, the objective is the divergence
    constant = (np.linalg.slogdet(DIFFUSION)[1] + L) / 2
    assert_allclose(model.objectives_[-1] - constant, divergence(D, M), rtol=1e-8)
    for _ in range(20):
        change = RNG.normal(size=(N, N))
        change += change.T
        change[:L, :L] = 0.0
        for size in (1e-3, -1e-3):
            assert divergence(D + size * change, M) > divergence(D, M)


def test_the_divergence_never_increases_and_ends_at_a_fixed_point():
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        short = spectral(max_iter=50).fit(X, W)
    assert short.n_iter_ == 50 and (np.diff(short.objectives_) < 0).all()
    model = spectral().fit(X, W)
    assert (np.diff(model.objectives_)[:-1] < 0).all() and model.n_iter_ > 50
    _, V = np.linalg.eigh(rows(X))
    variances = np.einsum("ij,ij->j", V, model.completed_ @ V)
    eigenvalues = np.einsum("ij,ij->j", V, model.model_ @ V)
    assert_allclose(V.T @ model.model_ @ V, np.diag(eigenvalues), atol=1e-10)
    floor = eigenvalues.min()
    assert_allclose(eigenvalues, np.maximum(variances, floor), rtol=1e-3)
    first = EMKernelCompletion(gamma=0.3, beta=0.7, alpha=1e-3).fit(X, W)
    factor = (np.trace(first.model_) / N) / (1 + 1e-3 * L)  # the diagonal of the Gram matrix is 1
    assert_allclose(floor, factor * 1e-3 * L, rtol=1e-8)


def test_the_m_step_minimises_the_divergence():
    with pytest.warns(ConvergenceWarning):
        before, after = spectral(max_iter=3).fit(X, W), spectral(max_iter=4).fit(X, W)
    _, V = np.linalg.eigh(rows(X))
    floor = np.einsum("ij,ij->j", V, after.model_ @ V).min()

    def objective(log_sizes):
        return divergence(before.completed_, (V * (floor + np.exp(log_sizes))) @ V.T)

    found = minimize(objective, np.full(N, -2.0), method="L-BFGS-B", options={"maxiter": 3000, "maxfun": 100_000})
    best = divergence(before.completed_, after.model_)
    assert best <= found.fun + 1e-8
    assert_allclose(best, found.fun, atol=1e-4)


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
@pytest.mark.parametrize("form", ["input", "spectral"])
def test_scores_of_unlabelled_nodes_are_entries_of_the_completion(kernel, form):
    model = EMKernelCompletion(kernel, gamma=0.3, model=form, tol=1e-4).fit(X, W)
    assert_allclose(model.decision_function(X[L:]), model.completed_[L:, :L], atol=1e-8)
    off = ~np.eye(N - L, dtype=bool)
    assert_allclose(model.pair_scores(X[L:])[off], model.completed_[L:, L:][off], atol=1e-8)


@pytest.mark.parametrize("form", ["input", "spectral"])
def test_scores_of_new_nodes_are_the_completion_by_the_extended_model(form):
    model = EMKernelCompletion(gamma=0.3, beta=0.7, model=form, alpha=1e-2, tol=1e-4).fit(X, W)
    values, V = np.linalg.eigh(rows(X))
    eigenvalues = np.einsum("ij,ij->j", V, model.model_ @ V)
    nugget = (model.model_ - V @ np.diag(eigenvalues) @ V.T).trace() / N
    assert abs(nugget) < 1e-12  # all of the model is in the eigenvectors; its floor is the nugget
    first = EMKernelCompletion(gamma=0.3, beta=0.7, alpha=1e-2).fit(X, W)
    nugget = np.trace(first.model_) / N / (1 + 1e-2 * L) * 1e-2 * L
    both = np.vstack([V, rows(NEW) @ V / values])
    M = (both * (eigenvalues - nugget)) @ both.T + nugget * np.eye(N + 5)
    known, new = slice(0, L), slice(N, N + 5)
    S = np.linalg.solve(M[known, known], M[known, new])
    assert_allclose(model.decision_function(NEW), S.T @ DIFFUSION, atol=1e-8)
    D = M[new, new] - M[new, known] @ S + S.T @ DIFFUSION @ S
    assert_allclose(model.pair_scores(NEW) + nugget * np.eye(5), D, atol=1e-8)


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
