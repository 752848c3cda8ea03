"""Candidates in blocks of a Dask array have the result of all candidates at once."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from hilbertlearn.structured.distributed_candidates import best_of_blocks

QUERIES, POOL = np.random.default_rng(0).integers(-3, 4, (2, 50, 3))
QUERIES = QUERIES[:6]


def by_sorting(X, candidates, k):
    """The k candidates with the largest inner products; ties in the order of the candidates."""
    order = [np.argsort(-(query @ candidates.T), kind="stable")[:k] for query in X]
    return [candidates[i] for i in order], [(query @ candidates.T)[i] for query, i in zip(X, order, strict=True)], order


@pytest.mark.parametrize("size", [7, 50])
def test_best_of_all_blocks(size):
    da = pytest.importorskip("dask.array")
    found = best_of_blocks(by_sorting, QUERIES, da.from_array(POOL, chunks=(size, 3)), 4)
    for part, expected in zip(found, by_sorting(QUERIES, POOL, 4), strict=True):
        assert_array_equal(np.array(part), np.array(expected))


def test_no_candidates():
    da = pytest.importorskip("dask.array")
    with pytest.raises(ValueError, match="candidates is empty"):
        best_of_blocks(by_sorting, QUERIES, da.zeros((0, 3)), 4)
