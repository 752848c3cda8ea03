"""Inverses and products of matrices in single and double precision."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from hilbertlearn._utils.linalg import cholesky, mirror_upper_triangle, product, symmetric_inverse, symmetric_product


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("n", [1, 127, 128, 129, 300])
def test_inverses_are_whole_and_exactly_symmetric(n, dtype):
    S = np.random.default_rng(n).normal(size=(n, n))
    K = (S @ S.T).astype(dtype)
    inverse = symmetric_inverse(cholesky(K, dtype(n)))
    assert inverse.dtype == dtype and inverse.flags.c_contiguous
    assert_array_equal(inverse, inverse.T)
    assert_allclose(inverse, np.linalg.inv(K.astype(float) + n * np.eye(n)), atol=100 * np.finfo(dtype).eps / n)
    S = S.astype(dtype)
    expected = np.triu(S) + np.triu(S, 1).T
    assert mirror_upper_triangle(S) is S
    assert_array_equal(S, expected)


@pytest.mark.parametrize("n", [3, 256, 600])
def test_products_of_single_matrices_with_double_ones_are_double(n):
    rng = np.random.default_rng(0)
    S = rng.normal(size=(n, n)).astype(np.float32)
    K, A = S + S.T, rng.normal(size=(n, 7))
    expected = K.astype(float) @ A
    for B in (A, np.asfortranarray(A)):
        assert_allclose(symmetric_product(K, B, 2.0), 2 * expected, atol=1e-12)
        assert_allclose(product(K, B), expected, atol=1e-12)
