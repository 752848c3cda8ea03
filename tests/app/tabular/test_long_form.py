"""Tables in long form are irregular functions."""

import numpy as np
import pandas as pd
import pytest
from helpers.tables import N
from numpy.testing import assert_allclose

from hilbertlearn import (
    FunctionalRegressor,
    IrregularFunctions,
    load,
    outlier_report,
    save,
)
from hilbertlearn.app.tabular import TableError
from hilbertlearn.tabular import TabularModel


def test_points_of_curves_are_read_in_the_format_of_training(tmp_path):
    days = pd.date_range("2024-01-01", periods=28, freq="5D")
    rows = [
        (curve, day, np.cos(curve) * np.sin(i / 5), np.cos(curve)) for curve in range(12) for i, day in enumerate(days)
    ]
    table = pd.DataFrame(rows, columns=["curve", "day", "value", "x"])
    text = table.assign(day=table["day"].dt.strftime("%m/%d/%Y"))  # days after the 12th: month first
    model = TabularModel(long=("curve", "day", "value"), loss="squared").fit(text)
    save(model, tmp_path / "model")
    new = text[table["day"].dt.day < 6]  # which alone could be day first
    assert new["day"].nunique() > 3
    assert load(tmp_path / "model").predict(new)["day"].tolist() == table["day"][new.index].tolist()
    swapped = TabularModel(long=("curve", "day", "value"), loss="squared").fit(new)
    assert sum("read as day/month/year" in note for note in swapped.notes_) == 1


def test_long_form_is_irregular_functions():
    rng = np.random.default_rng(4)
    x = rng.normal(size=N)
    inputs = pd.DataFrame({"child": [f"c{i}" for i in range(N)], "x": x})
    points = [rng.uniform(0, 5, size=5) for _ in range(N)]
    rows = [(f"c{i}", t, np.sin(t + x[i])) for i, own in enumerate(points) for t in own]
    table = pd.DataFrame(rows, columns=["child", "age", "height"]).sample(frac=1, random_state=0, ignore_index=True)
    model = TabularModel(long=("child", "age", "height")).fit(table, inputs)
    parts = [part for _, part in table.groupby("child", sort=False)]  # in the order in which curves appear
    curves = IrregularFunctions([part["age"] for part in parts], [part["height"] for part in parts])
    x = inputs.set_index("child").loc[[part["child"].iloc[0] for part in parts], "x"].to_numpy()
    X = ((x - x.mean()) / x.std())[:, None]
    reference = FunctionalRegressor().fit(X, curves).predict(X, grid=curves.points)
    found = model.predict(table[["age", "child"]], inputs)
    for part, values in zip(parts, reference.values, strict=True):
        assert_allclose(found["height"][part.index], values)
    assert found["age"].tolist() == table["age"].tolist()
    joined = table.merge(inputs)  # inputs in the table itself, and a new curve without points
    assert_allclose(model.predict(joined)["height"], found["height"])
    grid = model.predict(inputs.head(1))
    assert list(grid.columns) == ["child", "age", "height"] and len(grid) == 101
    with pytest.raises(TableError, match="no row for curve"):
        model.predict(table, inputs.head(3))


def test_reports_name_curves_in_long_form():
    t = np.linspace(0, 1, 6)
    rows = [(f"c{i}", i / 20, p, np.sin(3 * p + i / 20) + 9.0 * (i == 7)) for i in range(20) for p in t]
    table = pd.DataFrame(rows, columns=["curve", "x", "t", "value"])
    model = TabularModel(long=("curve", "t", "value"), loss="huber").fit(table)
    assert outlier_report(model.estimator_).index[0] == "c7"
