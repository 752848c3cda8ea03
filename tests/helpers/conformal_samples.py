"""Vectors, gaps and groups for the settings of conformal predictors."""

import numpy as np

from hilbertlearn import OperatorKernelRegressor

METHODS = ["jackknife+", "cv+", "split"]
MODEL = OperatorKernelRegressor("rbf", gamma=0.5, alpha=0.05)


def vectors(n, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, size=(n, 2))
    return X, np.c_[np.sin(3 * X[:, 0]), X[:, 1] + X[:, 0]] + rng.normal(size=(n, 2)) * [0.3, 0.6]


X, Y = vectors(40)
QUERIES, TRUE = vectors(15, seed=1)


def samples(n=40, m=15):
    """Inputs and outputs of n samples, and of m new ones."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(n + m, 2))
    Y = np.c_[np.sin(3 * X[:, 0]), X.sum(axis=1)] + rng.normal(size=(n + m, 2)) * [0.3, 0.6]
    return X[:n], Y[:n], X[n:], Y[n:]


def noisy(n, d=2, seed=0):
    """Inputs and outputs of n samples, and inputs of a few new ones."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, size=(n + 6, 2))
    Y = np.c_[np.sin(3 * X[:, 0]), X.sum(axis=1), X[:, 0]][:, :d]
    return X[:n], (Y + rng.normal(size=Y.shape) * [0.3, 0.6, 0.1][:d])[:n], X[n:]


def machine(**settings):
    return OperatorKernelRegressor("rbf", gamma=1.0, alpha=1e-3, **settings)
