"""Scores of candidates: ties, order, repetitions."""

import numpy as np
import pytest
from helpers.conformal_objects import SCORES, WORDS, N, conformal, predictor, words
from numpy.testing import assert_allclose, assert_array_equal

from hilbertlearn.conformal import candidate_scores


@pytest.mark.parametrize("name", SCORES)
def test_order_and_repetitions_change_nothing(name):
    X, y = words(N, 0)
    model = conformal("cv+", predictor(output_loss="edit"), score=name).fit(X, y)
    once = model.predict_set(X, candidates=WORDS)
    again = model.predict_set(X, candidates=[*reversed(WORDS), *WORDS, "aa"])
    assert [sorted(own) for own in once] == [sorted(own) for own in again]
    assert all(len(set(own)) == len(own) for own in again)


def test_ties_count_as_a_whole():
    g = np.array([[1.0, 0.5, 0.5 + 1e-17, 2.0, 1.0]])
    assert_array_equal(candidate_scores.ObjectiveRank()(g), [[4, 2, 2, 5, 4]])
    cumulative = candidate_scores.CumulativeMass(penalty=0.1)(g)
    assert cumulative[0, 1] == cumulative[0, 2] and cumulative[0, 0] == cumulative[0, 4]
    assert_allclose(cumulative[0, 3], 1 + 0.1 * 4)
    flat = np.full((2, 3, 4), 7.0)
    assert_array_equal(candidate_scores.Gap(relative=True)(flat), np.zeros(flat.shape))
    assert_allclose(candidate_scores.Likelihood()(flat), np.log(4))


def test_relative_gap():
    g = np.array([1.0, 3.0, 8.0])
    assert_allclose(candidate_scores.Gap(relative=True)(g), [0, 2 / 3, 7 / 3])


# one contract for every score of candidates: a new one is listed here

CONTRACT = {
    "objective": candidate_scores.Objective(),
    "gap": candidate_scores.Gap(),
    "relative gap": candidate_scores.Gap(relative=True),
    "rank": candidate_scores.ObjectiveRank(),
    "likelihood": candidate_scores.Likelihood(0.5),
    "cumulative": candidate_scores.CumulativeMass(0.5, 0.1),
    "loss": candidate_scores.PredictionLoss(),
}


@pytest.mark.parametrize("name", CONTRACT)
def test_scores_follow_the_order_of_the_objective(name):
    score, objective = CONTRACT[name], np.random.default_rng(0).uniform(size=(5, 4, 6))
    values = score(objective)
    assert values.shape == objective.shape
    order = np.argsort(objective, axis=-1)
    assert (np.diff(np.take_along_axis(values, order, axis=-1), axis=-1) > 0).all()
    assert_allclose(score(objective[..., ::-1]), values[..., ::-1], atol=1e-12)
    assert_allclose(score(objective[2, 3]), values[2, 3])


@pytest.mark.parametrize("name", CONTRACT)
def test_only_scores_that_compare_candidates_depend_on_the_others(name):
    score, objective = CONTRACT[name], np.array([0.4, 0.1, 0.7])
    other = score(np.array([0.4, 0.05, 0.7]))[0]
    assert (other != score(objective)[0]) == (score.by_candidates and name != "rank")
    assert (score(objective[:1])[0] != score(objective)[0]) == score.by_candidates


def test_every_score_is_in_the_contract():
    kinds = {kind for kind in vars(candidate_scores).values() if isinstance(kind, type)}
    own = {kind for kind in kinds if issubclass(kind, candidate_scores.CandidateScore)}
    assert own - {candidate_scores.CandidateScore} == {type(score) for score in CONTRACT.values()}
