"""The code in the pages: its blocks, and how they are run.

Blocks fenced as ``python`` run from top to bottom and share their names within a page; lines of ``sh`` blocks that
begin with ``hilbertlearn`` run too. A ``text`` block after a block is its expected output; without one nothing is
printed. Blocks fenced as ``{code-block} python`` do not run.

    python docs/pages.py            # draws the figures of the pages
"""

from __future__ import annotations

import contextlib
import io
import itertools
import os
import re
import shlex
import tempfile
import warnings
from pathlib import Path

DOCS = Path(__file__).parent
FIGURES = DOCS / "figures"
ILLUSTRATED = ("tutorial.md",)  # pages whose code saves pictures


def blocks(page):
    """(language, text) of the fenced blocks of a page, in order."""
    return re.findall(r"^```(\w+)\n(.*?)^```", Path(page).read_text(encoding="utf-8"), re.S | re.M)


def prose(page):
    """The page without its fenced blocks, in which brackets are not links."""
    return re.sub(r"^```.*?^```", "", Path(page).read_text(encoding="utf-8"), flags=re.S | re.M)


def run(page):
    """Runs the blocks of a page; pairs (printed, expected), expected is "" if no ``text`` block follows."""
    names = {"__name__": "page"}
    runners = {"python": lambda code: exec(compile(code, str(page), "exec"), names), "sh": run_commands}
    for (language, code), (after, expected) in itertools.pairwise([*blocks(page), ("", "")]):
        if language in runners:
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed), warnings.catch_warnings():
                warnings.simplefilter("error", UserWarning)  # a warning that the page does not show
                runners[language](code)
            yield printed.getvalue(), expected if after == "text" else ""


def run_commands(text):
    """Runs the lines that call the package's command, in this process."""
    for line in text.splitlines():
        if line.startswith("hilbertlearn "):
            from hilbertlearn.app.cli import main

            try:
                main(shlex.split(line)[1:])
            except SystemExit as end:
                if end.code:
                    raise RuntimeError(f"{line!r} ended with {end.code}") from end


def draw():
    """Runs the illustrated pages in an empty folder and copies the figures that they save."""
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams.update({"savefig.dpi": 110, "savefig.bbox": "tight", "font.size": 10, "legend.frameon": False})
    for page in ILLUSTRATED:
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            for printed, expected in run(DOCS / page):
                if printed.split() != expected.split():
                    print(f"{page} prints\n{printed}")
            for picture in Path(folder).glob("*.png"):
                keep(picture)
            os.chdir(DOCS)


def keep(picture):
    """Stores a figure in docs/figures with few colours, at a third of its size."""
    from PIL import Image

    Image.open(picture).convert("RGB").quantize(96).save(FIGURES / picture.name, optimize=True)


if __name__ == "__main__":
    draw()
