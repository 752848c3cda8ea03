"""A small problem the tests of the estimator share."""

import numpy as np

from hilbertlearn import OperatorKernelRegressor

GAMMA, ALPHA = 0.3, 0.02
N, D = 21, 3
rng = np.random.default_rng(4)
X = rng.normal(size=(N, 2))
Y = np.c_[np.sin(2 * X[:, 0]), X[:, 1], X.sum(axis=1)] + 0.1 * rng.normal(size=(N, D)) + [0, 5, -2]
NEW = rng.normal(size=(7, 2))
ROOT = rng.normal(size=(D, D))
M = ROOT @ ROOT.T
WEIGHTS = rng.uniform(0.3, 3, N)


def model(**settings):
    return OperatorKernelRegressor(**{"gamma": GAMMA, "alpha": ALPHA, **settings})


def with_gaps(Y, seed=0, share=0.3):
    gaps = Y.copy()
    gaps[np.random.default_rng(seed).random(Y.shape) < share] = np.nan
    return gaps


def by_quantile(values, level):
    """The library's convention: the average of both neighbours where the level falls between two samples."""
    return np.quantile(values, level, method="averaged_inverted_cdf")


def reweighted(loo, Y, alpha, bend, sizes=None, linear=False):
    """Held-out residuals (n, d) under weights of six rounds of iteratively reweighted least squares, written out.

    loo : function of alpha and weights; bend : function of residuals, the size from which on they are held back
    linear : whether the loss is linear from zero on, so that alpha is in units of this size; halfway it is known
    """
    sizes = sizes or (lambda residuals: np.linalg.norm(residuals, axis=1))
    residuals = Y - np.median(Y, axis=0)
    distances = np.linalg.norm(residuals, axis=1)
    weights = np.minimum(1, np.median(distances) / distances)
    for k in range(6):
        if linear and k == 3:
            alpha = alpha * bend(residuals)
        residuals = loo(alpha * len(Y) / weights.sum(), weights)
        weights = np.minimum(1, bend(residuals) / sizes(residuals))
    return residuals
