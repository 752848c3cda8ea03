"""A graph's penalty with an operator: a kernel for each eigenvalue as long as memory holds them."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel

from hilbertlearn import OperatorKernelRegressor
from hilbertlearn._utils import validation
from hilbertlearn.core.terms import kernels_in_memory
from hilbertlearn.operators import LearnedOperator

N, KNOWN, TASKS, ALPHA, BETA = 40, 15, 59, 1e-2, 0.3
RNG = np.random.default_rng(0)
X, NEW = RNG.normal(size=(N, 2)), RNG.normal(size=(6, 2))
E = np.linalg.qr(RNG.normal(size=(TASKS, TASKS)))[0]
VALUES = np.geomspace(0.01, 3, TASKS)  # all different
A = (E * VALUES) @ E.T
Y = np.full((N, TASKS), np.nan)
Y[:KNOWN] = np.sin(X[:KNOWN] @ RNG.normal(size=(2, TASKS)))
K, CROSS = rbf_kernel(X, gamma=0.5), rbf_kernel(NEW, X, gamma=0.5)
W = np.where(K > 0.3, K, 0.0) * ~np.eye(N, dtype=bool)
L = np.diag(W.sum(axis=1)) - W


def regressor(**settings):
    given = {"gamma": 0.5, "alpha": ALPHA, "manifold": BETA, "graph": W, "center": False, "operator": A}
    return OperatorKernelRegressor(**{**given, **settings})


@pytest.fixture(scope="module")
def expected():
    """Predictions at NEW from one linear system in all N x 59 coefficients.

    The objective is ``1/(2l) sum_i |y_i - h(x_i)|^2 + alpha/2 |h|^2 + beta/2 sum_ij L_ij <h(x_i), h(x_j)>`` with
    ``h(x) = sum_i k(x, x_i) A c_i``.
    """
    J = np.diag(np.arange(N) < KNOWN) / KNOWN
    system = np.kron((J + BETA * L) @ K, A) + ALPHA * np.eye(N * TASKS)
    C = np.linalg.solve(system, (J @ np.nan_to_num(Y)).ravel()).reshape(N, TASKS)
    return CROSS @ C @ A


def memory_for(kernels):
    """Bytes that hold so many kernels beside what all samples take."""
    return 8.0 * (3 * kernels * KNOWN**2 + 5 * N**2)


def test_59_tasks_have_59_kernels(expected):
    found = regressor().fit(X, Y)
    assert found.manifold_error_ == 0
    assert_allclose(found.predict(NEW), expected, atol=1e-8)
    without = regressor(manifold=0.0).fit(X, Y).predict(NEW)
    assert np.abs(without - expected).max() > 0.1  # the graph has its part


@pytest.mark.parametrize("kernels", [5, 20, 58])
@pytest.mark.filterwarnings("ignore:.*some share a kernel")
def test_kernels_are_shared_where_memory_is_short(kernels, expected, monkeypatch):
    """The bound holds for the predictions themselves here, and is the tighter the more kernels there are."""
    monkeypatch.setattr(validation, "_physical_memory", lambda: memory_for(kernels))
    assert_allclose(kernels_in_memory(KNOWN, N), kernels)
    found = regressor().fit(X, Y)
    error = np.abs(found.predict(NEW) - expected).max() / np.abs(expected).max()
    assert 1e-8 < error < found.manifold_error_
    monkeypatch.setattr(validation, "_physical_memory", lambda: memory_for(kernels + 1))
    assert regressor().fit(X, Y).manifold_error_ < found.manifold_error_


def test_learnt_operators_of_59_tasks(monkeypatch):
    model = regressor(operator=LearnedOperator())
    assert model.fit(X, Y).manifold_error_ == 0
    monkeypatch.setattr(validation, "_physical_memory", lambda: memory_for(20))
    with pytest.raises(ValueError, match="59 eigenvalues, each with a kernel of its own, and memory is for 20; use"):
        model.fit(X, Y)


def test_there_is_room_for_one_kernel_at_least(monkeypatch):
    monkeypatch.setattr(validation, "_physical_memory", lambda: 8.0 * 4 * N**2)
    assert kernels_in_memory(KNOWN, N) == 1
    with pytest.warns(ConvergenceWarning, match="some share a kernel"):
        assert np.isfinite(regressor().fit(X, Y).predict(NEW)).all()


def test_memory_that_is_not_known(monkeypatch):
    monkeypatch.setattr(validation, "_physical_memory", lambda: np.inf)
    assert regressor().fit(X, Y).manifold_error_ == 0
