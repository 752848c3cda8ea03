"""Matrices tile by tile against whole ones: every size around a tile, both precisions, and exact symmetry."""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics.pairwise import rbf_kernel

from hilbertlearn._utils import threads
from hilbertlearn.kernels import gram, tiles
from hilbertlearn.kernels.tiles import fill_tiles


@pytest.mark.parametrize("n_threads", [1, 2])
@pytest.mark.parametrize("shape", [(0, 0), (1, 1), (3, 3), (4, 4), (5, 5), (13, 13), (7, 3), (3, 40), (5, 0)])
def test_every_entry_is_written_once(monkeypatch, shape, n_threads):
    monkeypatch.setattr(threads, "_blas_threads", lambda: n_threads)
    monkeypatch.setattr(tiles, "_SINGLE_THREAD_TILES", 0)
    whole, written = np.random.default_rng(0).normal(size=shape), np.zeros(shape, dtype=int)
    out = np.full(shape, np.nan)

    def fill(rows, columns):
        written[rows, columns] += 1
        out[rows, columns] = whole[rows, columns]

    fill_tiles(fill, out, entries=16)
    assert_array_equal(out, whole)
    assert (written == 1).all()


@pytest.mark.parametrize("n", [1, 3, 4, 5, 13])
def test_symmetric_ones_are_half_the_work_and_exactly_symmetric(n):
    whole = np.random.default_rng(n).normal(size=(n, n))  # its upper triangle counts, the smaller within a tile
    out, written = np.full((n, n), np.nan), np.zeros((n, n), dtype=int)

    def fill(rows, columns):
        written[rows, columns] += 1
        out[rows, columns] = whole[rows, columns]

    fill_tiles(fill, out, symmetric=True, entries=16)
    assert_array_equal(out, out.T)
    within = np.subtract.outer(np.arange(n) // 4, np.arange(n) // 4)
    assert_array_equal(written, (within <= 0).astype(int))
    expected = np.where(within < 0, whole, np.where(within > 0, whole.T, np.minimum(whole, whole.T)))
    assert_array_equal(out, expected)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("n", [5, 999, 1001, 1300])
def test_gaussian_values_of_few_and_many_samples(n, dtype):
    X = np.random.default_rng(0).normal(size=(n, 3)).astype(dtype) + 1e3  # far from the origin
    K = gram("rbf", X, gamma=0.3)
    expected = np.exp(-0.3 * ((X.astype(float)[:, None] - X.astype(float)) ** 2).sum(axis=2))
    assert K.dtype == dtype
    assert_allclose(K, expected, rtol=0, atol=20 * np.finfo(dtype).eps)
    assert_allclose(gram("rbf", X, X + 0, gamma=0.3), expected, rtol=0, atol=20 * np.finfo(dtype).eps)
    assert (K.diagonal() == 1).all()
    if n > 1000:
        assert_array_equal(K, K.T)


def test_values_too_small_for_single_precision_are_zero():
    X = np.array([[0.0], [1.0]], dtype=np.float32)
    edge = -math.log(np.finfo(np.float32).tiny)
    assert gram("rbf", X, gamma=edge * 0.99)[0, 1] > 0
    assert gram("rbf", X, gamma=edge * 1.01)[0, 1] == 0
    assert 0 < gram("rbf", X.astype(float), gamma=720.0)[0, 1] < np.finfo(float).tiny  # double has all there is


def test_gaussian_values_of_scikit_learn():
    X, Z = (np.random.default_rng(i).normal(size=(1100, 4)) for i in range(2))
    assert_allclose(gram("rbf", X, gamma=0.2), rbf_kernel(X, gamma=0.2), atol=1e-14)
    assert_allclose(gram("rbf", X, Z, gamma=0.2), rbf_kernel(X, Z, gamma=0.2), atol=1e-14)
