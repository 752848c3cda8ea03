"""Graphs in every form, and their Laplacians, against their definitions."""

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse.csgraph import laplacian as scipy_laplacian
from sklearn.metrics.pairwise import rbf_kernel

from hilbertlearn.data.graphs import groups_graph, laplacian, read_graph, relative_weights

N, KNOWN, D, ALPHA, BETA, GAMMA = 16, 10, 3, 0.03, 0.2, 0.6
RNG = np.random.default_rng(1)
X, NEW = RNG.normal(size=(N, 2)), RNG.normal(size=(4, 2))
K, CROSS = rbf_kernel(X, gamma=GAMMA), rbf_kernel(NEW, X, gamma=GAMMA)
W = np.where(K > 0.3, RNG.uniform(0.5, 2, (N, N)), 0.0)
W = np.triu(W, 1) + np.triu(W, 1).T
W[3], W[:, 3] = 0.0, 0.0  # a node without links
L = np.diag(W.sum(axis=1)) - W
SPARSE, SPARSE_L = scipy.sparse.csr_array(W), scipy.sparse.csr_array(L)


# ---------------------------------------------------------------- Laplacians and kernels of nodes


@pytest.mark.parametrize("graph", [W, SPARSE], ids=["dense", "sparse"])
@pytest.mark.parametrize("power", [1, 2, 5])
@pytest.mark.parametrize("normalized", [False, True], ids=["", "normalised"])
def test_laplacian(graph, normalized, power):
    degrees = W.sum(axis=1)
    root = np.array([1 / np.sqrt(d) if d > 0 else 0.0 for d in degrees])
    one = np.diag(degrees > 0) - np.diag(root) @ W @ np.diag(root) if normalized else L
    found = laplacian(graph, normalized, power)
    assert scipy.sparse.issparse(found) == scipy.sparse.issparse(graph)
    found = found.toarray() if scipy.sparse.issparse(found) else found
    assert_allclose(found, np.linalg.matrix_power(one, power), atol=1e-9)
    assert (found[3] == 0).all() and np.linalg.eigvalsh(found)[0] > -1e-9
    if power == 1:
        assert_allclose(found, scipy_laplacian(W, normed=normalized), atol=1e-12)


def test_laplacian_sums_squared_differences():
    f = RNG.normal(size=N)
    assert f @ laplacian(W) @ f == pytest.approx((W * np.subtract.outer(f, f) ** 2).sum() / 2)


# ---------------------------------------------------------------- graphs as they come


def test_graphs_in_every_form():
    forms = [W, W.tolist(), SPARSE, scipy.sparse.coo_matrix(W), scipy.sparse.csc_array(W), scipy.sparse.lil_matrix(W)]
    for graph in forms:
        found = read_graph(graph)
        assert scipy.sparse.issparse(found) and (found.data != 0).all()
        assert_array_equal(found.toarray(), W)
    assert_array_equal(read_graph(W > 0).toarray(), W > 0)
    assert_array_equal(read_graph((W > 0).astype(int)).toarray(), W > 0)


def test_networkx_graph_keeps_the_order_of_its_nodes():
    networkx = pytest.importorskip("networkx")
    assert_array_equal(read_graph(networkx.from_numpy_array(W)).toarray(), W)
    graph = networkx.Graph()
    graph.add_nodes_from(["c", "a", "b"])
    graph.add_edge("a", "c", weight=2.5)
    graph.add_edge("b", "a")
    assert_array_equal(read_graph(graph).toarray(), [[0, 2.5, 0], [2.5, 0, 1], [0, 1, 0]])


def test_groups_link_equal_labels():
    labels = np.array(["a", "b", None, "a", "b", "b", None], dtype=object)
    expected = [[i != j and a == b and a is not None for j, b in enumerate(labels)] for i, a in enumerate(labels)]
    assert_array_equal(groups_graph(labels, "y").toarray(), np.array(expected, dtype=float))


def test_relative_weights_have_mean_one():
    relative = relative_weights(scipy.sparse.csr_array(W)).toarray()
    assert_allclose(relative, W / W[W > 0].mean(), rtol=1e-12)
    equal = relative_weights(scipy.sparse.csr_array(0.3 * (W > 0)))
    assert (equal.data == 1).all()


def test_graphs_are_read_without_self_loops():
    with pytest.warns(UserWarning, match=f"{len(W)} self-loops"):
        read = read_graph(W + np.eye(len(W)))
    assert_array_equal(read.toarray(), W)
