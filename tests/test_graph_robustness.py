"""Graphs, links and related tasks where numbers are extreme, inputs odd, or a fit goes wrong."""

import warnings

import mpmath as mp
import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Ridge
from sklearn.metrics.pairwise import rbf_kernel

from hilbertlearn import (
    FunctionalRegressor,
    LinkPredictor,
    OperatorKernelRegressor,
    StructuredPredictor,
    baselines,
    kernels,
    operators,
)
from hilbertlearn.links.leave_pair_out import leave_pairs_out

RNG = np.random.default_rng(0)
N, L = 24, 14
X = RNG.normal(size=(N, 3))
W = ((abs(X[:, None, 0] - X[:, 0]) < 0.5) & ~np.eye(N, dtype=bool)).astype(float)
KNOWN = W[:L, :L]
Y = np.c_[X[:, 0], np.sin(X[:, 1])]
HALF = Y.copy()
HALF[L:] = np.nan
LABELLED_ONLY = [
    baselines.LocalLinkModel,
    baselines.KernelMetricLearning,
    baselines.KernelCCALinks,
    baselines.KernelMatrixRegression,
]
LINKS = [*LABELLED_ONLY, baselines.NaiveLinkPredictor, baselines.EMKernelCompletion]


# 1
def test_nadaraya_watson_of_curves_fits():
    assert baselines.FunctionalNadarayaWatson().fit(X, np.sin(X[:, :1] + np.linspace(0, 3, 9))).predict(X).shape == (
        N,
        9,
    )


# 2
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


# 3
@pytest.mark.parametrize("penalty", [1e-6, 1e-8, 1e-10])
def test_pairs_left_out_of_repeated_samples(penalty):
    K, V = rbf_kernel(np.repeat(X[:5], 2, axis=0)), RNG.normal(size=(10, 3))
    products, squares = leave_pairs_out(K, V, penalty)
    mp.mp.dps = 50
    for i, j in ((0, 1), (2, 3), (0, 2), (1, 8)):
        rest = [k for k in range(10) if k not in (i, j)]
        inverse = (mp.matrix(K[np.ix_(rest, rest)].tolist()) + mp.mpf(penalty) * mp.eye(8)) ** -1
        h = np.array(
            (mp.matrix(K[[i, j]][:, rest].tolist()) * inverse * mp.matrix(V[rest].tolist())).tolist(),
            dtype=float,
        )
        assert_allclose(
            [products[i, j], squares[i, j], squares[j, i]],
            [h[0] @ h[1], h[0] @ h[0], h[1] @ h[1]],
            rtol=1e-4,
        )


def test_pairs_left_out_with_a_huge_alpha():
    assert np.isfinite(LinkPredictor(alpha=1e300, similarities=None).fit(X, KNOWN).thresholds_["new"])


# 4
def test_settings_changed_after_fit_change_nothing_of_links():
    model = LinkPredictor(gamma=0.5, alpha=0.1, cosine=True, center=True).fit(X, KNOWN)
    before = model.pair_scores(X[:4])
    model.set_params(cosine=False, center=False, kernel="precomputed")
    assert_array_equal(model.pair_scores(X[:4]), before)


def test_manifold_changed_after_fit_changes_no_residuals_or_weights():
    model = OperatorKernelRegressor(alpha=0.1, manifold=0.3).fit(X, HALF)
    before = model.loo_residuals()
    assert_array_equal(model.set_params(manifold=5.0).loo_residuals(), before)
    predictor = StructuredPredictor(alpha=0.1, manifold=0.3).fit(X, HALF)
    before = predictor.weights(X[:2])
    assert_array_equal(predictor.set_params(manifold=5.0).weights(X[:2]), before)


# 5
@pytest.mark.parametrize("method", LINKS)
def test_a_baseline_whose_fit_fails_is_as_before(method):
    model = method().fit(X, W)
    before = model.pair_scores(X[:4])
    with pytest.raises(ValueError):
        model.fit(X[:5, :2], W)
    assert_array_equal(model.pair_scores(X[:4]), before)


@pytest.mark.parametrize("method", LABELLED_ONLY)
def test_unlabelled_nodes_have_no_part_in_the_bandwidth(method):
    model, alone = method().fit(X, KNOWN), method().fit(X[:L], KNOWN)
    assert model.gamma_ == alone.gamma_
    assert_allclose(model.pair_scores(X[L:]), alone.pair_scores(X[L:]))


@pytest.mark.parametrize("method", LINKS)
def test_baselines_have_a_score(method):
    assert 0 <= method().fit(X[:L], KNOWN).score(X, W) <= 1


# 6
@pytest.mark.parametrize("form", [np.uint8, bool, list, scipy.sparse.coo_array], ids=str)
def test_diffusion_of_a_graph_in_any_form(form):
    graph = W.tolist() if form is list else form(W) if form is scipy.sparse.coo_array else W.astype(form)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert_allclose(kernels.diffusion(graph, 0.5), kernels.diffusion(W, 0.5), atol=1e-12)


@pytest.mark.parametrize(
    "bad",
    [np.where(W > 0, np.nan, 0), np.triu(W), -W],
    ids=["NaN", "asymmetric", "negative"],
)
def test_diffusion_refuses_what_is_no_graph(bad):
    with pytest.raises(ValueError, match="W "):
        kernels.diffusion(bad)
    with pytest.raises(ValueError, match="W "):
        kernels.node_kernel("normalized_laplacian", bad)


# 7
def test_an_operator_that_is_not_learnt_to_the_end_is_told():
    with pytest.warns(ConvergenceWarning, match=r"Learned.*max_iter"):
        OperatorKernelRegressor(operator=operators.Learned(max_iter=1), alpha=0.01).fit(X, Y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        OperatorKernelRegressor(operator=operators.Learned(), alpha=0.01).fit(X, Y)


# 8
def test_a_regressor_has_no_graph():
    for model, y in (
        (LinkPredictor(regressor=Ridge(), manifold=0.1), KNOWN),
        (FunctionalRegressor(regressor=Ridge(), manifold=0.1), HALF),
        (
            StructuredPredictor(regressor=Ridge(), output_kernel="linear", manifold=0.1),
            HALF,
        ),
    ):
        with pytest.raises(ValueError, match=r"regressor.*manifold=0"):
            model.fit(X, y)


@pytest.mark.parametrize("regressor", [Ridge, "ridge", object()], ids=["class", "name", "object"])
def test_regressor_of_links_is_one(regressor):
    with pytest.raises(TypeError, match="regressor must be"):
        LinkPredictor(regressor=regressor).fit(X, KNOWN)


# 9
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


# 10
def test_a_fold_without_outputs_is_no_silent_nan():
    with pytest.raises(ValueError, match="no observed output"):
        OperatorKernelRegressor(alpha=0.1).fit(X, HALF).score(X[L:], HALF[L:])


# 11
def test_graphs_without_nodes_and_links_without_numbers():
    networkx = pytest.importorskip("networkx")
    for empty in (np.zeros((0, 0)), networkx.Graph()):
        with pytest.raises(ValueError, match="y has no nodes"):
            LinkPredictor().fit(X, empty)
    graph = networkx.Graph()
    graph.add_edge(0, 1, weight="strong")
    with pytest.raises(ValueError, match="y has weights of edges that are no numbers"):
        LinkPredictor().fit(X, graph)


def test_groups_of_pandas_may_be_missing():
    groups = pd.Series(["a", "b", None] * (N // 3), dtype="string")
    expected = LinkPredictor(alpha=0.1).fit(X, ["a", "b", None] * (N // 3))
    assert_allclose(LinkPredictor(alpha=0.1).fit(X, groups).embedding_, expected.embedding_)


def test_cross_validation_of_an_adjacency_is_explained():
    with pytest.raises(ValueError, match="rows only"):
        LinkPredictor().fit(X[:10], W[:10])


def test_lists_of_kernels_are_refused_in_words_that_are_true():
    with pytest.raises(TypeError, match="single kernel"):
        LinkPredictor([("rbf", None), ("linear", None)]).fit(X, KNOWN)


# 12
def test_weights_leave_the_graph_and_its_bandwidth_alone():
    heavy = np.where(np.arange(N) < L, 1.0, 7.0)
    models = [OperatorKernelRegressor(alpha=0.01, manifold=0.01).fit(X, HALF, w) for w in (None, heavy)]
    assert models[0].gamma_ == models[1].gamma_
    assert_allclose(models[0].predict(X), models[1].predict(X))
