"""Pages of the guide: the names they speak of are there, and so are the usual sections."""

import importlib
import re

import pytest
from test_documentation import ROOT

from docs.pages import prose

DOCS = ROOT / "docs"
FOLDERS = ("guide", "coming_from")
PAGES = sorted(page.relative_to(ROOT).as_posix() for folder in FOLDERS for page in (DOCS / folder).glob("*.md"))
PAGES += [f"docs/{name}.md" for name in ("performance", "asked_elsewhere")]


def text_of(page):
    return (ROOT / page).read_text(encoding="utf-8")


@pytest.mark.parametrize("page", PAGES)
def test_names_are_there(page):
    roles = re.findall(r"\{(\w+)\}`~?([\w.]+)`", prose(ROOT / page))
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
def test_pages_have_the_usual_sections(page):
    text = text_of(page)
    headings = re.findall(r"^## (.*)$", text, re.M)
    for part in ("Main settings", "Troubleshooting", "The simplest alternative", "See also"):
        assert part in headings
    assert text.count("```python") >= 2
