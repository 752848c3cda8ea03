"""Linear algebra against dense computations."""

import numpy as np
import pytest
import scipy.linalg
from numpy.testing import assert_allclose

from hilbertlearn._utils import linalg

rng = np.random.default_rng(0)
A, B = rng.normal(size=(7, 7)), rng.normal(size=(7, 4))
S = A @ A.T


def test_kronecker_products_are_applied_without_being_formed():
    first, second = rng.normal(size=(2, 2)), rng.normal(size=(3, 3))
    product = linalg.Kronecker([first, 4, second])
    dense = np.kron(np.kron(first, np.eye(4)), second)
    rows = rng.normal(size=(5, 24))
    assert product.shape == dense.shape
    assert_allclose(np.asarray(product), dense)
    assert_allclose(rows @ product, rows @ dense)
    assert_allclose(rows @ product.T, rows @ dense.T)


def test_spectra_have_the_eigenpairs_above_rounding():
    low_rank = B @ B.T
    values, vectors = linalg.spectrum(low_rank)
    assert len(values) == 4
    assert_allclose((vectors * values) @ vectors.T, low_rank, atol=1e-12)
    assert_allclose(vectors.T @ vectors, np.eye(4), atol=1e-12)


def test_low_ranks_are_found_from_few_columns():
    Z = rng.normal(size=(1200, 6))
    values, vectors = linalg.low_rank_spectrum(Z @ Z.T, 0.25)
    assert_allclose((vectors * values) @ vectors.T, Z @ Z.T, atol=1e-9)
    assert linalg.low_rank_spectrum(np.eye(1200), 0.25) is None


def test_eigenspaces_join_equal_eigenvalues():
    Q = np.linalg.qr(A)[0]
    matrix = (Q * np.array([1, 1, 1, 2, 2, 3, 3.0])) @ Q.T
    spaces = linalg.eigenspaces(linalg.spectrum(matrix))
    assert sorted(round(value) for value, _ in spaces) == [1, 2, 3]
    assert_allclose(sum(value * V @ V.T for value, V in spaces), matrix, atol=1e-12)


def test_factors_and_inverses():
    shifted = S + 0.5 * np.eye(7)
    factor = linalg.cholesky(S, 0.5)
    assert_allclose(linalg.cholesky_solve(factor, B), np.linalg.solve(shifted, B), atol=1e-10)
    assert_allclose(linalg.symmetric_inverse(linalg.cholesky(S, 0.5)), np.linalg.inv(shifted), atol=1e-10)
    assert_allclose(linalg.shifted_inverse(S, 0.5), np.linalg.inv(shifted), atol=1e-10)
    assert linalg.shifted_inverse(-S, 0.5) is None
    assert_allclose(linalg.psd_root(S) @ linalg.psd_root(S), S, atol=1e-10)


def test_triangles_are_solved_from_the_right():
    R = np.triu(A) + 5 * np.eye(7)
    rows = rng.normal(size=(3, 7))
    assert_allclose(linalg.solve_triangle(R, rows.copy()), scipy.linalg.solve_triangular(R, rows.T, trans=1).T)


def test_norms_and_products():
    assert_allclose(linalg.row_norms(B), np.linalg.norm(B, axis=1))
    assert_allclose(linalg.norm(B), np.linalg.norm(B))
    assert_allclose(linalg.dot(B, 2 * B), 2 * np.sum(B**2))
    assert_allclose(np.linalg.norm(linalg.unit_rows(np.array([[3e-200, 4e-200], [0.0, 0.0]])), axis=1), [1.0, 0.0])
    assert_allclose(linalg.symmetric_product(S, B, 2.0), 2 * S @ B)
    assert_allclose(linalg.transposed_times(B, np.arange(7.0)), B.T @ np.arange(7.0))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_products_with_single_matrices_are_in_the_precision_of_the_rest(dtype):
    single = S.astype(np.float32)
    assert linalg.product(single, B.astype(dtype)).dtype == dtype
    assert_allclose(linalg.product(single, B.astype(dtype)), single.astype(float) @ B, rtol=1e-3, atol=1e-3)
