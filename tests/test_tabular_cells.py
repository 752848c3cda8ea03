"""Tables as others write them: cells with marks of thousands, dashes, lists and nothing at all."""

import gzip

import numpy as np
import pandas as pd
import pytest

from hilbertlearn.app.tabular import TableError
from hilbertlearn.app.tabular.inputs import usable
from hilbertlearn.tabular import TabularModel, read_table


def read(tmp_path, text, name="table.csv"):
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_table(path)


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ('a,b\n"1,234.5",x\n999,y\n"-1,000,000",z\n', [1234.5, 999, -1e6]),
        ("a;b\n1.234,5;x\n999;y\n-1.000.000,0;z\n", [1234.5, 999, -1e6]),
        ("a;b\n1.234;1,5\n-;2,5\n5.678;3,5\n", [1234, np.nan, 5678]),
        ('a,b\n"1,5",x\n-,y\n"-23,0",z\n', [1.5, np.nan, -23.0]),
        ("a,b\n1.5,x\n-,y\n -- ,z\n", [1.5, np.nan, np.nan]),
        ("a\tb\n1.5\tx\n.\ty\n?\tz\n", [1.5, np.nan, np.nan]),
    ],
    ids=["commas", "points", "points, whole numbers", "quotes", "dashes", "a point"],
)
def test_numbers_are_read_as_they_are_written(tmp_path, text, values):
    np.testing.assert_array_equal(read(tmp_path, text)["a"].to_numpy(dtype=float), values)


@pytest.mark.parametrize(
    "cells", [["12.05.2024", "13.05.2024"], ["+", "-"], ["1,23", "1,234"], ["1,234", "many"]], ids=str
)
def test_other_text_stays_text(tmp_path, cells):
    text = "a|b\n" + "".join(f'"{cell}"|0.5\n' for cell in cells)
    if "1,23" in cells:
        text = text.replace("|", ",")  # where a comma can be no decimal mark
    assert read(tmp_path, text)["a"].tolist() == cells


@pytest.mark.parametrize("ends", ["", ",", ",,"])
def test_separators_at_the_end_of_lines_are_nothing(tmp_path, ends):
    frame = read(tmp_path, f"a,b\n1,2{ends}\n3,4{ends}\n")
    assert frame.to_dict("list") == {"a": [1, 3], "b": [2, 4]}


def test_names_of_rows_without_a_name_of_their_own_do_not_shift_columns(tmp_path):
    with pytest.raises(TableError, match="row 1 has more than the 2 cells that have names"):
        read(tmp_path, "a,b\nAnna,1,2\nBo,3,4\n")


def test_packed_and_wide_text(tmp_path):
    text = "größe;b\n1,5;2\n2,5;3\n"
    plain = read(tmp_path, text)
    assert plain["größe"].tolist() == [1.5, 2.5]
    pd.testing.assert_frame_equal(read(tmp_path, gzip.compress(text.encode()), "table.csv.gz"), plain)
    pd.testing.assert_frame_equal(read(tmp_path, text.encode("utf-16")), plain)


def test_lists_are_no_inputs(tmp_path):
    frame = pd.DataFrame({"x": np.arange(12.0), "lists": [[1, 2]] * 12})
    frame.to_parquet(tmp_path / "table.parquet")
    kept, said = usable(read_table(tmp_path / "table.parquet"), ["x", "lists"])
    assert kept == ["x"] and said == ["lists: left out, its cells are lists"]


def test_a_target_without_a_known_cell_is_named():
    frame = pd.DataFrame({"x": np.arange(20.0), "y": np.arange(20.0) ** 2, "z": np.nan})
    with pytest.raises(TableError, match="target 'z' has no known cell"):
        TabularModel("y,z").fit(frame)


def test_inputs_to_be_shown_are_those_of_the_table():
    frame = pd.DataFrame({"x": np.arange(20.0), "kind": list("ab") * 10, "y": np.sin(np.arange(20.0))})
    frame.loc[3, "x"] = frame.loc[5, "y"] = np.nan
    inputs, outputs, ids = TabularModel("y").fit(frame).outputs(frame)
    pd.testing.assert_frame_equal(inputs, frame.drop(index=5)[["x", "kind"]])
    assert len(outputs) == 19 and "5" not in ids


# ---------------------------------------------------------------- targets that are not what they seem


def target(cells):
    rng = np.random.default_rng(0)
    return pd.DataFrame({"x": rng.normal(size=len(cells)), "y": cells})


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        ([*map(float, range(39)), "oops"], ["'y' must hold numbers", "row 40 has 'oops'"]),
        ([f"{k}.5 mg" for k in range(40)], ["such as '0.5 mg'", "plain numbers", "structured"]),
        ([f"{k},5" for k in range(39)] + ["1,234"], ["such as '0,5'", "another decimal mark"]),
    ],
    ids=["a mistake", "units", "a mark that may be either"],
)
def test_numbers_with_something_wrong_are_no_classes(cells, words):
    with pytest.raises(TableError) as error:
        TabularModel("y").fit(target(cells))
    assert all(word in str(error.value) for word in words), error.value
    assert TabularModel("y", task="structured").fit(target(cells)).task_ == "structured"


def test_codes_of_few_kinds_are_classes():
    cells = ["1a", "2b", "3c"] * 10
    assert TabularModel("y").fit(target(cells)).task_ == "structured"


@pytest.mark.parametrize("missing", [False, True])
def test_truths_come_back_as_truths(missing):
    cells = [True, False] * 15 + [None] * missing
    frame = target(cells)
    predicted = TabularModel("y").fit(frame).predict(frame[:4])["y"]
    assert set(predicted) <= {"True", "False"} and len(predicted) == 4


def test_names_of_rows_that_are_not_told_from_text_are_asked_for():
    frame = target(list(range(40))).assign(patient=[f"p{k}" for k in range(40)])
    _, said = usable(frame, ["x", "patient"])
    assert "give it as the id" in said[0]
