"""Metrics of structured outputs against loops, scipy and scikit-learn."""

import math
from itertools import combinations, pairwise, permutations

import numpy as np
import pytest
from helpers.refusals import assert_refused
from scipy import stats
from sklearn import metrics as reference
from sklearn.base import BaseEstimator
from sklearn.metrics import make_scorer

from hilbertlearn.metrics import (
    f1_by_sample,
    hamming_loss,
    hellinger_distance,
    kendall_tau,
    normalized_rank_loss,
    squared_hellinger_loss,
    top_k_accuracy,
)

rng = np.random.default_rng(11)
N, D = 13, 6
LABELS, GUESSES = rng.integers(0, 2, size=(2, N, D))
LABELS[0] = GUESSES[0] = LABELS[1] = GUESSES[2] = 0  # empty: both, true, predicted
RANKS, ORDERS = (rng.permuted(np.tile(np.arange(1, D + 1), (N, 1)), axis=1) for _ in range(2))
RATINGS = rng.integers(1, 6, size=(N, D)).astype(float)
RATINGS[rng.random((N, D)) < 0.3] = np.nan
RATINGS[:, :2] = np.where(rng.random((N, 1)) < 0.5, [1, 5], [4, 2])  # all have an order, but for:
RATINGS[3] = np.nan  # rates nothing
RATINGS[4] = 4.0  # all alike
RATINGS[5, 1:] = np.nan  # a single one
RATINGS[5, 0] = 2.0
HISTOGRAMS, OTHERS = rng.dirichlet(np.full(D, 0.7), size=(2, N))
WEIGHTS = rng.uniform(0.5, 2, N)
PAIRED = [
    (hamming_loss, LABELS, GUESSES),
    (f1_by_sample, LABELS, GUESSES),
    (normalized_rank_loss, RATINGS, ORDERS),
    (kendall_tau, RATINGS, ORDERS),
    (hellinger_distance, HISTOGRAMS, OTHERS),
    (squared_hellinger_loss, HISTOGRAMS, OTHERS),
]
IDS = [metric.__name__ for metric, *_ in PAIRED]


def weighted(values, weights):
    """Mean of the values that are not None."""
    kept = [(w, v) for w, v in zip(weights, values) if v is not None]
    return sum(w * v for w, v in kept) / sum(w for w, _ in kept)


# Label sets


def test_hamming():
    assert hamming_loss(LABELS, GUESSES) == pytest.approx(reference.hamming_loss(LABELS, GUESSES))
    expected = reference.hamming_loss(LABELS, GUESSES, sample_weight=WEIGHTS)
    assert hamming_loss(LABELS, GUESSES, WEIGHTS) == pytest.approx(expected)
    assert hamming_loss(2 * LABELS - 1, 2 * GUESSES - 1) == pytest.approx(reference.hamming_loss(LABELS, GUESSES))


def test_hamming_of_known_labels():
    true = [[1, 0, np.nan, np.nan], [np.nan] * 4, [1, 1, 1, 1]]
    pred = [[1, 1, 0, np.nan], [0] * 4, [0, 1, 1, 1]]
    assert hamming_loss(true, pred) == pytest.approx((1 / 2 + 1 / 4) / 2)
    assert hamming_loss(true, pred, [3, 9, 1]) == pytest.approx((3 / 2 + 1 / 4) / 4)
    assert hamming_loss([[np.nan, 1], [0, 0]], [[0, 0], [0, 0]]) == pytest.approx(1 / 2)


def test_f1():
    expected = reference.f1_score(LABELS, GUESSES, average="samples", zero_division=1.0)
    assert f1_by_sample(LABELS, GUESSES) == pytest.approx(expected)
    expected = reference.f1_score(LABELS, GUESSES, average="samples", zero_division=1.0, sample_weight=WEIGHTS)
    assert f1_by_sample(LABELS, GUESSES, WEIGHTS) == pytest.approx(expected)


def test_f1_of_sets():
    names = np.array(list("abcdef"))
    true, pred = ([frozenset(names[row == 1]) for row in Y] for Y in (LABELS, GUESSES))
    assert f1_by_sample(true, pred, WEIGHTS) == pytest.approx(f1_by_sample(LABELS, GUESSES, WEIGHTS))
    assert f1_by_sample([{"a"}, set(), set()], [{"a", "b"}, set(), {"c"}]) == pytest.approx((2 / 3 + 1 + 0) / 3)


# Rankings


def rank_loss_by_loop(ratings, scores):
    """Pair by pair; None without an order."""
    cost = worst = 0.0
    for i, r in enumerate(ratings):
        for j, s in enumerate(ratings):
            if r > s:  # never with NaN
                worst += r - s
                cost += (r - s) * (1 - np.sign(scores[i] - scores[j])) / 2
    return cost / worst if worst else None


def test_rank_loss():
    tied = rng.integers(0, 3, size=(N, D))
    for scores in (ORDERS, tied, rng.normal(size=(N, D))):
        losses = [rank_loss_by_loop(r, s) for r, s in zip(RATINGS, scores)]
        assert [i for i, loss in enumerate(losses) if loss is None] == [3, 4, 5]
        assert normalized_rank_loss(RATINGS, scores) == pytest.approx(weighted(losses, np.ones(N)))
        assert normalized_rank_loss(RATINGS, scores, WEIGHTS) == pytest.approx(weighted(losses, WEIGHTS))


def test_rank_loss_is_the_papers_shifted_and_scaled():
    for r, z in zip(RANKS, ORDERS):  # with full ratings
        gamma = np.subtract.outer(r, r)
        paper = (gamma * (1 - np.sign(np.subtract.outer(z, z))) / 2).sum()  # eq. 22, pairs in both orders
        worst = gamma[gamma > 0].sum()
        assert paper == pytest.approx((2 * normalized_rank_loss([r], [z]) - 1) * worst)


def test_rank_loss_at_the_ends():
    best = np.nan_to_num(RATINGS)
    assert normalized_rank_loss(RATINGS, best) == 0
    assert normalized_rank_loss(RATINGS, -best) == 1
    assert normalized_rank_loss(RATINGS, 0 * best) == 0.5
    chance = [normalized_rank_loss([[1, 2, 5, np.nan]], [order]) for order in permutations(range(4))]
    assert np.mean(chance) == pytest.approx(0.5)
    assert normalized_rank_loss([[5, 1, 4]], [[1, 2, 3]]) == pytest.approx((4 + 1) / (4 + 1 + 3))


def test_kendall_without_ties():
    taus = [stats.kendalltau(a, b).statistic for a, b in zip(RANKS, ORDERS)]
    assert kendall_tau(RANKS, ORDERS) == pytest.approx(np.mean(taus))
    assert kendall_tau(RANKS, ORDERS, WEIGHTS) == pytest.approx(np.average(taus, weights=WEIGHTS))
    assert kendall_tau(RANKS, 10.0**RANKS) == pytest.approx(1)
    assert kendall_tau(RANKS, -RANKS) == pytest.approx(-1)
    discordant = sum(
        (RANKS[0, i] - RANKS[0, j]) * (ORDERS[0, i] - ORDERS[0, j]) < 0 for i, j in combinations(range(D), 2)
    )
    assert kendall_tau(RANKS[:1], ORDERS[:1]) == pytest.approx(1 - 2 * discordant / math.comb(D, 2))


def test_kendall_with_ties_and_gaps():
    tied = rng.integers(0, 3, size=(N, D))
    tied[0] = 1  # says nothing
    taus = []
    for a, b in zip(RATINGS, tied):
        seen = ~np.isnan(a)
        orders = len({*a[seen]}) > 1
        tau = stats.kendalltau(a[seen], b[seen]).statistic if orders else None
        taus.append(0.0 if tau is not None and np.isnan(tau) else tau)
    assert taus[0] == 0 and [i for i, tau in enumerate(taus) if tau is None] == [3, 4, 5]
    assert kendall_tau(RATINGS, tied, WEIGHTS) == pytest.approx(weighted(taus, WEIGHTS))


# Candidates


def orders_of(scores):
    """All orders of the candidates by score, highest first, each order of ties once."""
    return [o for o in permutations(range(len(scores))) if all(scores[a] >= scores[b] for a, b in pairwise(o))]


@pytest.mark.parametrize(("ties", "pick"), [("average", np.mean), ("best", max), ("worst", min)])
@pytest.mark.parametrize("k", [1, 2, 3, 7])
def test_top_k_over_all_ways_to_break_ties(ties, pick, k):
    scores = [rng.integers(0, 3, size=m) / 2 for m in (1, 2, 4, 5, 6, 6)]
    scores.append(np.zeros(5))
    true = [int(rng.integers(len(s))) for s in scores]
    hits = [pick([t in order[:k] for order in orders_of(s)]) for t, s in zip(true, scores)]
    weights = WEIGHTS[: len(true)]
    assert top_k_accuracy(true, scores, k, ties=ties) == pytest.approx(np.mean(hits))
    accuracy = top_k_accuracy(true, scores, k, ties=ties, sample_weight=weights)
    assert accuracy == pytest.approx(np.average(hits, weights=weights))


@pytest.mark.parametrize("ties", ["average", "best", "worst"])
def test_top_k_without_ties(ties):
    scores = rng.normal(size=(40, 5))
    true = rng.integers(0, 5, size=40)
    for k in (1, 2, 3):
        expected = reference.top_k_accuracy_score(true, scores, k=k, labels=range(5))
        assert top_k_accuracy(true, scores, k, ties=ties) == pytest.approx(expected)


def test_a_constant_score_is_chance_by_default():
    scores, true = np.full((3, 8), 0.7), [0, 3, 7]
    assert top_k_accuracy(true, scores, 2) == pytest.approx(2 / 8)
    assert top_k_accuracy(true, scores, 2, ties="best") == 1
    assert top_k_accuracy(true, scores, 2, ties="worst") == 0


def test_the_order_of_candidates_does_not_matter():
    scores = rng.integers(0, 4, size=(10, 7)).astype(float)
    true = rng.integers(0, 7, size=10)
    order = rng.permutation(7)
    for ties in ("average", "best", "worst"):
        shuffled = top_k_accuracy(np.argsort(order)[true], scores[:, order], 2, ties=ties)
        assert shuffled == pytest.approx(top_k_accuracy(true, scores, 2, ties=ties))


def test_rounding_makes_no_order():
    noise = [0, 3e-16, -2e-16, 1e-16]
    assert top_k_accuracy([0], [1 + np.array(noise)]) == pytest.approx(1 / 4)
    assert top_k_accuracy([0], [1e-20 * (1 + np.array([0, 1e-3, 1e-3, -1e-3]))], ties="best") == 0  # small is not equal


# Histograms


def test_hellinger():
    by_hand = [
        math.sqrt(sum((math.sqrt(a) - math.sqrt(b)) ** 2 for a, b in zip(y, z)) / 2) for y, z in zip(HISTOGRAMS, OTHERS)
    ]
    assert hellinger_distance(HISTOGRAMS, OTHERS, WEIGHTS) == pytest.approx(np.average(by_hand, weights=WEIGHTS))
    losses = [math.sqrt(2) * h**2 for h in by_hand]
    assert squared_hellinger_loss(HISTOGRAMS, OTHERS) == pytest.approx(np.mean(losses))
    apart = np.array([[0.5, 0.5, 0, 0]]), np.array([[0, 0, 0.3, 0.7]])
    assert hellinger_distance(*apart) == pytest.approx(1)
    assert squared_hellinger_loss(*apart) == pytest.approx(math.sqrt(2))
    assert hellinger_distance(HISTOGRAMS, HISTOGRAMS) == 0


# All of them


@pytest.mark.parametrize(("metric", "true", "pred"), PAIRED, ids=IDS)
def test_weights_repeat_samples(metric, true, pred):
    counts = np.arange(N) % 3
    expected = metric(np.repeat(true, counts, axis=0), np.repeat(pred, counts, axis=0))
    assert metric(true, pred, sample_weight=counts) == pytest.approx(expected)


@pytest.mark.parametrize(("metric", "true", "pred"), PAIRED, ids=IDS)
def test_makes_a_scorer(metric, true, pred):
    class Copy(BaseEstimator):
        def predict(self, X):
            return X

    assert make_scorer(metric)(Copy(), pred, true, sample_weight=WEIGHTS) == metric(true, pred, WEIGHTS)


@pytest.mark.parametrize("metric", [hamming_loss, normalized_rank_loss, kendall_tau])
def test_nothing_known(metric):
    assert np.isnan(metric(np.full((2, 3), np.nan), np.zeros((2, 3))))
    assert np.isnan(metric(RATINGS, ORDERS, np.eye(N)[3]))


@pytest.mark.parametrize(("metric", "true", "pred"), PAIRED, ids=IDS)
def test_refusals(metric, true, pred):
    infinite = np.where(np.arange(D) == 1, np.inf, pred)
    for action, words in [
        (lambda: metric(true, pred[:5]), ["Y_true and Y_pred", "(13, 6)", "(5, 6)"]),
        (lambda: metric(true[0], pred[0]), ["Y_true", "(n, d)", "(6,)"]),
        (lambda: metric(true, infinite), ["Y_pred", "infinity"]),
        (lambda: metric(true, [["a"] * D] * N), ["Y_pred", "numbers", "list"]),
        (lambda: metric(true, pred, -WEIGHTS), ["sample_weight"]),
        (lambda: metric(true, pred, WEIGHTS[:3]), ["sample_weight", "(3,)"]),
    ]:
        assert_refused(action, words)


@pytest.mark.parametrize("metric", [hamming_loss, normalized_rank_loss, kendall_tau])
def test_refuses_holes_in_predictions(metric):
    hole = ORDERS.astype(float)
    hole[7] = np.nan
    assert_refused(lambda: metric(RATINGS, hole), ["Y_pred", "NaN", "sample 7", "predict"])


def test_refusals_of_sets_and_histograms():
    for action, words in [
        (lambda: f1_by_sample(2 * LABELS, GUESSES), ["Y_true", "0 and 1", "2"]),
        (lambda: f1_by_sample(LABELS, np.where(GUESSES == 0, np.nan, 1)), ["Y_pred", "0 and 1", "nan"]),
        (lambda: f1_by_sample([{1}, {2}], [{1}]), ["Y_true and Y_pred", "2 and 1"]),
        (lambda: f1_by_sample([{1}, {2}], [[1, 0], [0, 1]]), ["Y_true", "list"]),
        (lambda: hellinger_distance(HISTOGRAMS, 2 * OTHERS), ["Y_pred", "row 0", "sum 2", "divide"]),
        (lambda: hellinger_distance([[0.5, 0.5], [1.5, -0.5]], [[1, 0], [1, 0]]), ["Y_true", "row 1", "-0.5"]),
        (lambda: hellinger_distance([[0.5, np.nan]], [[1, 0]]), ["Y_true", "row 0", "nan"]),
    ]:
        assert_refused(action, words)


def test_refusals_of_candidates():
    scores = [np.arange(3.0), np.arange(2.0)]
    for action, words in [
        (lambda: top_k_accuracy([0, 2], scores), ["true_index", "2 for query 1", "2 candidates"]),
        (lambda: top_k_accuracy([0, -1], scores), ["true_index", "-1 for query 1"]),
        (lambda: top_k_accuracy([0], scores), ["true_index", "(1,)", "2 queries"]),
        (lambda: top_k_accuracy([0.0, 1.0], scores), ["true_index", "integers", "float64"]),
        (lambda: top_k_accuracy([0, 0], [[0, np.nan], [1]]), ["scores of query 0", "finite"]),
        (lambda: top_k_accuracy([0, 0], [[0], []]), ["query 1", "0 candidates"]),
        (lambda: top_k_accuracy([0, 0], scores, 0), ["k", "0"]),
        (lambda: top_k_accuracy([0, 0], scores, 1.5), ["k", "1.5"]),
        (lambda: top_k_accuracy([0, 0], scores, ties="first"), ["ties", "'first'", "'average'"]),
        (lambda: top_k_accuracy([0, 0], scores, sample_weight=[1]), ["sample_weight"]),
    ]:
        assert_refused(action, words)
