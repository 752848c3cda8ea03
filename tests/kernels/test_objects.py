"""Kernels of fingerprints and of single objects, against their definitions."""

import numpy as np
import pytest
import scipy.sparse
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.gaussian_process.kernels import RBF

from hilbertlearn.kernels import (
    OutputTensorKernel,
    PairwiseKernel,
    Tanimoto,
    training_gram,
)

rng = np.random.default_rng(1)
X = rng.uniform(0.1, 2, size=(15, 4))
Z = rng.uniform(0.1, 2, size=(6, 4))


# ---------------------------------------------------------------- objects


def jaccard(a, b):
    union = set(np.flatnonzero(a)) | set(np.flatnonzero(b))
    return len(set(np.flatnonzero(a)) & set(np.flatnonzero(b))) / len(union) if union else 1.0


@pytest.mark.parametrize("dtype", [bool, np.int8, float])
@pytest.mark.parametrize("matrix", [np.asarray, scipy.sparse.csr_matrix])
def test_tanimoto_of_bits_is_that_of_sets(matrix, dtype):
    A, B = (rng.random((n, 12)) < 0.3 for n in (8, 5))
    A[2] = B[3] = False  # empty sets
    expected = [[jaccard(a, b) for b in B] for a in A]
    assert_allclose(Tanimoto()(matrix(A.astype(dtype)), matrix(B.astype(dtype))), expected, atol=1e-12)


def test_tanimoto_of_many_bits_does_not_overflow():
    bits = np.ones((1, 300), dtype=np.int8)
    assert_allclose(Tanimoto()(bits, np.r_[bits, bits // 2]), [[1, 0]])


def test_tanimoto_of_counts():
    G = Tanimoto()(X, Z)
    x, z = X[3], Z[2]
    assert G[3, 2] == pytest.approx(x @ z / (x @ x + z @ z - x @ z))
    training_gram(Tanimoto(), X)  # positive definite


def test_pairwise_evaluates_one_pair_at_a_time_and_half_of_a_symmetric_matrix():
    calls = []

    def shared(a, b):
        calls.append((a, b))
        return len(set(a) & set(b))

    words, others = ["abc", "bcd", "xyz"], ["a", "cx"]
    kernel = PairwiseKernel(shared)
    assert_allclose(kernel(words, others), [[1, 1], [0, 1], [0, 1]])
    assert len(calls) == 6
    calls.clear()
    assert_allclose(kernel(words, words), [[3, 2, 0], [2, 3, 0], [0, 0, 3]])
    assert len(calls) == 6


def test_kernel_objects_are_settings():
    for kernel in (Tanimoto(), PairwiseKernel(max), OutputTensorKernel("iii", kernel=Tanimoto())):
        assert clone(kernel).get_params().keys() == kernel.get_params().keys()
    assert OutputTensorKernel("iii", kernel=RBF(2.0)).get_params()["kernel__length_scale"] == 2.0
