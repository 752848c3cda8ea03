"""Kernels built from outputs against their dense operators."""

import numpy as np
import pytest
from helpers.by_hand import (
    ALPHA,
    GAMMA,
    LOSSES,
    OURS,
    D,
    Data,
    dual_by_hand,
    fit,
    huber,
    operators,
    primal,
    reference,
    squared_norm,
)
from numpy.testing import assert_allclose
from sklearn.metrics.pairwise import laplacian_kernel

from hilbertlearn import OperatorKernelRegressor
from hilbertlearn.kernels import OutputTensorKernel

pytestmark = pytest.mark.filterwarnings("error::sklearn.exceptions.ConvergenceWarning")


# ------------------------------------------------------------------ every loss, every kind of data

flag = pytest.mark.parametrize


# ------------------------------------------------------------------ kernels built from the outputs


def output_tensor(form, S, T, X, Y, mu):
    """The operator-valued kernel between points S and T, block by block, from the table of the six forms."""

    def k(a, b):
        return np.exp(-GAMMA * np.sum((a - b) ** 2))

    G = np.zeros((len(S), Y.shape[1], len(T), Y.shape[1]))
    for a, s in enumerate(S):
        for b, t in enumerate(T):
            for i, (x, y) in enumerate(zip(X, Y)):
                if form in ("i", "ii", "iii"):
                    local = 1.0 if form == "ii" else k(s, x) * k(t, x)
                    whole = 1.0 if form == "iii" else k(s, t)
                    G[a, :, b] += mu[i] * whole * local * np.outer(y, y)
                    continue
                for j, (u, z) in enumerate(zip(X, Y)):
                    local = 1.0 if form == "v" else k(s, x) * k(s, u) * k(t, x) * k(t, u)
                    whole = 1.0 if form == "vi" else k(s, t)
                    G[a, :, b] += mu[i, j] * whole * local * np.outer(y + z, y + z)
    return G.reshape(len(S) * Y.shape[1], len(T) * Y.shape[1])


def uneven(Y):
    return (0.1 + np.abs(Y[:, 0])) / len(Y)


def uneven_pairs(Y):
    return (0.1 + np.abs(Y[:, :1] - 2 * Y[:, 1])) / len(Y) ** 2


@flag("weights", ["uniform", "own"])
@flag("form", ["i", "ii", "iii", "iv", "v", "vi"])
def test_output_tensor_kernels_are_the_dense_ones(form, weights):
    rng = np.random.default_rng(8)
    n, pairs = 6, form in ("iv", "v", "vi")
    X, Y, new = rng.normal(size=(n, 2)), rng.normal(size=(n, D)) + 0.5, rng.normal(size=(4, 2))
    own = (uneven_pairs if pairs else uneven) if weights == "own" else None
    kernel = OutputTensorKernel(form, weights=own)

    def dense(outputs, S):
        uniform = np.full((n, n) if pairs else n, 1 / n**2 if pairs else 1 / n)
        return output_tensor(form, S, X, X, outputs, uniform if own is None else own(outputs))

    # squared loss, outputs centred by their mean: a linear system
    centred = Y - Y.mean(axis=0)
    a = np.linalg.solve(np.eye(n * D) + dense(centred, X) / (ALPHA * n), centred.ravel())
    ridge = OperatorKernelRegressor(kernel, **{**OURS, "center": True, "tol": 1e-14}).fit(X, Y)
    for points in (X, new):
        exact = (dense(centred, points) @ a / (ALPHA * n)).reshape(-1, D) + Y.mean(axis=0)
        assert_allclose(ridge.predict(points), exact, rtol=1e-5, atol=1e-6)
    assert_allclose(ridge.dual_coef_.ravel() * ALPHA * n, a, atol=1e-5)

    # Huber loss, not centred: the optimum of the dense problem
    data = Data(X, Y, None, [], {"kernel": kernel})
    data.gram = dense(Y, X)
    hand = huber(0.1, 2)
    model = fit(data, hand.loss)
    F, C = model.predict(X), model.dual_coef_
    assert_allclose(F.ravel(), data.gram @ C.ravel(), atol=1e-10)
    assert_allclose(model.predict(new).ravel(), dense(Y, new) @ C.ravel(), atol=1e-10)
    reached, best = primal(data, hand, F, squared_norm(data, C)), reference(data, hand)
    assert abs(reached - best) <= 1e-7 * best
    gap = (reached - dual_by_hand(data, hand, C)) / reached
    assert gap == pytest.approx(model.dual_gap_, abs=hand.accuracy) and gap <= 1e-8
    assert model.saturated_.any()


@flag("form", ["i", "ii", "iii", "iv", "v", "vi"])
def test_output_tensor_kernels_in_sums_with_weights_and_margins(form):
    """As one of two terms, with sample weights and gaps in the outputs, for a residual and a margin loss."""
    rng = np.random.default_rng(9)
    n, pairs = 6, form in ("iv", "v", "vi")
    X, Y, weights = rng.normal(size=(n, 2)), rng.normal(size=(n, D)), rng.uniform(0.5, 2, size=n)
    Y[1, 2] = Y[3, 0] = np.nan
    M, outputs = operators()[0], np.nan_to_num(Y)
    share = weights / weights.sum()
    mu = np.outer(share, share) if pairs else share
    K = laplacian_kernel(X, gamma=GAMMA)
    data = Data(X, Y, weights, [], {"kernel": [(OutputTensorKernel(form), None), ("laplacian", M)]})
    data.gram = output_tensor(form, X, X, X, outputs, mu) + np.kron(K, M)
    for name in ("huber-1", "squared-hinge", "hinge"):
        hand = LOSSES[name]
        model = fit(data, hand.loss)
        F, C = model.predict(X), model.dual_coef_
        assert_allclose(F.ravel(), data.gram @ C.ravel(), atol=1e-10)
        reached, best = primal(data, hand, F, squared_norm(data, C)), reference(data, hand)
        assert abs(reached - best) <= 1e-7 * best
        assert (reached - dual_by_hand(data, hand, C)) / reached == pytest.approx(model.dual_gap_, abs=hand.accuracy)
