"""Smooth curves with outlying samples: the problem of the solver benchmarks."""

from __future__ import annotations

import numpy as np
from sklearn.metrics.pairwise import rbf_kernel

from hilbertlearn import losses


def curves(n, d, *, n_features=5, outliers=0.1, seed=0):
    """X (n, n_features), Y (n, d) in orthonormal coordinates of a grid, operator M (d, d), measure (d,)."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, n_features))
    grid = np.linspace(0, 1, d)
    basis = np.array([np.sin((k + 1) * np.pi * grid) for k in range(6)])
    Y = np.sin(X @ rng.normal(size=(n_features, 6))) @ basis + 0.1 * rng.normal(size=(n, d))
    bad = rng.random(n) < outliers
    Y[bad] += 3 * rng.normal(size=(bad.sum(), 6)) @ basis
    measure = np.full(d, 1 / d)
    M = np.exp(-10 * np.abs(np.subtract.outer(grid, grid))) / d  # Laplacian integral operator
    return X, Y / np.sqrt(d), M, measure


def gram(X):
    return rbf_kernel(X, gamma=0.1)


def four_losses(Y):
    """Huber p = 2, 1 and epsilon-insensitive p = 2, inf, their settings quantiles of the outputs' sizes."""
    rows, points = np.linalg.norm(Y, axis=1), np.abs(Y)
    return [
        losses.Huber(float(np.quantile(rows, 0.3)), p=2),
        losses.Huber(float(np.quantile(points, 0.3)), p=1),
        losses.EpsilonInsensitive(float(np.quantile(rows, 0.1)), p=2),
        losses.EpsilonInsensitive(float(np.quantile(points, 0.1)), p=np.inf),
    ]
