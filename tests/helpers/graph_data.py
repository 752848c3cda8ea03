"""Few nodes with features, a graph of all and of the known ones, and models of them."""

import numpy as np

from hilbertlearn import (
    LinkPredictor,
    OperatorKernelRegressor,
)

N, KNOWN = 14, 9
RNG = np.random.default_rng(5)
X, NEW = RNG.normal(size=(N, 2)), RNG.normal(size=(4, 2))
Y = np.c_[X[:, 0] + 1, np.sin(X[:, 1])]
Y[KNOWN:] = np.nan
W = ((np.linalg.norm(X[:, None] - X, axis=2) < 1.5) & ~np.eye(N, dtype=bool)).astype(float)
W[2], W[:, 2] = 0.0, 0.0
A = W[:KNOWN, :KNOWN]


def regressor(**settings):
    return OperatorKernelRegressor(**{"alpha": 0.01, "manifold": 0.1, **settings})


def links(**settings):
    return LinkPredictor(**{"alpha": 0.01, "similarities": None, "cosine": False, **settings})


CURVES = np.sin(np.linspace(0, 3, 60) * X[:, :1])
CURVES[KNOWN:] = np.nan
