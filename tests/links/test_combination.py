"""Weights of scores: the optimum of a convex problem, and what the prior does."""

import numpy as np
import pytest
from helpers.link_combination_data import optimum, standardised
from numpy.testing import assert_allclose, assert_array_equal

from hilbertlearn.links.combination import Combination, learn_combination
from hilbertlearn.links.folds import concatenate


def problem(m=300, seed=0):
    """Three scores, of which the first says much, the second little and the third the contrary; weights of pairs."""
    rng = np.random.default_rng(seed)
    linked = (rng.random(m) < 0.2).astype(float)
    scores = {
        "much": np.exp(rng.normal(size=m) + 2 * linked),
        "little": rng.normal(size=m) + 0.5 * linked,
        "contrary": rng.normal(size=m) - 1.5 * linked,
    }
    return scores, linked, np.where(linked > 0, 1.0, rng.integers(1, 5, size=m))


PRIOR = {"much": 1.0, "little": 0.5}


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("prior", [PRIOR, {}, {"contrary": 2.0}], ids=str)
def test_weights_are_the_optimum(seed, prior):
    scores, linked, weights = problem(seed=seed)
    found = learn_combination(scores, linked, weights, prior)
    expected, beta = optimum(scores, linked, weights, prior)
    assert_allclose(found(scores), expected, atol=2e-3)
    assert (found.weights >= 0).all() and list(found.weights_by_name()) == list(scores)
    spread = [
        np.std(np.repeat(np.sign(s) * np.log1p(abs(s) / z), weights.astype(int)))
        for s, z in zip(scores.values(), found.sizes, strict=True)
    ]
    assert_allclose(found.weights * spread, beta, atol=2e-3)
    assert set(found.used) == {name for name, weight in found.weights_by_name().items() if weight > 0}
    if prior == PRIOR:
        assert "contrary" not in found.used and {"much", "little"} <= set(found.used)


def test_a_pair_that_stands_for_three_is_three_pairs():
    scores, linked, weights = problem()
    repeated = np.repeat(np.arange(len(linked)), weights.astype(int))
    more = {name: values[repeated] for name, values in scores.items()}
    found = learn_combination(scores, linked, weights, PRIOR)
    again = learn_combination(more, linked[repeated], np.ones(len(repeated)), PRIOR)
    assert_allclose(found(scores), again(scores), atol=1e-3)


@pytest.mark.parametrize("factor", [1000.0, 1e-9])
def test_the_size_of_a_score_does_not_matter(factor):
    scores, linked, weights = problem()
    scaled = {**scores, "much": factor * scores["much"]}
    found, again = (learn_combination(one, linked, weights, PRIOR) for one in (scores, scaled))
    assert_allclose(found(scores), again(scaled), atol=1e-7)
    assert found.weights == pytest.approx(again.weights, abs=1e-7)


@pytest.mark.parametrize("value", [0.0, 3.7, -1e-8, 1e300])
def test_a_constant_score_has_no_say(value):
    scores, linked, weights = problem()
    constant = np.full(len(linked), value)
    constant[::2] *= 1 + 2e-16  # to rounding
    found = learn_combination({**scores, "same": constant}, linked, weights, {**PRIOR, "same": 1.0})
    plain = learn_combination(scores, linked, weights, PRIOR)
    assert found.weights_by_name()["same"] == 0 and "same" not in found.used
    assert_allclose(found({**scores, "same": constant}), plain(scores), atol=1e-3)


def test_of_scores_that_are_all_constant_the_share_of_links_is_left():
    linked, weights = np.array([1.0, 0.0, 0.0, 0.0]), np.array([1.0, 2.0, 3.0, 4.0])
    found = learn_combination({"a": np.ones(4), "b": np.zeros(4)}, linked, weights, {"a": 1.0})
    used = {name: np.linspace(0, 9, 6).reshape(2, 3) for name in found.used}  # what a caller forms
    assert found(used).shape == (2, 3)
    assert_allclose(found(used), np.log(1 / 9), atol=0.01)


def test_with_few_pairs_the_prior_rules():
    scores, linked, weights = problem(4)
    linked[:] = [0, 0, 1, 0]
    found = learn_combination(scores, linked, weights, PRIOR)
    Z = standardised(scores, weights)
    odds = found(scores) - np.average(found(scores), weights=weights)
    assert_allclose(odds, Z @ [1.0, 0.5, 0.0], atol=0.8)
    many = learn_combination(*problem(4000), PRIOR)
    assert many.weights[0] == pytest.approx(learn_combination(*problem(4000), {}).weights[0], rel=0.02)  # not of many


def test_with_no_pairs_the_prior_is_all():
    none = np.empty(0)
    found = learn_combination({"much": none, "other": none}, none, none, PRIOR)
    assert found.weights_by_name() == {"much": 1.0, "other": 0.0} and np.isfinite(found({"much": np.ones(3)})).all()
    assert concatenate([]).scores == {}


def test_a_combination_by_hand():
    made = Combination(("a", "b", "c"), np.array([1.0, 2.0, 1.0]), np.array([3.0, 0.5, 0.0]), -1.0)
    a, b = np.array([0.0, 1.0, -3.0]), np.array([2.0, -6.0, 0.0])
    expected = 3 * np.log([1, 2, 1 / 4]) + 0.5 * np.log([2, 1 / 4, 1]) - 1
    assert_allclose(made({"a": a, "b": b}), expected)  # what does not count is not asked for
    assert_array_equal(a, [0.0, 1.0, -3.0])
    assert made.used == ("a", "b")
