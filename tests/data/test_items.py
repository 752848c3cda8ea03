"""Missing items, and arrays of objects."""

import numpy as np
import pytest

from hilbertlearn.data.items import is_missing, object_array


@pytest.mark.parametrize("item", [None, float("nan"), np.float32("nan")])
def test_missing_items(item):
    assert is_missing(item)


@pytest.mark.parametrize("item", [0, 0.0, "", "nan", [], np.inf, np.datetime64("2001-01-01")])
def test_items_that_are_not_missing(item):
    assert not is_missing(item)


def test_missing_items_of_pandas():
    pandas = pytest.importorskip("pandas")
    assert is_missing(pandas.NA) and is_missing(pandas.NaT)


def test_sequences_stay_objects():
    items = [[1, 2], (3, 4), np.zeros(2), "ab", {5}]
    array = object_array(items)
    assert array.shape == (5,) and array.dtype == object
    assert all(one is other for one, other in zip(array, items, strict=True))
    assert object_array([[1, 2], [3, 4]]).shape == (2,)
