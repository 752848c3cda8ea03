"""Selection of landmarks: pools, weights, and the law of random pivots."""

import numpy as np
import pytest

from hilbertlearn import features, kernels
from hilbertlearn.features.landmark_selection import METHODS

RBF = kernels.InputKernel("rbf", gamma=0.15)


def rows(n=120, p=4, seed=0):
    return np.random.default_rng(seed).normal(size=(n, p))


@pytest.mark.parametrize("method", METHODS)
def test_weights_leave_samples_out_and_draw_the_heavy_ones(method):
    X = rows(200)
    weights = np.where(np.arange(200) < 100, 0.0, 1.0)
    assert features.Landmarks(30, method).fit(RBF, X, weights).columns.min() >= 100
    assert features.Landmarks(300, method).fit(RBF, X, weights).n_components == 100
    weights = np.where(np.arange(200) < 100, 1e-3, 1.0)
    heavy = np.concatenate(
        [features.Landmarks(20, method, random_state=s).fit(RBF, X, weights).columns for s in range(10)]
    )
    # the middle of heavy samples may be a light one
    assert (heavy >= 100).mean() > (0.65 if method == "medoids" else 0.85)


@pytest.mark.parametrize("method", METHODS)
def test_pools_are_bounded_and_seeds_reproduce(method, monkeypatch):
    asked = []

    def kernel(A, B):
        asked.append(len(A))
        return kernels.gram("rbf", A, B, gamma=0.1)

    X = rows(2000)
    fitted = features.Landmarks(10, method).fit(kernels.InputKernel(kernel), X)
    assert max(asked) <= 80  # eight candidates for each landmark
    again = features.Landmarks(10, method).fit(kernels.InputKernel(kernel), X)
    other = features.Landmarks(10, method, random_state=1).fit(kernels.InputKernel(kernel), X)
    assert np.array_equal(fitted.columns, again.columns)
    assert not np.array_equal(fitted.columns, other.columns)


def rare_clusters(seed):
    """One large cluster, and eight of a few samples each, far from it and from each other."""
    rng = np.random.default_rng(seed)
    rare = np.repeat(12 * rng.normal(size=(8, 3)), 5, axis=0)
    return np.vstack([rng.normal(size=(960, 3)), rare + 0.3 * rng.normal(size=(40, 3))])


def test_chosen_landmarks_leave_less_of_the_trace_than_random_ones():
    left = {method: [] for method in METHODS}
    for seed in range(6):
        X = rare_clusters(seed)
        for method in METHODS:
            left[method].append(features.Landmarks(40, method, random_state=seed).fit(RBF, X).trace_error(X))
    mean = {method: np.mean(values) for method, values in left.items()}
    assert mean["pivoted"] < 0.6 * mean["uniform"]
    assert mean["leverage"] < mean["uniform"]
    assert mean["medoids"] < mean["uniform"]


def test_pivots_have_the_law_of_one_by_one():
    # two pivots of three samples: the first by k(x, x), the second by what the first left
    K = np.array([[2.0, 1.2, 0.0], [1.2, 1.0, 0.3], [0.0, 0.3, 1.0]])
    draws = 1000
    counts = np.zeros((3, 3))
    kernel, setting = kernels.InputKernel("precomputed"), features.Landmarks(2, "pivoted")
    for seed in range(draws):
        i, j = setting.set_params(random_state=seed).fit(kernel, K).columns
        counts[i, j] += 1
    expected = np.zeros((3, 3))
    for i in range(3):
        left = K.diagonal() - K[i] ** 2 / K[i, i]
        left[i] = 0.0
        expected[i] = K[i, i] / np.trace(K) * left / left.sum()
    assert np.abs(counts / draws - expected).max() < 4 * np.sqrt(0.25 / draws)
