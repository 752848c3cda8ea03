"""Ranks keep their lowest number, and orders become ranks by name only."""

import itertools

import numpy as np
import pytest
from helpers.refusals import assert_refused
from numpy.testing import assert_array_equal

from hilbertlearn import StructuredPredictor
from hilbertlearn.metrics import kendall_tau, order_from_ranks, ranks_from_order

rng = np.random.default_rng(0)
N, M = 30, 5
X = rng.normal(size=(N, 2))
RANKS = np.argsort(np.argsort(X @ rng.normal(size=(2, M)), axis=1), axis=1)  # 0 to M - 1


@pytest.mark.parametrize("loss", ["kendall", "spearman", "rank"])
@pytest.mark.parametrize("lowest", [0, 1, 7, -2])
@pytest.mark.parametrize("settings", [{}, {"output_kernel": "linear"}], ids=["loss", "both"])
def test_predictions_have_the_ranks_of_the_outputs(loss, lowest, settings):
    model = StructuredPredictor(output_loss=loss, alpha=1e-2, **settings).fit(X, RANKS + lowest)
    found = model.predict(X)
    assert found.dtype == RANKS.dtype
    assert_array_equal(np.sort(found, axis=1), np.tile(np.arange(M) + lowest, (N, 1)))
    if not settings:  # a linear kernel has an origin
        from_one = StructuredPredictor(output_loss=loss, alpha=1e-2).fit(X, RANKS + 1).predict(X)
        assert_array_equal(found - lowest, from_one - 1)
    best, _ = model.predict_topk(X, 1)
    assert_array_equal(np.sort(best, axis=2)[:, 0], np.tile(np.arange(M) + lowest, (N, 1)))
    losses = model.output_loss_(found - lowest + 0.0, RANKS + 0.0).diagonal()
    assert model.score(X, RANKS + lowest) == pytest.approx(-losses.mean())


def test_scores_that_are_no_ranks_are_answered_from_one_on():
    for y in (RANKS + 0.5, 2 * RANKS, RANKS + np.arange(N)[:, None], np.where(RANKS == 0, np.nan, RANKS)):
        found = StructuredPredictor(output_loss="rank", alpha=1e-2).fit(X, y).predict(X)
        assert_array_equal(np.sort(found, axis=1), np.tile(np.arange(M) + 1.0, (N, 1)))


def test_candidates_of_another_lowest_rank_are_compared_by_their_order():
    model = StructuredPredictor(output_loss="spearman", alpha=1e-2).fit(X, RANKS)
    pool = np.array(list(itertools.permutations(range(M))))
    assert_array_equal(model.predict(X, candidates=pool), model.predict(X))
    assert_array_equal(model.predict(X, candidates=pool + 1), model.predict(X) + 1)


def test_ranks_and_orders():
    for order in itertools.permutations(range(4)):
        ranks = ranks_from_order(order)
        assert [list(order).index(j) + 1 for j in range(4)] == ranks.tolist()
        assert order_from_ranks(ranks).tolist() == list(order)
    orders = rng.permuted(np.tile(np.arange(6), (50, 1)), axis=1)
    assert_array_equal(order_from_ranks(ranks_from_order(orders)), orders)
    names = np.array(["b", "c", "a", "f", "e", "d"])
    assert_array_equal(ranks_from_order(names[orders], labels=names), ranks_from_order(orders))
    assert_array_equal(order_from_ranks(ranks_from_order(orders), labels=names), names[orders])


def test_orders_in_place_of_ranks_compare_the_wrong_things():
    """Ranks agree on two of three pairs, the orders of the same rankings on none."""
    one, other = [2, 0, 1], [0, 2, 1]
    assert kendall_tau([ranks_from_order(one)], [ranks_from_order(other)]) == pytest.approx(1 / 3)
    assert kendall_tau([one], [other]) == pytest.approx(-1)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: ranks_from_order([[0, 1], [1, 1]]), ["order", "0 to 1", "row 1", "[1, 1]"]),
        (lambda: ranks_from_order([1, 2, 3]), ["order", "0 to 2", "row 0"]),
        (lambda: ranks_from_order([["a", "b"]]), ["order", "'a'", "labels"]),
        (lambda: ranks_from_order([["a", "z"]], labels=["a", "b"]), ["order", "a, b", "row 0"]),
        (lambda: ranks_from_order([["a"]], labels=["a", "b"]), ["order", "a, b", "row 0"]),
        (lambda: ranks_from_order([0, 1], labels=["a", "b"]), ["order", "labels", "'a'"]),
        (lambda: ranks_from_order(["a", "b"], labels=["a", "a"]), ["labels", "differ"]),
        (lambda: ranks_from_order([[0, 1], [0]]), ["order", "several lengths"]),
        (lambda: order_from_ranks([[1, np.nan]]), ["ranks", "without a rank"]),
        (lambda: order_from_ranks([1, 2], labels=["a"]), ["labels", "2 names", "1"]),
        (lambda: order_from_ranks([]), ["ranks", "(0,)"]),
        (
            lambda: StructuredPredictor(output_loss="kendall").fit([[0.0], [1.0]], [["a", "b"], ["b", "a"]]),
            ["rank of item j", "ranks_from_order"],
        ),
    ],
)
def test_refused(call, words):
    assert_refused(call, words)
