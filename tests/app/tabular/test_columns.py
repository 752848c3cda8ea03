"""Selection of columns by name, glob and range."""

import pytest

from hilbertlearn.app.tabular import TableError
from hilbertlearn.app.tabular.columns import match_columns


def test_columns_are_chosen_by_name_glob_and_range():
    names = ["y_1", "a,b", "y_2", "x", "y:3", "[z]"]
    assert match_columns(names, "y_*", "targets") == ["y_1", "y_2"]
    assert match_columns(names, "x, y_1", "targets") == ["y_1", "x"]
    assert match_columns(names, "a,b", "targets") == ["a,b"]
    assert match_columns(names, "a,b:x", "targets") == ["a,b", "y_2", "x"]
    assert match_columns(names, "y:3", "targets") == ["y:3"]
    assert match_columns(names, ["[z]", "x"], "targets") == ["x", "[z]"]
    with pytest.raises(TableError, match=r"targets 'y_3': no such column; did you mean 'y_"):
        match_columns(names, "y_3", "targets")
    with pytest.raises(TableError, match="is before"):
        match_columns(names, "x:y_1", "targets")
