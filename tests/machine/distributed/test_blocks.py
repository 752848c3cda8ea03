"""Dask collections as blocks of rows, without a cluster."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

da = pytest.importorskip("dask.array")

from hilbertlearn.machine.distributed import Blocks, is_dask, map_blocks_lazily  # noqa: E402

X, Y = np.arange(20.0).reshape(10, 2), np.arange(10.0)


def blocks(y=Y, weights=None, check=lambda X: None):
    return Blocks.from_collections(da.from_array(X, chunks=(4, 2)), y, weights, check)


def test_what_a_dask_collection_is():
    assert is_dask(da.from_array(X)) and not is_dask(X) and not is_dask(None)


def test_rows_are_split_like_the_inputs():
    made = blocks()
    assert made.lengths.tolist() == [4, 4, 2]
    whole = made.sample(100)
    assert_array_equal(whole.X, X)
    assert_array_equal(whole.y, Y)


def test_a_sample_has_distinct_rows_in_their_order():
    sample = blocks().sample(6)
    assert len(sample.y) == 6 and (np.diff(sample.y) > 0).all()
    assert_array_equal(sample.X[:, 0], 2 * sample.y)


def test_sums_over_blocks():
    total = blocks().sum(lambda batches, shared: sum(batch.y.sum() for batch in batches) * shared, 2.0)
    assert total == 2 * Y.sum()


def test_other_chunks_and_lengths_are_refused():
    with pytest.raises(ValueError, match="same blocks of rows"):
        blocks(y=da.from_array(Y, chunks=5))
    with pytest.raises(ValueError, match="as many samples"):
        blocks(y=Y[:5])


def test_errors_name_the_block():
    def check(X):
        if X.max() > 17:
            raise ValueError("too large")

    with pytest.raises(ValueError, match="in block 2 of the rows: too large"):
        blocks(check=check)


def test_functions_are_applied_lazily():
    lazy = map_blocks_lazily(lambda X: X[:, :1] + 1, da.from_array(X, chunks=(4, 2)))
    assert is_dask(lazy) and lazy.shape == (10, 1)
    assert_array_equal(lazy.compute(), X[:, :1] + 1)
