"""Corners of graphs: what must not be changed, ignored or refused."""

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse
from helpers import by_hand
from helpers.hidden import hidden
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics.pairwise import rbf_kernel

from hilbertlearn import LinkPredictor, OperatorKernelRegressor, RegularizationPathCV, losses
from hilbertlearn.data.graphs import read_graph

RNG = np.random.default_rng(0)
N, KNOWN = 20, 12
X = RNG.normal(size=(N, 2))
NEW = RNG.normal(size=(4, 2))
LINKS = ((abs(X[:, None, 0] - X[:, 0]) < 0.6) & ~np.eye(N, dtype=bool)).astype(float)
ADJACENCY = LINKS[:KNOWN, :KNOWN]
Y = np.c_[X[:, 0], np.sin(X[:, 1])]
HALF = Y.copy()
HALF[KNOWN:] = np.nan
M = np.array([[2, 0.5], [0.5, 1]])


@pytest.mark.filterwarnings("ignore:.*self-loops")
def test_a_graph_with_self_loops_is_not_changed():
    given = scipy.sparse.csr_array(ADJACENCY + np.eye(KNOWN))
    before = given.toarray()
    read_graph(given)
    assert_array_equal(given.toarray(), before)


def test_networkx_graph_of_the_first_nodes():
    networkx = pytest.importorskip("networkx")
    model = LinkPredictor(alpha=0.1).fit(X, networkx.from_numpy_array(ADJACENCY))
    assert_allclose(model.pair_scores(NEW), LinkPredictor(alpha=0.1).fit(X, ADJACENCY).pair_scores(NEW))


def test_numbered_nodes_may_be_added_in_any_order():
    networkx = pytest.importorskip("networkx")
    graph = networkx.Graph()
    graph.add_edges_from([(2, 0), (0, 1)])
    assert_array_equal(read_graph(graph).toarray(), [[0, 1, 1], [1, 0, 0], [1, 0, 0]])


@pytest.mark.parametrize("alpha", ["best", None, True])
def test_alpha_of_links(alpha):
    with pytest.raises(ValueError, match="alpha must be"):
        LinkPredictor(alpha=alpha).fit(X, ADJACENCY)


@pytest.mark.parametrize("settings", [{}, {"gamma": 0.5, "center": True}, {"gamma": "auto", "alpha": "auto"}], ids=str)
def test_without_penalty_further_nodes_are_ignored(settings):
    """The median of distances, and the centre, are of known nodes as in OperatorKernelRegressor."""
    settings = {"alpha": 0.1, **settings}
    with_all = LinkPredictor(**settings).fit(X, ADJACENCY)
    assert_array_equal(with_all.pair_scores(NEW), LinkPredictor(**settings).fit(X[:KNOWN], ADJACENCY).pair_scores(NEW))
    K, CROSS = rbf_kernel(X, gamma=0.5), rbf_kernel(NEW, X, gamma=0.5)
    plain = {"alpha": 0.1, "center": True, "similarities": None}
    given = LinkPredictor("precomputed", **plain).fit(K, ADJACENCY)
    named = LinkPredictor(gamma=0.5, **plain).fit(X[:KNOWN], ADJACENCY)
    assert_allclose(given.pair_scores(CROSS), named.pair_scores(NEW))


def test_hidden_rows_of_a_list():
    assert_array_equal(hidden([[1, 2], [3, 4]], [0]), [[np.nan, np.nan], [3, 4]])
    settings = {"manifold": 0.1, "loss": "huber"}
    expected = OperatorKernelRegressor(**settings).fit(X, Y)
    assert OperatorKernelRegressor(**settings).fit(X, Y.tolist()).alpha_ == expected.alpha_
    path = RegularizationPathCV(OperatorKernelRegressor(**settings), [0.01, 0.1], cv=3)
    assert_allclose(path.fit(X, HALF.tolist()).errors_, path.fit(X, HALF).errors_)


def test_operator_that_is_zero():
    model = OperatorKernelRegressor(manifold=0.1, alpha=0.01, operator=np.zeros((2, 2))).fit(X, HALF)
    assert_allclose(model.predict(NEW), np.tile(Y[:KNOWN].mean(axis=0), (4, 1)))


@pytest.mark.parametrize("operator", [None, M], ids=["identity", "operator"])
@pytest.mark.parametrize("scale", [0.5, 0.2, 0.05])
def test_hard_bounds_on_residuals(operator, scale):
    A = np.eye(2) if operator is None else operator
    K = rbf_kernel(X, gamma=1.0)
    L = np.diag(LINKS.sum(axis=1)) - LINKS
    root = np.linalg.cholesky(np.kron(K, A) + 1e-13 * np.eye(2 * N))
    u = cp.Variable(2 * N)
    H = cp.reshape(root @ u, (N, 2), order="C")
    lam, E = np.linalg.eigh(L)
    rough = cp.sum_squares((E * np.sqrt(np.maximum(lam, 0))).T @ H)
    objective = 0.01 / 2 * cp.sum_squares(u) + 0.001 / 2 * rough
    best = by_hand.solve(objective, [cp.norm(Y[:KNOWN] - H[:KNOWN], axis=1) <= scale])
    settings = {"gamma": 1.0, "alpha": 0.01, "manifold": 0.001, "graph": LINKS, "center": False, "tol": 1e-8}
    model = OperatorKernelRegressor(operator=operator, loss=losses.Ball(scale), max_iter=20000, **settings).fit(X, HALF)
    F, C = model.predict(X), model.dual_coef_
    reached = 0.01 / 2 * np.vdot(C, K @ C @ A) + 0.001 / 2 * np.trace(F.T @ L @ F)
    assert reached == pytest.approx(best, rel=1e-3)
    assert np.linalg.norm(Y[:KNOWN] - F[:KNOWN], axis=1).max() <= scale * (1 + 1e-3)
