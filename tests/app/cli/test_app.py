"""The commands: fit, predict, report, compare, by the installed command and in this process."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from helpers.tables import N, curves_table, objects_table
from numpy.testing import assert_allclose

from hilbertlearn import OperatorKernelRegressor, load
from hilbertlearn.machine.state import State
from hilbertlearn.tabular import TabularModel


def one_line(err):
    """The only line of an error."""
    (line,) = err.splitlines()
    assert line.startswith("hilbertlearn: ")
    return line


def installed():
    """The command beside the interpreter if it is there, else the package as a module."""
    script = Path(sys.executable).with_name("hilbertlearn")
    return [str(script)] if script.exists() else [sys.executable, "-m", "hilbertlearn"]


def call(*arguments, cwd, **options):
    return subprocess.run([*installed(), *arguments], cwd=cwd, capture_output=True, text=True, check=False, **options)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A CSV file by pandas, its columns out of order, with identifiers, missing cells and a name that is not ASCII."""
    folder = tmp_path_factory.mktemp("curves")
    curves_table().to_csv(folder / "curves.csv", index=False)
    return folder


def test_fit_by_the_installed_command_then_predict_and_report(folder, command, monkeypatch):
    """Only the fit in a process of its own: each takes seconds to start."""
    fitted = call("fit", "curves.csv", "--targets", "y_*", "--level", "0.8", "--out", "model.hl", cwd=folder)
    assert fitted.returncode == 0, fitted.stderr
    assert "- task functional" in fitted.stderr and "'id' is taken to name the rows" in fitted.stderr
    assert fitted.stdout.startswith("model.hl: functional, 8 targets from 3 columns, 40 samples")
    asked = curves_table().drop(columns=["y_4", "y_2"])[sorted(curves_table().drop(columns=["y_4", "y_2"]).columns)]
    asked.head(5).to_csv(folder / "new.csv", index=False, sep=";", decimal=",", encoding="utf-8-sig")
    monkeypatch.chdir(folder)
    code, out, err = command("predict", "model.hl", "new.csv", "--out", "out.csv", "--json")
    assert code == 0, err
    facts = json.loads(out)
    assert facts["rows"] == 5 and facts["columns"][0] == "id"
    found = pd.read_csv(folder / "out.csv")
    model, asked = load(folder / "model.hl"), curves_table().head(5)
    here = model.predict(asked).assign(novelty=model.novelty(asked))
    pd.testing.assert_frame_equal(found, here, check_dtype=False, rtol=1e-9)
    assert (found["y_2_lower"] < found["y_2"]).all() and (found["y_2"] < found["y_2_upper"]).all()
    assert command("report", "model.hl", "curves.csv", "--quiet") == (0, "", "")
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "größe" in page and "hilbertlearn report model.hl curves.csv" in page
    assert "From 3 columns" in page and "1.7 % missing in the inputs" in page  # as the table has them: 2 of 120 cells
    assert sorted(os.listdir(folder)) == ["curves.csv", "model.hl", "new.csv", "out.csv", "report.html"]


def test_an_interrupted_fit_leaves_nothing(folder, tmp_path):
    rng = np.random.default_rng(0)
    pd.DataFrame(rng.normal(size=(2000, 8))).add_prefix("y_").to_csv(tmp_path / "large.csv", index=False)
    command = [*installed(), "fit", "large.csv", "--targets", "y_1,y_2", "--loss", "huber", "--out", "model.hl"]
    with open(tmp_path / "stderr.txt", "w") as stderr:
        process = subprocess.Popen(command, cwd=tmp_path, stderr=stderr)
    while "task vector" not in (tmp_path / "stderr.txt").read_text():  # the first note: the fit begins
        assert process.poll() is None
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    assert process.wait(60) == 130
    err = (tmp_path / "stderr.txt").read_text()
    assert err.splitlines()[-1] == "hilbertlearn: interrupted; nothing was written"
    assert "Traceback" not in err
    assert sorted(os.listdir(tmp_path)) == ["large.csv", "stderr.txt"]


@pytest.mark.parametrize(("targets", "task"), [("r*", "ranking"), ("A,B", "multilabel"), ("kind", "structured")])
def test_objects_with_sets(command, tmp_path, targets, task):
    objects_table().to_parquet(tmp_path / "table.parquet")
    given = ("--targets", targets, "--features", "x,z", "--level", "0.8")
    code, out, err = command("fit", "table.parquet", *given, "--out", "m.hl", "--json")
    assert code == 0, err
    assert json.loads(out)["task"] == task
    assert command("predict", "m.hl", "table.parquet", "--out", "p.parquet")[0] == 0
    found, model = pd.read_parquet("p.parquet"), load("m.hl")
    assert found["set"].str.len().min() > 0 and (found["set_size"] > 0).all()
    fresh = TabularModel(targets, features="x,z", level=0.8).fit(objects_table())
    pd.testing.assert_frame_equal(found, fresh.predict(objects_table()).assign(novelty=0.0), check_dtype=False)
    code, out, err = command("report", "m.hl", "table.parquet", "--json")
    assert code == 0, err
    assert json.loads(out)["n_samples"] == N and model.task_ == task
    line = command("report", "m.hl", "table.parquet")[1]
    assert line.startswith(f"report.html: {N} samples, ") and "-" not in line  # a loss, not minus a loss


def test_vectors_are_those_of_the_estimator_in_python(command, tmp_path):
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"x": rng.normal(size=N)})
    table["ä"], table["b"] = table["x"] + 0.3 * rng.normal(size=N), rng.normal(size=N)
    table.loc[3, "b"] = np.nan
    table.to_csv("table.csv")
    assert command("fit", "table.csv", "--targets", "ä:b", "--loss", "huber", "--out", "m.hl", "-q") == (0, "", "")
    command("predict", "m.hl", "table.csv", "--out", "p.csv")
    X = ((table["x"] - table["x"].mean()) / table["x"].std(ddof=0)).to_numpy()[:, None]
    model = OperatorKernelRegressor(loss="huber").fit(X, table[["ä", "b"]].to_numpy())
    found = pd.read_csv("p.csv")
    assert list(found.columns) == ["index", "ä", "b", "novelty"]
    assert_allclose(found[["ä", "b"]], model.predict(X), atol=1e-5)  # to the gap of the solver


def test_long_form_with_inputs_of_their_own(command):
    rng = np.random.default_rng(0)
    x = rng.normal(size=20)
    pd.DataFrame({"id": range(20), "x": x}).to_csv("inputs.csv", index=False)
    rows = pd.DataFrame({"id": np.repeat(np.arange(20), 4), "t": rng.uniform(0, 2, 80)})
    rows.assign(v=np.sin(rows["t"] + np.repeat(x, 4))).to_csv("long.csv", index=False)
    code, out, err = command("fit", "long.csv", "--long", "id,t,v", "--inputs", "inputs.csv", "--out", "m.hl", "-q")
    assert code == 0, err
    rows.to_csv("asked.csv", index=False)
    assert command("predict", "m.hl", "asked.csv", "--inputs", "inputs.csv", "--out", "p.csv")[0] == 0
    found = pd.read_csv("p.csv")
    assert_allclose(found["t"], rows["t"])
    assert_allclose(found["v"], np.sin(rows["t"] + np.repeat(x, 4)), atol=0.2)
    assert not found["novelty"].any()  # they are the curves of training
    pd.DataFrame({"id": range(20), "x": np.where(np.arange(20) == 3, 1e4, x)}).to_csv("moved.csv", index=False)
    assert command("predict", "m.hl", "asked.csv", "--inputs", "moved.csv", "--out", "p.csv")[0] == 0
    assert_allclose(pd.read_csv("p.csv")["novelty"], rows["id"] == 3)
    assert command("report", "m.hl", "long.csv", "--inputs", "inputs.csv")[0] == 0
    code, out, err = command("predict", "m.hl", "asked.csv", "--out", "p2.csv")
    assert code == 2 and "'x'" in one_line(err) and not Path("p2.csv").exists()


def test_a_target_may_have_the_name_of_the_column_of_novelty(command):
    x = np.linspace(0, 1, 20)
    pd.DataFrame({"x": x, "novelty": np.sin(6 * x)}).to_csv("t.csv", index=False)
    assert command("fit", "t.csv", "--targets", "novelty", "--out", "m.hl", "-q")[0] == 0
    pd.DataFrame({"x": [*x, 1e3]}).to_csv("new.csv", index=False)
    assert command("predict", "m.hl", "new.csv", "--out", "p.csv")[0] == 0
    found = pd.read_csv("p.csv")
    assert list(found.columns) == ["novelty", "novelty_"]
    assert_allclose(found["novelty_"], [0.0] * 20 + [1.0])


def test_models_without_novelty_have_no_column_of_it(command, monkeypatch):
    """As those of files that were written before there was novelty."""
    pd.DataFrame({"x": np.linspace(0, 1, 20), "y": np.linspace(0, 1, 20) ** 2}).to_csv("t.csv", index=False)
    assert command("fit", "t.csv", "--targets", "y", "--out", "m.hl", "-q")[0] == 0
    monkeypatch.setattr(State, "posterior_size", None)
    assert command("predict", "m.hl", "t.csv", "--out", "p.csv")[0] == 0
    assert list(pd.read_csv("p.csv").columns) == ["y"]


def test_quantiles(command):
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"x": rng.normal(size=30), "y": rng.normal(size=30)})
    table.to_csv("t.csv", index=False)
    code, _, err = command("fit", "t.csv", "--targets", "y", "--levels", "0.8,0.2", "--out", "m.hl", "-q")
    assert code == 0, err
    command("predict", "m.hl", "t.csv", "--out", "p.csv")
    found = pd.read_csv("p.csv")
    assert list(found.columns) == ["y_q0.2", "y_q0.8", "novelty"]
    assert (found["y_q0.2"] <= found["y_q0.8"]).all()
    assert command("report", "m.hl", "t.csv")[0] == 0


def test_compare_is_a_table_or_json(command, coarse):
    objects_table()[["x", "z", "A", "B"]].to_csv("t.csv", index=False)
    code, out, err = command("compare", "t.csv", "--targets", "A,B", "--folds", 2)
    assert code == 0 and "task multilabel" in err
    assert "labels right" in out and "hilbertlearn" in out and "extra trees" in out and "±" in out
    code, out, err = command("compare", "t.csv", "--targets", "A,B", "--folds", 2, "--json", "--quiet")
    facts = json.loads(out)
    assert (code, err, facts["score"], len(facts["methods"])) == (0, "", "labels right", 6)


def test_help_and_version(command):
    from hilbertlearn import __version__

    assert command("--version") == (0, f"hilbertlearn {__version__}\n", "")
    code, out, _ = command()
    assert code == 0 and "hilbertlearn fit train.csv" in out
    for name in ("fit", "predict", "report", "compare", "demo", "reproduce"):
        assert name in out
        assert command(name, "--help")[0] == 0
