"""Pages of the public names, from the modules' `__all__`: one for each module, with tables that link to the names."""

from __future__ import annotations

import inspect
import re
import shutil
from types import ModuleType

import hilbertlearn

FRONT = "top_level"  # page of the package's own names


def write(folder):
    """Pages of the public modules and of the package's own names, written anew; returns them. ``folder`` is emptied."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    pages = {FRONT: page(hilbertlearn, "hilbertlearn", inside=False)}
    pages |= {name: page(module, f"hilbertlearn.{name}") for name, module in public(hilbertlearn, ModuleType)}
    for name, text in pages.items():
        (folder / f"{name}.rst").write_text(text, encoding="utf-8")
    return [str(folder / f"{name}.rst") for name in pages]


def public(module, kinds):
    """Pairs (name, object) of what a module offers that is of the given kinds."""
    own = [name for name, value in inspect.getmembers(module, inspect.isclass) if value.__module__ == module.__name__]
    names = getattr(module, "__all__", own)
    return [(name, getattr(module, name)) for name in names if isinstance(getattr(module, name), kinds)]


def page(module, title, inside=True, underline="="):
    """The page of a module, with those of the modules that it offers ``inside`` it."""
    parts = [f"{title}\n{underline * len(title)}", f".. currentmodule:: {title}", description(module)]
    for heading, kinds in (("Classes", type), ("Functions", type(page))):
        found = dict(public(module, kinds))
        above = [name for name in found if module is not hilbertlearn and name in hilbertlearn.__all__]
        own = [name for name in found if name not in above]
        parts += [f".. rubric:: {heading}"] * bool(found)
        parts += [table(own, ":toctree:")] * bool(own) + [table([f"~hilbertlearn.{name}" for name in above])] * bool(
            above
        )
    for name, entries in public(module, dict):
        parts += [f".. py:data:: {name}", "\n".join(f"   - ``{key!r}``: {first_line(entries[key])}" for key in entries)]
    if inside:
        parts += [page(part, f"{title}.{name}", underline="-") for name, part in public(module, ModuleType)]
    return "\n\n".join(parts) + "\n"


def description(module):
    """The docstring of a module without its section of decisions, which is for maintainers."""
    return re.sub(
        r"\n*^Decisions\n-+\n.*?(?=^\w[\w ]*\n-+\n|\Z)", "\n\n", inspect.getdoc(module), flags=re.M | re.S
    ).strip()


def table(names, *options):
    """Names with the first lines of their docstrings; with the option toctree each has a page."""
    return "\n".join([".. autosummary::", *(f"   {text}" for text in (*options, ":nosignatures:", "", *names))])


def first_line(function):
    """The first line of a function's docstring, also where some of its arguments are given."""
    return (inspect.getdoc(getattr(function, "func", function)) or "").partition("\n")[0]
