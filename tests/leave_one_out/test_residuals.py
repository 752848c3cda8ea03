"""Closed-form leave-one-out residuals against one refit without each sample."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.metrics.pairwise import rbf_kernel

from hilbertlearn import OperatorKernelRegressor
from hilbertlearn.core.terms import SeparableTerm
from hilbertlearn.leave_one_out import loo_residuals

N, D = 9, 3
GAMMA = 0.3
ALPHAS = (1e-4, 1e-2, 0.3)
rng = np.random.default_rng(0)
X = rng.normal(size=(N, 2))
Y = np.c_[np.sin(2 * X[:, 0]), X[:, 1], X.sum(axis=1)] + 0.1 * rng.normal(size=(N, D)) + [0, 5, -2]
WEIGHTS = rng.uniform(0.3, 3, N)
ROOT = rng.normal(size=(D, D))
OPERATORS = {
    "identity": None,
    "full": ROOT @ ROOT.T,
    "rank 2": ROOT[:, :2] @ ROOT[:, :2].T,
    "zero": np.zeros((D, D)),
}


def by_refits(K, M, Y, s, center, weights):
    """Residuals (n, d), each from a dense solve without its sample: ``s c_j = w_j (y_j - mean - h(x_j))``."""
    n, d = Y.shape
    M = np.eye(d) if M is None else M
    residuals = np.empty_like(Y)
    for i in range(n):
        rest = np.delete(np.arange(n), i)
        w = weights[rest]
        mean = w @ Y[rest] / w.sum() if center else np.zeros(d)
        system = s * np.eye((n - 1) * d) + np.kron(w[:, None] * K[np.ix_(rest, rest)], M)
        C = np.linalg.solve(system, (w[:, None] * (Y[rest] - mean)).ravel()).reshape(n - 1, d)
        residuals[i] = Y[i] - mean - K[i, rest] @ C @ M
    return residuals


@pytest.mark.parametrize("weighted", [False, True], ids=["", "weighted"])
@pytest.mark.parametrize("center", [False, True], ids=["", "centred"])
@pytest.mark.parametrize("operator", OPERATORS)
def test_formula_equals_dense_refits(operator, center, weighted):
    weights = WEIGHTS if weighted else np.ones(N)
    root = np.sqrt(weights)
    K, M = rbf_kernel(X, gamma=GAMMA), OPERATORS[operator]
    penalties = [alpha * weights.sum() for alpha in ALPHAS]
    term = SeparableTerm(K * np.multiply.outer(root, root), M)
    found = list(loo_residuals(term, Y, penalties, center=center, weights=weights if weighted else None))
    assert [s for s, _ in found] == penalties
    for s, residuals in found:
        assert_allclose(residuals, by_refits(K, M, Y, s, center, weights), atol=1e-8)


def test_formula_of_many_directions_and_penalties():
    """Hundreds of pairs (penalty, eigenvalue of the operator), as an automatic choice of alpha has them."""
    d = 12
    T = rng.normal(size=(N, d))
    K, M = rbf_kernel(X, gamma=GAMMA), np.diag(np.geomspace(1, 1e-3, d))
    term = SeparableTerm(K * np.multiply.outer(WEIGHTS, WEIGHTS) ** 0.5, M)
    together = list(loo_residuals(term, T, np.geomspace(1e-7, 1e2, 73), center=True, weights=WEIGHTS))
    for s, residuals in together[::9]:
        ((_, alone),) = loo_residuals(term, T, [s], center=True, weights=WEIGHTS)
        assert_allclose(residuals, alone, rtol=1e-6, atol=1e-8)
    for s, residuals in together[::24]:
        assert_allclose(residuals, by_refits(K, M, T, s, True, WEIGHTS), rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("center", [False, True])
def test_formula_of_a_kernel_of_zeros(center):
    """Nothing is learnt: the mean of the other outputs is predicted."""
    ((_, residuals),) = loo_residuals(SeparableTerm(np.zeros((N, N))), Y, [1.0], center=center)
    others = (Y.sum(axis=0) - Y) / (N - 1)
    assert_allclose(residuals, Y - others if center else Y, atol=1e-12)


@pytest.mark.parametrize("center", [False, True])
def test_formula_of_a_rank_deficient_kernel_with_copies(center):
    Z, T = np.r_[X[:5], X[:4]], np.r_[Y[:5], Y[5:]]  # every sample but one twice, with two outputs
    K = Z @ Z.T
    ((s, residuals),) = loo_residuals(SeparableTerm(K), T, [0.05 * N], center=center)
    assert_allclose(residuals, by_refits(K, None, T, s, center, np.ones(N)), atol=1e-8)


@pytest.mark.parametrize("weighted", [False, True], ids=["", "weighted"])
@pytest.mark.parametrize("center", [False, True], ids=["", "centred"])
@pytest.mark.parametrize("operator", ["identity", "full", "rank 2"])
@pytest.mark.parametrize("alpha", ALPHAS)
def test_model_residuals_equal_refits_of_the_model(alpha, operator, center, weighted):
    weights = WEIGHTS if weighted else np.ones(N)
    settings = {"gamma": GAMMA, "operator": OPERATORS[operator], "center": center}
    model = OperatorKernelRegressor(alpha=alpha, **settings).fit(X, Y, weights if weighted else None)
    expected = np.empty_like(Y)
    for i in range(N):
        rest = np.arange(N) != i
        same_penalty = alpha * weights.sum() / weights[rest].sum()
        without = OperatorKernelRegressor(alpha=same_penalty, **settings).fit(X[rest], Y[rest], weights[rest])
        expected[i] = Y[i] - without.predict(X[i : i + 1])[0]
    assert_allclose(model.loo_residuals(), expected, atol=1e-8)


def test_model_residuals_have_the_shape_of_y():
    model = OperatorKernelRegressor(gamma=GAMMA, alpha=0.1)
    in_column = model.fit(X, Y[:, :1]).loo_residuals()
    assert in_column.shape == (N, 1)
    assert_allclose(model.fit(X, Y[:, 0]).loo_residuals(), in_column[:, 0])


def test_samples_without_weight_have_no_residual():
    weights, T = np.ones(N), Y.copy()
    weights[2], T[5] = 0, np.nan
    used = np.delete(np.arange(N), [2, 5])
    model = OperatorKernelRegressor(gamma=GAMMA, alpha=0.1)
    residuals = model.fit(X, T, weights).loo_residuals()
    assert np.isnan(residuals[[2, 5]]).all()
    assert_allclose(residuals[used], model.fit(X[used], Y[used]).loo_residuals(), atol=1e-12)


def test_model_residuals_of_a_precomputed_kernel():
    K = rbf_kernel(X, gamma=GAMMA)
    weights = np.r_[0, np.ones(N - 1)]
    by_name = OperatorKernelRegressor(gamma=GAMMA, alpha=0.1).fit(X, Y, weights).loo_residuals()
    by_gram = OperatorKernelRegressor("precomputed", alpha=0.1).fit(K, Y, weights).loo_residuals()
    assert_allclose(by_gram, by_name, atol=1e-12)


def test_a_single_sample_has_a_finite_residual():
    model = OperatorKernelRegressor(alpha=0.1).fit(X[:1], Y[:1])
    assert np.isfinite(model.loo_residuals()).all()
