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
    if not (getattr(stream, "encoding", None) or "").lower().startswith("utf"):  # it cannot draw bars
        return Line(stream)
    try:
        return Bars(stream)
    except ImportError:
        return Line(stream)


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


def _cells(task) -> tuple:
    """Title, bar that is done, rest of it, count and time."""
    done, clock = round(_BAR * task.clock.share), task.clock
    left = time_left_as_text(clock.left) or f"{clock.passed:.0f} s"
    return "  " * task.level + task.title, "━" * done, "─" * (_BAR - done), task.count, left


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
        """Put together by hand: a table of rich takes five times as long."""
        from rich.text import Text

        rows = [_cells(task) for task in tasks]
        titles, counts = (max(len(row[k]) for row in rows) for k in (0, 3))
        text = Text(no_wrap=True, overflow="ellipsis")
        for title, done, rest, count, left in rows:
            text.append(f"{title:<{titles}}  ")
            text.append(done, "green").append(rest, "dim")
            text.append(f"  {count:<{counts}}  ").append(f"{left}\n", "cyan")
        return text.append(tasks[-1].seen, "dim")

    def line(self, text):
        from rich.text import Text

        self._console.print(Text(text), soft_wrap=True)

    def close(self):
        if self._live is not None:
            self._live.stop()
