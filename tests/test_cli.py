"""The command ``hilbertlearn``: the main path by the installed command, the rest in this process."""

import ast
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
from numpy.testing import assert_allclose
from test_tabular import N, coarse, curves_table, objects_table  # noqa: F401

from hilbertlearn import OperatorKernelRegressor, load, save
from hilbertlearn.app.cli import console, demo, experiments
from hilbertlearn.app.cli.run import run
from hilbertlearn.tabular import TabularModel

ROOT = Path(__file__).parents[1]


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


@pytest.fixture
def command(tmp_path, monkeypatch, capsys):
    """Runs the command in a folder of its own; gives exit code, standard output and standard error."""
    monkeypatch.chdir(tmp_path)

    def run_here(*arguments):
        code = run([str(one) for one in arguments])
        out, err = capsys.readouterr()
        return code, out, err

    return run_here


def one_line(err):
    """The only line of an error."""
    (line,) = err.splitlines()
    assert line.startswith("hilbertlearn: ")
    return line


# ---------------------------------------------------------------- the installed command


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
    here = load(folder / "model.hl").predict(curves_table().head(5))
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
    with open(tmp_path / "said.txt", "w") as said:
        process = subprocess.Popen(command, cwd=tmp_path, stderr=said)
    while "task vector" not in (tmp_path / "said.txt").read_text():  # the first remark: the fit begins
        assert process.poll() is None
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    assert process.wait(60) == 130
    err = (tmp_path / "said.txt").read_text()
    assert err.splitlines()[-1] == "hilbertlearn: interrupted; nothing was written"
    assert "Traceback" not in err
    assert sorted(os.listdir(tmp_path)) == ["large.csv", "said.txt"]


# ---------------------------------------------------------------- in this process


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
    pd.testing.assert_frame_equal(found, fresh.predict(objects_table()), check_dtype=False)
    code, out, err = command("report", "m.hl", "table.parquet", "--json")
    assert code == 0, err
    assert json.loads(out)["n_samples"] == N and model.task_ == task
    said = command("report", "m.hl", "table.parquet")[1]
    assert said.startswith(f"report.html: {N} samples, ") and "-" not in said  # a loss, not minus a loss


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
    assert list(found.columns) == ["index", "ä", "b"]
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
    assert command("report", "m.hl", "long.csv", "--inputs", "inputs.csv")[0] == 0
    code, out, err = command("predict", "m.hl", "asked.csv", "--out", "p2.csv")
    assert code == 2 and "'x'" in one_line(err) and not Path("p2.csv").exists()


def test_quantiles(command):
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"x": rng.normal(size=30), "y": rng.normal(size=30)})
    table.to_csv("t.csv", index=False)
    code, _, err = command("fit", "t.csv", "--targets", "y", "--levels", "0.8,0.2", "--out", "m.hl", "-q")
    assert code == 0, err
    command("predict", "m.hl", "t.csv", "--out", "p.csv")
    found = pd.read_csv("p.csv")
    assert list(found.columns) == ["y_q0.2", "y_q0.8"]
    assert (found["y_q0.2"] <= found["y_q0.8"]).all()
    assert command("report", "m.hl", "t.csv")[0] == 0


def test_compare_is_a_table_or_json(command, coarse):  # noqa: F811
    objects_table()[["x", "z", "A", "B"]].to_csv("t.csv", index=False)
    code, out, err = command("compare", "t.csv", "--targets", "A,B", "--folds", 2)
    assert code == 0 and "task multilabel" in err
    assert "labels right" in out and "hilbertlearn" in out and "extra trees" in out and "±" in out
    code, out, err = command("compare", "t.csv", "--targets", "A,B", "--folds", 2, "--json", "--quiet")
    facts = json.loads(out)
    assert (code, err, facts["score"], len(facts["methods"])) == (0, "", "labels right", 6)


# ---------------------------------------------------------------- bad input


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


# ---------------------------------------------------------------- help, demo, experiments


def test_help_and_version(command):
    from hilbertlearn import __version__

    assert command("--version") == (0, f"hilbertlearn {__version__}\n", "")
    code, out, _ = command()
    assert code == 0 and "hilbertlearn fit train.csv" in out
    for name in ("fit", "predict", "report", "compare", "demo", "reproduce"):
        assert name in out
        assert command(name, "--help")[0] == 0


def test_json_has_no_infinities(capsys):
    console.Talk(as_json=True).result({"a": np.float64("inf"), "b": [np.int64(2), float("nan")], "c": Path("x")})
    assert json.loads(capsys.readouterr().out) == {"a": None, "b": [2, None], "c": "x"}


def test_demo_writes_one_table_and_a_page(command, monkeypatch):
    monkeypatch.setattr(demo, "TASKS", (demo.hidden_links,))
    code, out, err = command("demo", "--quiet")
    assert code == 0, err
    assert "links of" in out and "Adamic-Adar" in out
    assert os.listdir(".") == ["hilbertlearn-report.html"]
    code, out, _ = command("demo", "--json", "--quiet")
    assert [one["name"] for one in json.loads(out)["tasks"][0]["scores"]] == ["ROC AUC", "average precision"]


def test_the_demo_knows_adamic_adar():
    networkx = pytest.importorskip("networkx")
    from hilbertlearn.graphs import Pairs

    graph = networkx.karate_club_graph()
    found = demo.adamic_adar(Pairs(graph))
    nodes = list(Pairs(graph).nodes)
    for u, v, score in networkx.adamic_adar_index(graph, [(0, 33), (5, 16), (2, 30)]):
        assert_allclose(found[nodes.index(u), nodes.index(v)], score)


def test_all_experiments_are_listed(command):
    scripts = {path.stem: path.read_text(encoding="utf-8") for path in (ROOT / "experiments").glob("*.py")}
    runnable = {name for name, text in scripts.items() if '__name__ == "__main__"' in text} - {"__main__"}
    assert {one.name for one in experiments.EXPERIMENTS} == runnable
    for one in experiments.EXPERIMENTS:
        tree = ast.parse(scripts[one.name])
        reads = any(
            (isinstance(node, ast.keyword) and node.arg == "data")
            or (isinstance(node, ast.Constant) and node.value == "--data")
            for node in ast.walk(tree)
        )
        assert reads == bool(one.data), one.name
    code, out, _ = command("reproduce", "--list")
    assert code == 0 and all(one.name in out for one in experiments.EXPERIMENTS)


def test_experiments_run_with_their_options(command, tmp_path, monkeypatch):
    scripts = tmp_path / "experiments"
    scripts.mkdir()
    (scripts / "common.py").write_text("")
    (scripts / "outliers.py").write_text("import sys; print(sys.argv[1:])")
    (scripts / "lambert2022_dti.py").write_text("import sys; sys.exit(sys.argv[2:] != ['--data', sys.argv[-1]])")
    monkeypatch.setattr(experiments, "folder", lambda: scripts)
    code, out, _ = command("reproduce", "outliers", "--quick", "--json")
    assert code == 0 and json.loads(out)["experiment"] == "outliers"
    assert command("reproduce", "lambert2022_dti", "--quick", "--data", tmp_path)[0] == 0
    code, _, err = command("reproduce", "lambert2022_dti", "--data", tmp_path)
    assert code == 1 and "ended with exit code" in one_line(err)
    monkeypatch.undo()


def test_without_a_clone_experiments_say_so(command, tmp_path, monkeypatch):
    monkeypatch.setattr(experiments, "__file__", str(tmp_path / "a" / "b" / "c" / "d" / "e.py"))
    code, _, err = command("reproduce", "outliers")
    assert code == 2 and "clone" in one_line(err)


def test_a_point_that_no_curve_has_is_interpolated_and_told_once(command):
    x, t = np.linspace(0, 1, 20), np.arange(6)
    noise = 0.3 * np.random.default_rng(0).normal(size=(20, 6))
    table = pd.DataFrame(22 + 3 * np.sin(t / 2 + x[:, None]) + noise, columns=[str(point) for point in t])
    table["3"] = np.nan
    table.assign(x=x).to_csv("months.csv", index=False)
    code, _, err = command("fit", "months.csv", "--targets", "0:5", "--task", "functional", "--out", "model.hl")
    assert code == 0 and err.count("no curve was observed at 3,") == 1
    code, out, _ = command("predict", "model.hl", "months.csv", "--out", "predicted.csv")
    assert code == 0 and np.abs(pd.read_csv("predicted.csv")["3"] - (22 + 3 * np.sin(1.5 + x))).max() < 2
