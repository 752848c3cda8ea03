"""Nodes with features, a graph, and outputs of some of them."""

import numpy as np

RNG = np.random.default_rng(0)
N, L = 24, 14
X = RNG.normal(size=(N, 3))
W = ((abs(X[:, None, 0] - X[:, 0]) < 0.5) & ~np.eye(N, dtype=bool)).astype(float)
KNOWN = W[:L, :L]
Y = np.c_[X[:, 0], np.sin(X[:, 1])]
HALF = Y.copy()
HALF[L:] = np.nan
