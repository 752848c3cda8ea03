"""The code in README and CONTRIBUTING runs, and README prints what it says."""

import contextlib
import doctest
import io
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
RESULTS = sorted(page.relative_to(ROOT).as_posix() for page in (ROOT / "docs" / "results").glob("*.md"))


def blocks(name):
    """(language, text) of the fenced blocks of a page, in order."""
    return re.findall(r"^```(\w+)\n(.*?)^```", (ROOT / name).read_text(encoding="utf-8"), re.S | re.M)


def without_gaps(text):
    """Duality gaps depend on rounding, and so on the machine."""
    return re.sub(r"\d(\.\d)?e-\d\d", "#", text).split()


def runs(language):
    """Numbers of the blocks of README in that language."""
    return [i for i, (own, _) in enumerate(blocks("README.md")) if own == language]


@pytest.mark.parametrize("number", runs("python"))
def test_readme_prints_what_it_says(number):
    """Each block alone; the text block that follows is what it prints."""
    every, printed = blocks("README.md"), io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(every[number][1], "README.md", "exec"), {})
    language, promised = every[number + 1]
    assert language == "text"
    assert without_gaps(printed.getvalue()) == without_gaps(promised)


def test_worked_examples_of_contributing():
    code = [text for language, text in blocks("CONTRIBUTING.md") if language == "python"]
    namespace = {"__name__": "contributing"}
    for text in code:
        exec(compile(text, "CONTRIBUTING.md", "exec"), namespace)
    tests = [function for name, function in namespace.items() if name.startswith("test_")]
    assert len(tests) >= 4  # a loss, a kernel, a space and a decoder
    for test in tests:
        test()


@pytest.mark.parametrize(
    "page",
    [
        "README.md",
        "ARCHITECTURE.md",
        "CONTRIBUTING.md",
        "docs/bounds.md",
        "docs/confidence.md",
        "docs/results.md",
        "docs/scaling.md",
        *RESULTS,
    ],
)
def test_links_lead_somewhere(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    targets = re.findall(r"\]\((?!https?:)([^)#]+)\)", text)
    missing = [target for target in targets if not (ROOT / page).parent.joinpath(target).exists()]
    assert not missing, f"{page} links to {missing}"


def test_examples_in_pages():
    result = doctest.testfile(str(ROOT / "docs" / "bounds.md"), module_relative=False)
    assert result.attempted > 0 and result.failed == 0
