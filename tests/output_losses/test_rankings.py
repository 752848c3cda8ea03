"""Losses on rankings against scipy and double loops over their definitions."""

import numpy as np
import pytest
from helpers.loss_matrices import assert_pairs, by_pairs
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import kendalltau, spearmanr

from hilbertlearn.output_losses import (
    Kendall,
    Rank,
    Spearman,
)

rng = np.random.default_rng(5)
NAN = np.nan


# ------------------------------------------------------------------ rankings


def rank_loss(z, y):
    """Eq. 22, over pairs of which y rates the first higher; a pair that z leaves open has sign 0."""
    total = 0.0
    for i in range(len(y)):
        for j in range(len(y)):
            if y[i] > y[j]:
                sign = 0 if np.isnan(z[i] - z[j]) else np.sign(z[i] - z[j])
                total += (y[i] - y[j]) * (1 - sign) / 2
    return total


def total_preference(y):
    return sum(max(a - b, 0) for a in y for b in y if not np.isnan(a - b))


RATINGS = rng.integers(1, 6, size=(12, 6)).astype(float)
RATINGS[rng.random(RATINGS.shape) < 0.3] = NAN
RATINGS[0], RATINGS[1], RATINGS[2] = 3, [NAN, NAN, 4, NAN, NAN, NAN], [1, 2, 3, 4, 5, 6]
PERMUTATIONS = np.array([rng.permutation(6) + 1.0 for _ in range(7)])


@pytest.mark.parametrize("Z", [PERMUTATIONS, RATINGS], ids=["full rankings", "ties and gaps"])
def test_rank_loss_from_ratings_with_ties_and_gaps(Z):
    assert_pairs(Rank(), rank_loss, Z, RATINGS)
    assert_pairs(Rank(normalize=True), lambda z, y: rank_loss(z, y) / max(total_preference(y), 1), Z, RATINGS)


def test_rank_loss_of_the_order_itself_and_of_its_reverse():
    Y = RATINGS[2:]
    assert_allclose(Rank()(Y, Y).diagonal(), 0, atol=1e-12)
    reverse = Rank(normalize=True)(-PERMUTATIONS, PERMUTATIONS).diagonal()
    assert_allclose(reverse, 1)


def test_eq_22_over_pairs_of_either_sign_is_twice_the_loss_less_a_constant_of_y():
    def signed(z, y):
        gamma = np.nan_to_num(y[:, None] - y)
        return (gamma * (1 - np.sign(z[:, None] - z)) / 2).sum()

    expected = by_pairs(lambda z, y: signed(z, y) + total_preference(y), PERMUTATIONS, RATINGS)
    assert_allclose(2 * Rank()(PERMUTATIONS, RATINGS), expected)


def test_kendall_and_spearman_are_those_of_scipy():
    scores = rng.normal(size=(8, 5))
    assert_pairs(Kendall(), lambda z, y: (1 - kendalltau(z, y).statistic) / 2, scores[:3], scores)
    assert_pairs(Spearman(), lambda z, y: (1 - spearmanr(z, y).statistic) / 2, scores[:3], scores)
    assert_array_equal(Kendall().check([[0.1, 7.0, -2.0]]), [[2, 3, 1]])


@pytest.mark.parametrize("loss", [Rank(), Kendall(), Spearman()])
def test_one_item_has_one_ranking(loss):
    one = loss.check([[3.0], [4.0]])
    assert_array_equal(loss(one, one), np.zeros((2, 2)))


@pytest.mark.parametrize("loss", [Rank(), Rank(normalize=True), Kendall()])
def test_preferences_give_weighted_losses_up_to_a_constant(loss):
    Y = loss.check(PERMUTATIONS) if isinstance(loss, Kendall) else RATINGS
    W = rng.normal(size=(3, len(Y)))
    G = loss.preferences(W, Y)
    assert_allclose(G, -G.transpose(0, 2, 1), atol=1e-12)
    above = PERMUTATIONS[:, :, None] > PERMUTATIONS[:, None, :]
    rest = W @ loss(PERMUTATIONS, Y).T + np.einsum("qij,zij->qz", G, above) / 2
    assert_allclose(rest, np.repeat(rest[:, :1], len(PERMUTATIONS), axis=1))
