"""Kernels whose values are matrices: fields against their definition, models against dense ones."""

import pickle
import warnings
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse
from helpers.averages import log_loss_of_residuals, mean_alpha_by_hand
from helpers.by_hand import ALPHA, LOSSES, dual_by_hand, primal, reference, squared_norm
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV

from hilbertlearn import OperatorKernelRegressor
from hilbertlearn.core.terms import BlockTerm
from hilbertlearn.kernels import (
    CurlFreeKernel,
    DivergenceFreeKernel,
    HelmholtzKernel,
    InputKernel,
    OperatorValuedKernel,
    resolve_gamma,
    training_gram,
)

GAMMA = 0.4
FIELDS = [CurlFreeKernel(GAMMA), DivergenceFreeKernel(GAMMA), HelmholtzKernel(0.3, GAMMA)]
rng = np.random.default_rng(0)


def name(kernel):
    return type(kernel).__name__


def flat(blocks):
    """The matrix (n d, m d) of blocks (n, m, d, d)."""
    n, m, d, _ = blocks.shape
    return np.transpose(blocks, (0, 2, 1, 3)).reshape(n * d, m * d)


# ---------------------------------------------------------------- kernels


def hessian(x, z, step=1e-3):
    """Second derivatives in x of the Gaussian by central differences, (d, d)."""

    def gaussian(x):
        return np.exp(-GAMMA * np.sum((x - z) ** 2))

    E = step * np.eye(len(x))
    corners = [
        [gaussian(x + a + b) - gaussian(x + a - b) - gaussian(x - a + b) + gaussian(x - a - b) for b in E] for a in E
    ]
    return np.array(corners) / (4 * step**2)


@pytest.mark.parametrize("d", [1, 2, 3, 5])
def test_kernels_are_second_derivatives_of_a_gaussian(d):
    X, Z = rng.normal(size=(4, d)), rng.normal(size=(3, d))
    Z[0] = X[0]
    H = np.array([[hessian(x, z) for z in Z] for x in X])
    curl_free = -H / (2 * GAMMA)
    assert_allclose(CurlFreeKernel(GAMMA)(X, Z), curl_free, atol=1e-5)
    if d > 1:
        traces = np.trace(H, axis1=2, axis2=3)[:, :, None, None]
        divergence_free = (H - traces * np.eye(d)) / (2 * GAMMA * (d - 1))
        assert_allclose(DivergenceFreeKernel(GAMMA)(X, Z), divergence_free, atol=1e-5)
        assert_allclose(HelmholtzKernel(0.3, GAMMA)(X, Z), 0.3 * curl_free + 0.7 * divergence_free, atol=1e-5)
        assert_allclose(HelmholtzKernel(1 / d, GAMMA)(X, Z)[:, :, 0, 1], 0, atol=1e-15)  # no tie between outputs


@pytest.mark.parametrize("kernel", FIELDS, ids=name)
@pytest.mark.parametrize("d", [2, 3, 7])
def test_kernels_are_positive_and_the_identity_at_a_point(kernel, d):
    X = rng.normal(size=(150, d))  # more than one block of rows
    blocks = kernel(X, X)
    assert blocks.shape == (150, 150, d, d)
    K = flat(blocks)
    assert_allclose(K, K.T, atol=1e-15)
    assert np.linalg.eigvalsh(K)[0] > -1e-12 * len(K)
    assert_allclose(blocks[np.arange(150), np.arange(150)], np.broadcast_to(np.eye(d), (150, d, d)), atol=1e-15)
    assert_allclose(kernel(X[40:60], X), blocks[40:60], atol=1e-15)
    assert np.shares_memory(K, K.base) and K.flags.c_contiguous  # blocks are laid out as that matrix


@pytest.mark.parametrize("d", [2, 3])
def test_fields_have_no_curl_or_no_divergence(d):
    centres, coefficients = rng.normal(size=(10, d)), rng.normal(size=(10, d))
    X, step = rng.normal(size=(20, d)), 1e-4

    def jacobian(kernel):
        """d f_a / d x_b at [i, a, b] of f(x) = sum_j K(x, x_j) c_j."""

        def field(X):
            return np.einsum("ijab,jb->ia", kernel(X, centres), coefficients)

        return np.stack([field(X + e) - field(X - e) for e in step * np.eye(d)], axis=2) / (2 * step)

    J = jacobian(CurlFreeKernel(GAMMA))
    assert np.abs(J - J.transpose(0, 2, 1)).max() < 1e-6 * np.abs(J).max()
    J = jacobian(DivergenceFreeKernel(GAMMA))
    assert np.abs(np.trace(J, axis1=1, axis2=2)).max() < 1e-6 * np.abs(J).max()
    assert np.abs(J - J.transpose(0, 2, 1)).max() > 0.1 * np.abs(J).max()


def test_gamma_comes_from_the_training_inputs():
    X, w = rng.normal(size=(30, 2)), rng.uniform(0.5, 2, 30)
    for kernel in (CurlFreeKernel(), DivergenceFreeKernel(), HelmholtzKernel(0.2)):
        resolved = kernel.resolve(X, w)
        assert resolved.gamma == resolve_gamma("rbf", "median", X, w)
        assert kernel.gamma == "median" and type(resolved) is type(kernel)
        assert InputKernel.from_settings(kernel, "median", None, X, w).kernel.gamma == resolved.gamma
        with pytest.raises(ValueError, match=r"gamma='median' is not a number yet; call resolve\(X\)"):
            kernel(X, X)
    assert HelmholtzKernel(0.2).resolve(X).share == 0.2
    assert HelmholtzKernel(0.2, "scale").resolve(X).gamma == resolve_gamma("rbf", "scale", X)
    assert set(CurlFreeKernel().get_params()) == {"gamma"} and set(HelmholtzKernel().get_params()) == {"share", "gamma"}
    assert clone(HelmholtzKernel(0.2, 3.0)).get_params() == {"share": 0.2, "gamma": 3.0}


@pytest.mark.parametrize("good", [list, np.float32, lambda X: (10 * X).astype(int)])
def test_points_of_any_kind_of_numbers(good):
    X = np.round(rng.normal(size=(5, 2)), 1)
    X = np.array(X, dtype=np.float32).astype(float)
    expected = CurlFreeKernel(GAMMA)(np.array(good(X), dtype=float), X)
    assert_allclose(CurlFreeKernel(GAMMA)(good(X) if good is not np.float32 else X.astype(good), X), expected)


@pytest.mark.parametrize(
    ("kernel", "X", "words"),
    [
        (CurlFreeKernel(GAMMA), np.ones(3), ["CurlFreeKernel", "X", "(n, d)", "shape (3,)"]),
        (CurlFreeKernel(GAMMA), np.ones((3, 2, 2)), ["(n, d)", "shape (3, 2, 2)"]),
        (CurlFreeKernel(GAMMA), ["a", "b"], ["numbers", "list"]),
        (CurlFreeKernel(GAMMA), scipy.sparse.eye_array(3, format="csr"), ["dense", "csr_array"]),
        (CurlFreeKernel(GAMMA), 1e200 * np.ones((3, 2)), ["too large", "scale X"]),
        (DivergenceFreeKernel(GAMMA), np.ones((3, 1)), ["one column", "constant", "kernels.CurlFreeKernel"]),
        (HelmholtzKernel(0.5, GAMMA), np.ones((3, 1)), ["one column", "constant", "kernels.CurlFreeKernel"]),
        (CurlFreeKernel(-1.0), np.ones((3, 2)), ["CurlFreeKernel: gamma", "> 0", "'median'", "-1.0"]),
        (CurlFreeKernel("mean"), np.ones((3, 2)), ["CurlFreeKernel: gamma", "'mean'"]),
        (HelmholtzKernel(1.5, GAMMA), np.ones((3, 2)), ["HelmholtzKernel: share", "[0, 1]", "1.5"]),
        (HelmholtzKernel(-0.5, GAMMA), np.ones((3, 2)), ["HelmholtzKernel: share", "-0.5"]),
        (OperatorValuedKernel(lambda X, Z: np.ones((3, 3))), np.ones((3, 2)), ["(n, m, d, d)", "got shape (3, 3)"]),
        (
            OperatorValuedKernel(lambda X, Z: np.ones((3, 3, 2, 1))),
            np.ones((3, 2)),
            ["square", "got shape (3, 3, 2, 1)"],
        ),
        (OperatorValuedKernel(lambda X, Z: np.ones((3, 2, 2, 2))), np.ones((3, 2)), ["(3, 3, 2, 2)", "(3, 2, 2, 2)"]),
        (
            OperatorValuedKernel(lambda X, Z: -CurlFreeKernel(GAMMA)(X, Z)),
            rng.normal(size=(3, 2)),
            ["not positive semi-definite"],
        ),
        (OperatorValuedKernel(lambda X, Z: np.full((3, 3, 2, 2), np.nan)), np.ones((3, 2)), ["NaN or infinity"]),
        (
            OperatorValuedKernel(lambda X, Z: rbf_kernel(X)[:, :, None, None] * [[1.0, 2.0], [0.0, 1.0]]),
            rng.normal(size=(3, 2)),
            ["not symmetric"],
        ),
    ],
)
def test_kernels_refuse(kernel, X, words):
    with warnings.catch_warnings(action="error"), pytest.raises(ValueError) as error:
        if hasattr(kernel, "resolve"):
            kernel.resolve(X)
        training_gram(kernel, X)
    assert not [word for word in words if word not in str(error.value)], str(error.value)


def test_points_of_two_dimensions_are_refused():
    with pytest.raises(ValueError, match="same dimension, got 2 and 3"):
        CurlFreeKernel(GAMMA)(np.ones((3, 2)), np.ones((4, 3)))
    with pytest.raises(TypeError, match="OperatorValuedKernel: function must be a callable"):
        OperatorValuedKernel("rbf").validate()


# ---------------------------------------------------------------- the term


N, D = 12, 3
POINTS, NEW = rng.normal(size=(N, D)), rng.normal(size=(5, D))


def bumpy(X, Z):
    """A kernel that is not a vector field's: sum_l B_l k_l(x, z) B_l', B_l depending on the point, in plain layout."""

    def factors(X):
        return np.sin(np.multiply.outer(X.sum(axis=1), np.arange(1.0, 2 * D * D + 1))).reshape(len(X), D, 2 * D)

    return rbf_kernel(X, Z, gamma=GAMMA)[:, :, None, None] * np.einsum("ial,jbl->ijab", factors(X), factors(Z))


def test_blocks_of_fields_are_not_copied():
    blocks = training_gram(CurlFreeKernel(GAMMA), POINTS)
    assert np.shares_memory(BlockTerm.from_blocks(blocks).by_entry.K, blocks)
    assert BlockTerm.from_blocks(np.array(bumpy(POINTS, POINTS))).by_entry.K.flags.c_contiguous


# ---------------------------------------------------------------- the model


X = rng.normal(size=(25, 2))
V = np.c_[-X[:, 1], X[:, 0]] * np.exp(-0.3 * (X**2).sum(axis=1))[:, None] + 0.05 * rng.normal(size=X.shape) + [3, -1]
V_GAPS = V.copy()
V_GAPS[rng.random(V.shape) < 0.3] = np.nan
V_GAPS[4] = np.nan  # not labelled
WEIGHTS = rng.uniform(0.3, 3, len(X))
X_NEW = rng.normal(size=(6, 2))


def ridge(kernel, V, weights, alpha, center, X_new=X_NEW):
    """Predictions of the squared loss by one dense system between observed entries."""
    weights = np.ones(len(V)) if weights is None else weights
    seen = np.isfinite(V)
    W = weights[:, None] * seen
    constant = (W * np.nan_to_num(V)).sum(axis=0) / W.sum(axis=0) if center else np.zeros(V.shape[1])
    root = np.sqrt(np.broadcast_to(weights[:, None], V.shape)[seen])
    K = flat(kernel(X, X))[np.ix_(seen.ravel(), seen.ravel())] * np.multiply.outer(root, root)
    s = alpha * weights[seen.any(axis=1)].sum()
    a = root * np.linalg.solve(K + s * np.eye(len(K)), root * (V - constant)[seen])
    return (flat(kernel(X_new, X))[:, seen.ravel()] @ a).reshape(len(X_new), -1) + constant


@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["", "weights"])
@pytest.mark.parametrize("V", [V, V_GAPS], ids=["", "gaps"])
@pytest.mark.parametrize("kernel", FIELDS, ids=name)
def test_ridge_regression_is_one_dense_system(kernel, V, weights, center):
    model = OperatorKernelRegressor(kernel, alpha=0.01, center=center).fit(X, V, weights)
    assert_allclose(model.predict(X_NEW), ridge(kernel, V, weights, 0.01, center), atol=1e-8)
    assert model.dual_gap_ < 1e-10 and model.solver_ == "spectral"


def test_a_separable_kernel_as_an_operator_valued_one():
    M = np.array([[2.0, 0.5], [0.5, 1.0]])
    as_blocks = OperatorValuedKernel(lambda X, Z: rbf_kernel(X, Z, gamma=GAMMA)[:, :, None, None] * M)
    for loss in ("squared", "huber", "hinge"):
        given = OperatorKernelRegressor("rbf", gamma=GAMMA, operator=M, alpha=0.02, loss=loss, tol=1e-9).fit(X, V)
        found = OperatorKernelRegressor(as_blocks, alpha=0.02, loss=given.loss_, tol=1e-9).fit(X, V)
        assert_allclose(found.predict(X_NEW), given.predict(X_NEW), atol=1e-4)
    assert_allclose(
        OperatorKernelRegressor(as_blocks, alpha=0.02).fit(X, V).loo_residuals(),
        OperatorKernelRegressor("rbf", gamma=GAMMA, operator=M, alpha=0.02).fit(X, V).loo_residuals(),
        atol=1e-9,
    )


def test_sums_of_fields():
    both = [(CurlFreeKernel(GAMMA), None), (DivergenceFreeKernel(GAMMA), None)]
    summed = OperatorKernelRegressor(both, alpha=0.02, tol=1e-12).fit(X, V)
    assert_allclose(summed.predict(X_NEW), ridge(HelmholtzKernel(0.5, GAMMA), V, None, 0.01, True), atol=1e-5)


@pytest.mark.parametrize("loss", ["huber-2", "huber-1", "epsilon-2", "svr"])
@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["", "weights"])
@pytest.mark.parametrize("V", [V, V_GAPS], ids=["", "gaps"])
def test_other_losses_reach_the_optimum(loss, V, weights):
    hand, kernel = LOSSES[loss], CurlFreeKernel(GAMMA)
    labelled = np.isfinite(V).any(axis=1)
    w = (np.ones(len(V)) if weights is None else weights)[labelled]
    P, T = X[labelled], V[labelled]
    data = SimpleNamespace(
        gram=flat(kernel(P, P)), targets=np.nan_to_num(T), mask=np.isfinite(T), w=w, s=ALPHA * w.sum()
    )
    model = OperatorKernelRegressor(kernel, loss=hand.loss, alpha=ALPHA, center=False, tol=1e-9, max_iter=5000)
    model.fit(X, V, weights)
    C = model.dual_coef_[labelled]
    F = (data.gram @ C.ravel()).reshape(C.shape)
    assert_allclose(model.predict(P), F, atol=1e-10)
    reached, best = primal(data, hand, F, squared_norm(data, C)), reference(data, hand)
    assert abs(reached - best) <= 1e-7 * best
    assert -1e-9 <= (reached - dual_by_hand(data, hand, C)) / reached <= 1e-8


@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["", "weights"])
@pytest.mark.parametrize("V", [V, V_GAPS], ids=["", "gaps"])
def test_leave_one_out_is_that_of_refits(V, weights, center):
    settings = {"kernel": HelmholtzKernel(0.7, GAMMA), "center": center}
    w = np.ones(len(V)) if weights is None else weights
    total = w[np.isfinite(V).any(axis=1)].sum()
    model = OperatorKernelRegressor(alpha=0.02, **settings).fit(X, V, weights)
    expected = np.full(V.shape, np.nan)
    for i in np.flatnonzero(np.isfinite(V).any(axis=1)):
        others = np.arange(len(V)) != i
        refit = OperatorKernelRegressor(alpha=0.02 * total / (total - w[i]), **settings)
        expected[i] = V[i] - refit.fit(X[others], V[others], None if weights is None else w[others]).predict(X[[i]])[0]
    assert_allclose(model.loo_residuals(), expected, atol=1e-8)


@pytest.mark.parametrize("V", [V, V_GAPS], ids=["", "gaps"])
def test_alpha_is_chosen_by_leave_one_out(V):
    model = OperatorKernelRegressor(DivergenceFreeKernel()).fit(X, V)
    gamma = resolve_gamma("rbf", "median", X[np.isfinite(V).any(axis=1)])

    def error(alpha):
        again = OperatorKernelRegressor(DivergenceFreeKernel(gamma), alpha=alpha).fit(X, V)
        return np.nanmean(again.loo_residuals() ** 2)

    if np.isfinite(V).all():
        alphas, log_losses = np.sort(model.search_results_["alpha"]), []
        for alpha in alphas:
            again = OperatorKernelRegressor(DivergenceFreeKernel(gamma), alpha=alpha).fit(X, V)
            log_losses.append(log_loss_of_residuals(again.loo_residuals(), V))
        expected = mean_alpha_by_hand(alphas, log_losses, len(V), 0.1 * alphas[-1])
        assert model.alpha_ == pytest.approx(expected, rel=1e-6)
    else:
        factors = (10**-0.5, 10**-0.25, 10**0.25, 10**0.5)
        assert error(model.alpha_) <= min(error(model.alpha_ * f) for f in factors) + 1e-12
    assert model.score(X[np.isfinite(V).all(axis=1)], V[np.isfinite(V).all(axis=1)]) > 0.9


def test_weights_are_repetitions():
    counts = rng.integers(1, 4, len(X))
    weighted = OperatorKernelRegressor(HelmholtzKernel()).fit(X, V_GAPS, counts.astype(float))
    repeated = OperatorKernelRegressor(HelmholtzKernel()).fit(
        np.repeat(X, counts, axis=0), np.repeat(V_GAPS, counts, axis=0)
    )
    assert repeated.alpha_ == pytest.approx(weighted.alpha_)
    assert_allclose(repeated.predict(X_NEW), weighted.predict(X_NEW), atol=1e-6)


def test_robust_losses_choose_alpha_and_kappa():
    outliers = V.copy()
    outliers[::8] += 10.0
    model = OperatorKernelRegressor(CurlFreeKernel(), loss="huber").fit(X, outliers)
    assert model.alpha_ > 0 and model.loss_.kappa > 0
    assert model.saturated_[::8].all()


def test_a_divergence_free_model_knows_flows_better():
    assert OperatorKernelRegressor(DivergenceFreeKernel()).fit(X, V).score(X_NEW, field(X_NEW)) > 0.9
    swirl, gradient = (
        OperatorKernelRegressor(kernel).fit(X, V) for kernel in (DivergenceFreeKernel(), CurlFreeKernel())
    )
    assert np.nansum(swirl.loo_residuals() ** 2) < 0.5 * np.nansum(gradient.loo_residuals() ** 2)


def field(X):
    return np.c_[-X[:, 1], X[:, 0]] * np.exp(-0.3 * (X**2).sum(axis=1))[:, None] + [3, -1]


def test_models_are_scikit_learn_estimators():
    model = OperatorKernelRegressor(HelmholtzKernel(0.3), alpha=0.01).fit(X, V)
    again = pickle.loads(pickle.dumps(model))
    assert_allclose(again.predict(X_NEW), model.predict(X_NEW))
    assert_allclose(again.loo_residuals(), model.loo_residuals())
    assert_allclose(clone(model).fit(X, V).predict(X_NEW), model.predict(X_NEW))
    model.kernel.set_params(gamma=100.0)  # settings that change later do not reach what was learnt
    assert_allclose(model.predict(X_NEW), again.predict(X_NEW))
    grid = {"kernel__gamma": [0.01, 0.3, 10.0], "kernel__share": [0.0, 0.5, 1.0]}
    search = GridSearchCV(OperatorKernelRegressor(HelmholtzKernel(), alpha=1e-3), grid, cv=3).fit(X, V)
    assert search.best_params_ == {"kernel__gamma": 0.3, "kernel__share": 0.0}
    assert search.best_estimator_.predict(X_NEW).shape == X_NEW.shape


def test_refusals_of_the_model():
    with pytest.raises(ValueError, match=r"matrices \(2, 2\), but the outputs have 3 coordinates"):
        OperatorKernelRegressor(CurlFreeKernel()).fit(X, np.c_[V, V[:, :1]])
    with pytest.raises(ValueError, match=r"operator must be None with kernels.CurlFreeKernel, which brings its own"):
        OperatorKernelRegressor(CurlFreeKernel(), operator=np.eye(2)).fit(X, V)
    with pytest.raises(ValueError, match="dense array of numbers"):
        OperatorKernelRegressor(CurlFreeKernel()).fit(scipy.sparse.csr_array(X), V)
    with pytest.raises(ValueError, match="CurlFreeKernel: gamma must be"):
        OperatorKernelRegressor(CurlFreeKernel(gamma=0.0)).fit(X, V)
    with pytest.raises(ValueError, match="manifold"):
        OperatorKernelRegressor(CurlFreeKernel(), manifold=1.0).fit(X, V)
