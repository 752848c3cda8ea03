"""Selection of task and columns: settings, refusals, and no change of the model."""

import numpy as np
import pandas as pd
import pytest
from helpers.tables import POINTS, N, curves_table
from numpy.testing import assert_array_equal

from hilbertlearn.app.tabular import TableError
from hilbertlearn.tabular import TabularModel


@pytest.fixture(scope="module")
def table():
    return curves_table()


def test_a_selection_has_the_task_and_the_columns(table):
    model = TabularModel("y_*")
    selection = model.select_columns(table)
    assert selection.task.name == "functional" and selection.task.names == [f"y_{point:g}" for point in POINTS]
    assert_array_equal(selection.task.grid, POINTS)
    assert (sorted(selection.features), selection.id) == (["größe", "region", "weight"], "id")
    assert len(selection.table) == len(selection.outputs) == N
    assert vars(model) == vars(TabularModel("y_*"))  # nothing is learnt


def test_rows_without_targets_are_not_selected():
    frame = pd.DataFrame({"x": np.cos(np.arange(20.0)), "y": np.arange(20.0) / 7})
    frame.loc[[3, 5], "y"] = np.nan
    selection = TabularModel("y").select_columns(frame)
    assert_array_equal(selection.table.index, frame.index.delete([3, 5]))
    assert_array_equal(selection.outputs, frame["y"].dropna())
    assert "2 rows without known targets are left out of the fit" in selection.notes


def test_the_fit_of_a_selection_is_the_fit_of_the_table():
    frame = pd.DataFrame({"x": np.cos(np.arange(20.0)), "y": np.arange(20.0) / 7})
    model = TabularModel("y")
    assert model.fit_selection(model.select_columns(frame)) is model
    pd.testing.assert_frame_equal(model.predict(frame), TabularModel("y").fit(frame).predict(frame))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({}, "give either targets, or long"),
        ({"targets": "y_*", "long": ("a", "b", "c")}, "give either targets, or long"),
        ({"targets": "y_*", "level": 1.5}, "between 0 and 1"),
        ({"targets": "y_*", "task": "vector", "levels": (0.5,)}, "levels are of quantiles"),
        ({"targets": "y_*", "task": "classes"}, "task"),
        ({"targets": "y_*", "loss": "hubert"}, "loss"),
        ({"targets": "region,unit"}, "hold no numbers"),
        ({"targets": "y_*", "task": "multilabel"}, "must be 0 or 1"),
        ({"targets": "y_*", "features": "y_4"}, "is a target and a feature"),
        ({"targets": "region", "task": "ranking"}, "must hold numbers"),
        ({"targets": "id", "task": "ranking"}, "a column for each label"),
        ({"targets": "y_*", "id": "name"}, "the column of identifiers is missing"),
        ({"targets": "y_2,weight", "id": "weight"}, "'weight' is a target, and so it cannot name the rows"),
    ],
)
def test_settings_that_do_not_go_together(table, settings, message):
    with pytest.raises(ValueError, match=message):
        TabularModel(**settings).fit(table)


def test_too_few_rows(table):
    with pytest.raises(TableError, match="rows with known targets: 3; give at least 10"):
        TabularModel("y_*").fit(table.head(3))


def test_a_target_without_a_known_cell_is_named():
    frame = pd.DataFrame({"x": np.arange(20.0), "y": np.arange(20.0) ** 2, "z": np.nan})
    with pytest.raises(TableError, match="target 'z' has no known cell"):
        TabularModel("y,z").fit(frame)
