"""How open tasks are drawn: bars by rich, a line that is written over, or now and then a line of a log."""

from __future__ import annotations

import os
import shutil
import sys
import time
from typing import Any

from .times import time_left_as_text

_AT_ONCE = 0.3  # seconds of work below which nothing is drawn
_LOG_EVERY, _LOG_SHARE = 2.0, 0.05  # seconds between lines of a log, at least, and share of the time that has passed
_BAR = 20  # characters


def view_of(stream) -> Any:
    """What suits a stream: bars on a terminal, one line without rich, lines now and then elsewhere."""
    if not (hasattr(stream, "isatty") and stream.isatty()) or os.environ.get("TERM") == "dumb":
        return Log(stream)
    try:
        import rich  # noqa: F401
    except ImportError:
        return Line(stream)
    return Bars(stream)


def in_one_line(tasks) -> str:
    """All open tasks, from the outermost in."""
    return f"[{tasks[0].name}] " + "; ".join(task.now for task in tasks)


class Log:
    """Lines for a file: the longer work takes, the fewer, and only if there is something new."""

    def __init__(self, stream):
        self._stream, self._last, self._said = stream, time.perf_counter(), None

    def draw(self, tasks):
        now, state = time.perf_counter(), [(task.title, task.done, task.text) for task in tasks]
        if now - self._last >= max(_LOG_EVERY, _LOG_SHARE * tasks[0].clock.passed) and state != self._said:
            self._last, self._said = now, state
            self.line(in_one_line(tasks))

    def line(self, text):
        if self._stream is not None:
            print(text, file=self._stream, flush=True)

    def close(self):
        pass


class Line(Log):
    """One line of a terminal, written over and over."""

    _width = 0  # characters that are there now

    def draw(self, tasks):
        if tasks[0].clock.passed < _AT_ONCE:
            return
        bar = "#" * round(_BAR * tasks[0].clock.share)
        text = f"{in_one_line(tasks)} [{bar:-<{_BAR}}]"
        self._write(text[: shutil.get_terminal_size().columns - 1])

    def _write(self, text):
        self._stream.write("\r" + text.ljust(self._width))
        self._stream.flush()
        self._width = len(text)

    def line(self, text):
        self.close()
        super().line(text)

    def close(self):
        if self._width:
            self._write("")
            self._stream.write("\r")


class Bars:
    """A bar for each open task, below what else is printed; gone when nothing is open any more."""

    def __init__(self, stream):
        from rich.console import Console

        self._console = Console(file=stream, highlight=False, soft_wrap=True)
        self._live: Any = None

    def draw(self, tasks):
        if self._live is None:
            if tasks[0].clock.passed < _AT_ONCE:
                return
            self._live = self._begun()
        self._live.update(self._rows(tasks), refresh=True)

    def _begun(self):
        from rich.live import Live

        same = sys.stdout.isatty()  # what is printed there has to go above the bars
        live = Live(console=self._console, auto_refresh=False, transient=True, redirect_stdout=same)
        live.start()
        return live

    def _rows(self, tasks):
        from rich.console import Group
        from rich.progress_bar import ProgressBar
        from rich.table import Table
        from rich.text import Text

        table = Table.grid(padding=(0, 2))
        for column in (table.add_column for _ in range(4)):
            column(no_wrap=True, overflow="ellipsis")
        for task in tasks:
            table.add_row(
                Text("  " * task.level + task.title),
                ProgressBar(1.0, task.clock.share, width=_BAR, pulse=not task.clock.share),
                Text(task.count),
                Text(time_left_as_text(task.clock.left) or f"{task.clock.passed:.0f} s", style="cyan"),
            )
        return Group(table, Text(tasks[-1].seen, style="dim", no_wrap=True, overflow="ellipsis"))

    def line(self, text):
        from rich.text import Text

        self._console.print(Text(text), soft_wrap=True)

    def close(self):
        if self._live is not None:
            self._live.stop()
