"""Similarities of nodes by a graph, against networkx and formulas with dense matrices."""

import networkx as nx
import numpy as np
import pytest
import scipy.sparse
from numpy.testing import assert_allclose, assert_array_equal

from hilbertlearn import LinkPredictor
from hilbertlearn.graphs import STRUCTURE, structural

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
    return structural(name, scipy.sparse.csr_array(A)).block(slice(0, n), slice(0, n))


def off(S):
    return S[~np.eye(len(S), dtype=bool)]


# ---------------------------------------------------------------- one by one


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


# ---------------------------------------------------------------- all of them


@pytest.mark.parametrize("name", STRUCTURE)
def test_blocks_and_entries_agree(name):
    A = scipy.sparse.csr_array(matrix(GRAPHS["random"]))
    S, product = whole(name, A), structural(name, A)
    assert_allclose(S, S.T, atol=1e-12)
    rng = np.random.default_rng(0)
    i, j = rng.integers(40, size=(2, 300))
    assert_allclose(product.at(i, j), S[i, j], atol=1e-12)
    assert_allclose(product.block(slice(5, 9), slice(20, 40)), S[5:9, 20:], atol=1e-12)
    assert product.block(slice(3, 3), slice(0, 4)).shape == (0, 4)
    assert product.at(i[:0], j[:0]).shape == (0,)


@pytest.mark.parametrize("name", STRUCTURE)
def test_weights_of_links_do_not_count_and_nothing_is_changed(name):
    weighted = scipy.sparse.csr_array(nx.to_numpy_array(CLUB))
    before = weighted.toarray()
    assert_array_equal(whole(name, weighted), whole(name, matrix(CLUB)))
    assert_array_equal(weighted.toarray(), before)
    assert before.max() > 1


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
    product = structural(name, scipy.sparse.csr_array(A))
    S = product.block(slice(0, min(n, 20)), slice(0, n))
    assert S.shape == (min(n, 20), n) and np.isfinite(S).all()
    assert np.isfinite(product.at(np.zeros(1, dtype=int), np.full(1, n - 1))).all()
    if scipy.sparse.csr_array(A).nnz == 0:
        assert_allclose(off(S[:, : len(S)]), 0, atol=1e-12)


def test_complete_graphs_by_hand():
    A = 1 - np.eye(6)  # four others are neighbours of any two, each with five
    assert_allclose(off(whole("adamic_adar", A)), 4 / np.log(5))
    assert_allclose(off(whole("resource_allocation", A)), 4 / 5)
    assert_allclose(off(whole("three_paths", A)), 21 / 125)  # walks of three links between two nodes
    assert_allclose(off(whole("katz", A)), off(dense_katz(A)))


# ---------------------------------------------------------------- many nodes


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
        assert_array_equal(structural(name, A).at(i, i + 7), structural(name, A).at(i, i + 7))


def test_unknown_names():
    with pytest.raises(ValueError, match="jaccard"):
        structural("jaccard", scipy.sparse.csr_array(matrix(CLUB)))


@pytest.mark.parametrize("name", STRUCTURE)
def test_as_the_only_score_its_order_is_the_predictors(name):
    A = matrix(CLUB)
    model = LinkPredictor(similarities=name).fit(None, A)
    expected, found = off(whole(name, A)), off(model.pair_scores())
    ranks = [np.unique(np.round(values, 9), return_inverse=True)[1] for values in (expected, found)]
    assert_array_equal(*ranks)
