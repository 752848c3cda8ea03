"""Noisy curves for conformal bands."""

import numpy as np

from hilbertlearn import FunctionalRegressor
from hilbertlearn.data.functions import IrregularFunctions

LEVEL = 0.8
GRID = np.linspace(0, 1, 9)
MODEL = FunctionalRegressor("rbf", gamma=1.0, alpha=1e-2)


def curve(x, u, points):
    return np.sin(4 * points + 2 * x) + (0.1 + 0.3 * points) * (u[0] + u[1] * np.sin(5 * points))


def sample(n, seed, points=None):
    """Inputs and curves, on the grid or at points of their own."""
    rng = np.random.default_rng(seed)
    X, U = rng.uniform(-1, 1, size=(n, 1)), rng.normal(size=(n, 2))
    if points is None:
        return X, np.array([curve(x, u, GRID) for x, u in zip(X[:, 0], U, strict=True)])
    own = [rng.permutation(np.r_[rng.uniform(0, 1, rng.integers(3, 7)), 0.0, 1.0]) for _ in range(n)]
    values = [curve(x, u, p) for x, u, p in zip(X[:, 0], U, own, strict=True)]
    return X, IrregularFunctions(own, values, (0.0, 1.0))


X, Y = sample(30, 0)
QUERIES, TRUE = sample(40, 1)


def smallest(values, level):
    """The k-th smallest of n values, k = ceil(level (n + 1))."""
    k = int(np.ceil(level * (len(values) + 1) - 1e-9))
    return np.sort(values)[k - 1] if k <= len(values) else np.inf
