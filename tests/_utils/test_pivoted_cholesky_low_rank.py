"""The pivoted Cholesky factor of a matrix of low rank, and the rank expected beforehand."""

import numpy as np
import pytest
from helpers.low_rank_matrices import N, rough, sample, smooth
from numpy.testing import assert_array_equal
from sklearn.metrics.pairwise import rbf_kernel

from hilbertlearn._utils import pivoted_cholesky
from hilbertlearn._utils.pivoted_cholesky import expected_rank, low_rank_factor


@pytest.mark.parametrize("wrong", [np.nan, np.inf])
@pytest.mark.parametrize("where", [(3, 3), (3, 4)])
def test_values_that_are_not_finite_end_the_search(wrong, where):
    S = smooth()
    S[where] = S[where[::-1]] = wrong
    assert low_rank_factor(S, N // 2) is None


def test_the_factor_is_the_same_each_time():
    assert_array_equal(low_rank_factor(smooth(), N // 2), low_rank_factor(smooth(), N // 2))


def test_the_search_stops_at_the_limit():
    S, rank = smooth(gamma=1.0), low_rank_factor(smooth(gamma=1.0), N).shape[1]
    assert rank > 200
    assert low_rank_factor(S, 2 * rank).shape[1] == rank
    assert low_rank_factor(S, rank - 64) is None
    columns = np.empty((N, 400), order="F")
    seen = [k for k, _ in pivoted_cholesky._pivot_blocks(rough(), columns)]
    assert seen[-1] <= 400  # never more than there is room for


@pytest.mark.parametrize("n", [1000, 1600])
def test_rank_is_foreseen(n):
    S = rbf_kernel(sample(n, 3), gamma=0.1)
    rank = low_rank_factor(S, n // 2).shape[1]
    assert 0.7 * rank < expected_rank(S) < 1.4 * rank
    assert expected_rank(smooth(n)) < 120
    assert expected_rank(rough(n)) > n / 2
    assert expected_rank(np.zeros((n, n))) == expected_rank(-np.eye(n)) == n
