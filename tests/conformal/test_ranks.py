"""Weighted ranks against loops over the samples."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from hilbertlearn.conformal.ranks import WeightedRanks

N, MODELS = 23, 3
rng = np.random.default_rng(0)
SCORES, MODEL_INDEX, WEIGHTS = rng.normal(size=N), rng.integers(0, MODELS, N), rng.uniform(0.2, 3, N)
QUERIES = rng.normal(size=(4, MODELS, 5))


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["ones", "weights"])
def test_weight_below(weights):
    ranks = WeightedRanks.from_scores(SCORES, MODEL_INDEX, MODELS, weights)
    mass = np.ones(N) if weights is None else weights
    expected = np.zeros((4, 5))
    for q in range(4):
        for c in range(5):
            expected[q, c] = sum(mass[i] for i in range(N) if SCORES[i] < QUERIES[q, MODEL_INDEX[i], c])
    assert_allclose(ranks.weight_below(QUERIES), expected)
    assert_allclose(ranks.total, mass.sum())


def test_ties_up_to_rounding_are_not_below():
    ranks = WeightedRanks.from_scores(np.ones(4), np.zeros(4, dtype=int), 1)
    assert_array_equal(ranks.weight_below(np.array([[[1 + 1e-13, 1 + 1e-6]]])), [[0, 4]])


def test_members_and_p_values():
    ranks = WeightedRanks.from_scores(np.arange(9.0), np.zeros(9, dtype=int), 1)
    below, order = np.array([8.0, 2.0, 9.0, 7.0]), np.array([1, 3, 0, 2])
    members, p_values = ranks.members(below, order, level=0.8)  # fewer than 0.8 (9 + 1) = 8 samples are below
    assert_array_equal(members, [1, 3])
    assert_allclose(p_values, [1 - 2 / 10, 1 - 7 / 10])
    none, _ = ranks.members(below + 8, order, level=0.8, allow_empty=True)
    best, _ = ranks.members(below + 8, order, level=0.8)
    assert len(none) == 0 and best.tolist() == [1]


@pytest.mark.parametrize("rest", [0.5, 3.0, 12.0, 22.5])
def test_bounds_hold_for_every_set_of_large_scores(rest):
    """If the samples at or above a value weigh more than `rest`, the value is within the bound of one model."""
    ranks = WeightedRanks.from_scores(SCORES, MODEL_INDEX, MODELS)
    bounds = ranks.bounds(rest)
    for values in rng.normal(size=(500, MODELS)):  # a score of one candidate by each model
        if (values[MODEL_INDEX] <= SCORES).sum() > rest:
            assert (values <= bounds).any()
    assert ranks.bounds(0.0) == [np.inf] * MODELS
    assert ranks.bounds(N + 1.0) == [-np.inf] * MODELS
