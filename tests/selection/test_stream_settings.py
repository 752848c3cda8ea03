"""Settings of models of many rows."""

import numpy as np

from hilbertlearn.leave_one_out import Reservoir
from hilbertlearn.selection import select_alpha
from hilbertlearn.spaces import VectorSpace
from hilbertlearn.training import MomentProblem, Moments, alpha_grid

N, R, D = 40, 6, 3
rng = np.random.default_rng(0)
Z = rng.normal(size=(N, R))
Y = np.c_[np.sin(Z[:, 0]), Z[:, 1] ** 2, Z.sum(axis=1)] + 0.1 * rng.normal(size=(N, D)) + [0, 50, -2]


def by_hand(Z, Y, M, s, center, weights):
    """B (r, d) and the constant from one dense system over all dual variables observed, ``A + K A M / s = Y``."""
    n, d = Y.shape
    M = np.eye(d) if M is None else M
    seen = np.isfinite(Y)
    mass = weights[:, None] * seen
    mean = (mass * np.nan_to_num(Y)).sum(axis=0) / mass.sum(axis=0) if center else np.zeros(d)
    root = np.sqrt(weights)
    kept = seen.ravel()
    K = np.kron((root[:, None] * Z) @ (root[:, None] * Z).T, M)[np.ix_(kept, kept)]
    A = np.zeros(n * d)
    A[kept] = np.linalg.solve(np.eye(kept.sum()) + K / s, (root[:, None] * (Y - mean)).ravel()[kept])
    return Z.T @ (root[:, None] * A.reshape(n, d)) / s, mean


def moments_of(Z, Y, weights=None, origin=None):
    return Moments.of(Z, Y, weights, np.zeros(Y.shape[1]) if origin is None else origin)


def refitted(Z, Y, M, s, center, weights):
    """Residuals (n, d) of rows, each from a system without it."""
    M = np.eye(Y.shape[1]) if M is None else M
    out = np.empty_like(Y)
    for i in range(len(Y)):
        rest = np.delete(np.arange(len(Y)), i)
        B, mean = by_hand(Z[rest], Y[rest], M, s, center, weights[rest])
        out[i] = Y[i] - mean - Z[i] @ B @ M
    return out


def test_alpha_is_the_best_of_the_grid_by_refits():
    problem = MomentProblem(moments_of(Z, Y))
    kept = Reservoir.empty(R, D).with_rows(Z, Y, None)
    alpha, trials = select_alpha(problem, kept, VectorSpace())
    spread = Y.std(axis=0)

    def error(alpha):
        left = refitted(Z, Y, None, alpha * N, True, np.ones(N))
        return np.mean(np.sqrt((left**2).mean(axis=0)) / spread)

    grid = alpha_grid((Z**2).sum() / N)
    errors = np.array([error(one) for one in grid])
    assert error(alpha) <= errors.min() * (1 + 1e-4)
    assert np.isclose(alpha, grid, rtol=1e-12).any() and trials[0].n_samples == N
