"""What long work says while it goes on."""

from __future__ import annotations

import sys
import time


class Progress:
    """Lines on standard error: what is being tried, the best so far, and about how much time is left.

    Steps of one piece of work are taken to last as long as those before on average, unless their costs are given.
    """

    def __init__(self, name=""):
        self.name = name
        self._work, self._total, self._done, self._begun = "", 1.0, 0.0, 0.0

    def begin(self, work, total):
        """A piece of work of so many steps begins."""
        self._work, self._total, self._done, self._begun = work, float(total), 0.0, time.perf_counter()

    def step(self, text, cost=1.0):
        """One step of it is done."""
        self._done += cost
        passed = time.perf_counter() - self._begun
        left = passed * max(self._total - self._done, 0.0) / self._done
        self.say(f"{self._work}: {text}, about {left:.0f} s left")

    def say(self, text):
        print(f"[{self.name}] {text}", file=sys.stderr, flush=True)


class Silence(Progress):
    """Says nothing."""

    def say(self, text):
        pass
