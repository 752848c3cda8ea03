"""Tables of inputs: rows, names, keys, and the selection of columns."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from hilbertlearn.kernels import InputTable
from hilbertlearn.kernels.tables import category_codes, column_names, column_positions, is_single_column

pd = pytest.importorskip("pandas")
AGES, REGIONS = np.array([20.0, 31.5, 47.0, 20.0, 65.0, 18.0]), ["north", "south", "north", "east", "east", "south"]
FRAME = pd.DataFrame({"age": AGES, "region": REGIONS})
NAMES = ("age", "size", "region", "level")


def test_rows_and_columns_of_tables():
    table = InputTable.from_data(FRAME)
    assert table.shape == (6, 2) and len(table[:5]) == 5 and len(table[[1, 2], ...]) == 2 and len(table[3]) == 1
    assert_array_equal(table[[4, 2]].columns[1], ["east", "north"])
    assert table.take([1]).names == ("region",)
    assert "age" in repr(table)


def test_equal_samples_have_equal_keys():
    keys = InputTable.from_data(pd.DataFrame({"a": [1.0, np.nan, np.nan, 1.0], "b": ["x", None, None, "y"]})).row_keys()
    assert keys[1] == keys[2] and len(set(keys)) == 3


def test_tables_of_arrays_and_lists():
    rows = [[20.0, "north"], [31.5, "south"]]
    table = InputTable.from_data(rows, names=["age", "region"])
    assert table.names == ("age", "region") and table.shape == (2, 2)
    assert InputTable.from_data(np.ones((3, 2))).names == (0, 1)
    assert InputTable.from_data(table) is table
    with pytest.raises(ValueError, match="X must have columns"):
        InputTable.from_data(["a", "b"])


def test_codes_of_categories():
    values = np.array(["x", None, 1, "x", float("nan"), 1.0], dtype=object)
    codes = category_codes(values)
    assert_array_equal(codes, [0, 1, 2, 0, 1, 2])  # missing values are one category
    with pytest.raises(ValueError, match="can be hashed, got list"):
        category_codes(np.array([[1], None], dtype=object)[:1])


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        ("size", [1]),
        (["level", "age"], [3, 0]),
        (2, [2]),
        (-1, [3]),
        ([0, "region"], [0, 2]),
        (slice("size", "level"), [1, 2, 3]),  # names: both ends
        (slice(1, 3), [1, 2]),  # positions: as in Python
        (slice(None, None, 2), [0, 2]),
    ],
    ids=str,
)
def test_selected_columns(columns, expected):
    assert column_positions(columns, NAMES, "X") == expected


def test_numbers_that_are_names():
    assert column_positions(7, (5, 7, 9), "X") == [1]
    assert column_positions(slice(5, 7), (5, 7, 9), "X") == [0, 1]
    assert column_positions(1, (0, 1, 2), "X") == [1]


@pytest.mark.parametrize(
    ("columns", "names", "message"),
    [
        ("weight", NAMES, "which X does not have; its columns are"),
        (4, NAMES, "X has 4 columns, numbered from 0"),
        (["age", 0], NAMES, "'age' more than once"),
        ([], NAMES, "has no columns"),
        ("a", ("a", "a"), "2 columns named 'a'"),
        ("a", (0, 1), "X has no names"),
    ],
)
def test_columns_that_do_not_exist(columns, names, message):
    with pytest.raises(ValueError, match=message):
        column_positions(columns, names, "X")


def test_names_of_columns():
    assert column_names(InputTable.from_data(FRAME)) == ("age", "region")
    assert column_names(np.ones((2, 3))) == (0, 1, 2)
    assert column_names(["a", "b"]) is None
    assert is_single_column("a") and is_single_column(1) and not is_single_column(["a"])
