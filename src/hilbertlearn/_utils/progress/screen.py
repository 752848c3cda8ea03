"""The one place where work that is going on is shown: standard error, be it a terminal or a file."""

from __future__ import annotations

import os
import sys
import threading
from contextlib import suppress
from typing import Any

from .views import view_of

_EVERY = 0.1  # seconds between redraws
_GONE = (OSError, ValueError)  # of a terminal or a pipe that is closed, which is no reason to give up work


class Screen:
    """Tasks of all threads that are open; a thread of its own redraws them, so that work never waits for a terminal."""

    def __init__(self):
        self.reset()

    def reset(self):
        self._lock = threading.RLock()
        self._open: list = []
        self._view: Any = None
        self._over = threading.Event()

    def opened(self, task):
        with self._lock:
            self._open.append(task)
            if self._view is not None:
                return
            self._view, self._over = view_of(sys.stderr), threading.Event()
            threading.Thread(target=self._redraw, args=(self._over,), daemon=True).start()

    def closed(self, task, failed):
        """Of what is not inside something else a line stays."""
        with self._lock:
            if task not in self._open:
                return
            view = self._view
            self._open.remove(task)
            last = not self._open
            if last:
                self._over.set()
                self._view = None
            with suppress(*_GONE):
                if last:
                    view.close()
                if task.level == 0:
                    view.line(task.ended(failed))

    def _redraw(self, over):
        while not over.wait(_EVERY):
            with self._lock:
                if over.is_set():
                    return
                try:
                    self._view.draw(self._open)
                except _GONE:
                    return


SCREEN = Screen()
if hasattr(os, "register_at_fork"):  # a child has no thread that redraws, and maybe a lock that nobody will open
    os.register_at_fork(after_in_child=SCREEN.reset)
