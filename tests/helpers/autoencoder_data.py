"""Small data for the autoencoder's tests."""

import numpy as np

from hilbertlearn import losses

rng = np.random.default_rng(0)
ANGLE = np.sort(rng.uniform(0, 5, 40))
X = np.column_stack([np.cos(ANGLE), np.sin(ANGLE), ANGLE / 3]) + 0.02 * rng.normal(size=(40, 3))
LOSSES = {
    "squared": losses.Squared(),
    "huber": losses.Huber(0.3),
    "insensitive": losses.EpsilonInsensitive(0.3),
    "svr": losses.EpsilonSVR(0.3),
}


def coordinates(K):
    """V with K = V V', by the eigendecomposition."""
    values, vectors = np.linalg.eigh(K)
    return vectors * np.sqrt(np.maximum(values, 0))


def moved(arrays, which, step):
    """The arrays, one of them moved by a step."""
    return [A + step if i == which else A for i, A in enumerate(arrays)]
