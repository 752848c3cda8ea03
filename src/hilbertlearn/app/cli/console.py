"""What commands say: results on standard output, remarks on standard error, or one JSON object and nothing else."""

from __future__ import annotations

import json
import math
import sys
import time

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

_WIDTH = 120  # of tables that go to a file or another program


class Talk:
    """Where the words of a command go.

    quiet : no remarks and no progress
    as_json : the result is one JSON object on standard output, in place of all other text there
    """

    def __init__(self, quiet=False, as_json=False):
        self.quiet, self.as_json = quiet, as_json
        self._out = Console(width=None if sys.stdout.isatty() else _WIDTH, highlight=False, markup=False)
        self._aside = Console(stderr=True, highlight=False, markup=False, soft_wrap=True)
        self.start = time.perf_counter()

    @property
    def verbose(self):
        """Of estimators."""
        return int(not self.quiet)

    @property
    def seconds(self):
        """Since the command began."""
        return time.perf_counter() - self.start

    def remarks(self, sentences):
        """What was chosen, left out and filled in; part of the JSON object, where there is one."""
        if not (self.quiet or self.as_json):
            for sentence in sentences:
                self._aside.print(f"- {sentence}")

    def table(self, title, header, rows, text=(0,)):
        """A table on standard output; text : which columns are text, the others are numbers."""
        if self.as_json:
            return
        table = Table(title=title, title_justify="left", title_style="", box=SIMPLE_HEAD, pad_edge=False)
        for number, name in enumerate(header):
            table.add_column(name, justify="left" if number in text else "right", overflow="fold")
        for row in rows:
            table.add_row(*row)
        with self._out.capture() as drawn:
            self._out.print(table)
        print("\n".join(line.rstrip() for line in drawn.get().splitlines()))

    def result(self, facts, text=""):
        """The last word of a command: facts as JSON, or a sentence."""
        if self.as_json:
            print(json.dumps(_plain(facts), ensure_ascii=False, allow_nan=False))
        elif text and not self.quiet:
            self._out.print(text, soft_wrap=True)


def _plain(value):
    """Values as JSON has them: numbers that are none are null."""
    if isinstance(value, dict):
        return {str(name): _plain(item) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if isinstance(value, (str, int, float, bool, type(None))) else str(value)
