"""Names of nodes: integers, text, anything that can be hashed."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from hilbertlearn.data.graphs.names import (
    abbreviate,
    are_numbers,
    as_names,
    check_distinct,
    find_positions,
    row_names,
    sort_names,
)


@pytest.mark.parametrize("items", [range(3), np.array([4, 2, 9]), [1, 5], ["b", "a"], [("u", 1), "v"], [True, False]])
def test_names_are_kept(items):
    names = as_names(items, "y")
    assert names.tolist() == list(items) and names.ndim == 1
    assert (names.dtype == object) != all(type(item) in (int, np.int64) for item in items)


def test_names_that_cannot_be_hashed():
    with pytest.raises(ValueError, match="cannot be hashed"):
        as_names([["a"]], "y")


@pytest.mark.parametrize("names", [[0, 1, 2, 3], [7, 3, 9, 5], ["d", "a", "c", "b"], [(1,), "x", 2, None]])
def test_positions_are_those_of_a_loop(names):
    wanted = [*names[::-1], names[1]]
    found = find_positions(as_names(wanted, ""), as_names(names, ""))
    assert found.tolist() == [names.index(name) for name in wanted]
    assert find_positions(as_names([100], ""), as_names(names, "")).tolist() == [-1]


def test_no_names():
    assert find_positions(as_names([1], ""), as_names([], "").astype(int)).tolist() == [-1]


def test_distinct_names_are_sorted_where_they_can_be():
    assert sort_names(as_names([3, 1, 3], "")).tolist() == [1, 3]
    assert sort_names(as_names(["b", "a", "b"], "")).tolist() == ["a", "b"]
    assert sort_names(as_names(["b", 1, "b"], "")).tolist() == ["b", 1]


def test_names_that_occur_twice():
    check_distinct(as_names(["a", "b"], ""), "y")
    with pytest.raises(ValueError, match="the name 'a' more than once"):
        check_distinct(as_names(["a", "b", "a"], ""), "y")


def test_numbers_in_order_are_no_names():
    assert are_numbers(as_names([0, 1, 2], "")) and not are_numbers(as_names([1, 0], ""))


def test_few_names_are_shown():
    assert abbreviate(as_names([1, 2, 1], "")) == "1, 2"
    assert abbreviate(as_names(["a", "b", "c", "d", "e"], "")) == "'a', 'b', 'c' and 2 more"


def test_names_of_rows():
    pandas = pytest.importorskip("pandas")
    assert row_names(None) is None
    assert_array_equal(row_names(np.zeros((3, 2))), [0, 1, 2])
    assert list(row_names(pandas.DataFrame({"x": [1, 2]}, index=["a", "b"]))) == ["a", "b"]
