"""Similarities of nodes by a graph, against networkx and formulas with dense matrices."""

import itertools

import networkx as nx
import numpy as np
import pytest
import scipy.sparse
from numpy.testing import assert_allclose, assert_array_equal

from hilbertlearn import LinkPredictor
from hilbertlearn.data.graphs import STRUCTURE, relative_weights, structural_similarity

CLUB = nx.karate_club_graph()
GRAPHS = {
    "club": CLUB,
    "random": nx.gnp_random_graph(40, 0.1, seed=1),
    "bipartite": nx.davis_southern_women_graph(),
    "alone": nx.union(nx.path_graph(4), nx.empty_graph(3), rename=("a", "b")),
    "star": nx.star_graph(6),
}


def matrix(graph):
    return nx.to_numpy_array(graph, weight=None)


def whole(name, A):
    n = A.shape[0]
    return structural_similarity(name, scipy.sparse.csr_array(A)).block(slice(0, n), slice(0, n))


def off(S):
    return S[~np.eye(len(S), dtype=bool)]


@pytest.mark.parametrize("graph", GRAPHS.values(), ids=GRAPHS)
@pytest.mark.parametrize(
    "name, index",
    [("adamic_adar", nx.adamic_adar_index), ("resource_allocation", nx.resource_allocation_index)],
    ids=["adamic_adar", "resource_allocation"],
)
def test_common_neighbours_are_those_of_networkx(name, index, graph):
    nodes = list(graph)
    S = whole(name, matrix(graph))
    pairs = [(u, v) for u in nodes for v in nodes if u != v]
    for u, v, value in index(graph, pairs):
        assert S[nodes.index(u), nodes.index(v)] == pytest.approx(value, abs=1e-12)


def degrees(A):
    return np.maximum(A.sum(axis=1), 1)


def dense_three_paths(A):
    """Sum over u - i - j - v of 1 / (sqrt(k_u) k_i k_j sqrt(k_v))."""
    S, k = np.zeros(A.shape), degrees(A)
    for u, i in np.argwhere(A):
        for j in np.flatnonzero(A[i]):
            S[u] += A[j] / (k[i] * k[j] * np.sqrt(k[u] * k))
    return S


def dense_katz(A):
    b = 0.5 / max(np.linalg.eigvalsh(A)[-1], 1.0)
    return np.linalg.inv(np.eye(len(A)) - b * A)


def dense_laplacian(A):
    root = 1 / np.sqrt(degrees(A))
    return np.linalg.inv(np.eye(len(A)) + 10 * (np.eye(len(A)) - A * np.outer(root, root)))


DENSE = {"three_paths": dense_three_paths, "katz": dense_katz, "normalized_laplacian": dense_laplacian}


@pytest.mark.parametrize("graph", GRAPHS.values(), ids=GRAPHS)
@pytest.mark.parametrize("name", DENSE)
def test_paths_are_those_of_dense_formulas(name, graph):
    A = matrix(graph)
    assert_allclose(off(whole(name, A)), off(DENSE[name](A)), atol=1e-12)


def test_katz_is_the_sum_over_paths():
    A = matrix(CLUB)
    b = 0.5 / np.linalg.eigvalsh(A)[-1]
    total, power = np.zeros(A.shape), np.eye(len(A))
    for _ in range(60):
        power = b * power @ A
        total += power
    assert_allclose(off(whole("katz", A)), off(total), atol=1e-12)


@pytest.mark.parametrize("name", STRUCTURE)
def test_blocks_and_entries_agree(name):
    A = scipy.sparse.csr_array(matrix(GRAPHS["random"]))
    S, product = whole(name, A), structural_similarity(name, A)
    assert_allclose(S, S.T, atol=1e-12)
    rng = np.random.default_rng(0)
    i, j = rng.integers(40, size=(2, 300))
    assert_allclose(product.entries(i, j), S[i, j], atol=1e-12)
    assert_allclose(product.block(slice(5, 9), slice(20, 40)), S[5:9, 20:], atol=1e-12)
    assert product.block(slice(3, 3), slice(0, 4)).shape == (0, 4)
    assert product.entries(i[:0], j[:0]).shape == (0,)


def common_neighbours(W, factor):
    """``sum_z factor(s_z) (w_xz + w_zy) / 2`` over common neighbours, one by one (Lü and Zhou 2010)."""
    n, strengths = len(W), W.sum(axis=1)
    S = np.zeros((n, n))
    for x, y, z in itertools.product(range(n), repeat=3):
        if W[x, z] > 0 and W[z, y] > 0:
            S[x, y] += factor(strengths[z]) * (W[x, z] + W[z, y]) / 2
    return S


def paths_of_three(W):
    """Sum over x - i - j - y of the product of the weights, each over the root of the strengths of its ends."""
    n, s = len(W), W.sum(axis=1)
    S = np.zeros((n, n))
    for x, i, j, y in itertools.product(range(n), repeat=4):
        weight = W[x, i] * W[i, j] * W[j, y]
        if weight > 0:
            S[x, y] += weight / (s[i] * s[j] * np.sqrt(s[x] * s[y]))
    return S


def sum_over_paths(W):
    """Katz: paths of k links count b^k times the product of their weights."""
    b = 0.5 / np.linalg.eigvalsh(W)[-1]
    return sum(np.linalg.matrix_power(b * W, k) for k in range(1, 60))


def laplacian_kernel(W):
    s = W.sum(axis=1)
    roots = np.where(s > 0, 1 / np.sqrt(np.where(s > 0, s, 1)), 1.0)
    return np.linalg.inv(np.eye(len(W)) + 10 * (np.eye(len(W)) - roots[:, None] * W * roots))


BY_DEFINITION = {
    "adamic_adar": lambda W: common_neighbours(W, lambda s: 1 / np.log(max(s, 2))),
    "resource_allocation": lambda W: common_neighbours(W, lambda s: 1 / s),
    "preferential_attachment": lambda W: np.log(np.outer(1 + W.sum(axis=1), 1 + W.sum(axis=1))),
    "three_paths": paths_of_three,
    "katz": sum_over_paths,
    "normalized_laplacian": laplacian_kernel,
}


def random_weights(n=14, seed=0):
    rng = np.random.default_rng(seed)
    W = np.triu((rng.random((n, n)) < 0.3) * rng.lognormal(sigma=1.5, size=(n, n)), 1)
    W[:, -1] = 0.0  # a node without links
    return W + W.T


@pytest.mark.parametrize("name", STRUCTURE)
def test_weighted_similarities_are_their_definitions(name):
    W = random_weights()
    before = scipy.sparse.csr_array(W)
    expected = BY_DEFINITION[name](W)
    assert_allclose(off(whole(name, before)), off(expected), atol=1e-10)
    assert_array_equal(before.toarray(), W)  # nothing is changed
    i, j = np.triu_indices(len(W), 1)
    assert_allclose(structural_similarity(name, before).entries(i, j), expected[i, j], atol=1e-10)
    assert np.abs(off(whole(name, (W > 0).astype(float)) - expected)).max() > 0.01  # they do count


@pytest.mark.parametrize("name", STRUCTURE)
def test_definitions_with_weights_1_are_those_of_links(name):
    A = matrix(CLUB)[:14, :14]
    assert_allclose(off(whole(name, A)), off(BY_DEFINITION[name](A)), atol=1e-10)


@pytest.mark.parametrize("name", ["resource_allocation", "three_paths", "katz", "normalized_laplacian"])
def test_the_unit_of_weights_cancels(name):
    """Of all but two, whose logarithms need relative weights."""
    W = random_weights()
    found, scaled = whole(name, W), whole(name, 1e-6 * W)
    assert_allclose(scaled / np.abs(off(scaled)).max(), found / np.abs(off(found)).max(), atol=1e-10)


def test_relative_weights():
    W = scipy.sparse.csr_array(random_weights())
    found = relative_weights(W)
    assert_allclose(found.data.mean(), 1.0)
    assert_allclose(found.toarray() * W.data.mean(), W.toarray())
    for unit in (1e-310, 1e-7, 0.1, 3.0, 1e300):
        assert_allclose(relative_weights(unit * W).data, found.data, rtol=1e-10 if unit > 1e-300 else 1e-2)
        assert_array_equal(relative_weights(unit * (W > 0)).data, 1.0)
    far = scipy.sparse.csr_array(np.array([[0, 1e-300, 1e300], [1e-300, 0, 0], [1e300, 0, 0]]))
    assert (relative_weights(far).data > 0).all()  # a weak link stays one
    assert relative_weights(scipy.sparse.csr_array((3, 3))).nnz == 0


@pytest.mark.parametrize("name", STRUCTURE)
def test_order_of_nodes_does_not_matter(name):
    A, order = matrix(CLUB), np.random.default_rng(0).permutation(34)
    assert_allclose(whole(name, A[np.ix_(order, order)]), whole(name, A)[np.ix_(order, order)], atol=1e-12)


DEGENERATE = {
    "one": np.zeros((1, 1)),
    "two": np.array([[0.0, 1.0], [1.0, 0.0]]),
    "none": np.zeros((7, 7)),
    "complete": 1 - np.eye(7),
    "alone": scipy.linalg.block_diag(1 - np.eye(3), np.zeros((4, 4))),
    "none of many": scipy.sparse.csr_array((1005, 1005)),
    "one of many": scipy.sparse.csr_array(([1.0, 1.0], ([0, 9], [9, 0])), shape=(1005, 1005)),
    "matching of many": scipy.sparse.csr_array(scipy.sparse.block_diag([[[0.0, 1.0], [1.0, 0.0]]] * 505)),
}


@pytest.mark.parametrize("A", DEGENERATE.values(), ids=DEGENERATE)
@pytest.mark.parametrize("name", STRUCTURE)
def test_degenerate_graphs(name, A):
    n = A.shape[0]
    product = structural_similarity(name, scipy.sparse.csr_array(A))
    S = product.block(slice(0, min(n, 20)), slice(0, n))
    assert S.shape == (min(n, 20), n) and np.isfinite(S).all()
    assert np.isfinite(product.entries(np.zeros(1, dtype=int), np.full(1, n - 1))).all()
    if scipy.sparse.csr_array(A).nnz == 0:
        assert_allclose(off(S[:, : len(S)]), 0, atol=1e-12)


def test_complete_graphs_by_hand():
    A = 1 - np.eye(6)  # four others are neighbours of any two, each with five
    assert_allclose(off(whole("adamic_adar", A)), 4 / np.log(5))
    assert_allclose(off(whole("resource_allocation", A)), 4 / 5)
    assert_allclose(off(whole("three_paths", A)), 21 / 125)  # walks of three links between two nodes
    assert_allclose(off(whole("katz", A)), off(dense_katz(A)))


@pytest.fixture(scope="module")
def many():
    return matrix(nx.gnp_random_graph(1050, 8 / 1050, seed=0)), matrix(
        nx.random_partition_graph([50] * 21, 0.3, 0.002, seed=0)
    )


@pytest.mark.parametrize("name", ["katz", "normalized_laplacian"])
def test_of_many_nodes_long_paths_are_of_leading_eigenvectors(name, many):
    """Paths of one and two links are exact; of pairs without a link, which are predicted, nearly all is there."""
    for A in many:
        found, expected = whole(name, A), DENSE[name](A)
        upper = np.triu_indices(len(A), 1)
        unlinked = A[upper] == 0
        found, expected = found[upper][unlinked], expected[upper][unlinked]
        assert np.linalg.norm(found - expected) < 0.2 * np.linalg.norm(expected)
        assert np.corrcoef(found, expected)[0, 1] > 0.98


@pytest.mark.parametrize("name", ["adamic_adar", "resource_allocation", "three_paths"])
def test_of_many_nodes_the_others_are_exact(name, many):
    A = many[0]
    k = degrees(A)
    if name == "three_paths":
        expected = np.linalg.matrix_power(A / np.sqrt(np.outer(k, k)), 3)
    else:
        expected = (A / (np.log(np.maximum(k, 2)) if name == "adamic_adar" else k)) @ A
    assert_allclose(whole(name, A), expected, atol=1e-10)


def test_the_same_at_each_call(many):
    A = scipy.sparse.csr_array(many[0])
    for name in STRUCTURE:
        i = np.arange(1000)
        assert_array_equal(
            structural_similarity(name, A).entries(i, i + 7), structural_similarity(name, A).entries(i, i + 7)
        )


def test_unknown_names():
    with pytest.raises(ValueError, match="jaccard"):
        structural_similarity("jaccard", scipy.sparse.csr_array(matrix(CLUB)))


@pytest.mark.parametrize("name", STRUCTURE)
def test_as_the_only_score_its_order_is_the_predictors(name):
    A = matrix(CLUB)
    model = LinkPredictor(similarities=name).fit(None, A)
    expected, found = off(whole(name, A)), off(model.pair_scores())
    ranks = [np.unique(np.round(values, 9), return_inverse=True)[1] for values in (expected, found)]
    assert_array_equal(*ranks)
