"""Random graphs with features, and models fitted without some pairs by hand."""

import numpy as np
from scipy.special import expit

from hilbertlearn import ConformalPredictor, LinkPredictor
from hilbertlearn.graphs import Pairs
from hilbertlearn.model_selection import EdgeSplit

LEVEL = 0.8
MODEL = LinkPredictor(gamma=10.0, alpha=0.01, similarities=("adamic_adar", "attributes"))


def graph(n, seed):
    """Features (n, 2) and links, the likelier the nearer nodes are."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(n, 2))
    distances = np.linalg.norm(X[:, None] - X, axis=2)
    A = np.triu(rng.random((n, n)) < expit((0.25 - distances) / 0.06), 1)
    return X, (A | A.T).astype(float)


def conformal(method="cv+", **settings):
    return ConformalPredictor(MODEL, method, **{"level": LEVEL, "random_state": 0, **settings})


X, A = graph(40, 0)
PAIRS = Pairs(A, X)
TRAIN, TEST = next(EdgeSplit(4, random_state=1).split(PAIRS))
KNOWN, HIDDEN = PAIRS[TRAIN], PAIRS[TEST]
