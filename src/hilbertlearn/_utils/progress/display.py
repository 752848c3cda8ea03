"""The display of open tasks on standard error: bars by rich in a terminal, log lines elsewhere.

Log lines go to the logger ``hilbertlearn`` at level INFO. Its handler writes to the current ``sys.stderr``, and lines
are not propagated to the root logger. An application that wants them elsewhere replaces the handler.
"""

from __future__ import annotations

import logging
import os
import sys
import threading
import time
from contextlib import suppress
from typing import Any

_SECONDS_BETWEEN_LINES = 2.0  # at least, in a log; twice as many seconds halve the lines of the first 40 seconds
_SHARE_BETWEEN_LINES = 0.05  # of the time since the start, at least: a log of a day's work has no more than 100 lines
_CLOSED = (OSError, ValueError)  # errors of a closed terminal or pipe, which do not end the work

LOGGER = logging.getLogger("hilbertlearn")


class StandardErrorHandler(logging.Handler):
    """Writes lines to ``sys.stderr`` as it is when the line is written; a closed stream is not an error."""

    def emit(self, record):
        if sys.stderr is not None:
            with suppress(*_CLOSED):
                print(self.format(record), file=sys.stderr, flush=True)


LOGGER.setLevel(logging.INFO)
LOGGER.addHandler(StandardErrorHandler())
LOGGER.propagate = False


class Display:
    """The open tasks of all threads. A task that is not inside another one leaves a line when it ends."""

    def __init__(self):
        self.reset()

    def reset(self):
        self._lock = threading.RLock()
        self._bars: Any = None  # rich.progress.Progress, while tasks are open in a terminal
        self._rows: dict = {}  # open task -> its row of the bars
        self._last_line = 0.0

    @property
    def is_empty(self) -> bool:
        return not self._rows and self._bars is None

    def open(self, task):
        with self._lock:
            if not self._rows:
                self._bars, self._last_line = _start_bars(), time.perf_counter()
            row = None if self._bars is None else self._bars.add_task(task.title, total=None, **_row(task))
            self._rows[task] = row

    def update(self, task):
        with self._lock:
            if task not in self._rows:
                return
            if self._bars is not None:
                total = None if task.share is None else 1.0
                self._bars.update(self._rows[task], completed=task.share or 0.0, total=total, **_row(task))
                return
            now = time.perf_counter()
            pause = max(_SECONDS_BETWEEN_LINES, _SHARE_BETWEEN_LINES * task.path[0].seconds)
            if now - self._last_line < pause:
                return
            self._last_line = now
        LOGGER.info("%s", f"[{task.path[0].name}] " + "; ".join(part.status for part in task.path))

    def close(self, task, failed):
        with self._lock:
            if task not in self._rows:
                return
            row = self._rows.pop(task)
            if self._bars is not None:
                with suppress(*_CLOSED):
                    self._bars.remove_task(row)
                    if not self._rows:
                        self._bars.stop()
            if not self._rows:
                self._bars = None
        if len(task.path) == 1:
            LOGGER.info("%s", task.summary(failed))


def _start_bars() -> Any:
    """Started bars, None where standard error is no terminal or rich is not installed."""
    try:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
        from rich.table import Column
    except ImportError:
        return None
    console = Console(stderr=True, force_terminal=_is_terminal(sys.stderr))
    if not console.is_interactive:
        return None

    class Details(TextColumn):
        """Text that gives way to the other columns: it is the only one that is cut in a narrow terminal."""

        def render(self, task):
            text = super().render(task)
            text.no_wrap, text.overflow = True, "ellipsis"
            return text

    title, count = (TextColumn(f"{{task.fields[{name}]}}", markup=False) for name in ("title", "count"))
    details = Details("{task.fields[details]}", style="dim", markup=False, table_column=Column(no_wrap=False))
    columns = title, BarColumn(20), count, TimeElapsedColumn(), TimeRemainingColumn(), details
    bars = Progress(*columns, console=console, transient=True, redirect_stdout=sys.stdout.isatty())
    with suppress(*_CLOSED):
        bars.start()
    return bars


def _is_terminal(stream) -> bool:
    """Whether a stream is a terminal, whatever variables of the environment (``FORCE_COLOR``) say."""
    try:
        return stream.isatty()
    except (AttributeError, ValueError):  # None, another object, or a closed file
        return False


def _row(task) -> dict:
    """What columns of the bars show of a task; inner tasks are indented."""
    return {"title": "  " * (len(task.path) - 1) + task.title, "count": task.count, "details": task.details}


DISPLAY = Display()
if hasattr(os, "register_at_fork"):  # the child of a fork has no drawing thread, and its lock may be taken for ever
    os.register_at_fork(after_in_child=DISPLAY.reset)
