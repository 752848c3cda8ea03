"""Data that cases of several subjects share: inputs X, NEW and outputs of all kinds, n = 24."""

import numpy as np

from helpers.small_data import with_gaps
from hilbertlearn import IrregularFunctions

N = 24
_RNG = np.random.default_rng(12)
X, NEW = _RNG.normal(size=(N, 3)), _RNG.normal(size=(5, 3))
WEIGHTS = _RNG.uniform(0.3, 3.0, N)

# vectors of three related outputs
_ROOT = np.array([[1.0, 0.2, 0.0], [0.3, 0.9, 0.1], [0.4, -0.5, 0.8]])
VECTORS = np.c_[np.sin(2 * X[:, 0]), X[:, 1] * X[:, 2], 2 * np.cos(X.sum(axis=1))] @ _ROOT + 0.1 * _RNG.normal(
    size=(N, 3)
)
VECTORS += [0.0, 3.0, -1.0]
GAPS = with_gaps(VECTORS, seed=1, share=0.2)
NUMBERS = VECTORS[:, 2]
OUTLIERS = VECTORS.copy()
OUTLIERS[[3, 11, 17]] += [[8.0, -9.0, 0.0], [0.0, 12.0, 7.0], [-10.0, 0.0, 9.0]]
SIGNS = np.where(VECTORS[:, 2] > -1.0, 1.0, -1.0)
OPERATOR = _ROOT @ _ROOT.T
UNLABELLED = np.where(np.arange(N)[:, None] % 3 == 1, np.nan, VECTORS)  # a third of the samples

# curves on a common grid, with gaps, at points of their own, and images
T = np.linspace(0.0, 2.0, 11)
CURVES = (
    np.sin(1.5 * X[:, :1] + X[:, 1:2] + 3 * T) + np.cos(X[:, 1:2] - X[:, 2:]) * T + 0.2 * _RNG.normal(size=(N, len(T)))
)
CURVE_GAPS = with_gaps(CURVES, seed=2, share=0.2)
CURVE_OUTLIERS = CURVES.copy()
CURVE_OUTLIERS[[2, 9]] += 6.0
CURVE_OUTLIERS[15, 4] -= 9.0
SEVERAL = np.stack([CURVES, 1.0 - 0.5 * CURVES + 0.1 * _RNG.normal(size=CURVES.shape)], axis=2)
SQUARE = (np.linspace(0, 1, 4), np.linspace(0, 1, 5))
_FIRST, _SECOND = np.sin(X[:, 0] + X[:, 1]), np.cos(X[:, 1] - X[:, 2])
IMAGES = _FIRST[:, None, None] * SQUARE[0][:, None] + _SECOND[:, None, None] * SQUARE[1]
IMAGES += 0.2 * _RNG.normal(size=IMAGES.shape)
_POINTS = [np.sort(_RNG.uniform(0, 2, size=_RNG.integers(5, 9))) for _ in range(N)]
IRREGULAR = IrregularFunctions(_POINTS, [np.interp(t, T, y) for t, y in zip(_POINTS, CURVES)], (0.0, 2.0))
INPUT_CURVES = np.sin(X[:, :1] * T + X[:, 1:2]) + 0.1 * _RNG.normal(size=(N, len(T)))
NEW_CURVES = np.sin(NEW[:, :1] * T + NEW[:, 1:2])
CHANNELS = np.stack([INPUT_CURVES, np.cos(INPUT_CURVES) + X[:, 2:]], axis=2)

# objects
CLASSES = np.digitize(X[:, 0] + 0.5 * X[:, 1] ** 2, [0.0, 1.0])
LABEL_SETS = (X @ _ROOT + 0.3 * X[:, ::-1] ** 2 > 0.3).astype(int)
WORDS = [["abc", "abd", "xyz"][label] for label in CLASSES]
SETS = [frozenset(np.flatnonzero(row).tolist()) for row in LABEL_SETS]
RANKINGS = (X @ _ROOT).argsort(axis=1).argsort(axis=1) + 1
RATINGS = _RNG.integers(1, 6, size=(N, 4)).astype(float)
HISTOGRAMS = np.exp(VECTORS / 2) / np.exp(VECTORS / 2).sum(axis=1, keepdims=True)
ANGLES = np.arctan2(VECTORS[:, 0], VECTORS[:, 2]) % (2 * np.pi)
DIRECTIONS = VECTORS / np.linalg.norm(VECTORS, axis=1, keepdims=True)
COUNTS = _RNG.integers(0, 3, size=(N, 6)).astype(float)
COUNTS[:, 0] += 1  # no row of zeros

# a graph of the samples, in which near ones are linked
LINKS = (np.linalg.norm(X[:, None] - X, axis=2) < 1.7).astype(float) * ~np.eye(N, dtype=bool)
