"""Scores of links against scikit-learn, and against all thresholds tried one by one."""

import numpy as np
import pytest
import scipy.sparse
from helpers.refusals import assert_refused
from sklearn.metrics import average_precision_score, f1_score, roc_auc_score

from hilbertlearn.metrics import best_f1_threshold, link_average_precision, link_roc_auc

rng = np.random.default_rng(5)


def network(n, density, levels=None):
    """A graph, and scores that know something of it; few levels make ties, also of links with others."""
    A = np.triu(rng.random((n, n)) < density, 1).astype(float)
    A += A.T
    S = rng.normal(size=(n, n)) + A
    S += S.T
    return A, S if levels is None else np.round(S * levels)


CASES = [network(60, 0.1), network(60, 0.1, levels=1), network(60, 0.01), network(25, 0.9, levels=2)]


@pytest.mark.parametrize(("A", "S"), CASES)
@pytest.mark.parametrize("form", [np.asarray, scipy.sparse.csr_array, scipy.sparse.coo_matrix])
def test_areas_over_all_pairs(A, S, form):
    upper = np.triu_indices(len(A), 1)
    truth, values = A[upper], S[upper]
    assert link_roc_auc(form(A), S) == pytest.approx(roc_auc_score(truth, values), abs=1e-12)
    assert link_average_precision(form(A), S) == pytest.approx(average_precision_score(truth, values), abs=1e-12)


@pytest.mark.parametrize(("A", "S"), CASES)
def test_areas_over_some_pairs(A, S):
    test, train = np.arange(10), np.arange(10, len(A))
    block, scores = A[np.ix_(test, train)], S[np.ix_(test, train)]
    mask = np.zeros(A.shape, dtype=bool)
    mask[np.ix_(test, train)] = True
    for function, reference in ((link_roc_auc, roc_auc_score), (link_average_precision, average_precision_score)):
        wanted = pytest.approx(reference(block.ravel(), scores.ravel()), abs=1e-12)
        assert function(block, scores, pairs="all") == wanted
        assert function(scipy.sparse.csr_array(block), scores, pairs="all") == wanted
        assert function(A, S, pairs=mask) == wanted
        assert function(scipy.sparse.csr_array(A), S, pairs=mask) == wanted
        assert function(block.ravel(), scores.ravel()) == wanted  # a list of pairs
        unknown = np.where(mask, A, np.nan)
        assert function(unknown, np.where(mask, S, np.nan), pairs="all") == wanted


def test_areas_by_hand():
    truth, scores = [1, 0, 1, 0], [3.0, 2.0, 2.0, 1.0]
    assert link_roc_auc(truth, scores) == (2 + 1.5) / 4  # one of the four comparisons is a tie
    assert link_average_precision(truth, scores) == pytest.approx((1 + 2 / 3) / 2)
    assert link_roc_auc(np.array([0.2, 0, 7, 0]), scores) == 3.5 / 4  # weights are links whatever their size


@pytest.mark.parametrize(("A", "S"), CASES)
def test_threshold_is_the_best_of_all(A, S):
    upper = np.triu_indices(len(A), 1)
    truth, values = A[upper], S[upper]
    levels = np.unique(values)
    chosen = values >= levels[:, None]
    scores = 2 * (chosen @ truth) / (chosen.sum(axis=1) + truth.sum())  # from the definition, one row for each level
    threshold, f1 = best_f1_threshold(A, S)
    assert f1 == pytest.approx(scores.max(), abs=1e-12)
    best = np.flatnonzero(scores > scores.max() - 1e-12).max()
    lower = levels[best - 1] if best > 0 else levels[best]
    assert threshold == pytest.approx((levels[best] + lower) / 2)
    assert f1_score(truth, values >= threshold) == pytest.approx(f1, abs=1e-12)
    assert best_f1_threshold(truth, values) == (threshold, f1)


def test_threshold_between_neighbouring_numbers():
    low = 1.0
    high = np.nextafter(low, 2)
    threshold, f1 = best_f1_threshold([0, 1], [low, high])
    assert threshold == high and f1 == 1


def test_highest_of_equally_good_thresholds():
    # from 5: 1 of 2 links, F1 2/3; from 1: 2 links among 4 pairs, F1 2/3
    assert best_f1_threshold([1, 0, 0, 1], [5, 3, 2, 1]) == (4, pytest.approx(2 / 3))


def test_nothing_to_tell_apart():
    S = rng.normal(size=(4, 4))
    assert np.isnan(link_roc_auc(np.zeros((4, 4)), S)) and np.isnan(link_average_precision(np.zeros((4, 4)), S))
    assert np.isnan(link_roc_auc(np.ones((4, 4)), S)) and link_average_precision(np.ones((4, 4)), S) == 1
    assert best_f1_threshold(np.zeros((4, 4)), S) == (np.inf, 1)
    assert best_f1_threshold(np.ones((4, 4)), S)[0] == S[np.triu_indices(4, 1)].min()
    assert np.isnan(link_roc_auc(np.zeros((1, 1)), np.zeros((1, 1))))


def test_diagonal_and_lower_triangle_do_not_count():
    A, S = network(20, 0.2)
    changed_A, changed_S = (np.where(np.tri(20, dtype=bool), rng.normal(size=(20, 20)), M) for M in (A, S))
    for function in (link_roc_auc, link_average_precision, best_f1_threshold):
        assert function(A, S) == function(changed_A, changed_S)


@pytest.mark.parametrize("function", [link_roc_auc, link_average_precision, best_f1_threshold])
def test_refusals(function):
    A, S = network(6, 0.5)
    assert_refused(lambda: function(A[:5], S), ["same shape", "(5, 6)", "(6, 6)"])
    assert_refused(lambda: function(A[:5], S[:5]), ["pairs='upper'", "square", "(5, 6)", "mask"])
    assert_refused(lambda: function(A, S, pairs="lower"), ["pairs", "'lower'", "'upper'", "'all'"])
    assert_refused(lambda: function(A, S, pairs=np.ones((6, 5), dtype=bool)), ["pairs", "mask", "(6, 6)", "(6, 5)"])
    assert_refused(lambda: function(A, S, pairs=np.ones((6, 6))), ["pairs", "mask", "float64"])
    S[0, 1] = np.nan
    assert_refused(lambda: function(A, S), ["scores", "NaN", "mask"])
