"""Edge cases of semi-supervised models."""

import cvxpy as cp
import numpy as np
import pytest
from helpers import by_hand
from helpers.graph_edges import HALF, KNOWN, LINKS, NEW, N, X, Y
from helpers.hidden import hidden
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics.pairwise import rbf_kernel

from hilbertlearn import OperatorKernelRegressor, RegularizationPathCV, losses

M = np.array([[2, 0.5], [0.5, 1]])


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
