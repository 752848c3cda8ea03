"""Kernels of nodes, and graphs of samples from their kernel, against their definitions."""

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse.csgraph import laplacian as scipy_laplacian
from sklearn.metrics.pairwise import rbf_kernel

from hilbertlearn.data.graphs import read_graph
from hilbertlearn.kernels import Affinity, diffusion_kernel, node_kernel

N, KNOWN, D, ALPHA, BETA, GAMMA = 16, 10, 3, 0.03, 0.2, 0.6
RNG = np.random.default_rng(1)
X, NEW = RNG.normal(size=(N, 2)), RNG.normal(size=(4, 2))
K, CROSS = rbf_kernel(X, gamma=GAMMA), rbf_kernel(NEW, X, gamma=GAMMA)
W = np.where(K > 0.3, RNG.uniform(0.5, 2, (N, N)), 0.0)
W = np.triu(W, 1) + np.triu(W, 1).T
W[3], W[:, 3] = 0.0, 0.0  # a node without links
L = np.diag(W.sum(axis=1)) - W
SPARSE, SPARSE_L = scipy.sparse.csr_array(W), scipy.sparse.csr_array(L)


@pytest.mark.parametrize("graph", [W, SPARSE], ids=["dense", "sparse"])
@pytest.mark.parametrize("beta", [0.0, 0.3, 4.0])
def test_diffusion_is_the_exponential(graph, beta):
    assert_allclose(diffusion_kernel(graph, beta), scipy.linalg.expm(-beta * L), atol=1e-10)
    expected = scipy.linalg.expm(-beta * scipy_laplacian(W, normed=True))
    assert_allclose(diffusion_kernel(graph, beta, normalized=True), expected, atol=1e-10)
    assert_allclose(node_kernel("diffusion", graph, beta), scipy.linalg.expm(-beta * L), atol=1e-10)


@pytest.mark.parametrize("beta", [0.0, 0.3, 4.0])
def test_regularised_laplacian(beta):
    expected = np.linalg.inv(np.eye(N) + beta * scipy_laplacian(W, normed=True))
    assert_allclose(node_kernel("normalized_laplacian", SPARSE, beta), expected, atol=1e-12)


def test_given_kernel_of_nodes():
    assert_allclose(node_kernel(K, SPARSE), K, rtol=1e-14)


@pytest.mark.parametrize(
    "labels",
    [
        [0, 1, 0, 2, 1, 0],
        np.array([0.5, 1.5, 0.5, np.nan, 1.5, 0.5]),
        ["a", "b", "a", None, "b", "a"],
        np.array(["a", "b", "a", "c", "b", "a"]),
        np.array([["a"], ["b"], ["a"], ["c"], ["b"], ["a"]]),
        np.array([True, False, True, np.nan, False, True], dtype=object),
    ],
    ids=["integers", "numbers", "list", "strings", "column", "objects"],
)
@pytest.mark.filterwarnings("ignore:A column-vector y")
def test_groups_are_cliques(labels):
    expected = np.zeros((6, 6))
    for group in ([0, 2, 5], [1, 4]):
        expected[np.ix_(group, group)] = 1
    np.fill_diagonal(expected, 0)
    assert_array_equal(read_graph(labels).toarray(), expected)


def test_nodes_in_no_group_are_not_linked_to_each_other():
    assert read_graph(np.full(4, np.nan)).nnz == 0
    assert_array_equal(read_graph([None, None, 1.0]).toarray(), np.zeros((3, 3)))


# ---------------------------------------------------------------- graphs of samples


def by_neighbours(gram, k):
    """Weights between samples of which one is among the k nearest of the other, by sorting all distances."""
    n = len(gram)
    links = np.zeros((n, n), dtype=bool)
    for i in range(n):
        distance = [gram[i, i] + gram[j, j] - 2 * gram[i, j] for j in range(n)]
        links[i, sorted((j for j in range(n) if j != i), key=lambda j: distance[j])[:k]] = True
    return np.where(links | links.T, np.maximum(gram, 0.0), 0.0)


LINEAR = X @ X.T  # some values are negative


@pytest.mark.parametrize("gram", [K, LINEAR], ids=["rbf", "linear"])
@pytest.mark.parametrize(("n_neighbors", "k"), [(1, 1), (4, 4), (0.25, 4), (0.01, 1), (0.34, 5), (100, N - 1)])
def test_neighbours_of_samples(gram, n_neighbors, k):
    found = Affinity(n_neighbors).graph(gram)
    assert scipy.sparse.issparse(found) and (found.data > 0).all()
    assert_allclose(found.toarray(), by_neighbours(gram, k))


def test_all_pairs_of_samples():
    before = LINEAR.copy()
    found = Affinity(None).graph(LINEAR)
    assert_allclose(found, np.maximum(LINEAR, 0) * ~np.eye(N, dtype=bool))
    assert_array_equal(LINEAR, before)


@pytest.mark.parametrize(("n_neighbors", "k"), [(1, 1), (4, 4), (0.34, 5), (100, N - 1), (None, N - 1)])
def test_links_from_features(n_neighbors, k, monkeypatch):
    monkeypatch.setattr("hilbertlearn.kernels.graph._ENTRIES", 10)  # five links at a time
    found = Affinity(n_neighbors).feature_graph(X)
    found = found if n_neighbors is None else found.toarray()
    assert_allclose(found, by_neighbours(LINEAR, k), atol=1e-12)


def test_all_pairs_of_more_samples_than_fit_in_memory_are_refused(monkeypatch):
    monkeypatch.setattr("hilbertlearn._utils.validation._physical_memory", lambda: 8.0 * N**2)
    with pytest.raises(ValueError, match=f"n_neighbors=None: the links of all pairs of {N} samples.*n_neighbors=10"):
        Affinity(None).feature_graph(X)
    assert Affinity(3).feature_graph(X).shape == (N, N)


def test_samples_that_are_equal_or_alone():
    twice = np.r_[X, X[:3]]
    W = Affinity(1).graph(rbf_kernel(twice)).toarray()
    assert (W[np.arange(3), N + np.arange(3)] == 1).all() and (np.diag(W) == 0).all()
    assert_array_equal(Affinity(3).penalty(np.ones((1, 1))).toarray(), [[0]])


@pytest.mark.parametrize("n_neighbors", [3, None], ids=["neighbours", "all pairs"])
@pytest.mark.parametrize("smoother", ["laplacian", "normalized", ("iterated", 3), ["iterated", 1], ("diffusion", 0.7)])
def test_smoothers(n_neighbors, smoother):
    graph = by_neighbours(K, 3) if n_neighbors else K * ~np.eye(N, dtype=bool)
    plain = np.diag(graph.sum(axis=1)) - graph
    root = np.diag(1 / np.sqrt(graph.sum(axis=1)))
    expected = {
        "laplacian": plain,
        "normalized": np.eye(N) - root @ graph @ root,
        "iterated": np.linalg.matrix_power(plain, smoother[1]) if smoother[0] == "iterated" else None,
        "diffusion": np.eye(N) - scipy.linalg.expm(-0.7 * plain),
    }[smoother if isinstance(smoother, str) else smoother[0]]
    found = Affinity(n_neighbors, smoother).penalty(K)
    found = found.toarray() if scipy.sparse.issparse(found) else found
    assert_allclose(found, expected, atol=1e-10)
    assert np.linalg.eigvalsh(found)[0] > -1e-9


@pytest.mark.parametrize("smoother", ["laplacian", "normalized", ("iterated", 3)])
def test_penalties_of_few_neighbours_are_sparse(smoother):
    gram = rbf_kernel(np.arange(80.0)[:, None] ** 1.01, gamma=0.1)
    found, dense = Affinity(2, smoother).penalty(gram), Affinity(2, smoother).smoother_matrix(by_neighbours(gram, 2))
    assert scipy.sparse.issparse(found) and found.nnz <= 80 * 11
    assert_allclose(found.toarray(), dense.toarray() if scipy.sparse.issparse(dense) else dense, atol=1e-12)
