"""Link prediction by kernels of graphs: CCA, kernel matrix regression and EM, each against its own definition."""

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse
from helpers.link_baselines import DIFFUSION, NEW, L, N, W, X, rows
from numpy.testing import assert_allclose
from scipy.optimize import minimize, minimize_scalar
from sklearn.cross_decomposition import CCA
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel

from hilbertlearn.baselines import EMKernelCompletion, KernelCCALinks, KernelMatrixRegression

# ---------------------------------------------------------------- kernel CCA


def test_correlations_solve_the_generalised_eigenproblem():
    alpha, outputs = 0.01, np.random.default_rng(1).normal(size=(L, 4))
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
    noise = np.random.default_rng(2).normal(size=(L, 2))
    outputs = np.c_[X[:L, 0] + 0.3 * noise[:, 0], noise[:, 1]]
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
    K = (K + K.T) / 2  # the inverse would magnify that it is symmetric to rounding only
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
    rng = np.random.default_rng(0)
    for _ in range(20):
        change = rng.normal(size=(N, N))
        change += change.T
        change[:L, :L] = 0.0
        change *= 0.3 * np.linalg.eigvalsh(D)[0] / np.linalg.norm(change, 2)  # D stays positive definite
        for changed in (D + change, D - change):
            assert divergence(changed, M) > divergence(D, M)


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
