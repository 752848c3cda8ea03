"""Rankings against enumeration, the search against the exact optimum and against every training ranking."""

from itertools import permutations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import linear_sum_assignment

from hilbertlearn.decoders import rankings
from hilbertlearn.decoders.rankings import decode_ranking, decode_spearman
from hilbertlearn.output_losses import Kendall, Rank, Spearman

rng = np.random.default_rng(7)
LOSSES = [Rank(), Rank(normalize=True), Kendall()]


def ratings(n, items, gaps=0.4):
    Y = rng.integers(1, 6, size=(n, items)).astype(float)
    Y[rng.random(Y.shape) < gaps] = np.nan
    return Y


def full_rankings(n, items):
    return np.array([rng.permutation(items) + 1.0 for _ in range(n)])


def outputs(loss, n, items):
    return ratings(n, items) if isinstance(loss, Rank) else full_rankings(n, items)


def weights(m, n):
    W = rng.normal(size=(m, n))
    W[::3] = np.abs(W[::3])
    W[1::6] = -np.abs(W[1::6])
    W[-1] = 0
    return W


def weighted_losses(W, Z, Y, loss):
    """Of the prediction for each query, whose entries must be the numbers from 1 on."""
    assert_array_equal(np.sort(Z, axis=1), np.tile(np.arange(1.0, Z.shape[1] + 1), (len(Z), 1)))
    return np.einsum("qi,qi->q", W, loss(Z, Y))


# ------------------------------------------------------------------ exact


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("items", [1, 2, 3, 6])
def test_few_items_against_all_rankings(loss, items):
    everything = np.array(list(permutations(range(1, items + 1))), dtype=float)
    for n in (1, 4, 20):
        Y, W = outputs(loss, n, items), weights(25, n)
        found = weighted_losses(W, decode_ranking(W, Y, loss), Y, loss)
        assert_allclose(found, (W @ loss(everything, Y).T).min(axis=1), atol=1e-10)


def test_exact_orders_of_12_items_are_insertion_optimal_and_beat_samples():
    loss, items = Rank(), 12
    Y, W = ratings(40, items), weights(10, 40)
    Z = decode_ranking(W, Y, loss)
    found = weighted_losses(W, Z, Y, loss)
    samples = full_rankings(3000, items)
    assert (found[:, None] <= W @ loss(samples, Y).T + 1e-9).all()
    for w, z, value in zip(W, Z, found):
        order = np.argsort(-z)
        moved = [np.insert(np.delete(order, a), b, order[a]) for a in range(items) for b in range(items)]
        assert value <= (loss(items - np.argsort(moved, axis=1).astype(float), Y) @ w).min() + 1e-9


def test_spearman_against_all_rankings_and_the_assignment_problem():
    loss = Spearman()
    everything = np.array(list(permutations(range(1, 7))), dtype=float)
    Y, W = full_rankings(9, 6), weights(30, 9)
    found = weighted_losses(W, decode_spearman(W, Y, loss), Y, loss)
    assert_allclose(found, (W @ loss(everything, Y).T).min(axis=1), atol=1e-10)
    Y, W = full_rankings(50, 40), weights(10, 50)
    Z = decode_spearman(W, Y, loss)
    for w, z in zip(W, Z):
        costs = ((np.arange(1, 41) - Y[:, :, None]) ** 2 * w[:, None, None]).sum(axis=0)
        assert_allclose(costs[np.arange(40), z.astype(int) - 1].sum(), costs[linear_sum_assignment(costs)].sum())


# ------------------------------------------------------------------ search


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("items", [13, 40, 210])
def test_search_is_never_worse_than_a_training_ranking(loss, items):
    for n in (1, 2, 30):
        Y, W = outputs(loss, n, items), weights(20, n)
        found = weighted_losses(W, decode_ranking(W, Y, loss), Y, loss)
        assert (found[:, None] <= W @ loss(Y, Y).T + 1e-9).all()


@pytest.mark.parametrize("items", [8, 10, 12])
def test_search_is_near_the_exact_optimum(items, monkeypatch):
    loss, gaps = Rank(), []
    for n in (10, 40):
        Y, W = ratings(n, items), weights(30, n)
        exact = weighted_losses(W, decode_ranking(W, Y, loss), Y, loss)
        with monkeypatch.context() as patch:
            patch.setattr(rankings, "EXACT_ITEMS", 0)
            found = weighted_losses(W, decode_ranking(W, Y, loss), Y, loss)
        worst = weighted_losses(W, decode_ranking(-W, Y, loss), Y, loss)
        assert (found >= exact - 1e-9).all()
        gaps.extend((found - exact)[:-1] / (worst - exact)[:-1])
    assert np.mean(gaps) < 0.003 and np.mean(np.array(gaps) < 1e-9) > 0.7 and np.max(gaps) < 0.05


@pytest.mark.parametrize("items", [5, 13, 60])
def test_consistent_preferences_are_recovered(items):
    order = rng.permutation(items)
    rank = np.empty(items)
    rank[order] = np.arange(items, 0, -1)
    Y = np.tile(rank, (200, 1))
    Y[rng.random(Y.shape) < 0.5] = np.nan  # all pairs are seen by some user
    Y[0] = rank
    assert_array_equal(decode_ranking(np.full((1, 200), 0.1), Y, Rank()), [rank])
    assert_array_equal(decode_ranking(np.ones((1, 1)), rank[None], Kendall()), [rank])


def test_greedy_order_of_a_small_graph_by_hand():
    # 0 beats 1 beats 2 beats 0, by 3, 2 and 1; 3 beats all, all beat 4: 3 on top, 4 at the bottom, then 0 with margin 2
    G = np.zeros((5, 5))
    for i, j, weight in [(0, 1, 3), (1, 2, 2), (2, 0, 1), (3, 0, 1), (3, 1, 1), (3, 2, 1)] + [
        (i, 4, 1) for i in range(4)
    ]:
        G[i, j], G[j, i] = weight, -weight
    assert_array_equal(rankings._greedy(G), [3, 0, 1, 2, 4])


def test_completed_ties_and_gaps_count_at_least_half():
    for _ in range(200):
        G = rng.normal(size=(9, 9))
        G -= G.T
        y = ratings(1, 9)[0]
        order = rankings._complete(G, y)
        assert_array_equal(np.sort(order), np.arange(9))
        above = np.triu(np.ones((9, 9)), 1)[np.ix_(np.argsort(order), np.argsort(order))]
        open_pairs = ~(np.abs(y[:, None] - y) > 0)
        assert (G * above)[open_pairs].sum() >= -1e-12  # half of either way is nothing, as G is antisymmetric
        kept = y[order][np.isfinite(y[order])]
        assert (np.diff(kept) <= 0).all()


def test_queries_do_not_depend_on_each_other_whatever_their_size():
    for items in (7, 20):
        Y, W = ratings(15, items), weights(9, 15) * np.logspace(0, -20, 9)[:, None]
        together = decode_ranking(W, Y, Rank())
        assert_array_equal(together, np.concatenate([decode_ranking(w[None], Y, Rank()) for w in W]))


def test_blocks_of_queries_and_outputs_change_nothing(monkeypatch):
    cases = [(loss, outputs(loss, 15, items)) for loss in LOSSES for items in (4, 14)]
    W = weights(8, 15)
    whole = [decode_ranking(W, Y, loss) for loss, Y in cases]
    monkeypatch.setattr(rankings, "_BLOCK_ENTRIES", 100)
    for (loss, Y), expected in zip(cases, whole):
        assert_array_equal(decode_ranking(W, Y, loss), expected)
