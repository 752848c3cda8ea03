"""The alpha with the smallest leave-one-out error, against refits."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.metrics.pairwise import rbf_kernel

from hilbertlearn import OperatorKernelRegressor, RegularizationPathCV

N, D = 9, 3
GAMMA = 0.3
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


@pytest.mark.parametrize("operator", ["identity", "full"])
@pytest.mark.parametrize("center", [False, True])
def test_auto_alpha_minimises_the_error_of_refits(operator, center):
    """Among the alphas that are as good as the best, to one in ten thousand, the largest."""
    M = OPERATORS[operator]
    settings = {"gamma": GAMMA, "operator": M, "center": center}
    chosen = OperatorKernelRegressor(**settings).fit(X, Y).alpha_
    alphas = RegularizationPathCV(OperatorKernelRegressor(**settings)).fit(X, Y).alphas_
    K = rbf_kernel(X, gamma=GAMMA)
    residuals = [by_refits(K, M, Y, alpha * N, center, np.ones(N)) for alpha in alphas]
    errors = np.array([np.mean(np.sqrt(np.mean(r**2, axis=0)) / Y.std(axis=0)) for r in residuals])
    good = errors <= errors.min() * (1 + 1e-4)
    assert chosen == alphas[good].max()
    assert alphas[0] < chosen < alphas[-1]  # the grid reaches beyond the optimum on both sides


def test_auto_alpha_of_weights_equals_that_of_copies():
    counts = rng.integers(1, 4, N)
    repeated = OperatorKernelRegressor("rbf").fit(np.repeat(X, counts, axis=0), np.repeat(Y, counts, axis=0))
    weighted = OperatorKernelRegressor("rbf").fit(X, Y, counts)
    assert repeated.alpha_ == pytest.approx(weighted.alpha_, rel=1e-9)
    assert repeated.gamma_ == pytest.approx(weighted.gamma_, rel=1e-9)
    assert_allclose(repeated.predict(X), weighted.predict(X), atol=1e-8)
