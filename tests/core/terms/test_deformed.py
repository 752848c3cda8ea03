"""The kernel deformed by a graph penalty, and the models that use it, against dense definitions."""

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse
from helpers.hidden import hidden
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.metrics.pairwise import rbf_kernel

from hilbertlearn import (
    FunctionalRegressor,
    IrregularFunctions,
    OperatorKernelRegressor,
    StructuredPredictor,
    operators,
    spaces,
)
from hilbertlearn.core.terms import DeformedKernel, EigenspaceTerm
from hilbertlearn.data.graphs import laplacian
from hilbertlearn.kernels import Affinity

N, KNOWN, D, ALPHA, BETA, GAMMA = 16, 10, 3, 0.03, 0.2, 0.6
RNG = np.random.default_rng(1)
X, NEW = RNG.normal(size=(N, 2)), RNG.normal(size=(4, 2))
K, CROSS = rbf_kernel(X, gamma=GAMMA), rbf_kernel(NEW, X, gamma=GAMMA)
W = np.where(K > 0.3, RNG.uniform(0.5, 2, (N, N)), 0.0)
W = np.triu(W, 1) + np.triu(W, 1).T
W[3], W[:, 3] = 0.0, 0.0  # a node without links
L = np.diag(W.sum(axis=1)) - W
SPARSE, SPARSE_L = scipy.sparse.csr_array(W), scipy.sparse.csr_array(L)
LINEAR = X @ X.T  # some values are negative
# ---------------------------------------------------------------- the deformed kernel


RANK_ONE = np.outer(X[:, 0], X[:, 0])


def deformed_by_hand(gram, S, r, left, right):
    """What k~ adds to k: - k_x' (I + r S K)^-1 r S k_z, for kernel values left (m, N) and right (N, p)."""
    return -left @ np.linalg.solve(np.eye(N) + r * S @ gram, r * S @ right)


@pytest.mark.parametrize("gram", [K, LINEAR, RANK_ONE, np.zeros((N, N))], ids=["rbf", "linear", "rank one", "zero"])
@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
@pytest.mark.parametrize("r", [1e-6, 0.5, 1e3])
def test_deformed_kernel_is_its_definition(gram, sparse, r):
    rows = np.array([0, 2, 3, 7, 11])
    A = RNG.normal(size=(len(rows), 2))
    for by_spectrum in (False, True):
        kernel = DeformedKernel(gram, SPARSE_L if sparse else L)
        if by_spectrum:
            kernel = kernel.factored()
            assert kernel.basis[1].shape[1] == np.linalg.matrix_rank(gram)
        found = kernel.at_ratio(r, rows).K
        expected = (gram + deformed_by_hand(gram, L, r, gram, gram))[np.ix_(rows, rows)]
        assert_allclose(found, expected, atol=2e-8)
        assert_array_equal(found, found.T)
        assert np.linalg.eigvalsh(found)[0] > -1e-9
        at_all = gram[:, rows] + deformed_by_hand(gram, L, r, gram, gram[:, rows])
        assert_allclose(gram @ kernel.at_ratio(r, rows).expand(A), at_all @ A, atol=2e-8)
        if gram is K:  # at new points too
            at_new = CROSS[:, rows] + deformed_by_hand(gram, L, r, CROSS, gram[:, rows])
            assert_allclose(CROSS @ kernel.at_ratio(r, rows).expand(A), at_new @ A, atol=1e-7)


def test_deformed_kernel_remembers_nothing_wrong():
    kernel, rows, others = DeformedKernel(K, L), np.array([0, 1, 2]), np.array([4, 5, 6])
    for r, own in [(1.0, rows), (2.0, rows), (2.0, others), (1.0, others), (1.0, rows)]:
        expected = (K + deformed_by_hand(K, L, r, K, K))[np.ix_(own, own)]
        assert_allclose(kernel.at_ratio(r, own).K, expected, atol=1e-10)


def test_a_path_gives_the_same_models_as_single_fits():
    """The first by one spectrum for every alpha, the second by a factorisation for each."""
    y = np.where(np.arange(N) % 3 == 0, np.nan, np.sin(X[:, 0]))
    model = OperatorKernelRegressor(gamma=GAMMA, manifold=BETA, graph=W)
    alphas = [1e-3, 1e-1, 10.0]
    for alpha, fitted in zip(alphas, model.fit_path(X, y, alphas)):
        alone = clone(model).set_params(alpha=alpha).fit(X, y)
        assert_allclose(fitted.predict(NEW), alone.predict(NEW), atol=1e-8)


# ---------------------------------------------------------------- structured outputs and curves


ROWS = np.sort(RNG.choice(N, KNOWN, replace=False))
Y = np.full((N, D), np.nan)
Y[ROWS] = np.c_[np.sin(2 * X[ROWS, 0]), X[ROWS, 1] + 1, X[ROWS].prod(axis=1)]
Q = np.linalg.qr(RNG.normal(size=(D, D)))[0]
LABELS = [None if np.isnan(v) else int(v > 1) for v in Y[:, 1]]
WORDS = [None if np.isnan(v) else "ab"[int(v > 1)] * (1 + int(v > 0)) for v in Y[:, 1]]
CURVES = Y[:, :1] * np.sin(np.linspace(0, 3, 20)) + Y[:, 1:2]
SETTINGS = {"gamma": GAMMA, "alpha": ALPHA, "manifold": BETA, "graph": W}
EQUAL = np.ones(KNOWN)


def ridge_weights(m=1.0, weights=EQUAL):
    """m D (m D K~ D + s)^-1 D k~_x (q, l) where the operator is m; s = alpha sum(w), D = diag(sqrt(w))."""
    r, D = m * BETA / ALPHA, np.diag(np.sqrt(weights))
    within, at = (G[:, ROWS] + deformed_by_hand(K, L, r, G, K[:, ROWS]) for G in (K, CROSS))
    system = m * D @ within[ROWS] @ D + weights.sum() * ALPHA * np.eye(KNOWN)
    return m * (D @ np.linalg.solve(system, D @ at.T)).T


def structured(**settings):
    return StructuredPredictor(**{**SETTINGS, **settings})


STRUCTURED = {
    "labels": (structured(), LABELS),
    "words": (structured(), WORDS),
    "output kernel": (structured(output_kernel="rbf"), Y),
    "both": (structured(output_kernel="rbf", output_loss="squared"), Y),
    "loss trick": (structured(output_loss="absolute"), Y[:, 1]),
}


@pytest.mark.parametrize("name", STRUCTURED)
@pytest.mark.parametrize("sample_weight", [None, RNG.uniform(0.5, 2, N)], ids=["equal", "weighted"])
@pytest.mark.parametrize("center", [False, True], ids=["", "centred"])
def test_weights_are_those_of_the_deformed_kernel(name, sample_weight, center):
    model, y = STRUCTURED[name]
    w = np.ones(KNOWN) if sample_weight is None else sample_weight[ROWS]
    expected = np.zeros((len(NEW), N))
    expected[:, ROWS] = ridge_weights(weights=w)
    if center:  # h(x) = mean + sum_i w_i(x) (y_i - mean)
        expected[:, ROWS] += np.outer(1 - expected.sum(axis=1), w / w.sum())
    found = clone(model).set_params(center=center).fit(X, y, sample_weight).weights(NEW)
    assert_allclose(found, expected, atol=1e-8)


def test_labels_are_decoded_from_the_weights():
    labels = np.array([LABELS[i] for i in ROWS])
    votes = np.stack([ridge_weights()[:, labels == c].sum(axis=1) for c in (0, 1)], axis=1)
    assert_array_equal(structured().fit(X, LABELS).predict(NEW), votes.argmax(axis=1))


def test_objects_are_decoded_from_the_weights():
    def overlap(Z, Y):
        return np.array([[len(z & y) / (1 + len(z | y)) + (z == y) for y in Y] for z in Z])

    y = [None if word is None else frozenset(word + str(i % 3)) for i, word in enumerate(WORDS)]
    known = [y[i] for i in ROWS]
    gram = overlap(known, known)
    best = np.argmin(np.diag(gram) - 2 * ridge_weights() @ gram, axis=1)
    assert structured(output_kernel=overlap).fit(X, y).predict(NEW) == [known[i] for i in best]


def test_loss_trick_minimises_the_weighted_loss():
    y, weights = Y[:, 1], ridge_weights()
    found = structured(output_loss="absolute").fit(X, y).predict(NEW)
    zs = np.linspace(-1, 3, 2001)
    zs = zs[(zs >= y[ROWS].min()) & (zs <= y[ROWS].max())]
    objective = np.abs(zs[:, None] - y[ROWS]) @ weights.T
    reached = np.abs(found[:, None] - y[ROWS])
    assert ((reached * weights).sum(axis=1) <= objective.min(axis=0) + 1e-9).all()


PAIRS = np.stack([CURVES[:, ::3], CURVES[:, ::3] ** 2], axis=-1)  # two curves a sample
SPACES = {
    "eigenspace": (CURVES, {"space": spaces.Eigen(n_components=6)}),
    "grid": (CURVES, {}),
    "two curves": (PAIRS, {}),
    "related curves": (
        PAIRS,
        {"operator": operators.AxisProduct(operators.Integral(), curves=[[2.0, 0.5], [0.5, 1.0]])},
    ),
}


@pytest.mark.parametrize("name", SPACES)
@pytest.mark.parametrize("center", [False, True], ids=["", "centred"])
def test_curves_have_a_deformed_kernel_for_each_eigenvalue(name, center):
    curves, own = SPACES[name]
    model = FunctionalRegressor(**SETTINGS, **own, center=center, tol=1e-9).fit(X, curves)
    T, (values, E) = model.space_.encode(curves), np.linalg.eigh(np.asarray(model.operator_))
    assert np.isnan(np.delete(T, ROWS, axis=0)).all() and len(np.unique(values.round(12))) > 2
    mean = T[ROWS].mean(axis=0) if center else 0.0
    parts = [ridge_weights(m) @ (T[ROWS] - mean) @ np.outer(e, e) for m, e in zip(values, E.T)]
    assert_allclose(model.predict(NEW), model.space_.decode(mean + sum(parts)), atol=1e-7)


def test_curves_point_by_point():
    model = FunctionalRegressor(operator=None, center=False, **SETTINGS).fit(X, CURVES)
    assert_allclose(model.predict(NEW), ridge_weights() @ CURVES[ROWS], atol=1e-8)


# ---------------------------------------------------------------- parts


def test_one_kernel_for_each_direction():
    grams = [np.cov(RNG.normal(size=(6, 20))) for _ in range(2)]
    term = EigenspaceTerm(grams, [2.0, 0.5], [Q[:, :1], Q[:, 1:2]], None)
    dense = sum(m * np.kron(G, Q[:, [j]] @ Q[:, [j]].T) for j, (m, G) in enumerate(zip([2.0, 0.5], grams)))
    A = RNG.normal(size=(6, D))
    assert_allclose(term.apply(A).ravel(), dense @ A.ravel())
    assert term.norm == pytest.approx(np.linalg.norm(dense, 2), rel=0.03)
    expected = np.linalg.solve(0.7 * np.eye(6 * D) + dense / 3.0, A.ravel())
    for use in ("once", "iterations", "path"):
        assert_allclose(term.factor(use).solve(A, 0.7, 3.0).ravel(), expected)
    root = np.sqrt(RNG.uniform(1, 2, 6))
    scaled = np.kron(np.diag(root), np.eye(D)) @ dense @ np.kron(np.diag(root), np.eye(D))
    assert_allclose(term.scaled(root).apply(A).ravel(), scaled @ A.ravel())
    blocks = dense.reshape(6, D, 6, D)
    assert_allclose(term.margin_gram(A), np.einsum("ia,iajb,jb->ij", A, blocks, A))


def test_hidden_outputs():
    assert_array_equal(hidden(np.arange(4.0), [1]), [0, np.nan, 2, 3])
    assert_array_equal(hidden(np.eye(2, dtype=int), [0]), [[np.nan, np.nan], [0, 1]])
    assert hidden(np.array([3, 4]), [0]) == [None, 4] and hidden(["a", "b"], [1]) == ["a", None]
    curves = IrregularFunctions([[0, 1], [0, 0.5]], [[1.0, 2.0], [3.0, 4.0]], (0, 1))
    left = hidden(curves, [0]).values
    assert np.isnan(left[0]).all() and np.array_equal(left[1], curves.values[1])
    given = np.arange(3.0)
    hidden(given, [0])
    assert given[0] == 0
    skfda = pytest.importorskip("skfda")
    curves = hidden(skfda.FDataGrid(np.eye(3)), [1]).data_matrix[..., 0]
    assert_array_equal(curves, [[1, 0, 0], [np.nan] * 3, [0, 0, 1]])


def test_the_diffusion_kernel_as_a_penalty_centres():
    """On a graph whose nodes are all linked well it is ``|sum_i h(x_i)|^2 / n``."""
    S = Affinity(None, ("diffusion_kernel", 50.0)).smoother_matrix(np.ones((6, 6)) - np.eye(6))
    assert_allclose(S, np.full((6, 6), 1 / 6), atol=1e-12)
    W = np.diag(np.ones(5), 1) + np.diag(np.ones(5), -1)
    assert_allclose(
        Affinity(None, ("diffusion_kernel", 0.7)).smoother_matrix(W), scipy.linalg.expm(-0.7 * laplacian(W)), atol=1e-12
    )
