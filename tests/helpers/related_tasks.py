"""Samples of related tasks, some of them unlabelled, with the kernel and graph of Brouard et al. 2016, section 5.2."""

import numpy as np
import pytest
from sklearn.metrics.pairwise import rbf_kernel

from hilbertlearn import OperatorKernelRegressor

N, KNOWN, D, GAMMA = 20, 13, 4, 0.5
LAMBDA_1, LAMBDA_2 = 1.0, 0.3  # the paper's letters: alpha = lambda_1 / l, beta = 2 lambda_2 / l
RNG = np.random.default_rng(1)
X = RNG.normal(size=(N, 2))
NEW = RNG.normal(size=(6, 2))
TRUTH = np.c_[np.sin(2 * X[:, 0]), np.sin(2 * X[:, 0]) + 0.3 * X[:, 1], X[:, 1], X.prod(axis=1)] + [0.5, 0, 0, -1]
ROWS = np.sort(RNG.choice(N, KNOWN, replace=False))
OTHERS = np.setdiff1d(np.arange(N), ROWS)
Y = TRUTH.copy()
Y[OTHERS] = np.nan
K, CROSS = rbf_kernel(X, gamma=GAMMA), rbf_kernel(NEW, X, gamma=GAMMA)
GRAPH = np.where(K > 0.4, K, 0.0) * ~np.eye(N, dtype=bool)
L = np.diag(GRAPH.sum(axis=1)) - GRAPH
WEIGHTS = RNG.uniform(0.3, 3, N)
PLAIN = {"gamma": GAMMA, "center": False, "tol": 1e-10, "max_iter": 5000}
with_manifold = pytest.mark.parametrize("lambda_2", [0.0, LAMBDA_2], ids=["supervised", "semi-supervised"])


def regressor(lambda_2=0.0, **settings):
    """The paper's model of KNOWN labelled samples."""
    return OperatorKernelRegressor(
        **{
            "scale": False,
            **PLAIN,
            "alpha": LAMBDA_1 / KNOWN,
            "manifold": 2 * lambda_2 / KNOWN,
            "graph": GRAPH,
            **settings,
        }
    )


def root_of(A):
    values, vectors = np.linalg.eigh(A)
    return (vectors * np.sqrt(np.maximum(values, 0))) @ vectors.T
