"""Eigenpairs by a low rank are those of eigh."""

import numpy as np
import pytest
from helpers.low_rank_matrices import EPS, N, by_eigh, record_eigh_sizes, rough, sample, smooth
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics.pairwise import laplacian_kernel, polynomial_kernel, rbf_kernel

from hilbertlearn._utils.linalg import spectrum
from hilbertlearn._utils.pivoted_cholesky import low_rank_factor


def graded():
    root = 10.0 ** np.random.default_rng(1).uniform(-4, 2, N)
    return smooth() * root[:, None] * root


def duplicates():
    X = sample(100, 20)
    return rbf_kernel(X[np.random.default_rng(1).integers(100, size=N)], gamma=0.05)


LOW = {
    "smooth": smooth(),
    "in Fortran's order": np.asfortranarray(smooth()),
    "part of a matrix": rbf_kernel(sample(2 * N, 2), gamma=0.1)[::2, ::2],
    "ordered": rbf_kernel(np.linspace(0, 1, N)[:, None], gamma=20.0),
    "linear": (lambda X: X @ X.T)(sample(N, 5)),
    "many features": (lambda X: X @ X.T)(sample(N, 120)),
    "polynomial": polynomial_kernel(sample(N, 3), degree=3),
    "duplicates": duplicates(),
    "constant": np.full((N, N), 3.0),
    "graded": graded(),
    "one sample of size": np.diag(np.r_[1e8, 1e-8 * np.ones(N - 1)]),
    "small": 1e-60 * smooth(),
    "large": 1e60 * smooth(),
}
FULL = {
    "rough": rough(),
    "laplacian": laplacian_kernel(sample(N, 3)),
    "identity": np.eye(N),
    "few samples": rbf_kernel(sample(300, 2), gamma=0.1),
}


@pytest.fixture
def sizes(monkeypatch):
    return record_eigh_sizes(monkeypatch)


# ---------------------------------------------------------------- eigenpairs


@pytest.mark.parametrize("name", LOW)
def test_eigenpairs_are_those_of_eigh(name, sizes):
    S = LOW[name]
    values, Q = spectrum(S)
    assert all(size < N / 2 for size in sizes)
    expected, E = by_eigh(S)
    largest = expected[-1]
    error = 0.3 * N * EPS * largest
    assert abs(len(values) - len(expected)) <= 2  # those at the border
    common = min(len(values), len(expected))
    assert_allclose(values[-common:], expected[-common:], rtol=0, atol=error)
    assert (np.diff(values) >= 0).all() and values[0] > 0
    assert_allclose(Q.T @ Q, np.eye(len(values)), atol=50 * EPS)
    assert np.linalg.norm(S @ Q - Q * values, 2) <= error
    assert np.linalg.norm(S - (Q * values) @ Q.T, 2) <= N * EPS * largest + error
    for s in (1e-6 * largest, largest):  # a smooth function of the matrix does not depend on the choice of eigenvectors
        one, other = ((V * (v / (v + s))) @ V.T for v, V in ((values, Q), (expected, E)))
        assert_allclose(one, other, atol=error / s)


@pytest.mark.parametrize("name", FULL)
def test_full_rank_goes_the_way_of_eigh(name, sizes):
    S = FULL[name]
    found = spectrum(S)
    assert sizes == [len(S)]
    for one, other in zip(found, by_eigh(S), strict=True):
        assert_array_equal(one, other)


@pytest.mark.parametrize("n", [1, 2, N])
def test_zero_matrix_has_no_eigenpairs(n):
    values, vectors = spectrum(np.zeros((n, n)))
    assert values.shape == (0,) and vectors.shape == (n, 0)


def test_one_sample():
    values, vectors = spectrum(np.array([[4.0]]))
    assert_allclose(values, [4.0])
    assert_allclose(np.abs(vectors), [[1.0]])


def test_few_eigenpairs_are_kept_for_a_coarser_rounding(sizes):
    S = smooth()
    values, Q = spectrum(S, 1e-5)
    assert all(size < N / 2 for size in sizes)
    expected, _ = by_eigh(S, 1e-5)
    assert_allclose(values, expected, rtol=1e-8)
    assert np.linalg.norm(S @ Q - Q * values, 2) <= 100 * EPS * values[-1]


def test_a_finer_rounding_is_left_to_eigh(sizes):
    found = spectrum(smooth(), 0.0)
    assert sizes == [N]
    assert_array_equal(found.values, by_eigh(smooth(), 0.0).values)


def indefinite(size):
    """Smooth but for an eigenvalue of -size, relative to the largest."""
    S, v = smooth(), np.random.default_rng(3).normal(size=N)
    return S - size * np.linalg.norm(S, 2) * np.multiply.outer(v, v) / (v @ v)


@pytest.mark.parametrize(
    "S",
    [
        indefinite(1e-3),
        indefinite(1e-9),
        np.kron(np.eye(N // 2), [[0.0, 1.0], [1.0, 0.0]]),  # nothing on the diagonal
        -smooth(),
        smooth() - 2 * np.diag(np.arange(N) == 7),
    ],
    ids=["indefinite", "slightly", "no diagonal", "negative", "one entry"],
)
def test_a_matrix_that_is_not_psd_is_left_to_eigh(S, sizes):
    assert low_rank_factor(S, N // 2) is None
    for one, other in zip(spectrum(S), by_eigh(S), strict=True):
        assert_array_equal(one, other)


@pytest.mark.parametrize("size", [1e-15, 1e-14, 1e-13, 1e-11])
def test_errors_of_the_matrix_are_not_blown_up(size):
    noise = np.random.default_rng(9).normal(size=(N, N))
    S = smooth() * (1 + size * (noise + noise.T))
    values, Q = spectrum(S)
    assert np.linalg.norm(S @ Q - Q * values, 2) <= N * EPS * values[-1]
    assert_allclose(Q.T @ Q, np.eye(len(values)), atol=100 * EPS)


def test_matrices_that_overflow_are_left_to_eigh():
    assert low_rank_factor(1e200 * smooth(), N // 2) is None
    assert low_rank_factor(1e-200 * smooth(), N // 2) is None


def test_the_matrix_stays_as_it_is():
    for order in "CF":
        S = np.array(smooth(), order=order)
        before = S.copy()
        spectrum(S)
        assert_array_equal(S, before)
