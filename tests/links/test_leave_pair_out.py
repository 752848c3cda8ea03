"""Leave-pair-out predictions in closed form against refits in long arithmetic, above all tiny predictions."""

import itertools

import numpy as np
import pytest
import scipy.linalg
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics.pairwise import euclidean_distances, rbf_kernel
from sklearn.preprocessing import KernelCenterer

from hilbertlearn import LinkPredictor
from hilbertlearn.links.leave_node_out import leave_nodes_out
from hilbertlearn.links.leave_pair_out import leave_pairs_out
from hilbertlearn.metrics import link_average_precision, link_roc_auc

BOTH = pytest.mark.parametrize("center", [False, True])
LONG, TINY = np.longdouble, 1e-300


def noise(n, d=3, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


def long_solve(A, B):
    """Solutions of positive systems A (p, m, m), B (p, m, k) by Cholesky factors, in the numbers that are given."""
    A, B = A.copy(), B.copy()
    for k in range(A.shape[1]):
        A[:, k:, k] /= np.sqrt(A[:, k, k])[:, None]
        A[:, k + 1 :, k + 1 :] -= A[:, k + 1 :, k, None] * A[:, None, k + 1 :, k]
        B[:, k] /= A[:, k, k, None]
        B[:, k + 1 :] -= A[:, k + 1 :, k, None] * B[:, None, k]
    for k in reversed(range(A.shape[1])):
        B[:, k] /= A[:, k, k, None]
        B[:, :k] -= A[:, k, :k, None] * B[:, None, k]
    return B


def by_refits(K, Y, penalty, center=False):
    """Products and squares (n, n) from the model of the others, for each pair."""
    n, K, Y = len(K), K.astype(LONG), Y.astype(LONG)
    pairs = np.array(list(itertools.combinations(range(n), 2)))
    others = np.array([np.setdiff1d(np.arange(n), pair) for pair in pairs])
    systems = K[others[:, :, None], others[:, None, :]] + LONG(penalty) * np.eye(n - 2, dtype=LONG)
    weights = long_solve(systems, K[others[:, :, None], pairs[:, None, :]])
    targets = Y[others]
    if center:
        targets = targets - targets.mean(axis=1, keepdims=True)
    ahead, behind = np.einsum("ptk,ptd->kpd", weights, targets)
    products, squares = np.zeros((2, n, n), dtype=LONG)
    i, j = pairs.T
    products[i, j] = products[j, i] = (ahead * behind).sum(axis=-1)
    squares[i, j], squares[j, i] = (ahead**2).sum(axis=-1), (behind**2).sum(axis=-1)
    return products, squares


def check(K, Y, penalty, center=False, rtol=1e-9):
    """All pairs agree with refits, relative to the lengths of the two predictions."""
    Y = Y - Y.mean(axis=0) if center else Y
    products, squares = leave_pairs_out(K, Y, penalty, center=center)
    exact_products, exact_squares = by_refits(K, Y, penalty, center)
    assert (abs(squares - exact_squares) <= rtol * exact_squares + TINY).all()
    assert (abs(products - exact_products) <= rtol * np.sqrt(exact_squares * exact_squares.T) + TINY).all()
    assert_array_equal(products, products.T)


@BOTH
@pytest.mark.parametrize("penalty", [1e-8, 0.3, 1e6])
@pytest.mark.parametrize("size", [1e-8, 1e-12, 1e-20])
def test_small_entries_of_any_sign(size, penalty, center):
    E = noise(14, 14)
    check(np.eye(14) + size * (E + E.T), noise(14), penalty, center)


@BOTH
@pytest.mark.parametrize("size", [1e-8, 1e-20])
def test_small_entries_beside_a_diagonal_of_many_sizes(size, center):
    E, scale = noise(12, 12), 10.0 ** np.linspace(-3, 3, 12)
    check((np.eye(12) + size * (E + E.T)) * np.multiply.outer(scale, scale), noise(12), 0.3, center)


@BOTH
@pytest.mark.parametrize("penalty", [1e-8, 0.3, 1e6])
@pytest.mark.parametrize("size", [1e-8, 1e-12, 1e-20])
@pytest.mark.parametrize("n_features", [2, 5, 20])
def test_kernels_of_a_large_gamma(size, penalty, center, n_features):
    """Entries are of many sizes, the median as given: that of the nearest sample is all that a row has."""
    X = noise(14, n_features, seed=1)
    distances = euclidean_distances(X, squared=True)
    gamma = -np.log(size) / np.median(distances[np.triu_indices(14, 1)])
    check(np.exp(-gamma * distances), noise(14), penalty, center)


@BOTH
@pytest.mark.parametrize("gamma", [2.0, 20.0, 50.0])
def test_samples_behind_one_that_is_left_out(gamma, center):
    """On a line the second hides all others from the first: the inverse has not got their kernel values."""
    check(rbf_kernel(np.arange(10.0)[:, None], gamma=gamma), noise(10), 0.1, center)


@BOTH
def test_kernel_whose_inverse_has_zeros(center):
    check(np.exp(-5 * abs(np.arange(10.0)[:, None] - np.arange(10.0))), noise(10), 1e-6, center)


@BOTH
def test_a_sample_alone(center):
    """Nothing is predicted where the kernel is zero, and with centring nothing that has to do with it."""
    K = scipy.linalg.block_diag(rbf_kernel(noise(8)), 1.0)
    products, squares = leave_pairs_out(K, noise(9) - noise(9).mean(axis=0), 0.1, center=center)
    assert_array_equal(products[8], 0)
    assert_array_equal(squares[8], 0)


def test_nothing_is_predicted_by_the_identity():
    for penalty in (1e-12, 1.0, 1e12):
        assert_array_equal(leave_pairs_out(np.eye(6), noise(6), penalty), 0)


@BOTH
@pytest.mark.parametrize("penalty", [1e-6, 1e-2, 1.0, 1e2, 1e6])
@pytest.mark.parametrize("gamma", [0.05, 0.5, 3.0])
def test_ordinary_kernels(gamma, penalty, center):
    check(rbf_kernel(noise(16), gamma=gamma), noise(16, 4, seed=1), penalty, center)


@BOTH
@pytest.mark.parametrize("penalty", [1e-2, 1.0, 1e4])
def test_kernels_of_low_rank(penalty, center):
    check(noise(16) @ noise(16).T, noise(16, 4, seed=1), penalty, center)


@BOTH
@pytest.mark.parametrize("gamma", [0.1, 1.0, 10.0])
@pytest.mark.parametrize("penalty", [1e-5, 1e-2, 1e3])
def test_repeated_samples(gamma, penalty, center):
    check(rbf_kernel(np.repeat(noise(7), 2, axis=0), gamma=gamma), noise(14, seed=1), penalty, center)


@BOTH
def test_samples_nearly_alike(center):
    X = np.repeat(noise(7), 2, axis=0) + 1e-3 * noise(14, seed=1)
    check(rbf_kernel(X), noise(14, seed=2), 1e-5, center)


@BOTH
@pytest.mark.parametrize("penalty", [1e-18, 1e-30, 1e-300])
def test_penalties_below_rounding(penalty, center):
    """Repeated samples, two near each other and one alone: finite, and of the size of the targets."""
    K = rbf_kernel(np.array([0, 0, 10, 10, 3, 3.1, 50.0])[:, None])
    Y = noise(7) - noise(7).mean(axis=0)
    products, squares = leave_pairs_out(K, Y, penalty, center=center)
    assert np.isfinite(products).all()
    assert squares.max() < 10 * (Y**2).sum(axis=1).max()
    _, exact = leave_pairs_out(K, Y, 1e-10)
    if not center:
        assert_allclose(squares[0, 2:], exact[0, 2:], rtol=1e-6)


@BOTH
@pytest.mark.parametrize("penalty", [1e160, 1e300])
def test_huge_penalties(penalty, center):
    products, squares = leave_pairs_out(rbf_kernel(noise(9)), noise(9) - noise(9).mean(axis=0), penalty, center=center)
    assert abs(products).max() < 1e-300
    assert squares.max() < 1e-300


def test_more_pairs_than_are_taken_at_a_time():
    """Blocks of the sums, and all of them at once, give the same."""
    K, Y = rbf_kernel(noise(250), gamma=1.0), noise(250, 5)
    products, squares = leave_pairs_out(K, Y, 0.1)
    order = np.random.default_rng(0).permutation(250)
    again = leave_pairs_out(K[np.ix_(order, order)], Y[order], 0.1)
    norms = np.sqrt(squares * squares.T)[np.ix_(order, order)]
    assert (abs(again[0] - products[np.ix_(order, order)]) <= 1e-11 * norms).all()
    assert_allclose(again[1], squares[np.ix_(order, order)], rtol=1e-11)
    assert_array_equal(products, products.T)
    assert not products.diagonal().any()
    assert not squares.diagonal().any()


@BOTH
@pytest.mark.parametrize("n", [1, 2])
def test_of_two_nothing_is_left(n, center):
    for values in leave_pairs_out(rbf_kernel(noise(n)), noise(n), 0.1, center=center):
        assert_array_equal(values, np.zeros((n, n)))


def test_of_three_one_is_left():
    K, Y, s = rbf_kernel(noise(3)), noise(3), 0.1
    products, squares = leave_pairs_out(K, Y, s)
    for i, j, k in itertools.permutations(range(3)):
        one, other = K[i, k] / (K[k, k] + s), K[j, k] / (K[k, k] + s)
        assert_allclose([products[i, j], squares[i, j]], [one * other * Y[k] @ Y[k], one**2 * Y[k] @ Y[k]], rtol=1e-12)


def test_of_three_one_is_left_and_is_its_own_mean():
    for values in leave_pairs_out(rbf_kernel(noise(3)), noise(3) - noise(3).mean(axis=0), 0.1, center=True):
        assert_array_equal(values, np.zeros((3, 3)))


@BOTH
@pytest.mark.parametrize("n", [4, 5])
@pytest.mark.parametrize("gamma", [0.5, 50.0])
def test_of_few_some_are_left(n, gamma, center):
    check(rbf_kernel(noise(n), gamma=gamma), noise(n, seed=1), 0.1, center)


@pytest.mark.parametrize("penalty", [1e-4, 1.0, 1e4])
@pytest.mark.parametrize("gamma", [0.1, 1.0, 3.0])
def test_centred_kernels(gamma, penalty):
    check(KernelCenterer().fit_transform(rbf_kernel(noise(16), gamma=gamma)), noise(16, 4, seed=1), penalty, True)


@pytest.mark.parametrize("penalty", [1e-2, 1.0, 1e4])
@pytest.mark.parametrize("size", [1e-4, 1e-8])
def test_centred_kernels_that_were_nearly_diagonal(size, penalty):
    """As precise as their entries: what they differ by is small beside the 1/n that all have."""
    E = noise(14, 14)
    check(KernelCenterer().fit_transform(np.eye(14) + size * (E + E.T)), noise(14), penalty, True, rtol=1e-14 / size)


@pytest.mark.parametrize("penalty", [1e-6, 1.0, 1e4])
def test_centred_kernels_that_were_diagonal_to_rounding(penalty):
    """Nothing is left of the entries, and nothing is predicted, least of all what was left out."""
    E = noise(30, 30)
    K = KernelCenterer().fit_transform(np.eye(30) + 1e-20 * (E + E.T))
    assert_array_equal(leave_pairs_out(K, noise(30) - noise(30).mean(axis=0), penalty, center=True), 0)


def chance(n, share, n_features=50, seed=0):
    """Squared distances in units of their median (n, n), a graph that has nothing to do with them, and an embedding of
    its nodes whose inner products are exact: integers, 0 for nodes without common neighbours."""
    rng = np.random.default_rng(seed)
    distances = euclidean_distances(rng.normal(size=(n, n_features)), squared=True)
    W = np.triu(rng.random((n, n)) < share, 1).astype(float)
    W += W.T
    return distances / np.median(distances[np.triu_indices(n, 1)]), W, W + np.eye(n)


def by_iterated_refits(K, Y, penalty):
    """Products (n, n) of refits of a nearly diagonal K, all pairs at a time: x = D^-1 (k - E x), i and j held at 0."""
    n, diagonal = len(K), K.diagonal() + penalty
    i, j = np.triu_indices(n, 1)
    m, E = np.arange(len(i)), K - np.diag(K.diagonal())
    predictions = []
    for own in (i, j):
        weights = np.zeros((len(i), n))
        for _ in range(100):
            before, weights = weights, (K[own] - weights @ E) / diagonal
            weights[m, i] = weights[m, j] = 0
            if (abs(weights - before) <= 1e-13 * abs(weights).max(axis=1, keepdims=True)).all():
                break
        else:
            raise AssertionError("K is not nearly diagonal")
        predictions.append(weights @ Y)
    products = np.zeros((n, n))
    products[i, j] = np.einsum("ij,ij->i", *predictions)
    return products + products.T


@pytest.mark.parametrize("share", [0.003, 0.02])
@pytest.mark.parametrize("factor, alpha", [(1.0, 10.0), (16.0, 1e-6), (64.0, 1e-6), (64.0, 10.0), (256.0, 1.0)])
def test_average_precision_of_links_by_chance(factor, alpha, share):
    """With factors from 64 on, predictions formed as differences have one of 0.1 to 0.3."""
    distances, W, Y = chance(150, share)
    K = np.exp(-factor * distances)
    products, _ = leave_pairs_out(K, Y, 150 * alpha)
    refits = link_average_precision(W, by_iterated_refits(K, Y, 150 * alpha))
    assert link_average_precision(W, products) == pytest.approx(refits, abs=1e-6)
    assert refits < 0.06


@BOTH
@pytest.mark.parametrize("factor", 4.0 ** np.arange(-3, 5))
@pytest.mark.parametrize("alpha", [1e-6, 1.0])
def test_average_precision_over_the_grid(factor, alpha, center):
    distances, W, Y = chance(30, 0.02)
    Y = Y - Y.mean(axis=0) if center else Y
    K = np.exp(-factor * distances)
    products, _ = leave_pairs_out(K, Y, 30 * alpha, center=center)
    refits, _ = by_refits(K, Y, 30 * alpha, center)
    expected = link_average_precision(W, refits.astype(float))
    assert link_average_precision(W, products) == pytest.approx(expected, abs=1e-6)


@BOTH
@pytest.mark.parametrize("share", [0.003, 0.02])
def test_link_predictor_finds_nothing_in_links_by_chance(share, center):
    rng = np.random.default_rng(1)
    X, W = rng.normal(size=(150, 50)), np.triu(rng.random((150, 150)) < share, 1).astype(float)
    model = LinkPredictor(gamma="auto", scoring="average_precision", center=center).fit(X, W + W.T)
    assert model.cv_score_ < 0.05


GRAMS = {
    "nearly diagonal": lambda X, rng: rbf_kernel(X, gamma=10.0 ** rng.uniform(1.0, 1.7)),
    "ordinary": lambda X, rng: rbf_kernel(X, gamma=10.0 ** rng.uniform(-1.5, 1.0)),
    "nearly constant": lambda X, rng: rbf_kernel(X, gamma=10.0 ** rng.uniform(-7.0, -3.0)),
}


def linked_samples(rng, n=12):
    """Inputs (n, 2), links of those that are near, some of them by chance, and the diffusion kernel's embedding.

    A column of noise keeps scores from being equal: their order would be that of rounding.
    """
    X = rng.normal(size=(n, 2))
    near = euclidean_distances(X) < 1.0
    W = np.triu(near ^ (rng.random((n, n)) < 0.15), 1).astype(float)
    W += W.T
    values, vectors = np.linalg.eigh(np.diag(W.sum(axis=1)) - W)
    return X, W, np.column_stack([vectors * np.exp(-rng.uniform(0.2, 2.0) * values), 0.3 * rng.normal(size=n)])


@pytest.mark.parametrize("gram", GRAMS)
def test_scores_of_random_problems_are_those_of_refits(gram):
    """200 of them: areas under both curves, of inner products and, where these are not all alike, of cosines."""
    seen = 0
    for seed in range(67):
        rng = np.random.default_rng([seed, len(gram)])
        X, W, Y = linked_samples(rng)
        K, penalty, center = GRAMS[gram](X, rng), 10.0 ** rng.uniform(-4, 2), bool(seed % 2)
        Y = Y - Y.mean(axis=0) if center else Y
        if not 0 < W.sum() < W.size - len(W):
            continue
        found, exact = leave_pairs_out(K, Y, penalty, center=center), by_refits(K, Y, penalty, center)
        for cosine in (False, True) if gram == "ordinary" else (False,):
            scores, expected = (
                (products / np.sqrt(squares * squares.T + np.eye(len(K))) if cosine else products).astype(float)
                for products, squares in (found, exact)
            )
            for score in (link_average_precision, link_roc_auc):
                assert score(W, scores) == pytest.approx(score(W, expected), abs=1e-8)
        seen += 1
    assert seen > 60


@BOTH
@pytest.mark.parametrize("factor", [1 / 16, 1.0, 16.0, 64.0])
@pytest.mark.parametrize("alpha", [1e-6, 1e-2, 10.0])
def test_links_by_chance_score_by_chance(factor, alpha, center):
    """Average precision is about the share of links, and the area a half, with pairs left out and with nodes."""
    precision, area = [], []
    for seed in range(6):
        distances, W, Y = chance(80, 0.05, seed=seed)
        Y = Y - Y.mean(axis=0) if center else Y
        K = np.exp(-factor * distances)
        H = leave_nodes_out(K, Y, 80 * alpha, center=center)
        for products in (leave_pairs_out(K, Y, 80 * alpha, center=center)[0], H @ H.T):
            share = W.sum() / (80 * 79)
            precision.append(link_average_precision(W, products) / share)
            area.append(link_roc_auc(W, products))
    precision, area = (np.reshape(values, (6, 2)).mean(axis=0) for values in (precision, area))
    assert (precision < 1.25).all() and (area < 0.54).all()
    if center or alpha < 1:  # without a mean, smooth models make nodes alike that have few links
        assert (precision > 0.9).all() and (area > 0.46).all()
