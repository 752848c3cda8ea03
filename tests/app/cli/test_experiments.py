"""The list of experiments, and how they are run."""

import ast
import json
from pathlib import Path

from hilbertlearn.app.cli import experiments

ROOT = Path(__file__).parents[3]


def one_line(err):
    """The only line of an error."""
    (line,) = err.splitlines()
    assert line.startswith("hilbertlearn: ")
    return line


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
