"""Few samples, and predictors of them."""

import numpy as np
from sklearn.metrics.pairwise import rbf_kernel

from hilbertlearn import StructuredPredictor

rng = np.random.default_rng(0)
N, M, GAMMA, ALPHA = 40, 15, 0.3, 0.01
X, NEW = rng.normal(size=(N, 2)), rng.normal(size=(M, 2))
VECTORS = np.c_[X[:, 0] + X[:, 1], np.sin(2 * X[:, 0]), X[:, 1] ** 2] + 0.1 * rng.normal(size=(N, 3))
NUMBERS = VECTORS[:, 0]


def predictor(**settings):
    return StructuredPredictor(**{"gamma": GAMMA, "alpha": ALPHA, **settings})


def ridge_weights(rows=slice(None), weights=None):
    A = X[rows]
    w = np.ones(len(A)) if weights is None else weights[rows]
    S = rbf_kernel(A, gamma=GAMMA) + ALPHA * w.sum() * np.diag(1 / w)
    return np.linalg.solve(S, rbf_kernel(A, NEW, gamma=GAMMA)).T
