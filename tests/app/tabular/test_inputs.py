"""Encoding of input columns, and columns that are no inputs."""

import numpy as np
import pandas as pd
import pytest
from helpers.tables import curves_table
from numpy.testing import assert_allclose, assert_array_equal

from hilbertlearn import (
    load,
    save,
)
from hilbertlearn.app.tabular import TableError
from hilbertlearn.app.tabular.inputs import InputEncoder, column_kind, usable_columns
from hilbertlearn.tabular import TabularModel, read_table


def target(cells):
    rng = np.random.default_rng(0)
    return pd.DataFrame({"x": rng.normal(size=len(cells)), "y": cells})


@pytest.fixture(scope="module")
def table():
    return curves_table()


def test_inputs_are_standardised_numbers_and_categories(table):
    encoder, X = InputEncoder.fit_encode(table, ["größe", "weight", "region"])
    notes = encoder.notes(table)
    assert_array_equal(encoder.encode(table), X)
    assert encoder.columns == ["größe", "weight", "region=nord", "region=süd", "region=(missing)"]
    size = table["größe"].to_numpy()
    assert_allclose(X[:, 0], (size - size.mean()) / size.std())
    assert_allclose(X[3, 1], (table["weight"].median() - table["weight"].mean()) / table["weight"].std(ddof=0))
    assert X[5, 2:].tolist() == [0, 0, 1]
    assert_allclose(X[:, 2:].sum(axis=1), 1)
    assert [note.split(":")[0] for note in notes] == ["weight", "region"]
    new = table.head(2).assign(region=["west", "nord"])
    row, notes = encoder.encode(new), encoder.notes(new)
    assert row[0, 2:].tolist() == [0, 0, 0]
    assert "not seen in training: 'west'" in notes[-1]


def test_dates_are_days_in_the_format_of_training():
    days = pd.date_range("2024-01-28", periods=20)
    for form in ("%Y-%m-%d", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%Y/%m/%d"):
        frame = pd.DataFrame({"when": days.strftime(form)})
        encoder, _ = InputEncoder.fit_encode(frame, ["when"])
        assert_allclose(np.diff(encoder.encode(frame)[:, 0]) * np.arange(20).std(), 1)
    with pytest.raises(TableError, match=r"'when' must hold dates in the format of ISO 8601, .*row 1 has 'soon'"):
        encoder.encode(pd.DataFrame({"when": ["soon"]}))
    encoder, _ = InputEncoder.fit_encode(pd.DataFrame({"when": days.strftime("%d/%m/%Y")}), ["when"])
    with pytest.raises(TableError, match=r"dates in the format %d/%m/%Y of the training table, .*'2024-01-28'"):
        encoder.encode(pd.DataFrame({"when": ["2024-01-28"]}))


def test_dates_that_may_be_read_in_two_ways_have_a_note(tmp_path):
    days = [f"{1 + i % 12:02d}/{1 + i // 12:02d}/2024" for i in range(40)]
    frame = pd.DataFrame({"when": days, "y": np.arange(40.0)})
    model = TabularModel("y").fit(frame)
    assert sum("read as day/month/year" in note for note in model.notes_) == 1
    save(model, tmp_path / "model")
    assert load(tmp_path / "model").inputs_.training_notes(frame) == model.inputs_.training_notes(frame) != []
    plain = TabularModel("y").fit(frame.assign(when=["13/01/2024", *days[1:]]))
    assert not any("read as" in note for note in plain.notes_)


def test_columns_that_tell_nothing_are_left_out():
    frame = pd.DataFrame(
        {
            "Unnamed: 0": range(20),
            "patient_id": [f"p{i}" for i in range(20)],
            "note": [f"text {i}" for i in range(20)],
            "empty": np.nan,
            "one": 3.0,
            "code": ["1", "2", "a", "b"] * 5,
            "id": np.arange(20) / 7,
        }
    )
    kept, notes = usable_columns(frame, list(frame.columns))
    assert kept == ["code", "id"]  # identifiers are no fractions
    assert len(notes) == 5
    assert column_kind(frame["code"], "code")[0] == "category"


def test_columns_that_count_the_rows_are_left_out():
    """A count of patients would be far outside of what was seen in any new table; years may matter."""
    frame = pd.DataFrame(
        {"patient": range(20), "plot": range(1, 21), "year": range(1990, 2010), "order": [*range(19), 3]}
    )
    kept, notes = usable_columns(frame, list(frame.columns))
    assert kept == ["year", "order"]
    assert all("numbers the rows" in note for note in notes)
    assert usable_columns(frame[:5], ["patient", "year"])[0] == ["patient", "year"]


def test_a_few_words_among_numbers_are_mistakes():
    frame = pd.DataFrame({"x": [*map(str, range(19)), "n.a.?"]})
    with pytest.raises(TableError, match=r"'x' must hold numbers, but row 20 has 'n\.a\.\?'"):
        column_kind(frame["x"], "x")


def test_lists_are_no_inputs(tmp_path):
    frame = pd.DataFrame({"x": np.arange(12.0), "lists": [[1, 2]] * 12})
    frame.to_parquet(tmp_path / "table.parquet")
    kept, notes = usable_columns(read_table(tmp_path / "table.parquet"), ["x", "lists"])
    assert kept == ["x"] and notes == ["lists: left out, its cells are lists"]


def test_names_of_rows_that_look_like_text_are_asked_for():
    frame = target(list(range(40))).assign(patient=[f"p{k}" for k in range(40)])
    _, notes = usable_columns(frame, ["x", "patient"])
    assert "give it as the id" in notes[0]
