"""A small graph with inputs, some of its nodes unlabelled, for the tests of link baselines."""

import numpy as np
import scipy.linalg
from sklearn.metrics.pairwise import rbf_kernel

L, N = 14, 18  # labelled nodes, all nodes of fit
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, 3))
NEW = RNG.normal(size=(5, 3))
GROUPS = np.argmax(X @ RNG.normal(size=(3, 3)), axis=1)[:L]
W = ((np.linalg.norm(X[:L, None] - X[:L], axis=2) < 1.6) & ~np.eye(L, dtype=bool)).astype(float)
W[2], W[:, 2] = 0.0, 0.0  # an isolated node
LAPLACIAN = np.diag(W.sum(axis=1)) - W
DIFFUSION = scipy.linalg.expm(-0.7 * LAPLACIAN)


def rows(Z, gamma=0.3):
    """Kernel values of nodes with all nodes of fit."""
    return rbf_kernel(Z, X, gamma=gamma)
