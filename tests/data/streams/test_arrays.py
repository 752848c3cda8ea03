"""Rows of arrays in memory and in files."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from hilbertlearn import streams

X, Y = np.arange(20.0).reshape(10, 2), np.arange(10.0)


@pytest.mark.parametrize("size", [1, 3, 10, 50])
def test_batches_are_slices(size):
    batches = list(streams.from_arrays(X, Y, batch_size=size))
    assert [len(batch.X) for batch in batches] == [min(size, 10 - start) for start in range(0, 10, size)]
    assert_array_equal(np.concatenate([batch.y for batch in batches]), Y)


def test_files_are_mapped_and_give_ordinary_arrays(tmp_path):
    np.save(tmp_path / "X.npy", X)
    source = streams.from_npy(tmp_path / "X.npy", Y)
    assert isinstance(source.X, np.memmap)
    (batch,) = source
    assert type(batch.X) is np.ndarray and np.shares_memory(batch.X, source.X)
    assert type(source.sample(3).X) is np.ndarray


def test_a_sample_is_in_the_order_of_the_rows():
    batch = streams.from_arrays(X, Y).sample(6, random_state=1)
    assert (np.diff(batch.y) > 0).all()
    assert_array_equal(batch.X, X[batch.y.astype(int)])
    assert_array_equal(streams.from_arrays(X, Y).sample(99).y, Y)


def test_archives_of_several_arrays_are_refused(tmp_path):
    np.savez(tmp_path / "X.npz", a=X)
    with pytest.raises(ValueError, match="holds several arrays"):
        streams.from_npy(tmp_path / "X.npz", Y)
