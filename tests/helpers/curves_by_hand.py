"""Regression of functions written as scalar kernel regression on pairs (sample, point), and small data for it.

A function-valued h(x) is a scalar function of (x, t), and the kernel ``k(x, z) M`` is the scalar kernel
``k(x, z) between(s, t)``: between is the integral operator's kernel on a grid, ``phi(s)' B phi(t)`` in a dictionary. No
coordinates, no quadrature of the operator: weights of the points are those of the loss alone.
"""

from dataclasses import dataclass

import cvxpy as cp
import numpy as np
from sklearn.metrics.pairwise import rbf_kernel

from helpers.by_hand import solve

GAMMA, ALPHA, N = 0.4, 3e-3, 13
rng = np.random.default_rng(8)
X, NEW = rng.normal(size=(N, 2)), rng.normal(size=(4, 2))
K, K_NEW = rbf_kernel(X, gamma=GAMMA), rbf_kernel(NEW, X, gamma=GAMMA)
UNEVEN = np.array([0.0, 0.03, 0.1, 0.13, 0.3, 0.42, 0.5, 0.77, 0.81, 0.94, 1.0])
SHARED = {"gamma": GAMMA, "alpha": ALPHA, "center": False, "tol": 1e-11, "max_iter": 20000}


def curves(t, X=X, seed=0, noise=0.2):
    """Noisy curves (n, m)."""
    noise = noise * np.random.default_rng(seed).normal(size=(len(X), len(t)))
    return np.sin(5 * t + X[:, :1]) + X[:, 1:] * t**2 + 0.5 + noise


def with_gaps(Y, seed=1, share=0.3):
    gaps = Y.copy()
    gaps[np.random.default_rng(seed).random(Y.shape) < share] = np.nan
    return gaps


def trapezoid(t):
    """Weights of the trapezoid rule on [t_0, t_m], of sum 1, by integrating hat functions."""
    return np.array([np.trapezoid(hat, t) for hat in np.eye(len(t))]) / (t[-1] - t[0])


# ------------------------------------------------------------------ kernels of points


def laplace(gamma):
    return lambda s, t: np.exp(-gamma * np.abs(np.subtract.outer(s, t)))


def gauss(gamma):
    return lambda s, t: np.exp(-gamma * np.subtract.outer(s, t) ** 2)


def spanned(phi, B):
    """Combinations of atoms phi (p,) -> (k, p) whose coefficients have the operator B."""
    return lambda s, t: phi(s).T @ B @ phi(t)


def hats(grid):
    return lambda t: np.array([np.interp(t, grid, unit) for unit in np.eye(len(grid))])


# ------------------------------------------------------------------ pairs


@dataclass
class Observed:
    """Values seen at points of samples: all (N,), the points anything the kernel of points takes."""

    sample: np.ndarray
    point: np.ndarray
    value: np.ndarray
    weight: np.ndarray  # in the loss of its sample

    @classmethod
    def on_grid(cls, Y, grid, weights):
        i, j = np.nonzero(np.isfinite(Y))
        return cls(i, grid[j], Y[i, j], weights[j])

    @classmethod
    def at_own_points(cls, points, values):
        """Each of M_i values weighs 1 / M_i."""
        sizes = [len(p) for p in points]
        sample = np.repeat(np.arange(len(points)), sizes)
        return cls(sample, np.concatenate(points), np.concatenate(values), 1.0 / np.repeat(sizes, sizes))

    def normalised(self):
        """Weights of each sample scaled to sum 1."""
        total = np.bincount(self.sample, self.weight)
        return Observed(self.sample, self.point, self.value, self.weight / total[self.sample])

    def gram(self, K, between):
        return K[np.ix_(self.sample, self.sample)] * between(self.point, self.point)


def ridge(seen, between, new_points, *, K=K, K_new=K_NEW, alpha=ALPHA, sample_weight=None):
    """Predictions (n_new, m) of  sum_i w_i sum_m 1/2 weight_im (y_im - h_im)^2 / sum_i w_i + alpha/2 ||h||^2."""
    w = np.ones(len(K)) if sample_weight is None else sample_weight
    penalty = alpha * w[np.unique(seen.sample)].sum()
    system = seen.gram(K, between) + np.diag(penalty / (seen.weight * w[seen.sample]))
    coef = np.linalg.solve(system, seen.value)
    along = between(new_points, seen.point) * coef  # (m, N)
    return K_new[:, seen.sample] @ along.T


def robust(seen, between, rows, *, K=K, alpha=ALPHA, sample_weight=None):
    """Fitted values (N,) and optimum by Clarabel; ``rows(residuals)`` gives one loss for each sample."""
    w = np.ones(len(K)) if sample_weight is None else sample_weight
    values, vectors = np.linalg.eigh(seen.gram(K, between))
    root = vectors * np.sqrt(np.maximum(values, 0))
    u = cp.Variable(root.shape[1])
    loss = w @ rows(seen.value - root @ u) / w.sum()
    best = solve(loss + alpha / 2 * cp.sum_squares(u), [])
    return root @ u.value, best


def of_norms(seen, scalar):
    """A function of the norm of each sample's residuals, for cvxpy."""
    parts = [np.flatnonzero(seen.sample == i) for i in range(seen.sample.max() + 1)]
    return lambda r: cp.hstack([scalar(cp.norm(cp.multiply(np.sqrt(seen.weight[p]), r[p]))) for p in parts])


def of_points(seen, scalar):
    """The weighted sum over each sample's points of a function of the residual, for cvxpy."""
    parts = [np.flatnonzero(seen.sample == i) for i in range(seen.sample.max() + 1)]
    return lambda r: cp.hstack([seen.weight[p] @ scalar(r[p]) for p in parts])


def huber(kappa):
    """Half the square up to kappa, then linear; cvxpy's has no half."""
    return lambda r: cp.huber(r, kappa) / 2


def tube(epsilon):
    return lambda r: cp.square(cp.pos(cp.abs(r) - epsilon)) / 2
