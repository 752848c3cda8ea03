"""The best pairs from blocks against a sort of all scores."""

import numpy as np
import pytest
import scipy.sparse
from numpy.testing import assert_array_equal

from hilbertlearn.links.top_pairs import top_pairs

SIZES = pytest.mark.parametrize("size", [1, 25, 70, 10**6])


def by_sort(S, k, counted):
    """The first k of all pairs that count, sorted by descending score, then by row and column."""
    rows, columns = np.nonzero(counted & ~np.isnan(S))
    order = np.lexsort((columns, rows, -S[rows, columns]))[:k]
    return rows[order], columns[order], S[rows[order], columns[order]]


def check(S, k, counted, **options):
    found = top_pairs(lambda rows, columns: S[rows, columns], *S.shape, k, **options)
    for ours, expected in zip(found, by_sort(S, k, counted), strict=True):
        assert_array_equal(ours, expected)


def scores(shape, levels, seed=0):
    """Symmetric if square; of few different values where levels is small, so that many tie."""
    S = np.random.default_rng(seed).integers(levels, size=shape) / 4 - 3.0
    return np.maximum(S, S.T) if shape[0] == shape[1] else S


def some(shape, seed=1):
    """A sparse matrix of about a third of the pairs."""
    return scipy.sparse.random_array(shape, density=0.3, rng=np.random.default_rng(seed))


@SIZES
@pytest.mark.parametrize("levels", [3, 10**6])
@pytest.mark.parametrize("k", [1, 7, 100, 10**4])
def test_rectangle(k, levels, size):
    S = scores((13, 23), levels)
    check(S, k, np.ones(S.shape, dtype=bool), size=size)
    check(S, k, some(S.shape).toarray() == 0, size=size, excluded=some(S.shape))


@SIZES
@pytest.mark.parametrize("levels", [3, 10**6])
@pytest.mark.parametrize("k", [1, 7, 100, 10**4])
def test_each_pair_once(k, levels, size):
    S, upper = scores((20, 20), levels), np.triu(np.ones((20, 20), dtype=bool), 1)
    check(S, k, upper, size=size, symmetric=True)
    links = some(S.shape).toarray()
    assert (links != links.T).any()  # either order excludes the pair
    check(S, k, upper & (links == 0) & (links.T == 0), size=size, symmetric=True, excluded=some(S.shape))


@SIZES
def test_what_does_not_count(size):
    """NaN, and stored zeros of `excluded` exclude nothing; minus infinity is a score."""
    S = scores((9, 11), 50)
    S[2:5, 3:] = np.nan
    S[6, :4] = -np.inf
    none = scipy.sparse.csr_array((np.zeros(2), ([0, 8], [0, 10])), shape=S.shape)
    check(S, 99, np.ones(S.shape, dtype=bool), size=size, excluded=none)


def test_nothing_is_written_to_and_empty_is_fine():
    S = scores((6, 6), 10)
    before = S.copy()
    top_pairs(lambda rows, columns: S[rows, columns], 6, 6, 3, symmetric=True, excluded=some(S.shape))
    assert_array_equal(S, before)
    assert [len(part) for part in top_pairs(lambda rows, columns: S[rows, columns], 0, 6, 3)] == [0, 0, 0]
    assert len(top_pairs(lambda rows, columns: S[rows, columns], 1, 1, 3, symmetric=True).scores) == 0


def test_no_more_than_a_block_at_a_time():
    seen = []

    def block(rows, columns):
        seen.append((rows.stop - rows.start) * (columns.stop - columns.start))
        return np.zeros((rows.stop - rows.start, columns.stop - columns.start))

    top_pairs(block, 50, 40, 5, size=200)
    assert max(seen) <= 200 and sum(seen) == 50 * 40


def test_bad_arguments():
    def zeros(rows, columns):
        return np.zeros((4, 4))

    with pytest.raises(ValueError, match="k must be"):
        top_pairs(zeros, 4, 4, 0)
    with pytest.raises(ValueError, match="as many rows as columns"):
        top_pairs(zeros, 4, 5, 1, symmetric=True)
    with pytest.raises(ValueError, match=r"excluded has shape \(3, 4\)"):
        top_pairs(zeros, 4, 4, 1, excluded=scipy.sparse.csr_array((3, 4)))
    with pytest.raises(ValueError, match="block_scores gave shape"):
        top_pairs(zeros, 4, 5, 1)


@pytest.mark.parametrize("seed", range(5))
def test_scores_that_differ_by_rounding_are_in_the_order_of_positions(seed):
    rng = np.random.default_rng(seed)
    scores = rng.integers(-3, 4, size=(12, 12)) / 7.0
    shaken = scores * (1 + 1e-15 * rng.integers(-2, 3, size=scores.shape))
    plain, found = (
        top_pairs(lambda i, j, S=S: S[i, j], 12, 12, 40, size=24) for S in (scores, shaken)
    )  # several blocks, each of which may come into the best
    assert_array_equal(found.rows, plain.rows)
    assert_array_equal(found.columns, plain.columns)
    assert_array_equal(found.scores, shaken[found.rows, found.columns])  # as they are


@pytest.mark.parametrize("value", [np.inf, -np.inf])
def test_infinite_scores_count(value):
    S = np.full((4, 5), value)
    S[1, 2] = 1.0
    found = top_pairs(lambda i, j: S[i, j], 4, 5, 3, size=5)
    expected = [(0, 0), (0, 1), (0, 2)] if value > 0 else [(1, 2), (0, 0), (0, 1)]
    assert list(zip(found.rows.tolist(), found.columns.tolist(), strict=True)) == expected
