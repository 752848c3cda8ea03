"""Data and formulas that the tests of StructuredPredictor share."""

import numpy as np
from numpy.testing import assert_array_equal
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import KFold

from hilbertlearn import StructuredPredictor

rng = np.random.default_rng(0)
N, M, GAMMA, ALPHA = 40, 15, 0.3, 0.01
X, NEW = rng.normal(size=(N, 2)), rng.normal(size=(M, 2))
VECTORS = np.c_[X[:, 0] + X[:, 1], np.sin(2 * X[:, 0]), X[:, 1] ** 2] + 0.1 * rng.normal(size=(N, 3))
NUMBERS = VECTORS[:, 0]
LABELS = np.digitize(VECTORS[:, 0], [-1, 0, 1]) + 3
SETS = (VECTORS > [[0, 0.3, 0.5]]).astype(int)
WORDS = ["abc", "abd", "xyz", "xy"]
STRINGS = [WORDS[label - 3] for label in LABELS]
OBJECTS = [frozenset(np.flatnonzero(row).tolist()) for row in SETS]
WEIGHTS = rng.integers(0, 4, N).astype(float)
FOLDS = KFold(4, shuffle=True, random_state=0)


def predictor(**settings):
    return StructuredPredictor(**{"gamma": GAMMA, "alpha": ALPHA, **settings})


def ridge_weights(points=NEW, rows=slice(None), weights=None, alpha=ALPHA):
    """``(K + n alpha I)^-1 k_x`` (m, n); sample weights w make it ``(K + sum(w) alpha diag(1 / w))^-1 k_x``."""
    A = X[rows]
    w = np.ones(len(A)) if weights is None else weights[rows]
    S = rbf_kernel(A, gamma=GAMMA) + alpha * w.sum() * np.diag(1 / w)
    return np.linalg.solve(S, rbf_kernel(A, points, gamma=GAMMA)).T


def jaccard(Z, Y):
    """Of two lists of sets."""
    return np.array([[1 - len(z & y) / max(len(z | y), 1) for y in Y] for z in Z])


def intersections(Z, Y):
    """A kernel of sets that is not normalised."""
    return np.array([[len(z & y) + 1.0 for y in Y] for z in Z])


def check_same(found, expected):
    assert type(found) is type(expected)
    if isinstance(found, list):
        assert found == expected
    else:
        assert found.dtype == expected.dtype
        assert_array_equal(found, expected)


def pick(y, rows):
    return [y[i] for i in rows] if isinstance(y, list) else y[rows]
