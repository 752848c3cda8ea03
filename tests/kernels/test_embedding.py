"""Nodes as vectors: the kernel they have, against the kernel itself and dense eigenvectors."""

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.preprocessing import KernelCenterer

from hilbertlearn.kernels import node_embedding, node_kernel
from hilbertlearn.kernels.embedding import ConnectedComponents

KERNELS = pytest.mark.parametrize("kernel", ["diffusion", "normalized_laplacian"])


def network(n=60, links=70, seed=0, weighted=False):
    """A sparse graph with several components and isolated nodes."""
    rng = np.random.default_rng(seed)
    i, j = rng.integers(n, size=(2, links))
    weights = rng.uniform(0.5, 2.0, size=links) if weighted else np.ones(links)
    W = scipy.sparse.csr_array((weights, (i, j)), shape=(n, n)).toarray()
    np.fill_diagonal(W, 0.0)
    return scipy.sparse.csr_array(np.maximum(W, W.T))


def large(n=900, degree=3, alone=30, seed=0):
    """A graph with one large component, a pair, and isolated nodes."""
    rng = np.random.default_rng(seed)
    i, j = rng.integers(n - alone - 2, size=(2, degree * n))
    i, j = np.append(i, n - 1), np.append(j, n - 2)
    W = scipy.sparse.csr_array((np.ones(len(i)), (i, j)), shape=(n, n))
    W.setdiag(0.0)
    W.eliminate_zeros()
    return scipy.sparse.csr_array(W + W.T).astype(bool).astype(float)


def error(V, K):
    return np.linalg.norm(V @ V.T - K)


# ---------------------------------------------------------------- the kernel itself


@KERNELS
@pytest.mark.parametrize("beta", [0.0, 0.3, 1.0, 20.0])
@pytest.mark.parametrize("weighted", [False, True])
def test_inner_products_are_the_kernel(kernel, beta, weighted):
    W = network(weighted=weighted)
    assert ConnectedComponents(W).number > 5
    V = node_embedding(kernel, W, beta, rank=None)
    assert_allclose(V @ V.T, node_kernel(kernel, W, beta), atol=1e-9)
    assert_allclose(V.T @ V, np.diag((V**2).sum(axis=0)), atol=1e-9)  # eigenvectors
    assert (np.diff((V**2).sum(axis=0)) < 1e-12).all()  # in descending order
    assert_array_equal(node_embedding(kernel, W, beta), V)  # what few nodes have by default


@KERNELS
@pytest.mark.parametrize("rank", [None, 12])
def test_centred(kernel, rank):
    W = network()
    V, centred = (node_embedding(kernel, W, rank=rank, center=center) for center in (False, True))
    assert_allclose(centred @ centred.T, KernelCenterer().fit_transform(V @ V.T), atol=1e-12)


def test_forms_of_graphs():
    W = network()
    V = node_embedding("diffusion", W, rank=None)
    assert_allclose(node_embedding("diffusion", W.toarray(), rank=None), V, atol=1e-12)
    groups = node_embedding("diffusion", np.array(["a", "b", "a", "c"]), 0.5, rank=None)
    assert_allclose(groups @ groups.T, node_kernel("diffusion", np.array(["a", "b", "a", "c"]), 0.5), atol=1e-12)


def test_matrices():
    A = np.random.default_rng(0).normal(size=(60, 7))
    V = node_embedding(A @ A.T, network())
    assert V.shape == (60, 7)
    assert_allclose(V @ V.T, A @ A.T, atol=1e-10)
    values = np.linalg.eigvalsh(A @ A.T)[::-1]
    assert_allclose((node_embedding(A @ A.T, network(), rank=3) ** 2).sum(axis=0), values[:3], rtol=1e-10)
    assert_array_equal(node_embedding(np.zeros((60, 60)), network()), np.zeros((60, 1)))


@pytest.mark.parametrize("rank", [None, "auto", 1, 5])
def test_few_nodes(rank):
    for W in (np.zeros((1, 1)), np.array([[0.0, 1], [1, 0]]), np.zeros((3, 3))):
        V = node_embedding("diffusion", W, rank=rank)
        assert V.shape[0] == len(W) and V.shape[1] >= 1 and np.isfinite(V).all()
    assert_array_equal(node_embedding("diffusion", np.zeros((1, 1)), rank=rank, center=True), [[0.0]])


# ---------------------------------------------------------------- leading eigenvectors


@KERNELS
@pytest.mark.parametrize("rank", [100, 250])
def test_nearly_the_best_approximation(kernel, rank):
    W = large()
    K, V = node_kernel(kernel, W), node_embedding(kernel, W, rank=rank)
    assert V.shape == (len(K), rank)
    values = scipy.linalg.eigvalsh(K)
    assert error(V, K) <= 1.001 * np.sqrt((values[:-rank] ** 2).sum())  # Eckart and Young
    lengths = (V**2).sum(axis=0)
    assert_allclose(lengths[:32], 1.0)  # one a component
    assert_allclose(lengths[32:80], values[::-1][32:80], rtol=1e-3)
    assert_allclose(V.T @ V, np.diag(lengths), atol=1e-8)
    assert_array_equal(node_embedding(kernel, W, rank=rank), V)


@KERNELS
def test_nodes_of_small_components_have_zeros_when_columns_are_few(kernel):
    W = large()
    V = node_embedding(kernel, W, rank=20)
    alone = np.asarray(W.sum(axis=1)) == 0
    assert alone.sum() >= 30
    kept = V.any(axis=1)
    assert kept[~alone].all() and kept.sum() <= 900 - alone.sum() + 8
    K = node_kernel(kernel, W)[np.ix_(kept, kept)]
    values = scipy.linalg.eigvalsh(K)
    assert error(V[kept], K) <= 1.001 * np.sqrt((values[:-20] ** 2).sum())


def test_what_many_nodes_have_by_default():
    W = large(1200)
    V = node_embedding("diffusion", W)
    assert V.shape == (1200, ConnectedComponents(W).number + 400)
    assert V.any(axis=1).all()
    L = np.diag(np.asarray(W.sum(axis=1))) - W.toarray()
    values = -np.log((V**2).sum(axis=0))
    assert_allclose((L @ V)[:, :200], V[:, :200] * values[:200], atol=1e-3)  # eigenvectors; the last are not yet


def test_many_components_leave_nothing_to_gain():
    W = scipy.sparse.block_diag([network(60, 50, seed) for seed in range(35)], format="csr")
    V = node_embedding("diffusion", W)
    assert ConnectedComponents(W).number > W.shape[0] / 4
    for part in (slice(0, 60), slice(2040, 2100)):
        assert_allclose(V[part] @ V[part].T, node_kernel("diffusion", W[part][:, part]), atol=1e-9)
    assert abs(V[:60] @ V[60:].T).max() == 0


def test_as_many_columns_as_there_are_nodes_or_nearly():
    W = network(40, 60)
    K = node_kernel("diffusion", W)
    assert_allclose(*(V @ V.T for V in (node_embedding("diffusion", W, rank=rank) for rank in (40, None))), atol=1e-9)
    values = scipy.linalg.eigvalsh(K)
    for rank in (39, 30):
        assert error(node_embedding("diffusion", W, rank=rank), K) <= 1.01 * np.sqrt((values[:-rank] ** 2).sum())


@pytest.mark.parametrize("n", [4, 8, 12, 30])
@pytest.mark.parametrize("rank", [1, 2, 3])
def test_few_columns_of_a_path(n, rank):
    """Eigenvalues of its Laplacian are 2 - 2 cos(pi k / n)."""
    W = np.eye(n, k=1) + np.eye(n, k=-1)
    V = node_embedding("diffusion", W, rank=rank)
    values = np.exp(2 * np.cos(np.pi * np.arange(rank) / n) - 2)
    assert_allclose((V**2).sum(axis=0), values, rtol=1e-3)


def test_hubs_do_not_keep_it_from_converging():
    """The largest eigenvalue of the Laplacian is far above the others."""
    W = large().tolil()
    W[0, 1:500] = W[1:500, 0] = 1.0
    W = scipy.sparse.csr_array(W)
    K, V = node_kernel("diffusion", W), node_embedding("diffusion", W, rank=200)
    assert error(V, K) <= 1.02 * np.sqrt((scipy.linalg.eigvalsh(K)[:-200] ** 2).sum())


# ---------------------------------------------------------------- bad input


@pytest.mark.parametrize("rank", [0, -3, 2.5, "all", True])
def test_bad_rank(rank):
    with pytest.raises(ValueError, match="rank must be an integer > 0 or 'auto'"):
        node_embedding("diffusion", network(), rank=rank)


def test_bad_kernel_and_beta():
    with pytest.raises(ValueError, match="output_kernel: unknown name 'difusion', did you mean 'diffusion'"):
        node_embedding("difusion", network())
    with pytest.raises(ValueError, match="beta must be a finite number >= 0"):
        node_embedding("diffusion", network(), -1.0)
