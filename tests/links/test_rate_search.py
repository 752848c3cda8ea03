"""The search of two rates against the full grid; subsamples of nodes."""

import numpy as np
import pytest
import scipy.sparse
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics.pairwise import euclidean_distances

from hilbertlearn.datasets import make_mixture_network
from hilbertlearn.kernels import node_embedding
from hilbertlearn.links.leave_pair_out import leave_pairs_out
from hilbertlearn.links.rate_search import climb, reduce_columns, search_grid, search_on_subsamples, subsample_nodes
from hilbertlearn.metrics import link_roc_auc


class Looks:
    """A table of scores that knows where it was looked at."""

    def __init__(self, table):
        self.table, self.positions = table, []

    def __call__(self, i, j):
        assert 0 <= i < self.table.shape[0] and 0 <= j < self.table.shape[1]
        assert (i, j) not in self.positions  # never twice
        self.positions.append((i, j))
        return self.table[i, j]


def ridge(shape, top, slant):
    """Highest at `top`, and falling slowly along a line aslant."""
    i, j = np.indices(shape)
    across, along = (j - top[1]) - slant * (i - top[0]), (i - top[0])
    return -0.5 * across**2 - 0.05 * along**2


@pytest.mark.parametrize("slant", [-1.0, 0.0, 0.7])
@pytest.mark.parametrize("top", [(0, 0), (3, 6), (6, 12), (2, 11), (5, 1)])
def test_the_top_of_a_ridge(top, slant):
    looks = Looks(ridge((7, 13), top, slant))
    assert search_grid(looks, (7, 13)) == top
    assert len(looks.positions) < 45


@pytest.mark.parametrize("shape", [(1, 1), (1, 2), (3, 1), (1, 25), (40, 2)])
def test_small_and_narrow_grids(shape):
    top = (shape[0] - 1, shape[1] // 2)
    assert search_grid(Looks(ridge(shape, top, 0.0)), shape) == top


def test_ties_go_to_the_smoother_model():
    assert search_grid(Looks(np.ones((5, 9))), (5, 9)) == (0, 8)
    table = np.zeros((3, 3))
    table[0, 1] = table[2, 1] = table[2, 2] = 1.0
    assert search_grid(Looks(table), (3, 3)) == (2, 2)
    table[0, 2] = 1.0
    assert search_grid(Looks(table), (3, 3)) == (0, 2)


def test_nan_is_worse_than_any_number():
    table = ridge((7, 13), (4, 5), 0.0)
    table[:, 7:] = np.nan
    assert search_grid(Looks(table), (7, 13)) == (4, 5)
    assert search_grid(Looks(np.full((3, 3), np.nan)), (3, 3)) == (0, 2)


@pytest.mark.parametrize(
    ("n", "sizes"), [(400, [400]), (800, [500, 800]), (1500, [500, 1000, 1500]), (2500, [500, 1000, 1500])]
)
def test_samples_grow_and_correct_what_smaller_ones_chose(n, sizes):
    """The best of a sample is off by more the smaller it is."""
    tables = {400: (3, 6), 500: (5, 4), 800: (4, 5), 1000: (3, 6), 1500: (4, 8)}
    seen = []

    def score(i, j, nodes):
        seen.append(len(nodes))
        return ridge((7, 13), tables[len(nodes)], 0.0)[i, j]

    chosen = search_on_subsamples(score, (7, 13), graph(n, 3 * n))
    assert chosen == {400: (3, 6), 800: (4, 5), 1500: (3, 8), 2500: (3, 8)}[n]  # the last moves along alpha
    assert sorted(set(seen)) == sizes
    assert max(seen.count(size) for size in sizes[1:] or [0]) < 25


def test_climbing():
    table = ridge((7, 13), (3, 9), 0.0)
    looks = Looks(table)
    assert climb(looks, (2, 7), (7, 13)) == (2, 9)  # along alpha only
    assert sorted(looks.positions) == [(2, 6), (2, 7), (2, 8), (2, 9), (2, 10)]
    assert climb(Looks(table), (3, 9), (7, 13)) == (3, 9)
    assert climb(Looks(table), (0, 0), (7, 13), steps=[(1, 0), (0, 1)]) == (3, 9)


# ---------------------------------------------------------------- samples


def graph(n, links, seed=0):
    i, j = np.random.default_rng(seed).integers(n, size=(2, links))
    W = scipy.sparse.csr_array((np.ones(links), (i, j)), shape=(n, n))
    W.setdiag(0.0)
    return scipy.sparse.csr_array(W + W.T)


def test_few_nodes_are_all_taken():
    assert_array_equal(subsample_nodes(graph(20, 30), 20), np.arange(20))
    assert_array_equal(subsample_nodes(graph(20, 30), 50), np.arange(20))


@pytest.mark.parametrize("links", [0, 10, 300, 20_000])
def test_a_sample_has_no_node_twice(links):
    nodes = subsample_nodes(graph(1000, links), 300, 1)
    assert len(nodes) == 300 and (np.diff(nodes) > 0).all()
    assert_array_equal(nodes, subsample_nodes(graph(1000, links), 300, 1))
    assert (nodes != subsample_nodes(graph(1000, links), 300, 2)).any()


def test_nodes_are_alike_where_links_are_many():
    """A hub is no likelier than others."""
    W = graph(200, 4000).tolil()
    W[0, 1:] = W[1:, 0] = 1.0
    W = scipy.sparse.csr_array(W)
    drawn = np.bincount(np.concatenate([subsample_nodes(W, 100, seed) for seed in range(400)]), minlength=200)
    assert abs(drawn - 200).max() < 5 * np.sqrt(400 / 4)  # five standard deviations


@pytest.mark.parametrize("links", [50, 500, 2000])
def test_a_sample_of_a_sparse_graph_has_links(links):
    W = graph(3000, links)
    nodes = subsample_nodes(W, 600)
    found = W[nodes][:, nodes].nnz / 2
    assert found >= min(200, W.nnz / 2)


# ---------------------------------------------------------------- the choice of a link predictor


def test_fewer_columns():
    Y = np.random.default_rng(0).normal(size=(5, 12))
    few = reduce_columns(Y)
    assert few.shape == (5, 5)
    assert_allclose(few @ few.T, Y @ Y.T, atol=1e-12)
    assert reduce_columns(few) is few


def test_a_sample_and_few_looks_choose_nearly_what_all_nodes_do():
    data = make_mixture_network(400, 3, p_intra=0.06, p_inter=2e-3, random_state=0)
    W, V = data.adjacency, node_embedding("diffusion", data.adjacency)
    squares = euclidean_distances(data.X, squared=True)
    gammas, penalties = 4.0 ** np.arange(-3, 4) / (2 * np.median(squares)), 10.0 ** np.arange(-6, 3.1, 0.75)

    def score(i, j, nodes):
        K, Y = np.exp(-gammas[i] * squares[np.ix_(nodes, nodes)]), reduce_columns(V[nodes])
        return link_roc_auc(W[nodes][:, nodes], leave_pairs_out(K, Y, penalties[j])[0])

    everyone, some, shape = np.arange(400), subsample_nodes(W, 200), (len(gammas), len(penalties))
    start = search_grid(lambda i, j: score(i, j, some), shape)
    chosen = climb(lambda i, j: score(i, j, everyone), start, shape)
    best = max(score(i, j, everyone) for i, j in np.ndindex(*shape))
    assert score(*chosen, everyone) > best - 0.005
