"""Models of tables: columns, settings, notes, names of samples."""

import numpy as np
import pandas as pd
import pytest
from helpers.tables import POINTS, curves_table
from numpy.testing import assert_allclose
from sklearn.base import clone

from hilbertlearn import (
    FunctionalRegressor,
    load,
    outlier_report,
    save,
)
from hilbertlearn.app.tabular import TableError
from hilbertlearn.report import section
from hilbertlearn.tabular import TabularModel, compare


@pytest.fixture(scope="module")
def table():
    return curves_table()


@pytest.fixture(scope="module")
def fitted(table):
    return TabularModel("y_*").fit(table)


def by_hand(table):
    """Inputs of the table without the encoder of the package."""
    frame = table[["größe", "weight"]].fillna(table[["größe", "weight"]].median())
    numbers = (frame - table[["größe", "weight"]].mean()) / table[["größe", "weight"]].std(ddof=0)
    region = table["region"].fillna("~")
    return np.column_stack([numbers, *(region == one for one in ("nord", "süd", "~"))])


def test_tables_are_data_frames_of_pandas():
    polars = pytest.importorskip("polars")
    table = pd.DataFrame({"x": np.cos(np.arange(20.0)), "y": np.arange(20.0)})
    other = polars.DataFrame(table.to_dict("list"))
    model = TabularModel("y").fit(table)
    for use in (
        TabularModel("y").fit,
        model.predict,
        model.labelled_samples,
        lambda frame: compare(TabularModel("y"), frame),
    ):
        with pytest.raises(TableError, match=r"a data frame of pandas, got DataFrame; give its to_pandas\(\)"):
            use(other)
    with pytest.raises(TableError, match=r"got ndarray; give pandas\.DataFrame"):
        model.predict(table.to_numpy())


def test_curves_are_those_of_the_estimator_fed_by_hand(table, fitted):
    targets = [f"y_{point:g}" for point in POINTS]
    assert (fitted.task_, fitted.targets_, fitted.id_) == ("functional", targets, "id")
    assert fitted.features_ == [name for name in table.columns if name in ("größe", "weight", "region")]
    assert_allclose(fitted.grid_, POINTS)
    hand = ["größe", "weight", "region=nord", "region=süd", "region=(missing)"]
    X = by_hand(table)[:, [hand.index(name) for name in fitted.input_names_]]
    assert_allclose(fitted.encode_inputs(table), X)
    model = FunctionalRegressor(grid=POINTS).fit(X, table[targets].to_numpy())
    found = fitted.predict(table)
    assert list(found.columns) == ["id", *targets]
    assert_allclose(found[targets], model.predict(X))
    assert found["id"].tolist() == table["id"].tolist()


def test_columns_are_found_by_name_and_missing_ones_are_named(table, fitted):
    shuffled = table[sorted(table.columns)].assign(extra=1).drop(columns=["y_4", "id"])
    assert_allclose(fitted.predict(shuffled)["y_2"], fitted.predict(table)["y_2"])
    with pytest.raises(TableError, match=r"input columns missing in the table: 'größe'"):
        fitted.predict(table.drop(columns="größe"))
    with pytest.raises(TableError, match=r"targets are missing in the table: 'y_4'"):
        fitted.labelled_samples(table.drop(columns="y_4"))
    with pytest.raises(TableError, match=r"'weight' must hold numbers, but row 1 has 'heavy'"):
        fitted.predict(table.head(1).assign(weight="heavy"))


def test_notes_say_what_was_done(fitted):
    notes = " / ".join(fitted.notes_)
    for words in ("task functional", "'id' is taken to name the rows", "unit: left out", "weight: 1 missing cell"):
        assert words in notes


def with_one_outlier(ids):
    """A table in which the row in position 20 is wrong, and that in position 3 has no target."""
    x = np.linspace(0, 1, 40)
    y = np.sin(6 * x)
    y[20], y[3] = 9.0, np.nan
    return pd.DataFrame({"name": ids, "x": x, "y": y})


@pytest.mark.parametrize("level", [None, 0.9])
def test_reports_name_training_samples_by_their_identifiers(level, tmp_path):
    table = with_one_outlier(1950 + np.arange(40))
    save(TabularModel("y", features="x", id="name", loss="huber", level=level).fit(table), tmp_path / "model.hl")
    model = load(tmp_path / "model.hl")
    inputs, outputs, ids = model.labelled_samples(table)
    found = section(model.estimator_, model.encode_inputs(inputs), outputs, ids=ids)
    assert found.facts["outliers"][0] == "1970"


def test_reports_name_training_samples_by_the_index_without_identifiers():
    table = with_one_outlier("one").set_index(pd.period_range("2001-01", periods=40, freq="M"))
    model = TabularModel("y", features="x", loss="huber").fit(table)
    assert outlier_report(model.estimator_).index[0] == pd.Period("2002-09", "M")
    plain = TabularModel("y", features="x", loss="huber").fit(table.reset_index(drop=True))
    assert outlier_report(plain.estimator_).index[0] == 20  # not 19, although row 3 has no target


def test_a_failed_fit_changes_nothing(table, fitted):
    model, other = clone(fitted), table.rename(columns={"größe": "size"})
    model.fit(table)
    with pytest.raises(TableError):
        model.set_params(features="größe").fit(other)
    assert_allclose(model.predict(table)["y_2"], fitted.predict(table)["y_2"])


def test_inputs_to_be_shown_are_those_of_the_table():
    frame = pd.DataFrame({"x": np.arange(20.0), "kind": list("ab") * 10, "y": np.sin(np.arange(20.0))})
    frame.loc[3, "x"] = frame.loc[5, "y"] = np.nan
    inputs, outputs, ids = TabularModel("y").fit(frame).labelled_samples(frame)
    pd.testing.assert_frame_equal(inputs, frame.drop(index=5)[["x", "kind"]])
    assert len(outputs) == 19 and "5" not in ids


@pytest.mark.parametrize("level", [None, 0.8])
def test_novelty_is_that_of_the_estimator(level):
    table = pd.DataFrame({"id": list("abcdefghijklmnopqrst"), "x": np.linspace(0, 1, 20), "kind": ["u", "v"] * 10})
    table["y"] = np.sin(6 * table["x"])
    model = TabularModel("y", level=level).fit(table)
    new = table.assign(x=np.r_[np.full(19, 0.5), 1e3]).set_index(np.arange(20) + 100)
    estimator = model.estimator_ if level is None else model.estimator_.estimator_
    novelty = model.novelty(new)
    assert model.has_novelty and novelty.name == "novelty"
    assert list(novelty.index) == list(new.index)
    assert_allclose(novelty, estimator.novelty(model.encode_inputs(new)))
    assert not model.novelty(table).any() and novelty[119] == 1.0


def test_novelty_of_curves_in_long_form_is_by_name():
    rng = np.random.default_rng(0)
    rows = pd.DataFrame({"id": np.repeat(list("abcdefghij"), 5), "t": np.tile(np.arange(5.0), 10)})
    rows["v"], inputs = rng.normal(size=50), pd.DataFrame({"id": list("abcdefghij"), "x": rng.normal(size=10)})
    model = TabularModel(long=("id", "t", "v")).fit(rows, inputs)
    assert list(model.novelty(rows, inputs).index) == list("abcdefghij")
    assert not model.novelty(rows, inputs).any()
