"""The best candidates of a stream, against sorting all scores."""

import tracemalloc

import numpy as np
import pytest
from helpers.decoders_by_hand import decode
from helpers.refusals import assert_refused
from numpy.testing import assert_allclose, assert_array_equal

from hilbertlearn.decoders import candidates
from hilbertlearn.decoders.candidates import select_spread, top_k, top_k_of_lists
from hilbertlearn.output_losses import Absolute

rng = np.random.default_rng(0)


def by_sorting(scores, k):
    """Indices and scores of the k best of each row, ties by the lower index."""
    order = [sorted(range(len(row)), key=lambda i, row=row: (-row[i], i))[:k] for row in scores]
    return np.array(order), np.take_along_axis(scores, np.array(order), axis=1)


def cut(features, bias, sizes):
    """Stream of blocks of the given sizes, repeated as long as there are candidates."""
    start = 0
    while start < len(features):
        for size in sizes:
            stop = start + size
            if start < len(features):
                yield features[start:stop], None if bias is None else bias[start:stop]
            start = stop


def whole(n, r=4, values=None):
    """Features, queries and bias of small whole numbers, whose products are exact and often equal."""
    features = rng.integers(-3, 4, size=(n, r)).astype(float)
    return features, rng.integers(-2, 3, size=(7, r)).astype(float), rng.integers(-5, 6, size=n).astype(float)


@pytest.mark.parametrize("sizes", [(1000,), (1,), (7, 30, 2), (64,)])
@pytest.mark.parametrize("k", [1, 3, 20, 150])
@pytest.mark.parametrize("with_bias", [False, True])
def test_same_as_sorting_with_ties(sizes, k, with_bias):
    features, queries, bias = whole(150)
    bias = bias if with_bias else None
    expected = by_sorting(queries @ features.T + (0 if bias is None else bias), k)
    indices, scores = top_k(queries, cut(features, bias, sizes), k)
    assert_array_equal(indices, expected[0])
    assert_array_equal(scores, expected[1])


@pytest.mark.parametrize("order", ["random", "increasing", "decreasing", "equal"])
def test_any_order_of_scores(order, monkeypatch):
    """Increasing scores pass the threshold all the time, equal ones never; tiles cut both queries and candidates."""
    monkeypatch.setattr(candidates, "_SCORES", 200)
    monkeypatch.setattr(candidates, "_QUERIES", 6)
    values = {"random": rng.permutation(500), "increasing": np.arange(500), "decreasing": -np.arange(500)}
    features = values.get(order, np.zeros(500)).astype(float)[:, None]
    queries = np.array([1.0, -1.0, 2.0, 0.0, 1.0, 3.0, -2.0, 0.5])[:, None]
    indices, scores = top_k(queries, cut(features, None, (90, 41)), 12)
    expected = by_sorting(queries @ features.T, 12)
    assert_array_equal(indices, expected[0])
    assert_array_equal(scores, expected[1])


def test_real_numbers_and_minimisation():
    features, queries, bias = rng.normal(size=(3000, 20)), rng.normal(size=(40, 20)), rng.normal(size=3000)
    full = queries @ features.T + bias
    indices, scores = top_k(-queries, cut(features, -bias, (500,)), 5)
    assert_array_equal(indices, np.argsort(full, axis=1)[:, :5])
    assert_allclose(-scores, np.sort(full, axis=1)[:, :5])


@pytest.mark.parametrize("n", [1, 4])
def test_fewer_candidates_than_k(n):
    features, queries, _ = whole(n)
    indices, scores = top_k(queries, cut(features, None, (3,)), 10)
    assert indices.shape == scores.shape == (7, n)
    assert_array_equal(indices, by_sorting(queries @ features.T, n)[0])


def test_forbidden_candidates_come_last():
    features, queries, bias = whole(30)
    bias[::2] = -np.inf
    for sizes in [(1,), (30,), (4,)]:
        indices, scores = top_k(queries, cut(features, bias, sizes), 20)
        assert_array_equal(indices, by_sorting(queries @ features.T + bias, 20)[0])
        assert_array_equal(scores[:, 15:], -np.inf)


def test_no_queries():
    indices, scores = top_k(np.empty((0, 4)), cut(whole(9)[0], None, (4,)), 3)
    assert indices.shape == scores.shape == (0, 3)


def test_candidates_in_another_order_or_twice():
    features, queries = rng.normal(size=(80, 5)), rng.normal(size=(9, 5))
    first = features[top_k(queries, [(features, None)], 4)[0]]
    order = rng.permutation(80)
    assert_array_equal(features[order][top_k(queries, [(features[order], None)], 4)[0]], first)
    twice = np.concatenate([features, features])
    assert_array_equal(twice[top_k(queries, [(twice, None)], 8)[0]][:, ::2], first)


def test_memory_is_bounded():
    queries, n = rng.normal(size=(300, 10)), 100_000
    blocks = ((np.random.default_rng(i).normal(size=(4000, 10)), None) for i in range(n // 4000))
    tracemalloc.start()
    top_k(queries, blocks, 20)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 0.1 * 8 * 300 * n, peak


def test_lists_of_each_query():
    queries = rng.integers(-2, 3, size=(30, 3)).astype(float)
    lists = [rng.integers(-2, 3, size=(n, 3)).astype(float) for n in rng.integers(1, 60, size=30)]
    biases = [rng.integers(0, 4, size=len(some)).astype(float) for some in lists]
    numbers = np.split(np.arange(sum(map(len, lists))), np.cumsum(list(map(len, lists)))[:-1])
    indices, scores = top_k_of_lists(queries, numbers, zip(lists, biases), 5)
    for q, (features, bias) in enumerate(zip(lists, biases)):
        expected = by_sorting((features @ queries[q] + bias)[None], 5)
        assert_array_equal(indices[q], expected[0][0])
        assert_array_equal(scores[q], expected[1][0])


@pytest.mark.parametrize("sizes", [(1000,), (1,), (7, 30, 2)])
@pytest.mark.parametrize("with_bias", [False, True])
def test_lists_that_share_candidates(sizes, with_bias, monkeypatch):
    monkeypatch.setattr(candidates, "_LOSSES", 50)
    features, queries, bias = whole(60)
    bias = bias if with_bias else None
    lists = [rng.integers(60, size=n) for n in rng.integers(1, 40, size=len(queries))]  # repeated ones among them
    indices, scores = top_k_of_lists(queries, lists, cut(features, bias, sizes), 6)
    for q, own in enumerate(lists):
        expected = by_sorting((features[own] @ queries[q] + (0 if bias is None else bias[own]))[None], 6)
        assert_array_equal(indices[q], expected[0][0])
        assert_array_equal(scores[q], expected[1][0])


def test_equal_features_have_equal_scores():
    queries = rng.normal(size=(5, 131))
    features = np.repeat(rng.normal(size=(3, 131)), 37, axis=0)
    lists = [rng.permutation(111) for _ in queries]
    indices, scores = top_k_of_lists(queries, lists, cut(features, None, (50,)), 111)
    for q, own in enumerate(lists):
        assert len(np.unique(scores[q])) == 3
        assert all((np.diff(indices[q][own[indices[q]] // 37 == kind]) > 0).all() for kind in range(3))


def test_best_first_is_blind_to_rounding():
    scores = np.array([1.0, 3.0, 1.0 + 2e-16, 3.0 - 4e-16, 2.0])
    positions, values = candidates.sort_best_first(scores, np.array([4, 3, 2, 1, 0]), 4)
    assert positions.tolist() == [1, 3, 0, 2] and values.tolist() == [3.0, 3.0, 2.0, scores[2]]
    several = rng.integers(0, 4, size=(20, 9)) + 1e-16 * rng.random((20, 9))
    numbers = rng.permuted(np.tile(np.arange(9), (20, 1)), axis=1)
    positions, values = candidates.sort_best_first(several, numbers, 5)
    for row, own, found, its in zip(several.round(9), numbers, positions, values):
        expected = sorted(range(9), key=lambda i, row=row, own=own: (-row[i], own[i]))[:5]
        assert found.tolist() == own[expected].tolist() and its.round(9).tolist() == row[expected].tolist()


def test_decode_takes_the_best_output():
    Y, W = rng.normal(size=25), rng.normal(size=(40, 25))
    expected = [Y[np.argmin([w @ np.abs(z - Y) for z in Y])] for w in W]
    assert_array_equal(decode(W, Y, Absolute()), expected)
    assert (
        decode(W, list("abcdefghijklmnopqrstuvwxy"), lambda Z, Y: np.array(Z)[:, None] != np.array(Y))[0]
        in "abcdefghijklmnopqrstuvwxy"
    )


def test_blocks_of_losses(monkeypatch):
    monkeypatch.setattr(candidates, "_LOSSES", 60)
    Y, W = rng.normal(size=25), rng.normal(size=(10, 25))
    expected = [Y[np.argmin([w @ np.abs(z - Y) for z in Y])] for w in W]
    assert_array_equal(decode(W, Y, Absolute()), expected)


def test_spread_leaves_out_what_is_near():
    scores = np.array([[5.0, 4.9, 3.0, 1.0], [0.0, 1.0, 2.0, 3.0]])
    near = np.abs(np.subtract.outer(np.arange(4), np.arange(4))) <= 1
    assert_array_equal(select_spread(scores, near, 2), [[0, 2], [3, 1]])
    assert_array_equal(select_spread(scores, near, 3), [[0, 2, 0], [3, 1, 3]])


def test_refusals():
    features, queries, _ = whole(5)
    assert_refused(lambda: top_k(queries, [], 3), ["candidates", "empty"])
    assert_refused(
        lambda: top_k_of_lists(queries[:2], [np.arange(5), np.arange(0)], [(features, None)], 1), ["query 1", "empty"]
    )
    features[2, 0] = np.nan
    assert_refused(lambda: top_k(queries, [(features, None)], 3), ["candidates 0 to 4", "NaN"])
    numbers = [np.arange(2), np.arange(5)[::-1]]
    features[1] = 0.0
    features[3] = np.nan
    assert_refused(lambda: top_k_of_lists(queries[:2], numbers, [(features, None)], 1), ["query 1", "NaN"])
