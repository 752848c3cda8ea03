"""Graph penalties: small alpha, graphs in any form, missing rows, sample weights."""

import warnings

import mpmath as mp
import numpy as np
import pytest
import scipy.sparse
from helpers.graph_robustness import HALF, L, N, W, X, Y
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel

from hilbertlearn import (
    FunctionalRegressor,
    OperatorKernelRegressor,
    StructuredPredictor,
    kernels,
)


@pytest.mark.parametrize(("alpha", "beta"), [(1e-8, 0.01), (1e-8, 1.0), (1e-5, 1000.0)])
def test_small_alpha_with_a_graph(alpha, beta):
    """Theorem 6 of Brouard et al. 2016 with 60 digits; the gap saw none of the error."""
    K = rbf_kernel(X, gamma=0.3)
    G = kernels.Affinity(5).graph(K).toarray()
    mp.mp.dps = 60
    laplacian = -mp.matrix(G.tolist())
    for i in range(N):
        laplacian[i, i] += mp.fsum(mp.matrix(G.tolist())[i, :])
    Km, seen = mp.matrix(K.tolist()), mp.diag([float(i < L) for i in range(N)])
    system = seen * Km + beta * L * laplacian * Km + alpha * L * mp.eye(N)
    c = mp.lu_solve(system, mp.matrix([float(y) if i < L else 0.0 for i, y in enumerate(Y[:, 0])]))
    exact = np.array((Km * c).tolist(), dtype=float).ravel()
    settings = {
        "gamma": 0.3,
        "alpha": alpha,
        "manifold": beta,
        "graph": kernels.Affinity(5),
        "center": False,
    }
    model = OperatorKernelRegressor(**settings).fit(X, HALF[:, 0])
    assert_allclose(model.predict(X), exact, atol=1e-5 * abs(exact).max())


def test_ratios_that_rounding_does_not_allow_are_told():
    with pytest.warns(ConvergenceWarning, match="limit of rounding"):
        OperatorKernelRegressor(alpha=1e-8, manifold=1e6).fit(X, HALF)
    with pytest.raises(ValueError, match=r"manifold.*too large beside alpha"):
        OperatorKernelRegressor(alpha=1e-8, manifold=1e305).fit(X, HALF)


def test_manifold_changed_after_fit_changes_no_residuals_or_weights():
    model = OperatorKernelRegressor(alpha=0.1, manifold=0.3).fit(X, HALF)
    before = model.loo_residuals()
    assert_array_equal(model.set_params(manifold=5.0).loo_residuals(), before)
    predictor = StructuredPredictor(alpha=0.1, manifold=0.3).fit(X, HALF)
    before = predictor.weights(X[:2])
    assert_array_equal(predictor.set_params(manifold=5.0).weights(X[:2]), before)


@pytest.mark.parametrize("form", [np.uint8, bool, list, scipy.sparse.coo_array], ids=str)
def test_diffusion_of_a_graph_in_any_form(form):
    graph = W.tolist() if form is list else form(W) if form is scipy.sparse.coo_array else W.astype(form)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert_allclose(kernels.diffusion_kernel(graph, 0.5), kernels.diffusion_kernel(W, 0.5), atol=1e-12)


@pytest.mark.parametrize(
    "bad",
    [np.where(W > 0, np.nan, 0), np.triu(W), -W],
    ids=["NaN", "asymmetric", "negative"],
)
def test_diffusion_refuses_what_is_no_graph(bad):
    with pytest.raises(ValueError, match="W "):
        kernels.diffusion_kernel(bad)
    with pytest.raises(ValueError, match="W "):
        kernels.node_kernel("normalized_laplacian", bad)


def test_none_stands_for_a_whole_row():
    rows = [*Y[:L].tolist(), *[None] * (N - L)]
    for settings in (
        {"manifold": 0.1},
        {},
        {"manifold": 0.1, "alpha": "auto", "loss": "huber"},
    ):
        settings = {"alpha": 0.1, **settings}
        model, same = (OperatorKernelRegressor(**settings).fit(X, y) for y in (rows, HALF))
        assert_allclose(model.predict(X), same.predict(X))
        assert model.score(X, rows) == same.score(X, HALF)
    curves = FunctionalRegressor(alpha=0.1, manifold=0.1)
    assert_allclose(curves.fit(X, rows).predict(X), curves.fit(X, HALF).predict(X))


def test_a_fold_without_outputs_is_no_silent_nan():
    with pytest.raises(ValueError, match="no observed output"):
        OperatorKernelRegressor(alpha=0.1).fit(X, HALF).score(X[L:], HALF[L:])


def test_weights_leave_the_graph_and_its_bandwidth_alone():
    heavy = np.where(np.arange(N) < L, 1.0, 7.0)
    models = [OperatorKernelRegressor(alpha=0.01, manifold=0.01).fit(X, HALF, w) for w in (None, heavy)]
    assert models[0].gamma_ == models[1].gamma_
    assert_allclose(models[0].predict(X), models[1].predict(X))
