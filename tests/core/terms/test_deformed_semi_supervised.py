"""Learning from samples without outputs: the formulas of Brouard et al. 2016 and Clarabel, written out densely.

Paper's letters: ridge has lambda_1 = alpha l and 2 lambda_2 = beta l, the margin half of both, for l labelled samples.
"""

import pickle

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse
from helpers import by_hand
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import make_moons
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import KFold

from hilbertlearn import (
    FunctionalRegressor,
    OperatorKernelRegressor,
    RegularizationPathCV,
    StructuredPredictor,
    features,
    kernels,
)

N, KNOWN, D, ALPHA, BETA, GAMMA = 18, 11, 3, 0.02, 0.15, 0.5
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, 2))
NEW = RNG.normal(size=(5, 2))
ROWS = np.sort(RNG.choice(N, KNOWN, replace=False))
Y = np.full((N, D), np.nan)
Y[ROWS] = np.c_[np.sin(2 * X[ROWS, 0]), X[ROWS, 1] + 1, X[ROWS].prod(axis=1)]
K, CROSS = rbf_kernel(X, gamma=GAMMA), rbf_kernel(NEW, X, gamma=GAMMA)
GRAPH = np.where(K > 0.4, K, 0.0) * ~np.eye(N, dtype=bool)
L = np.diag(GRAPH.sum(axis=1)) - GRAPH
WEIGHTS = RNG.uniform(0.3, 3, N)
SETTINGS = {"gamma": GAMMA, "alpha": ALPHA, "manifold": BETA, "graph": GRAPH, "center": False, "tol": 1e-9}
Q = np.linalg.qr(RNG.normal(size=(D, D)))[0]
OPERATORS = {
    "identity": None,
    "full": np.array([[2, 0.5, 0.1], [0.5, 1, 0.2], [0.1, 0.2, 0.7]]),
    "singular": Q[:, :2] @ np.diag([2.0, 0.5]) @ Q[:, :2].T,
    "repeated": Q @ np.diag([1.5, 1.5, 0.4]) @ Q.T,
    "multiple of the identity": 3 * np.eye(D),
}
with_operators = pytest.mark.parametrize("operator", OPERATORS)
with_weights = pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["equal", "weighted"])


def regressor(**settings):
    return OperatorKernelRegressor(**{**SETTINGS, **settings})


def coefficients(T, A=None, weights=None, s=None, b=None, gram=K, penalty=L):
    """C (N, d) of theorem 6 for h = k(., X) C A; T (N, d) has rows of NaN, s = lambda_1, b = 2 lambda_2."""
    w = np.isfinite(T).all(axis=1) * (np.ones(len(T)) if weights is None else weights)
    s = ALPHA * w.sum() if s is None else s
    b = BETA * w.sum() if b is None else b
    A = np.eye(T.shape[1]) if A is None else A
    system = s * np.eye(T.size) + np.kron(np.diag(w) + b * penalty, np.eye(T.shape[1])) @ np.kron(gram, A)
    right = w[:, None] * np.nan_to_num(T)
    return np.linalg.solve(system, right.ravel()).reshape(T.shape)


def eigenpairs(A):
    values, vectors = np.linalg.eigh(A)
    return zip(values, vectors.T)


def ridge(cross, T, A=None, weights=None, **options):
    return cross @ coefficients(T, A, weights, **options) @ (np.eye(T.shape[1]) if A is None else A)


def without(T, i):
    T = T.copy()
    T[i] = np.nan
    return T


def left_out(T, A, weights, center, alpha=ALPHA):
    """Residuals (l, d) of labelled samples under models that do not know their output, alpha n and beta n fixed."""
    w = np.ones(len(T)) if weights is None else weights
    rows = np.flatnonzero(np.isfinite(T).all(axis=1))
    s, b = alpha * w[rows].sum(), BETA * w[rows].sum()
    out = []
    for i in rows:
        T_i = without(T, i)
        others = np.flatnonzero(np.isfinite(T_i).all(axis=1))
        mean = w[others] @ T_i[others] / w[others].sum() if center else 0.0
        out.append(T[i] - mean - ridge(K[i : i + 1], T_i - mean, A, w, s=s, b=b)[0])
    return np.array(out)


# ---------------------------------------------------------------- ridge


@with_operators
@with_weights
def test_ridge_is_theorem_6(operator, weights):
    A = OPERATORS[operator]
    model = regressor(operator=A).fit(X, Y, weights)
    assert_allclose(model.predict(NEW), ridge(CROSS, Y, A, weights), atol=1e-8)
    assert_allclose(CROSS @ model.dual_coef_ @ (np.eye(D) if A is None else A), model.predict(NEW), atol=1e-10)


@with_operators
def test_ridge_is_proposition_9(operator):
    A = np.eye(D) if OPERATORS[operator] is None else OPERATORS[operator]
    J = np.eye(N)[ROWS]
    expected = np.zeros((len(NEW), D))
    for value, e in eigenpairs(A):
        system = ALPHA * KNOWN * np.eye(N) + value * K @ (J.T @ J + BETA * KNOWN * L)
        expected += value * (np.outer(e, e) @ Y[ROWS].T @ J @ np.linalg.solve(system, CROSS.T.copy())).T
    assert_allclose(regressor(operator=OPERATORS[operator]).fit(X, Y).predict(NEW), expected, atol=1e-8)


@with_operators
def test_centred_ridge(operator):
    mean = WEIGHTS[ROWS] @ Y[ROWS] / WEIGHTS[ROWS].sum()
    model = regressor(operator=OPERATORS[operator], center=True).fit(X, Y, WEIGHTS)
    assert_allclose(model.predict(NEW), mean + ridge(CROSS, Y - mean, OPERATORS[operator], WEIGHTS), atol=1e-8)


@with_operators
@pytest.mark.parametrize("solver", ["splitting", "proximal_gradient", "conjugate_gradient"])
def test_other_solvers_reach_the_same_function(operator, solver):
    model = regressor(operator=OPERATORS[operator], solver=solver, tol=1e-12, max_iter=20000).fit(X, Y)
    assert_allclose(model.predict(NEW), ridge(CROSS, Y, OPERATORS[operator]), atol=1e-5)


def test_samples_of_weight_zero_leave_the_graph():
    weights = np.where(np.arange(N) % 4 == 1, 0.0, WEIGHTS)
    kept = np.flatnonzero(weights)
    settings = {"operator": OPERATORS["full"], "center": True}
    model = regressor(**settings).fit(X, Y, weights)
    alone = regressor(graph=GRAPH[np.ix_(kept, kept)], **settings).fit(X[kept], Y[kept], weights[kept])
    assert_allclose(model.predict(NEW), alone.predict(NEW), atol=1e-8)
    assert_allclose(model.loo_residuals()[kept], alone.loo_residuals(), atol=1e-8)


def test_weights_of_samples_without_output_do_not_count():
    found = regressor().fit(X, Y, np.where(np.isnan(Y[:, 0]), 7.0, 1.0)).predict(NEW)
    assert_allclose(found, regressor().fit(X, Y).predict(NEW), atol=1e-10)


# ---------------------------------------------------------------- margin


@with_operators
def test_margin_is_proposition_10(operator):
    """Its printed formula closes a parenthesis too early; appendix A.3 has the Hadamard product of two matrices."""
    A = np.eye(D) if OPERATORS[operator] is None else OPERATORS[operator]
    lambda_1, lambda_2 = ALPHA * KNOWN / 2, BETA * KNOWN / 4
    J, quadratic = np.eye(N)[ROWS], np.zeros((KNOWN, KNOWN))
    for value, e in eigenpairs(A):
        inner = J @ np.linalg.solve(lambda_1 * np.eye(N) + 2 * lambda_2 * value * K @ L, K) @ J.T
        quadratic += value * np.outer(Y[ROWS] @ e, Y[ROWS] @ e) * inner
    b = cp.Variable(KNOWN)
    objective = cp.quad_form(b, cp.psd_wrap((quadratic + quadratic.T) / 2)) / 4 - cp.sum(b)
    by_hand.solve(objective, [b >= 0, b <= 1])
    targets = J.T @ (b.value[:, None] * Y[ROWS])
    system = 2 * lambda_1 * np.eye(N * D) + 4 * lambda_2 * np.kron(L, np.eye(D)) @ np.kron(K, A)
    expected = CROSS @ np.linalg.solve(system, targets.ravel()).reshape(N, D) @ A
    model = regressor(operator=OPERATORS[operator], loss="hinge", tol=1e-12).fit(X, Y)
    assert_allclose(model.predict(NEW), expected, atol=1e-6)
    assert ((b.value > 1e-3) & (b.value < 0.999)).any()  # the box matters, and is not all


# ---------------------------------------------------------------- any loss


LOSSES = {
    "huber": by_hand.huber(0.3, 2),
    "huber by entries": by_hand.huber(0.3, 1),
    "epsilon-insensitive": by_hand.tube(0.2, 2),
    "svr": by_hand.svr(0.2),
}


@with_operators
@with_weights
@pytest.mark.parametrize("name", LOSSES)
def test_robust_losses_minimise_the_objective_with_the_penalty(name, operator, weights):
    hand, A = LOSSES[name], np.eye(D) if OPERATORS[operator] is None else OPERATORS[operator]
    w = (np.ones(N) if weights is None else weights)[ROWS]
    values, vectors = np.linalg.eigh(np.kron(K, A))
    root = vectors * np.sqrt(np.maximum(values, 0))  # ||h|| = ||u|| for the values root @ u at all samples
    u = cp.Variable(N * D)
    H = cp.reshape(root @ u, (N, D), order="C")
    lam, E = np.linalg.eigh(L)
    rough = cp.sum_squares((E * np.sqrt(np.maximum(lam, 0))).T @ H)
    rows, constraints = hand.model(Y[ROWS] - H[ROWS])
    objective = w @ rows / w.sum() + ALPHA / 2 * cp.sum_squares(u) + BETA / 2 * rough
    best = by_hand.solve(objective, constraints)

    model = regressor(loss=hand.loss, operator=OPERATORS[operator], max_iter=5000).fit(X, Y, weights)
    F, C = model.predict(X), model.dual_coef_
    reached = w @ hand.value(Y[ROWS] - F[ROWS]) / w.sum()
    reached += ALPHA / 2 * np.vdot(C, K @ C @ A) + BETA / 2 * np.trace(F.T @ L @ F)
    assert reached == pytest.approx(best, rel=1e-6)
    assert_allclose(F, H.value, atol=2e-3)


@with_operators
def test_gaps_beside_samples_without_output(operator):
    """The squared loss over the observed entries: a linear system by hand."""
    T, A = Y.copy(), np.eye(D) if OPERATORS[operator] is None else OPERATORS[operator]
    T[ROWS[1], 0] = T[ROWS[2], 1:] = np.nan
    seen = np.diag(np.isfinite(T).ravel().astype(float))
    system = ALPHA * KNOWN * np.eye(T.size) + (seen + BETA * KNOWN * np.kron(L, np.eye(D))) @ np.kron(K, A)
    C = np.linalg.solve(system, np.nan_to_num(T).ravel()).reshape(N, D)
    found = regressor(operator=OPERATORS[operator], tol=1e-12, max_iter=20000).fit(X, T).predict(NEW)
    assert_allclose(found, CROSS @ C @ A, atol=1e-5)


# ---------------------------------------------------------------- leave-one-out and paths


@with_operators
@with_weights
@pytest.mark.parametrize("center", [False, True], ids=["", "centred"])
def test_leave_one_out_equals_fits_with_the_label_hidden(operator, weights, center):
    model = regressor(operator=OPERATORS[operator], center=center).fit(X, Y, weights)
    found = model.loo_residuals()
    assert np.isnan(np.delete(found, ROWS, axis=0)).all()
    assert_allclose(found[ROWS], left_out(Y, OPERATORS[operator], weights, center), atol=1e-7)


def test_leave_one_out_equals_refits():
    share = KNOWN / (KNOWN - 1)
    model = regressor(operator=OPERATORS["singular"], center=True).fit(X, Y)
    refits = clone(model).set_params(alpha=ALPHA * share, manifold=BETA * share)
    expected = [Y[i] - refits.fit(X, without(Y, i)).predict(X[i : i + 1])[0] for i in ROWS]
    assert_allclose(model.loo_residuals()[ROWS], expected, atol=1e-7)


@with_operators
@with_weights
@pytest.mark.parametrize("center", [False, True], ids=["", "centred"])
def test_path_by_leave_one_out(operator, weights, center):
    alphas = np.logspace(-3, 0, 4)
    model = regressor(operator=OPERATORS[operator], center=center, alpha="auto")
    path = RegularizationPathCV(model, alphas).fit(X, Y, weights)
    w = None if weights is None else weights[ROWS]
    errors = [(left_out(Y, OPERATORS[operator], weights, center, alpha) ** 2).sum(axis=1) for alpha in alphas]
    assert_allclose(path.errors_, np.average(errors, axis=1, weights=w), rtol=1e-6)
    assert path.alpha_ == alphas[np.argmin(path.errors_)] and path.n_splits_ == KNOWN
    again = model.set_params(alpha=path.alpha_).fit(X, Y, weights)
    assert_allclose(path.predict(NEW), again.predict(NEW), atol=1e-8)


def test_copies_are_left_out_together():
    twice = np.r_[np.arange(N), ROWS[:2]]
    graph = np.zeros((len(twice), len(twice)))
    graph[:N, :N] = GRAPH
    path = RegularizationPathCV(regressor(graph=graph), [ALPHA]).fit(X[twice], Y[twice])
    laplacian = np.diag(graph.sum(axis=1)) - graph
    gram, s, b = K[np.ix_(twice, twice)], ALPHA * (KNOWN + 2), BETA * (KNOWN + 2)
    errors = []
    for i in np.r_[ROWS, ROWS[:2]]:
        T = without(Y[twice], twice == i)
        errors.append(((Y[i] - ridge(gram[i : i + 1], T, s=s, b=b, gram=gram, penalty=laplacian)[0]) ** 2).sum())
    assert path.n_splits_ == KNOWN and path.errors_[0] == pytest.approx(np.mean(errors), rel=1e-6)


@with_weights
def test_folds_hide_outputs_and_keep_the_samples(weights):
    alphas = [0.01, 0.1]
    w = np.ones(N) if weights is None else weights
    path = RegularizationPathCV(regressor(alpha="auto"), alphas, cv=3).fit(X, Y, weights)
    expected = np.zeros(2)
    for _, test in KFold(3).split(ROWS):
        T = without(Y, ROWS[test])
        total = w[np.isfinite(T[:, 0])].sum()
        for k, alpha in enumerate(alphas):
            left = Y[ROWS[test]] - ridge(K[ROWS[test]], T, None, w, s=alpha * total, b=BETA * total)
            expected[k] += np.average((left**2).sum(axis=1), weights=w[ROWS[test]]) / 3
    assert_allclose(path.errors_, expected, rtol=1e-6)


@with_operators
def test_folds_of_a_robust_loss(operator):
    hand, folds = LOSSES["huber"], [(np.setdiff1d(np.arange(N), ROWS[k::3]), ROWS[k::3]) for k in range(3)]
    model = regressor(loss=hand.loss, operator=OPERATORS[operator], tol=1e-10, max_iter=5000)
    path = RegularizationPathCV(model, [0.01, 0.1], cv=folds).fit(X, Y)
    for k, alpha in enumerate([0.01, 0.1]):
        refits = [clone(model).set_params(alpha=alpha).fit(X, without(Y, test)) for _, test in folds]
        errors = [2 * hand.value(Y[test] - m.predict(X[test])).mean() for m, (_, test) in zip(refits, folds)]
        assert path.errors_[k] == pytest.approx(np.mean(errors), rel=1e-4)


@pytest.mark.parametrize("loss", ["huber", "epsilon_svr", "hinge"])
def test_alpha_is_chosen_for_losses_without_a_closed_form(loss):
    model = regressor(loss=loss, alpha="auto", operator=OPERATORS["full"], tol=1e-6).fit(X, Y)
    by_number = regressor(loss=model.loss_, alpha=model.alpha_, operator=OPERATORS["full"], tol=1e-6).fit(X, Y)
    assert model.alpha_ > 0 and model.dual_gap_ <= 1e-6
    assert_allclose(by_number.predict(NEW), model.predict(NEW), atol=1e-6)


# ---------------------------------------------------------------- without the penalty


LABELS = [None if np.isnan(v) else int(v > 1) for v in Y[:, 1]]
WORDS = [None if np.isnan(v) else "ab"[int(v > 1)] * (1 + int(v > 0)) for v in Y[:, 1]]
CURVES = Y[:, :1] * np.sin(np.linspace(0, 3, 20)) + Y[:, 1:2]
SUPERVISED = {
    "vectors": (OperatorKernelRegressor(alpha=0.01), Y),
    "operator": (OperatorKernelRegressor(operator=OPERATORS["full"]), Y),
    "huber": (OperatorKernelRegressor(loss="huber"), Y),
    "hinge": (OperatorKernelRegressor(loss="hinge", alpha=0.01), Y),
    "curves": (FunctionalRegressor(space="eigen"), CURVES),
    "curves on a grid": (FunctionalRegressor(alpha=0.01), CURVES),
    "labels": (StructuredPredictor(), LABELS),
    "words": (StructuredPredictor(), WORDS),
    "output kernel": (StructuredPredictor(output_kernel="rbf"), Y),
    "loss trick": (StructuredPredictor(output_loss="absolute", alpha=0.01), Y[:, 1]),
}


@pytest.mark.parametrize("name", SUPERVISED)
def test_without_penalty_samples_without_output_are_ignored(name):
    model, y = SUPERVISED[name]
    known = [y[i] for i in ROWS] if isinstance(y, list) else y[ROWS]
    with_all = clone(model).set_params(manifold=0.0, graph=GRAPH).fit(X, y)
    supervised = clone(model).fit(X[ROWS], known)
    assert_array_equal(with_all.predict(NEW), supervised.predict(NEW))
    assert with_all.alpha_ == supervised.alpha_
    tiny = clone(model).set_params(manifold=1e-13, alpha=0.05, gamma=GAMMA, tol=1e-9).fit(X, y)
    limit = clone(model).set_params(alpha=0.05, gamma=GAMMA, tol=1e-9).fit(X[ROWS], known)
    assert_allclose(tiny.machine_.coordinates(NEW), limit.machine_.coordinates(NEW), atol=2e-5)


# ---------------------------------------------------------------- graphs as they come


def test_graphs_in_other_forms():
    expected = regressor().fit(X, Y).predict(NEW)
    for graph in (scipy.sparse.csr_array(GRAPH), scipy.sparse.coo_matrix(GRAPH), GRAPH.tolist()):
        assert_allclose(regressor(graph=graph).fit(X, Y).predict(NEW), expected, atol=1e-9)
    networkx = pytest.importorskip("networkx")
    assert_allclose(regressor(graph=networkx.from_numpy_array(GRAPH)).fit(X, Y).predict(NEW), expected, atol=1e-9)


def test_sparse_laplacian_of_a_sparse_graph():
    chain = np.diag(np.ones(N - 1), 1) + np.diag(np.ones(N - 1), -1)
    penalty = np.diag(chain.sum(axis=1)) - chain
    model = regressor(graph=scipy.sparse.csr_array(chain)).fit(X, Y)
    assert scipy.sparse.issparse(model.state_.loo_data.graph_penalty)
    assert_allclose(model.predict(NEW), ridge(CROSS, Y, penalty=penalty), atol=1e-8)


@pytest.mark.parametrize("operator", ["identity", "full"])
def test_affinity_is_made_from_all_samples(operator):
    order = np.argsort(-K - 10 * np.eye(N), axis=1)[:, 1:4]
    linked = np.zeros((N, N), dtype=bool)
    np.put_along_axis(linked, order, True, axis=1)
    W = np.where(linked | linked.T, K, 0.0)
    expected = ridge(CROSS, Y, OPERATORS[operator], penalty=np.diag(W.sum(axis=1)) - W)
    model = regressor(graph=kernels.Affinity(3), operator=OPERATORS[operator]).fit(X, Y)
    assert_allclose(model.predict(NEW), expected, atol=1e-8)


class Threshold:
    """A user's graph, with the documented method and no other."""

    def penalty(self, K):
        W = np.where(K > 0.4, K, 0.0) * ~np.eye(len(K), dtype=bool)
        return np.diag(W.sum(axis=1)) - W


class ThresholdAffinity(kernels.Affinity):
    """The same as a subclass, with a sparse penalty."""

    def penalty(self, K):
        return scipy.sparse.coo_array(Threshold().penalty(K))


@pytest.mark.parametrize("graph", [Threshold(), ThresholdAffinity()], ids=lambda graph: type(graph).__name__)
@pytest.mark.parametrize("name", ["vectors", "operator", "huber", "curves", "labels", "output kernel"])
def test_a_graph_is_any_object_with_a_penalty_of_the_gram_matrix(name, graph):
    model, y = SUPERVISED[name]
    model = clone(model).set_params(manifold=BETA, alpha=0.01, gamma=GAMMA, tol=1e-9)
    found, expected = (clone(model).set_params(graph=one).fit(X, y).machine_.coordinates(NEW) for one in (graph, GRAPH))
    assert_allclose(found, expected, atol=1e-7)


@pytest.mark.parametrize("graph", [Threshold(), ThresholdAffinity()], ids=lambda graph: type(graph).__name__)
def test_such_a_graph_on_features_sees_their_inner_products(graph):
    nystroem = features.Landmarks(N)  # all samples: features of the kernel itself
    found = regressor(graph=graph, feature_map=nystroem).fit(X, Y).predict(NEW)
    assert_allclose(found, ridge(CROSS, Y), atol=1e-6)


def test_such_a_graph_is_of_the_training_samples_of_each_fold():
    search = RegularizationPathCV(regressor(graph=Threshold()), alphas=[1e-1, 1e-2], cv=3).fit(X[ROWS], Y[ROWS])
    own = K[np.ix_(ROWS, ROWS)]
    expected = ridge(CROSS[:, ROWS], Y[ROWS], gram=own, penalty=Threshold().penalty(own), s=search.alpha_ * KNOWN)
    assert_allclose(search.predict(NEW), expected, atol=1e-7)


@pytest.mark.parametrize(
    ("returned", "said"),
    [
        (L[:-1, :-1], "(17, 17)"),
        (L[:, 0], "(18,)"),
        (-L, "not positive semi-definite"),
        (scipy.sparse.csr_array(-L), "not positive semi-definite"),
        (L + np.triu(np.ones((N, N)), 1), "not symmetric"),
        (np.where(L == 0, np.nan, L), "NaN"),
    ],
    ids=["smaller", "a column", "negative", "sparse", "not symmetric", "NaN"],
)
def test_a_penalty_that_is_none_is_refused(returned, said):
    class Wrong:
        def penalty(self, K):
            return returned

    with pytest.raises(ValueError, match=r"graph\.penalty\(K\)") as refusal:
        regressor(graph=Wrong()).fit(X, Y)
    assert said in str(refusal.value) and "return a PSD matrix" in str(refusal.value)


@pytest.mark.parametrize("loss", ["squared", "huber", "hinge"])
def test_precomputed_equals_named(loss):
    settings = {"loss": loss, "graph": kernels.Affinity(4), "alpha": "auto"}
    named = regressor(**settings).fit(X, Y)
    given = regressor(kernel="precomputed", **settings).fit(K, Y)
    assert_allclose(given.predict(CROSS), named.predict(NEW), atol=1e-6)


# ---------------------------------------------------------------- use


@pytest.mark.parametrize("name", ["vectors", "operator", "huber", "curves", "labels", "output kernel"])
def test_pickle_and_clone(name):
    model, y = SUPERVISED[name]
    model = clone(model).set_params(manifold=BETA, graph=GRAPH, alpha=0.01).fit(X, y)
    copy = pickle.loads(pickle.dumps(model))
    assert_array_equal(copy.predict(NEW), model.predict(NEW))
    fresh = clone(model)
    assert not hasattr(fresh, "dual_coef_") and not hasattr(fresh, "state_") and fresh.manifold == BETA
    assert_array_equal(fresh.fit(X, y).predict(NEW), model.predict(NEW))
    if name in ("vectors", "operator"):
        assert_array_equal(copy.loo_residuals(), model.loo_residuals())


def test_unlabelled_samples_help_on_two_moons():
    accuracy = {0.0: [], 1.0: []}
    for seed in range(5):
        points, classes = make_moons(200, noise=0.06, random_state=seed)
        y = np.full(200, np.nan)
        for c in (0, 1):
            labelled = np.random.default_rng(seed).choice(np.flatnonzero(classes == c), 3, replace=False)
            y[labelled] = 2 * c - 1
        for manifold in accuracy:
            model = OperatorKernelRegressor(gamma=8.0, alpha=1e-3, manifold=manifold, graph=kernels.Affinity(8))
            accuracy[manifold].append(np.mean((model.fit(points, y).predict(points) > 0) == classes))
    assert np.mean(accuracy[1.0]) > 0.98 > 0.93 > np.mean(accuracy[0.0])
