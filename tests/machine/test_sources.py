"""The source that training data are read from."""

import numpy as np
import pytest

from hilbertlearn import OperatorKernelRegressor, QuantileRegressor
from hilbertlearn.machine.batches import BatchSource
from hilbertlearn.machine.in_memory import MemorySource
from hilbertlearn.machine.sources import open_source

X, Y = np.random.default_rng(0).normal(size=(40, 3)), np.zeros(40)


def batches():
    yield X[:20], Y[:20]
    yield X[20:], Y[20:]


def test_arrays_are_in_memory():
    assert isinstance(open_source(OperatorKernelRegressor().spec(), X, Y, None), MemorySource)


def test_batches_are_read_in_passes_on_features():
    assert isinstance(open_source(OperatorKernelRegressor(feature_map=5).spec(), batches, None, None), BatchSource)


def test_batches_are_read_into_memory_for_the_exact_kernel():
    source = open_source(OperatorKernelRegressor(feature_map=None).spec(), batches, None, None)
    assert isinstance(source, MemorySource)
    np.testing.assert_array_equal(source.X, X)
    np.testing.assert_array_equal(source.y, Y)


def test_small_memory_maps_are_read_into_memory(tmp_path):
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    assert isinstance(open_source(OperatorKernelRegressor(feature_map=5).spec(), mapped, Y, None), MemorySource)


def test_dask_collections_stay_on_their_workers():
    array = pytest.importorskip("dask.array").from_array(X, chunks=(20, 3))
    source = open_source(OperatorKernelRegressor().spec(), array, Y, None)
    assert source.X is array and not isinstance(source, MemorySource)


def test_estimators_without_batches_read_everything_into_memory():
    assert isinstance(open_source(QuantileRegressor().spec(), batches, None, None), MemorySource)
