"""The figures of ``tools.measure`` do not get worse."""

import json

import pytest

from tools import measure

FIGURES = measure.measure()
STORED = json.loads(measure.STORED.read_text(encoding="utf-8"))


def test_all_figures_are_stored():
    assert FIGURES.keys() == STORED.keys(), "python -m tools.measure --write"


@pytest.mark.parametrize("name", sorted(STORED))
def test_no_figure_gets_worse(name):
    assert FIGURES[name] <= (1 + measure.TOLERANCE) * STORED[name], "see python -m tools.measure --names"


def test_calls_are_counted():
    """A function that calls another one of the package: two functions, one file, two levels."""
    from hilbertlearn.losses import as_loss

    figures = measure.trace_calls(lambda: as_loss("squared"))
    assert figures["depth"] >= 2 and figures["functions"] >= 2 and figures["files"] >= 2


def test_lines_of_code_without_docstrings_and_comments(tmp_path):
    path = tmp_path / "module.py"
    source = [
        '"""Text.',
        "",
        "More.",
        '"""',
        "# a comment",
        "x = 1",
        "",
        "def f():",
        '    """Text."""',
        '    return """a',
        'b"""',
    ]
    path.write_text("\n".join(source) + "\n", encoding="utf-8")
    assert measure.lines_of_code(path) == 4
