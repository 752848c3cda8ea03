"""Pairs of nodes left out, with and without a constant and full rank, against refits."""

import itertools

import numpy as np
import pytest
from numpy.testing import assert_allclose

from hilbertlearn.links.leave_pair_out import leave_pairs_out

N, D = 9, 3
rng = np.random.default_rng(0)
X = rng.normal(size=(N, 2))
Y = np.c_[np.sin(2 * X[:, 0]), X[:, 1], X.sum(axis=1)] + 0.1 * rng.normal(size=(N, D)) + [0, 5, -2]


@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("rank", [12, 5])
def test_pairs_left_out_equal_refits(center, rank):
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(12, rank)), rng.normal(size=(12, 4))
    K, s = (X @ X.T if rank < 12 else np.exp(-((X[:, None] - X) ** 2).sum(axis=-1) / 10)), 0.3
    Y = Y - Y.mean(axis=0) if center else Y
    products, squares = leave_pairs_out(K, Y, s, center=center)
    for i, j in itertools.permutations(range(12), 2):
        others = np.setdiff1d(np.arange(12), [i, j])
        T = Y[others] - Y[others].mean(axis=0) if center else Y[others]
        h = K[:, others] @ np.linalg.solve(K[np.ix_(others, others)] + s * np.eye(10), T)
        assert_allclose([products[i, j], squares[i, j]], [h[i] @ h[j], h[i] @ h[i]], atol=1e-12)
