"""Inverses of Gram matrices whose small entries are precise, against long arithmetic."""

import numpy as np
import pytest
from mpmath import mp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.preprocessing import KernelCenterer

from hilbertlearn.links.inverses import regularised_inverse, undo_centring

X = np.random.default_rng(0).normal(size=(10, 3))


@pytest.mark.parametrize(("gamma", "penalty"), [(0.5, 1.0), (5.0, 0.01), (50.0, 1e-6)])
def test_entries_are_precise_relative_to_themselves(gamma, penalty):
    K = rbf_kernel(X, gamma=gamma)
    with mp.workdps(60):
        exact = (mp.matrix(K.tolist()) + mp.mpf(penalty) * mp.eye(len(K))) ** -1
        exact = np.array(exact.tolist(), dtype=float)
    assert_allclose(regularised_inverse(K, penalty), exact, rtol=1e-9)


def test_a_penalty_below_rounding_is_finite():
    K = np.ones((6, 6))
    G = regularised_inverse(K, 1e-30)
    assert np.isfinite(G).all()
    assert_allclose(G, G.T)


def test_the_constant_vector_gets_the_mean_eigenvalue_of_a_centred_kernel():
    K = KernelCenterer().fit_transform(rbf_kernel(X, gamma=0.5))
    raised, level = undo_centring(K)
    assert level == pytest.approx(np.linalg.eigvalsh(K)[1:].mean())
    assert_allclose(raised @ np.ones(len(K)), level * np.ones(len(K)), atol=1e-12)
    assert_allclose(raised - raised.mean(axis=0), K, atol=1e-12)


def test_a_kernel_that_is_not_centred_stays_as_it_is():
    K = rbf_kernel(X)
    same, level = undo_centring(K)
    assert level == 0.0
    assert_array_equal(same, K)
