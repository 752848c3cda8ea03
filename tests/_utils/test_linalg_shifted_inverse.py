"""Inverses of Gram matrices whose small entries are precise, against long arithmetic."""

import numpy as np
import pytest
from mpmath import mp
from numpy.testing import assert_allclose
from sklearn.metrics.pairwise import rbf_kernel

from hilbertlearn._utils.linalg import shifted_inverse


@pytest.mark.parametrize("size", [1e-8, 1e-20])
@pytest.mark.parametrize("penalty", [1e-6, 1.0, 1e6])
def test_inverse_of_a_nearly_diagonal_matrix(size, penalty):
    """Entries off the diagonal are precise relative to themselves, here to second order."""
    E = size * (0.5 + np.random.default_rng(0).random((200, 200)))
    E = np.triu(E, 1) + np.triu(E, 1).T
    expected = (E @ E / (1 + penalty) - E) / (1 + penalty) ** 2
    off = ~np.eye(200, dtype=bool)
    assert_allclose(shifted_inverse(np.eye(200) + E, penalty)[off], expected[off], rtol=1e-11)


def test_inverse_of_a_kernel_of_a_large_gamma():
    K = rbf_kernel(np.random.default_rng(0).normal(size=(12, 3)), gamma=5.0)
    with mp.workdps(60):
        exact = (mp.matrix(K.tolist()) + mp.mpf(0.01) * mp.eye(12)) ** -1
        assert_allclose(shifted_inverse(K, 0.01), np.array(exact.tolist(), dtype=float), rtol=1e-12)
