"""Vectors with noise, and models refitted by hand, for conformal predictors."""

import numpy as np

from hilbertlearn import OperatorKernelRegressor

LEVEL = 0.8
SCORES = ["constant", "scale", "robust", "trimmed", "mahalanobis", "novelty"]
METHODS = ["jackknife+", "cv+", "split"]


def vectors(n, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, size=(n, 2))
    return X, np.c_[np.sin(3 * X[:, 0]), X[:, 1] + X[:, 0]] + rng.normal(size=(n, 2)) * [0.3, 0.6]


X, Y = vectors(30)
QUERIES, TRUE = vectors(25, seed=1)
MODEL = OperatorKernelRegressor("rbf", gamma=0.5, alpha=0.05)


def ends_by_definition(values, level):
    """The k-th smallest of a list, infinite where there are not so many."""
    k = int(np.ceil(level * (len(values) + 1) - 1e-9))
    return sorted(values)[k - 1] if k <= len(values) else np.inf
