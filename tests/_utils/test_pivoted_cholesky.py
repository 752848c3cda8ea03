"""Cholesky decompositions with pivots of matrices that are given by their columns."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics.pairwise import polynomial_kernel, rbf_kernel

from hilbertlearn._utils.pivoted_cholesky import _accepted, pivot_blocks, random_pivots

X = np.random.default_rng(0).normal(size=(500, 3))
K = rbf_kernel(X, gamma=0.5)


class Columns:
    """Columns of K, and how many were asked for."""

    def __init__(self, K):
        self.K, self.asked = K, 0

    def __call__(self, positions):
        self.asked += len(positions)
        return self.K[:, positions]


def decomposed(decompose, K, width, **options):
    columns, L = Columns(K), np.empty((len(K), width), order="F")
    steps = list(decompose(columns, K.diagonal(), L, **options))
    return steps, L[:, : len(steps[-1][0])], columns.asked


@pytest.mark.parametrize("decompose", [pivot_blocks, random_pivots])
def test_a_factor_is_the_projection_on_its_pivots(decompose):
    steps, L, asked = decomposed(decompose, K, 128)
    for pivots, left in steps[1:]:
        C, own = K[:, pivots], L[:, : len(pivots)]
        assert len(set(pivots)) == len(pivots)
        assert_allclose(own @ own.T, C @ np.linalg.lstsq(C[pivots], C.T, rcond=1e-14)[0], atol=1e-7)
        assert_allclose(np.triu(own[pivots], 1), 0.0, atol=1e-10)
        assert left == pytest.approx(np.trace(K - own @ own.T), abs=1e-10)
    assert asked <= 256


def test_entries_spare_columns_of_what_is_refused():
    def entries(positions):
        return K[np.ix_(positions, positions)]

    plain, spared = decomposed(random_pivots, K, 100), decomposed(random_pivots, K, 100, entries=entries)
    assert_array_equal(spared[0][-1][0], plain[0][-1][0])
    assert_allclose(spared[1], plain[1], atol=1e-8)
    assert spared[2] == 100 < plain[2]


def test_random_pivots_fill_the_width_exactly():
    for width in (1, 3, 64, 65, 200):
        (*_, (pivots, _)), L, _ = decomposed(random_pivots, K, width)
        assert L.shape[1] == len(pivots) == width


def test_random_pivots_end_at_the_rank():
    low = polynomial_kernel(X, degree=2)
    (*_, (pivots, left)), L, _ = decomposed(random_pivots, low, 100)
    assert len(pivots) == np.linalg.matrix_rank(low) == 10
    assert_allclose(L @ L.T, low, atol=1e-10 * low.max())
    assert left <= 1e-10 * np.trace(low)
    assert [len(pivots) for pivots, _ in random_pivots(Columns(0 * K), np.zeros(500), np.empty((500, 5)))] == [0]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_given_pivots_come_first(dtype):
    twice = np.r_[np.arange(500), 7]  # the last row is the eighth once more
    S, given = K[np.ix_(twice, twice)].astype(dtype), np.array([400, 7, 500, 3])
    L = np.empty((501, 30), dtype=dtype, order="F")
    steps = list(random_pivots(Columns(S), S.diagonal(), L, initial=given))
    assert set(steps[0][0]) in ({400, 7, 3}, {400, 500, 3})
    assert len(steps[-1][0]) == len(set(steps[-1][0])) == 30
    nothing = list(random_pivots(Columns(0 * S), 0 * S.diagonal(), L.copy(), initial=given))
    assert [len(pivots) for pivots, _ in nothing] == [0]
    for pivots, left in steps:
        own, C = L[:, : len(pivots)].astype(float), K[np.ix_(twice, twice[pivots])]
        projection = C @ np.linalg.solve(C[pivots], C.T)
        assert_allclose(own @ own.T, projection, atol=1e-10 if dtype == np.float64 else 1e-4)
        assert left == pytest.approx(501 - projection.trace(), rel=1e-10 if dtype == np.float64 else 1e-4)


def test_draws_are_those_of_the_generator():
    def pivots(random):
        (*_, (found, _)), _, _ = decomposed(random_pivots, K, 20, random=random)
        return list(found)

    assert pivots(np.random.default_rng(3)) == pivots(np.random.default_rng(3)) != pivots(np.random.default_rng(4))
    assert pivots(None) == pivots(None)
    assert len(pivots(np.random.RandomState(0))) == 20


def test_random_pivots_are_not_taken_in_by_outliers():
    # 60 samples that nothing is like, of larger norm, beside 440 in three dimensions
    S = np.zeros((500, 500))
    S[:440, :440], S[440:, 440:] = K[:440, :440], 1.2 * np.eye(60)
    (*_, (_, left)), _, _ = decomposed(random_pivots, S, 60)
    best = np.linalg.eigvalsh(S)[:-30].sum()  # of half the rank
    greedy = S.trace() - 60 * 1.2
    assert left < best and left < 0.5 * greedy


def test_rows_of_no_weight_are_no_pivots():
    weights = np.r_[np.full(250, 3.0), np.zeros(250)]
    (*_, (pivots, left)), L, _ = decomposed(random_pivots, K, 40, weights=weights)
    assert pivots.max() < 250
    assert left == pytest.approx(weights @ np.diag(K - L @ L.T))


def test_repetition_is_weight():
    counts = np.random.default_rng(1).integers(1, 4, 100)
    own, rows = K[:100, :100], np.repeat(np.arange(100), counts)
    (*_, (weighted, left)), _, _ = decomposed(random_pivots, own, 30, weights=counts)
    (*_, (repeated, same)), _, _ = decomposed(random_pivots, own[np.ix_(rows, rows)], 30)
    assert_array_equal(rows[repeated], weighted)
    assert same == pytest.approx(left)


def test_proposals_are_accepted_as_if_drawn_one_by_one():
    # two proposals that are the same but for 1 %: both are pivots in a hundredth of all blocks, not always
    S, random = np.array([[1.0, 0.995], [0.995, 1.0]]), np.random.default_rng(0)
    both = np.mean([len(_accepted(S, random, 1e-15)[0]) == 2 for _ in range(20_000)])
    assert abs(both - (1 - 0.995**2)) < 0.003
