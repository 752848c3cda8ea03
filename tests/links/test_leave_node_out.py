"""Leave-one-out predictions in closed form against refits in long arithmetic."""

import numpy as np
import pytest
import scipy.linalg
from numpy.testing import assert_array_equal
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.preprocessing import KernelCenterer

from hilbertlearn.links.leave_node_out import leave_nodes_out

BOTH = pytest.mark.parametrize("center", [False, True])
LONG = np.longdouble


def long_solve(A, b):
    """Solution of a positive system (m, m), (m,) by Cholesky factors, in the numbers that are given."""
    A, b = A.copy(), b.copy()
    for k in range(len(A)):
        A[k:, k] /= np.sqrt(A[k, k])
        A[k + 1 :, k + 1 :] -= np.multiply.outer(A[k + 1 :, k], A[k + 1 :, k])
        b[k] /= A[k, k]
        b[k + 1 :] -= A[k + 1 :, k] * b[k]
    for k in reversed(range(len(A))):
        b[k] /= A[k, k]
        b[:k] -= A[k, :k] * b[k]
    return b


def by_refits(K, Y, penalty, center):
    """Predictions of the models of the others."""
    n, K, Y = len(K), K.astype(LONG), Y.astype(LONG)
    found = np.zeros(Y.shape, dtype=LONG)
    for i in range(n):
        others = np.delete(np.arange(n), i)
        targets = Y[others] - Y[others].mean(axis=0) if center else Y[others]
        system = K[np.ix_(others, others)] + LONG(penalty) * np.eye(n - 1, dtype=LONG)
        found[i] = long_solve(system, K[others, i]) @ targets
    return found


def check(K, penalty, center, rtol=1e-10):
    Y = noise(len(K), seed=3)
    Y = Y - Y.mean(axis=0) if center else Y
    exact = by_refits(K, Y, penalty, center)
    lengths = np.sqrt((exact**2).sum(axis=1))
    assert (lengths > 0).all()
    assert (abs(leave_nodes_out(K, Y, penalty, center=center) - exact) <= rtol * lengths[:, None]).all()


def noise(n, d=3, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


@BOTH
@pytest.mark.parametrize("penalty", [1e-8, 0.3, 1e6])
@pytest.mark.parametrize("size", [1e-4, 1e-12, 1e-20])
def test_nearly_diagonal(size, penalty, center):
    E = noise(14, 14)
    check(np.eye(14) + size * (E + E.T), penalty, center)


@BOTH
@pytest.mark.parametrize("gamma", [2.0, 20.0, 50.0])
def test_samples_on_a_line(gamma, center):
    check(rbf_kernel(np.arange(10.0)[:, None], gamma=gamma), 0.1, center)


@BOTH
@pytest.mark.parametrize("penalty", [1e-4, 1e-2, 1.0, 1e4])
@pytest.mark.parametrize("gamma", [0.05, 0.5, 3.0])
def test_ordinary(gamma, penalty, center):
    check(rbf_kernel(noise(16), gamma=gamma), penalty, center)


@BOTH
@pytest.mark.parametrize("penalty", [1e-2, 1.0, 1e4])
@pytest.mark.parametrize("size", [1e-3, 1e-6])
def test_nearly_constant(size, penalty, center):
    E = noise(14, 4)
    check(1 + size * E @ E.T, penalty, center, rtol=1e-10 if not center else 1e-13 / size)


@pytest.mark.parametrize("penalty", [1e-2, 1.0, 1e4])
@pytest.mark.parametrize("gamma", [0.1, 1.0, 3.0])
def test_centred_kernels(gamma, penalty):
    check(KernelCenterer().fit_transform(rbf_kernel(noise(16), gamma=gamma)), penalty, True)


@BOTH
def test_a_sample_alone_and_few(center):
    K, Y = scipy.linalg.block_diag(rbf_kernel(noise(8)), 1.0), noise(9) - noise(9).mean(axis=0)
    assert_array_equal(leave_nodes_out(K, Y, 0.1, center=center)[8], 0)
    assert_array_equal(leave_nodes_out(np.eye(6), noise(6), 1e-12, center=False), 0)
    for n in (1, 2) if center else (1,):
        assert_array_equal(leave_nodes_out(rbf_kernel(noise(n)), noise(n), 0.1, center=center), np.zeros((n, 3)))


def test_the_sample_itself_has_no_part():
    K, Y = np.eye(5) + 1e-9 * rbf_kernel(noise(5)), noise(5)
    before = leave_nodes_out(K, Y, 0.1)[2]
    Y[2] = 1e6
    assert_array_equal(leave_nodes_out(K, Y, 0.1)[2], before)


@BOTH
@pytest.mark.parametrize("penalty", [1e-300, 1e300])
def test_extreme_penalties(penalty, center):
    K = rbf_kernel(np.array([0, 0, 10, 10, 3, 3.1, 50.0])[:, None])
    Y = noise(7) - noise(7).mean(axis=0)
    H = leave_nodes_out(K, Y, penalty, center=center)
    assert np.isfinite(H).all() and abs(H).max() < 10 * abs(Y).max()
