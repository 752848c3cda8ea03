"""The code in the pages runs, and prints what they say."""

import contextlib
import doctest
import io
import re
from pathlib import Path
from types import ModuleType
from unittest import mock

import pytest

import hilbertlearn
from docs.pages import blocks, prose, run
from hilbertlearn import decoders
from hilbertlearn.losses import as_loss
from hilbertlearn.output_losses import as_output_loss

ROOT = Path(__file__).parents[1]
RESULTS = sorted(page.relative_to(ROOT).as_posix() for page in (ROOT / "docs" / "results").glob("*.md"))
WRITTEN = sorted(
    page.relative_to(ROOT).as_posix()
    for folder in ("docs", "docs/guide", "docs/coming_from")
    for page in (ROOT / folder).glob("*.md")
)
EXCERPTS = ("docs/bounds.md", "docs/confidence.md", "docs/scaling.md")  # code around data of the reader's, or doctests
BUILT = ("gallery/auto/", "api/generated/")  # written with the site
RUN = [page for page in WRITTEN if page not in EXCERPTS and any(kind == "python" for kind, _ in blocks(ROOT / page))]


def without_gaps(text):
    """Duality gaps depend on rounding, and so on the machine, as seconds do."""
    return re.sub(r"\d(\.\d)?e[-+]\d\d|\b[\d.]+(?= s\b)", "#", text).split()


def runs(language):
    """Numbers of the blocks of README in that language."""
    return [i for i, (own, _) in enumerate(blocks(ROOT / "README.md")) if own == language]


@pytest.mark.parametrize("number", runs("python"))
def test_readme_prints_what_it_says(number):
    """Each block alone; the text block that follows is what it prints."""
    every, printed = blocks(ROOT / "README.md"), io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(every[number][1], "README.md", "exec"), {})
    language, expected = every[number + 1]
    assert language == "text"
    assert without_gaps(printed.getvalue()) == without_gaps(expected)


@pytest.mark.parametrize("page", RUN)
def test_pages_print_what_they_say(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # pages save models and pictures
    for printed, expected in run(ROOT / page):
        assert without_gaps(printed) == without_gaps(expected)


RECIPES = [text for language, text in blocks(ROOT / "CONTRIBUTING.md") if language == "python"]


def test_every_recipe_has_an_example():
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    sections = re.split(r"^##+ (?=Add |An estimator with)", text, flags=re.MULTILINE)[1:]
    assert len(sections) == len(RECIPES) == 9
    assert [section.splitlines()[0] for section in sections if section.count("```python") != 1] == []


@pytest.mark.parametrize("code", RECIPES, ids=range(len(RECIPES)))
def test_recipes_run(code):
    """Each alone, outside the package; it runs its tests itself."""
    namespace = {"__name__": "contributing"}
    with mock.patch.dict(decoders.DECODERS):  # an example registers a decoder
        exec(compile(code, "CONTRIBUTING.md", "exec"), namespace)
    tests = [name for name in namespace if name.startswith("test_")]
    assert tests and [name for name in tests if f"{name}()" not in code.splitlines()] == []


@pytest.mark.parametrize(
    "page",
    [
        "README.md",
        "ARCHITECTURE.md",
        "CONTRIBUTING.md",
        *WRITTEN,
        *RESULTS,
    ],
)
def test_links_lead_somewhere(page):
    targets = re.findall(r"\]\((?!https?:)([^)#]+)\)", prose(ROOT / page))
    missing = [
        target
        for target in targets
        if not any(folder in target for folder in BUILT) and not (ROOT / page).parent.joinpath(target).exists()
    ]
    assert not missing, f"{page} links to {missing}"


def test_examples_in_pages():
    result = doctest.testfile(str(ROOT / "docs" / "bounds.md"), module_relative=False)
    assert result.attempted > 0 and result.failed == 0


def test_reference_has_every_module():
    text = (ROOT / "docs" / "api" / "index.md").read_text(encoding="utf-8")
    modules = [name for name in hilbertlearn.__all__ if isinstance(getattr(hilbertlearn, name), ModuleType)]
    for module in modules:
        assert text.count(f"generated/{module}") == 2, f"docs/api/index.md needs {module} in its table and its toctree"


def test_settings_in_tables_exist():
    """Objects that the tables of docs/choose.md name can be made, and names of losses are known."""
    text = (ROOT / "docs" / "choose.md").read_text(encoding="utf-8")
    modules = {name: getattr(hilbertlearn, name) for name in hilbertlearn.__all__}
    of_reader = {"costs": [[0, 1], [1, 0]], "tree": None, "kernel": "rbf", "function": min, "matrix": [[1.0]], "s": 0.5}
    expressions = re.findall(r"`((?:kernels|losses|operators|spaces|output_losses|features)\.[^`]+)`", text)
    assert len(expressions) > 20
    for expression in expressions:
        assert hasattr(eval(expression, {**modules, **of_reader}), "get_params"), expression
    about_losses = text[text.index("## Which loss") : text.index("## Which kernel")]
    of_numbers, of_objects = (set(re.findall(r'`"(\w+)"`', part)) for part in about_losses.split("For objects"))
    for name in of_numbers - {"auto"}:
        assert as_loss(name)
    for name in of_objects:
        assert as_output_loss(name)
