"""Output of commands: results on standard output, notes on standard error, or one JSON object and nothing else."""

from __future__ import annotations

import json
import math
import sys
import time

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

_WIDTH = 120  # characters of tables that go to a file or another program


class CommandOutput:
    """Prints the results of a command.

    quiet : no notes and no progress
    as_json : the result is one JSON object on standard output, instead of all other text there
    """

    def __init__(self, quiet=False, as_json=False):
        self.quiet, self.as_json = quiet, as_json
        self._out = Console(width=None if sys.stdout.isatty() else _WIDTH, highlight=False, markup=False)
        self._err = Console(stderr=True, highlight=False, markup=False, soft_wrap=True)
        self.start = time.perf_counter()

    @property
    def verbose(self):
        """The setting ``verbose`` of estimators."""
        return int(not self.quiet)

    @property
    def seconds(self):
        """Since the start of the command."""
        return time.perf_counter() - self.start

    def notes(self, sentences):
        """Sentences on what was chosen, left out and filled in; a JSON object has them among its facts."""
        if not (self.quiet or self.as_json):
            for sentence in sentences:
                self._err.print(f"- {sentence}")

    def table(self, title, header, rows, text=(0,)):
        """A table on standard output; text : positions of columns that are text, the others are numbers."""
        if self.as_json:
            return
        table = Table(title=title, title_justify="left", title_style="", box=SIMPLE_HEAD, pad_edge=False)
        for number, name in enumerate(header):
            table.add_column(name, justify="left" if number in text else "right", overflow="fold")
        for row in rows:
            table.add_row(*row)
        with self._out.capture() as text_of_table:
            self._out.print(table)
        print("\n".join(line.rstrip() for line in text_of_table.get().splitlines()))

    def result(self, facts, text=""):
        """The result of a command: facts as JSON, or a sentence."""
        if self.as_json:
            print(json.dumps(_plain(facts), ensure_ascii=False, allow_nan=False))
        elif text and not self.quiet:
            self._out.print(text, soft_wrap=True)


def _plain(value):
    """Values that JSON can hold; numbers that are not finite are null."""
    if isinstance(value, dict):
        return {str(name): _plain(item) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if isinstance(value, (str, int, float, bool, type(None))) else str(value)
