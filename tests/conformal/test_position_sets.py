"""Sets from given scores."""

import numpy as np
import pytest
from helpers.conformal_objects import FOLDS, LEVEL, SCORES, WORDS, N, conformal, inputs, predictor, words
from helpers.refusals import assert_refused
from numpy.testing import assert_allclose, assert_array_equal

from hilbertlearn.conformal import sets_of_scores


@pytest.mark.parametrize("name", SCORES)
def test_sets_of_given_scores_are_those_of_split(name):
    X, y = words(N, 0)
    rng = np.random.default_rng(3)
    lists = [list(dict.fromkeys([*rng.permutation(WORDS)[: rng.integers(1, 5)].tolist(), word])) for word in y]
    queries, asked = inputs(7, 1), [rng.permutation(WORDS)[:4].tolist() for _ in range(7)]
    model = conformal("split", predictor(output_loss="edit"), score=name).fit(X, y, candidates_per_query=lists)
    expected = model.predict_set(queries, candidates_per_query=asked)
    own = [model.estimator_.predict_scores(X[[i]], lists[i])[0] for i in FOLDS[0][1]]
    new = [model.estimator_.predict_scores(query[None], pool)[0] for query, pool in zip(queries, asked)]
    places = [lists[i].index(y[i]) for i in FOLDS[0][1]]
    found = sets_of_scores(own, places, new, level=LEVEL, score=name)
    for positions, others, values, chances in zip(found, expected.indices, found.p_values, expected.p_values):
        assert_array_equal(positions, others)
        assert_allclose(values, chances)
    assert_array_equal(found.contains([own[0] for own in found]), True)
    assert_array_equal(found.sizes, expected.sizes)


def test_given_scores_that_are_none():
    values = [np.array([1.0, 2.0])] * 9
    assert_refused(lambda: sets_of_scores(values, [0] * 9, values, level=1.0), ["level"])
    assert_refused(lambda: sets_of_scores(values[:3], [0] * 3, values), ["9 samples", "3"])
    assert_refused(lambda: sets_of_scores(values, [0] * 8 + [2], values), ["true_index[8]", "2"])
    assert_refused(lambda: sets_of_scores(values, [0] * 8, values), ["true_index", "8"])
    assert_refused(
        lambda: sets_of_scores([*values[:8], [np.nan, 1]], [0] * 9, values), ["calibration_scores[8]", "finite"]
    )
    assert_refused(lambda: sets_of_scores(values, [0] * 9, [[]]), ["scores[0]", "at least one"])
    assert_refused(lambda: sets_of_scores(values, [0] * 9, values, score="loss"), ["loss"])
