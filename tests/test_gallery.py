"""The gallery: scripts have a title, words and a picture, fetch nothing from elsewhere, and the quickest ones run."""

import ast
import re
import sys
from pathlib import Path

import pytest

GALLERY = Path(__file__).parents[1] / "docs" / "gallery"
SCRIPTS = sorted(GALLERY.glob("*/plot_*.py"))
PACKAGES = {
    "hilbertlearn",
    "matplotlib",
    "networkx",
    "numpy",
    "pywt",
    "rdkit",
    "scipy",
    "sklearn",
}  # of the extra "docs"
DOWNLOADS = re.compile(r"fetch_\w+|\burl\w*|requests|savefig|skfda")
QUICK = ["networks/plot_karate.py", "networks/plot_les_miserables.py", "numbers/plot_outliers.py"]


def by_name(path):
    return path.relative_to(GALLERY).as_posix()


def test_there_are_enough_and_each_folder_has_a_header():
    assert len(SCRIPTS) >= 22
    for folder in {GALLERY, *(path.parent for path in SCRIPTS)}:
        title, line, *_ = (folder / "GALLERY_HEADER.rst").read_text(encoding="utf-8").splitlines()
        assert title and len(line) == len(title) and set(line) <= {"=", "-"}


@pytest.mark.parametrize("path", SCRIPTS, ids=by_name)
def test_script_is_an_example(path):
    source = path.read_text(encoding="utf-8")
    tree = ast.parse(source, filename=str(path))
    title, line, blank, words, *_ = ast.get_docstring(tree).splitlines()
    assert len(line) == len(title) and set(line) == {"="} and not blank and words
    assert source.count("# %%") >= 2
    cells = re.split(r"^# %%", source, flags=re.MULTILINE)  # what a cell has drawn is shown with it, and closed
    figures = [cell.count("plt.subplots(") for cell in cells]
    assert sum(figures) and figures == [cell.count("plt.show()") for cell in cells]
    assert source.count("\n") <= 130


@pytest.mark.parametrize("path", SCRIPTS, ids=by_name)
def test_script_needs_nothing_from_elsewhere_and_is_seeded(path):
    source = path.read_text(encoding="utf-8")
    tree = ast.parse(source)
    roots = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    roots |= {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    foreign = {name.split(".")[0] for name in roots} - PACKAGES - sys.stdlib_module_names
    assert not foreign
    assert not DOWNLOADS.findall(source)
    assert "default_rng()" not in source and "np.random.seed" not in source
    drawn = re.findall(r"np\.random\.(\w+)", source)
    assert set(drawn) <= {"default_rng"}


@pytest.mark.parametrize("name", QUICK)
def test_quick_scripts_run_without_a_warning_of_ours(name, monkeypatch, capsys):
    matplotlib = pytest.importorskip("matplotlib")
    pytest.importorskip("networkx")
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    monkeypatch.setattr(plt, "show", lambda: None)
    path = GALLERY / name
    plt.close("all")
    exec(compile(path.read_text(encoding="utf-8"), str(path), "exec"), {"__name__": "__main__"})
    figures = [plt.figure(number) for number in plt.get_fignums()]
    assert figures and all(any(ax.has_data() for ax in figure.axes) for figure in figures)
    for figure in figures:
        figure.canvas.draw()
    plt.close("all")
    assert capsys.readouterr().out
