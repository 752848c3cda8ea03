"""Pages of the guide: their code runs and prints what they say, their links and the names they speak of are there.

Blocks of ``python`` of a page share their names, in order; lines of ``sh`` that begin with ``hilbertlearn`` run too. A
``text`` block after one is what it prints.
"""

import contextlib
import importlib
import io
import itertools
import re
import shlex
import warnings

import pytest
from test_documentation import ROOT, blocks, without_gaps

from hilbertlearn.cli import main

DOCS = ROOT / "docs"
FOLDERS = ("guide", "coming_from")
PAGES = sorted(page.relative_to(ROOT).as_posix() for folder in FOLDERS for page in (DOCS / folder).glob("*.md"))
PAGES += [f"docs/{name}.md" for name in ("performance", "asked_elsewhere")]


def text_of(page):
    return (ROOT / page).read_text(encoding="utf-8")


def prose_of(page):
    """The page without its code, in which brackets are no links."""
    return re.sub(r"^```.*?^```", "", text_of(page), flags=re.S | re.M)


def run_commands(text):
    for line in text.splitlines():
        if line.startswith("hilbertlearn "):
            with pytest.raises(SystemExit) as end:
                main(shlex.split(line)[1:])
            assert end.value.code == 0


def printed_and_promised(page):
    """What each block prints, and what the page says that it does; "" where no text follows."""
    names = {"__name__": "page"}
    run = {"python": lambda code: exec(compile(code, page, "exec"), names), "sh": run_commands}
    for (language, code), (after, promised) in itertools.pairwise([*blocks(page), ("", "")]):
        if language in run:
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed), warnings.catch_warnings():
                warnings.simplefilter("error", UserWarning)  # what a reader would see, and the page does not show
                run[language](code)
            yield printed.getvalue(), promised if after == "text" else ""


def without_times(text):
    """Seconds, as duality gaps, depend on the machine."""
    return without_gaps(re.sub(r"\b[\d.]+ s\b", "# s", text))


@pytest.mark.parametrize("page", PAGES)
def test_pages_print_what_they_say(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # what they save
    for printed, promised in printed_and_promised(page):
        assert without_times(printed) == without_times(promised)


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page):
    targets = re.findall(r"\]\((?!https?:)([^)#]+)\)", prose_of(page))
    missing = [target for target in targets if not (ROOT / page).parent.joinpath(target).exists()]
    assert not missing, f"{page} links to {missing}"


@pytest.mark.parametrize("page", PAGES)
def test_names_are_there(page):
    roles = re.findall(r"\{(\w+)\}`~?([\w.]+)`", prose_of(page))
    for role, name in roles:
        package, *rest = name.split(".")
        found = importlib.import_module(package)
        for part in rest:
            found = getattr(found, part)
        assert role in ("class", "func") and isinstance(found, type) == (role == "class"), f"{name} is no {role}"


@pytest.mark.parametrize("folder", FOLDERS)
def test_index_lists_every_page(folder):
    index = text_of(f"docs/{folder}/index.md")
    listed = re.search(r"```\{toctree\}\n(?::.*\n)*\n(.*?)```", index, re.S).group(1).split()
    assert sorted(listed) == sorted(page.stem for page in (DOCS / folder).glob("*.md") if page.stem != "index")


@pytest.mark.parametrize("page", [page for page in PAGES if page.startswith("docs/guide/") and "index" not in page])
def test_pages_have_the_parts_a_reader_looks_for(page):
    text = text_of(page)
    headings = re.findall(r"^## (.*)$", text, re.M)
    for part in ("Settings that matter", "When it goes wrong", "The plain alternative", "See also"):
        assert part in headings
    assert text.count("```python") >= 2
