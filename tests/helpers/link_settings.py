"""A small network, and a predictor that scores by h alone."""

import numpy as np
import scipy.linalg
from sklearn.metrics.pairwise import rbf_kernel

from hilbertlearn import LinkPredictor

N, KNOWN, GAMMA, ALPHA = 28, 21, 5.0, 0.02
RNG = np.random.default_rng(6)
X, NEW = RNG.uniform(size=(N, 2)), RNG.uniform(size=(4, 2))
EVERY = rbf_kernel(X, gamma=GAMMA)
K, CROSS = EVERY[:KNOWN, :KNOWN], rbf_kernel(NEW, X[:KNOWN], gamma=GAMMA)
LINKS = ((np.linalg.norm(X[:, None] - X, axis=2) < 0.25) & ~np.eye(N, dtype=bool)).astype(float)
A = LINKS[:KNOWN, :KNOWN]
K_Y = scipy.linalg.expm(A - np.diag(A.sum(axis=1)))


def alone(**settings):
    plain = {"gamma": GAMMA, "alpha": ALPHA, "similarities": None, "cosine": False}
    return LinkPredictor(**{**plain, **settings})
