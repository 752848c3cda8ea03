"""The best candidates of each query against a full sort of scores written out."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics.pairwise import rbf_kernel

from hilbertlearn import StructuredPredictor
from hilbertlearn.structured.candidate_search import best_candidates, best_candidates_per_query
from hilbertlearn.structured.output_scorer import OutputScorer

RNG = np.random.default_rng(0)
X, NEW = RNG.normal(size=(25, 2)), RNG.normal(size=(7, 2))
Y = np.c_[np.sin(X[:, 0]), X[:, 1]]
POOL = RNG.normal(size=(40, 2))
ALPHA, GAMMA = 0.01, 0.4


@pytest.fixture(scope="module")
def scorer():
    model = StructuredPredictor("rbf", gamma=GAMMA, alpha=ALPHA, output_loss="squared").fit(X, Y)
    return OutputScorer(model.state_)


def scores_by_hand(pool):
    """Minus the losses of the pool, weighted as in kernel ridge regression."""
    K = rbf_kernel(X, gamma=GAMMA)
    weights = np.linalg.solve(K + len(X) * ALPHA * np.eye(len(X)), rbf_kernel(X, NEW, gamma=GAMMA)).T
    return -weights @ ((Y[:, None] - pool) ** 2).sum(axis=2)


@pytest.mark.parametrize("k", [1, 5, 100])
def test_one_collection_for_all(scorer, k):
    expected = scores_by_hand(POOL)
    outputs, scores, indices = best_candidates(scorer, NEW, POOL, k)
    for q in range(len(NEW)):
        order = np.argsort(-expected[q])[:k]
        assert_array_equal(indices[q], order)
        assert_allclose(scores[q], expected[q, order])
        assert_array_equal(outputs[q], POOL[order])


def test_a_collection_for_each_query(scorer):
    lists = [POOL[start : start + 3 + start % 4] for start in range(len(NEW))]
    outputs, scores, indices = best_candidates_per_query(scorer, NEW, lists, 2)
    for q, candidates in enumerate(lists):
        expected = scores_by_hand(candidates)[q]
        order = np.argsort(-expected)[:2]
        assert_array_equal(indices[q], order)
        assert_allclose(scores[q], expected[order])
        assert_array_equal(outputs[q], candidates[order])
