"""Nodes with features, a graph, and outputs of some of them."""

import numpy as np

RNG = np.random.default_rng(0)
N, KNOWN = 20, 12
X = RNG.normal(size=(N, 2))
NEW = RNG.normal(size=(4, 2))
LINKS = ((abs(X[:, None, 0] - X[:, 0]) < 0.6) & ~np.eye(N, dtype=bool)).astype(float)
ADJACENCY = LINKS[:KNOWN, :KNOWN]
Y = np.c_[X[:, 0], np.sin(X[:, 1])]
HALF = Y.copy()
HALF[KNOWN:] = np.nan
