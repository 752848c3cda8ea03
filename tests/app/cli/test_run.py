"""Errors are one line and an exit code."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from hilbertlearn import OperatorKernelRegressor, save
from hilbertlearn.tabular import TabularModel


def one_line(err):
    """The only line of an error."""
    (line,) = err.splitlines()
    assert line.startswith("hilbertlearn: ")
    return line


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """The file of a small model, and of one that is not of a table."""
    folder = tmp_path_factory.mktemp("models")
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"größe": rng.normal(size=20), "a": rng.normal(size=20)})
    save(TabularModel("a").fit(table), folder / "model.hl")
    save(OperatorKernelRegressor(), folder / "other.hl")
    (folder / "broken.hl").write_bytes((folder / "model.hl").read_bytes()[:500])
    (folder / "text.hl").write_text("hello")
    return folder


@pytest.mark.parametrize(
    ("content", "given", "words"),
    [
        ("a,b\n1,2\n3,4\n", ["--targets", "y"], ["targets 'y'", "no such column", "'a', 'b'"]),
        ("a,b\n1,2\n3,4\n", [], ["--targets", "'a', 'b'"]),
        ("a,b\n1,2\n3,4\n", ["--targets", "b"], ["targets: 2", "at least 10"]),
        ("", ["--targets", "y"], ["empty"]),
        ("a,y\n" + "1,2\n" * 9 + "1,x\n", ["--targets", "y", "--task", "vector"], ["'y'", "row 10", "'x'"]),
        ("a,y\n" + "1,2\n" * 19 + "x,2\n", ["--targets", "y", "--task", "vector"], ["'a'", "row 20", "'x'"]),
        ("a,y\n" + "1,2\n" * 20, ["--targets", "y"], ["no column is left"]),
        ("a,y\n" + "1,2\n" * 20, ["--targets", "y", "--level", "90"], ["level", "0.9"]),
        ("a,y\n" + "1,2\n" * 20, ["--targets", "y", "--levels", "low"], ["--levels", "'low'"]),
        ("a,y\n" + "1,2\n" * 20, ["--targets", "y", "--long", "a,b"], ["targets", "long"]),
        ("a,y\n" + "1,2\n" * 20, ["--targets", "y", "--loss", "hubert"], ["loss", "huber"]),
        ("a,y\n" + "1,2\n" * 20, ["--targets", "y", "--task", "magic"], ["magic", "functional"]),
        ("a,y\n" + "1,2\n" * 20, ["--targets", "y", "--fast"], ["--fast"]),
    ],
    ids=range(13),
)
def test_bad_tables_and_options_are_one_line(command, content, given, words):
    Path("t.csv").write_text(content, encoding="utf-8")
    code, out, err = command("fit", "t.csv", *given, "--out", "m.hl", "--quiet")
    assert (code, out) == (2, "")
    line = one_line(err)
    assert all(word in line for word in words), line
    assert os.listdir(".") == ["t.csv"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["predict", "{}/model.hl", "t.csv", "--out", "p.csv"], ["input columns", "'größe'", "'size'"]),
        (["predict", "{}/other.hl", "t.csv", "--out", "p.csv"], ["OperatorKernelRegressor", "fit has written"]),
        (["predict", "{}/broken.hl", "t.csv", "--out", "p.csv"], ["broken.hl"]),
        (["predict", "{}/text.hl", "t.csv", "--out", "p.csv"], ["text.hl"]),
        (["predict", "{}/none.hl", "t.csv", "--out", "p.csv"], ["none.hl"]),
        (["predict", "{}/model.hl", "none.csv", "--out", "p.csv"], ["none.csv", "no such file"]),
        (["predict", "{}/model.hl", "t.csv", "--out", "p.xlsx"], [".csv or .parquet"]),
        (["predict", "{}/model.hl", "t.csv", "--out", "none/p.csv"], ["folder none is not there"]),
        (["report", "{}/model.hl", "t.csv", "--out", "none/p.html"], ["folder none is not there"]),
        (["report", "{}/model.hl", "size.csv", "--out", "p.html"], ["targets are missing", "'a'"]),
        (["fit", "t.csv", "--targets", "size", "--out", "none/m.hl"], ["folder none is not there"]),
        (["fit", "t.csv", "--targets", "size", "--out", "."], ["is a folder"]),
        (["compare", "t.csv", "--targets", "size", "--folds", "1"], ["folds"]),
        (["reproduce", "everything"], ["--list"]),
        (["reproduce", "lambert2022_dti"], ["--data"]),
        (["invent"], ["invent"]),
    ],
)
def test_bad_files_are_one_line_and_leave_nothing(command, model, monkeypatch, arguments, words):
    monkeypatch.delenv("HILBERTLEARN_DATA", raising=False)
    Path("t.csv").write_text("size,weight\n" + "1,2\n3,5\n" * 10, encoding="utf-8")
    Path("size.csv").write_text("größe\n1\n2\n", encoding="utf-8")
    code, out, err = command(*(one.format(model) for one in arguments))
    assert (code, out) == (2, "")
    line = one_line(err)
    assert all(word in line for word in words), line
    assert sorted(os.listdir(".")) == ["size.csv", "t.csv"]


def test_an_unexpected_failure_is_one_line_unless_debugged(command, model, monkeypatch):
    def broken(self, frame, inputs=None):
        raise ZeroDivisionError("of something")

    monkeypatch.setattr(TabularModel, "predict", broken)
    Path("t.csv").write_text("größe\n1\n", encoding="utf-8")
    given = ("predict", model / "model.hl", "t.csv", "--out", "p.csv")
    code, _, err = command(*given)
    assert code == 1 and "unexpected ZeroDivisionError: of something" in one_line(err)
    code, _, err = command(*given, "--debug")
    assert code == 1 and "Traceback" in err and err.splitlines()[-1].startswith("hilbertlearn: unexpected")
    monkeypatch.setattr(TabularModel, "predict", lambda self, *a: (_ for _ in ()).throw(KeyboardInterrupt))
    assert command(*given)[0] == 130
    assert os.listdir(".") == ["t.csv"]


def test_a_missing_package_is_one_line(tmp_path):
    """Each in turn, in one new process, where no module of ours has imported it yet."""
    (tmp_path / "t.csv").write_text("a,y\n1,2\n")
    code = """
import sys

for missing in ("typer", "pandas"):
    sys.modules[missing] = None
    try:
        from hilbertlearn.app.cli import main

        main()
    except SystemExit as end:
        print(missing, end.code)
    del sys.modules[missing]
"""
    given = ["fit", "t.csv", "--targets", "y", "--out", "m.hl"]
    done = subprocess.run(
        [sys.executable, "-c", code, *given], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["typer 2", "pandas 2"]
    for missing, line in zip(("typer", "pandas"), done.stderr.splitlines(), strict=True):
        assert f"{missing}: pip install 'hilbertlearn[cli]'" in one_line(line)


def test_a_point_that_no_curve_has_is_interpolated_with_one_warning(command):
    x, t = np.linspace(0, 1, 20), np.arange(6)
    noise = 0.3 * np.random.default_rng(0).normal(size=(20, 6))
    table = pd.DataFrame(22 + 3 * np.sin(t / 2 + x[:, None]) + noise, columns=[str(point) for point in t])
    table["3"] = np.nan
    table.assign(x=x).to_csv("months.csv", index=False)
    code, _, err = command("fit", "months.csv", "--targets", "0:5", "--task", "functional", "--out", "model.hl")
    assert code == 0 and err.count("no curve was observed at 3,") == 1
    code, out, _ = command("predict", "model.hl", "months.csv", "--out", "predicted.csv")
    assert code == 0 and np.abs(pd.read_csv("predicted.csv")["3"] - (22 + 3 * np.sin(1.5 + x))).max() < 2
