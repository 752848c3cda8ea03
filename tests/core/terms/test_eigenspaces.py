"""A kernel for each eigenvalue of the operator, and shared kernels."""

import numpy as np
from numpy.testing import assert_allclose

from hilbertlearn.core.terms import EigenspaceTerm

RNG = np.random.default_rng(0)
N, D = 8, 4


def gram():
    Z = RNG.normal(size=(N, N))
    return Z @ Z.T / N


E = np.linalg.qr(RNG.normal(size=(D, D)))[0]
KERNELS = [gram(), gram()]


def test_eigenvalues_that_share_a_kernel_keep_their_values():
    """The kernel 0 serves eigenvalue 2, the kernel 1 the eigenvalues 0.5 and 1; the fourth direction is dropped."""
    values, vectors = [2.0, np.array([0.5, 1.0])], [E[:, :1], E[:, 1:3]]
    M = E[:, :3] @ np.diag([2.0, 0.5, 1.0]) @ E[:, :3].T
    term = EigenspaceTerm(KERNELS, values, vectors, M, error=0.1)
    dense = 2 * np.kron(KERNELS[0], np.outer(E[:, 0], E[:, 0]))
    dense += np.kron(KERNELS[1], E[:, 1:3] @ np.diag([0.5, 1.0]) @ E[:, 1:3].T)
    A = RNG.normal(size=(N, D))
    assert_allclose(term.apply(A).ravel(), dense @ A.ravel(), atol=1e-12)
    expected = np.linalg.solve(1.5 * np.eye(N * D) + dense / 0.2, A.ravel()).reshape(A.shape)
    assert_allclose(term.factor("path").solve(A, 1.5, 0.2), expected, atol=1e-10)
    assert term.error == term.take(np.arange(4)).error == 0.1
    assert_allclose(term.expand(A), A)
