"""How long work goes on, and about how much longer."""

from __future__ import annotations

import time

_SMOOTHED = 0.5  # share of a new guess in the time at which work will end
_EARLY = 0.5  # seconds before which nothing is guessed


def time_left_as_text(seconds) -> str:
    """As ``about 12 s left``; nothing where nobody knows, None."""
    return "" if seconds is None else f"about {seconds_as_text(seconds, digits=0)} left"


def seconds_as_text(seconds, digits=1) -> str:
    """As ``0.3 s``, ``12 s``, ``3 min 20 s`` or ``2 h 5 min``; digits : of less than ten seconds."""
    if digits and seconds < 9.95:
        return f"{seconds:.{digits}f} s"
    whole = max(1, round(seconds))
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


class Clock:
    """Begun when it is made; told which share of the work is done, it guesses when the rest will be."""

    def __init__(self, now=time.perf_counter):
        self._now, self._begun, self._end = now, now(), None
        self.share = 0.0

    @property
    def passed(self) -> float:
        """Seconds since the beginning."""
        return self._now() - self._begun

    def see(self, share):
        """A share of the work, between 0 and 1, is done; guesses move half of the way to a new one, not to jump."""
        self.share = max(self.share, min(share, 1.0))
        if self.share > 0:
            end = self._begun + self.passed / self.share
            self._end = end if self._end is None else self._end + _SMOOTHED * (end - self._end)

    @property
    def left(self) -> float | None:
        """Seconds that are left, None where nobody knows."""
        if self._end is None or self.passed < _EARLY:
            return None
        left = self._end - self._now()
        return left if left > 0 else None
