"""Random networks follow their laws."""

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse
from helpers.refusals import assert_refused
from scipy import stats
from sklearn.decomposition import KernelPCA

from hilbertlearn import datasets

rng = np.random.default_rng(9)


def assert_graph(adjacency, n):
    A = adjacency.toarray()
    assert scipy.sparse.issparse(adjacency) and A.shape == (n, n)
    assert (A == A.T).all() and (A.diagonal() == 0).all() and set(np.unique(A)) <= {0, 1}
    assert adjacency.nnz == A.sum()
    return A


def test_erdos_renyi_follows_its_law():
    degrees = []
    for seed in range(5):
        A = assert_graph(datasets.make_erdos_renyi(200, 0.05, random_state=seed).adjacency, 200)
        degrees += list(A.sum(axis=1))
    n_links, n_pairs = int(sum(degrees) / 2), 5 * 199 * 100
    assert stats.binomtest(n_links, n_pairs, 0.05).pvalue > 1e-3
    # the degrees are binomial: their variance is that of independent pairs
    assert np.var(degrees) == pytest.approx(199 * 0.05 * 0.95, rel=0.15)


def test_classes_of_a_mixture():
    data = datasets.make_mixture_network(400, 3, p_intra=0.1, p_inter=0.01, beta=0.1, random_state=0)
    A = assert_graph(data.adjacency, 400)
    assert sorted(np.bincount(data.target)) == [133, 133, 134]
    upper = np.triu_indices(400, 1)
    same = (data.target[:, None] == data.target)[upper]
    for pairs, p in ((same, 0.1), (~same, 0.01)):
        assert stats.binomtest(int(A[upper][pairs].sum()), int(pairs.sum()), p).pvalue > 1e-3


def test_inputs_come_from_the_diffusion_kernel():
    data = datasets.make_erdos_renyi(60, 0.1, inertia=1.0, beta=0.4, random_state=1)
    A = data.adjacency.toarray()
    K = scipy.linalg.expm(-0.4 * (np.diag(A.sum(axis=1)) - A))
    np.testing.assert_allclose(data.output_kernel, K, atol=1e-12)
    H = np.eye(60) - 1 / 60
    np.testing.assert_allclose(data.X @ data.X.T, H @ K @ H, atol=1e-10)
    assert data.beta == 0.4


def test_inputs_are_those_of_kernel_pca():
    points = rng.normal(size=(40, 5)) * [5, 3, 2, 1, 0.5] + 7
    K = points @ points.T
    centred = points - points.mean(axis=0)
    shares = np.cumsum(np.linalg.svd(centred, compute_uv=False) ** 2) / (centred**2).sum()
    for inertia in (0.2, 0.75, 0.9, shares[2], 0.999, 1.0):
        X = datasets.kernel_pca_inputs(K, inertia)
        q = X.shape[1]
        assert shares[q - 1] >= inertia - 1e-9 and (q == 1 or shares[q - 2] < inertia)
        reference = KernelPCA(q, kernel="precomputed").fit_transform(K)
        np.testing.assert_allclose(np.abs(X), np.abs(reference), atol=1e-8)
        np.testing.assert_allclose(X.mean(axis=0), 0, atol=1e-9)
    assert X.shape == (40, 5)  # what is left is rounding


@pytest.mark.parametrize(
    ("density", "beta", "numbers"),
    [(0.007, 1.75, (69, 100, 159)), (0.01, 0.9, (104, 145, 227)), (0.02, 0.3, (201, 274, 411))],
)
def test_numbers_of_components_of_the_paper(density, beta, numbers):
    data = datasets.make_erdos_renyi(density=density, beta=beta, inertia=1.0, random_state=0)
    variances = (data.X**2).sum(axis=0)
    shares = np.cumsum(variances) / variances.sum()
    for inertia, number in zip((0.75, 0.85, 0.95), numbers):  # Brouard et al. 2016, table 8
        assert np.searchsorted(shares, inertia) + 1 == pytest.approx(number, rel=0.1)


def test_same_seed_same_network():
    for make in (datasets.make_erdos_renyi, datasets.make_mixture_network):
        first, second, other = (make(50, random_state=seed) for seed in (3, 3, 4))
        np.testing.assert_array_equal(first.X, second.X)
        assert (first.adjacency != second.adjacency).nnz == 0 < (first.adjacency != other.adjacency).nnz


@pytest.mark.parametrize(
    ("make", "settings", "words"),
    [
        (datasets.make_erdos_renyi, {"n_nodes": 1}, ["n_nodes", "> 1", "got 1"]),
        (datasets.make_erdos_renyi, {"n_nodes": 9, "density": 1.1}, ["density", "between 0 and 1", "1.1"]),
        (datasets.make_erdos_renyi, {"n_nodes": 9, "inertia": 1.5}, ["inertia", "at most 1", "1.5"]),
        (datasets.make_erdos_renyi, {"n_nodes": 9, "inertia": 0}, ["inertia", "> 0", "0"]),
        (datasets.make_erdos_renyi, {"n_nodes": 9, "beta": -1}, ["beta", "-1"]),
        (datasets.make_erdos_renyi, {"n_nodes": 9, "density": 1, "beta": 99}, ["K is constant"]),
        (datasets.make_mixture_network, {"n_nodes": 9, "p_inter": -0.1}, ["p_inter", "-0.1"]),
        (datasets.make_mixture_network, {"n_nodes": 9, "p_intra": 2}, ["p_intra", "2"]),
        (datasets.make_mixture_network, {"n_nodes": 3, "n_classes": 4}, ["n_classes", "at most", "3", "4"]),
        (datasets.kernel_pca_inputs, {"K": -np.eye(3)}, ["K", "positive semi-definite", "Gram"]),
    ],
)
def test_generators_refuse(make, settings, words):
    assert_refused(lambda: make(**settings), words)
