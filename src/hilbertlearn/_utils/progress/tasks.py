"""Pieces of long work, one inside another, and who is told of them."""

from __future__ import annotations

import contextlib
import math
import threading
from typing import Any

from .screen import SCREEN
from .times import Clock, seconds_as_text, time_left_as_text

_HERE = threading.local()  # what is going on in a thread, from the outermost piece of work in


def _going_on() -> list:
    if not hasattr(_HERE, "pieces"):
        _HERE.pieces = []
    return _HERE.pieces


class Enough(Exception):
    """A search is to end with the best that it has seen: one who was told of it has asked for that."""


class Task:
    """A piece of work in steps, a context; ``step`` says whether to stop.

    name : of the estimator
    work, where : "choice of the kernel", "200 samples"
    unit : what a step is, in the singular
    total : number of steps; exact : whether there are never more
    is_step : whether it is one whole step of the task around it, whose time it helps to guess
    in_parts : whether steps are tasks of their own, or fits of another estimator, that a listener is told of
    listener : has ``step(unit, last, **facts) -> whether to stop`` and ``end()``, None for nobody
    shown : on the terminal
    """

    def __init__(
        self,
        name,
        work,
        where="",
        unit="step",
        total=None,
        *,
        exact=True,
        is_step=False,
        in_parts=False,
        listener=None,
        shown=True,
    ):
        self.name, self.work, self.where, self.unit, self.total, self.exact = name, work, where, unit, total, exact
        self.is_step, self.in_parts, self._around = is_step, in_parts, None
        self.listener, self.shown = listener, shown
        self.done, self.text, self.best, self.level = 0, "", "", 0
        self.clock = Clock()

    def __enter__(self):
        pieces = _going_on()
        self.level = sum(piece.shown for piece in pieces)
        self._around = _around() if self.is_step else None
        pieces.append(self)
        self.clock = Clock()
        if self.shown:
            SCREEN.opened(self)
        return self

    def __exit__(self, kind, error, trace):
        failed = kind is not None and not issubclass(kind, Enough)
        try:
            self._close(failed)
        except KeyboardInterrupt:  # the terminal is to be left as it was all the same
            self._close(True)
            raise
        if self.listener is not None and not failed:
            self.listener.end()

    def _close(self, failed):
        pieces = _going_on()
        if self in pieces:
            del pieces[pieces.index(self) :]
        if self.shown:
            SCREEN.closed(self, failed)

    def step(self, text="", best="", **facts) -> bool:
        """One step is done; best : what is to be said of the whole so far; facts : for the listener."""
        self.done += 1
        self.see(0.0)
        return self._told(text, best, facts)

    def see(self, further):
        """Beside the steps that are done, a share of the next one is."""
        if self.total:
            done = self.done + further
            self.clock.see(done / (self.total if self.exact else max(self.total, done + 1)))
        if self._around is not None and self.clock.share < 1:
            self._around.see(self.clock.share)

    def show(self, text):
        """What is going on in a step that is not done yet; nobody but the terminal is told."""
        self.text = text

    def search_step(self, text, best, **facts):
        """As ``step``; raises ``Enough`` where one who listens asks to stop."""
        if self.step(text, best, **facts):
            raise Enough

    def _told(self, text, best, facts) -> bool:
        self.text, self.best = text, best
        last = self.exact and self.done == self.total
        return self.listener is not None and self.listener.step(self.unit, last, **facts)

    # ---------------------------------------------------------------- in words

    @property
    def title(self) -> str:
        return f"{self.work}, {self.where}" if self.where else self.work

    @property
    def count(self) -> str:
        """How many of the steps are done; nothing of one."""
        if self.total and self.exact:
            return f"{self.done} of {self.total}" if self.total > 1 else ""
        return f"{self.done} {self.unit}{'s' * (self.done != 1)}"

    @property
    def seen(self) -> str:
        """The best of all steps, and what the last has given."""
        return "; ".join(filter(None, [self.best, self.text]))

    @property
    def now(self) -> str:
        """What is going on."""
        return _with_details(self.title, self.count, self.seen, time_left_as_text(self.clock.left))

    def ended(self, failed) -> str:
        """One line on the whole."""
        text = _with_details(self.title, "broken off" if failed else "", self.best or self.text, self.count)
        return f"[{self.name}] {text} in {seconds_as_text(self.clock.passed)}"


def _with_details(title, *details):
    seen = ", ".join(filter(None, details))
    return f"{title}: {seen}" if seen else title


class Iterations(Task):
    """The iterations of a solver, which calls it with their number and relative duality gap.

    The gap is 1 at the beginning, or so, and falls by about the same factor in the same time.
    """

    def __init__(self, name, where, tol, max_iter, **options):
        super().__init__(name, "solve", where, "iteration", **options)
        self._tol, self._max_iter = tol, max_iter

    def __call__(self, iteration, gap) -> bool:
        self.done = iteration
        fallen = math.log(gap) / math.log(self._tol) if 0 < gap < 1 and self._tol < 1 else float(gap <= self._tol)
        self.clock.see(max(fallen, iteration / self._max_iter))
        return self._told(f"gap {gap:.1e}", "", {"iteration": iteration, "gap": gap})


class Progress:
    """The voice of an estimator, by its name: makes tasks that are shown if it is verbose."""

    def __init__(self, name="", verbose=0):
        self.name, self.verbose = name, bool(verbose)

    def task(self, work, unit="step", total=None, *, where="", exact=True, is_step=False, in_parts=False) -> Task:
        """See ``Task``."""
        options = {"exact": exact, "is_step": is_step, "in_parts": in_parts, "shown": self.verbose}
        listener = _listener(work, unit, total if exact else None, in_parts)
        return Task(self.name, work, where, unit, total, listener=listener, **options)

    def iterations(self, where, tol, max_iter) -> contextlib.AbstractContextManager[Any]:
        """A context that gives a solver's callback: None where nobody is told."""
        listener = _listener("solve", "iteration")
        if not self.verbose and listener is None:
            return contextlib.nullcontext()
        return Iterations(self.name, where, tol, max_iter, listener=listener, shown=self.verbose)


def _listener(work, unit, total=None, in_parts=False):
    """Who listens to a task inside what is going on here: a task of a fit, or one that is a part of such a task."""
    around = _around()
    heard = around is not None and around.listener is not None and around.in_parts
    return around.listener.inside(work, unit, total, in_parts) if heard else None


def _around():
    pieces = _going_on()
    return pieces[-1] if pieces else None


class _Whole:
    """A whole fit, of which nothing is shown by itself."""

    shown, in_parts = False, True

    def __init__(self, listener):
        self.listener = listener


def handing_on(estimator) -> contextlib.AbstractContextManager[Any]:
    """The fit of another estimator, a step of the task that is going on here; who listens to that may look inside."""
    around = _around()
    if not isinstance(around, Task) or around.listener is None:
        return contextlib.nullcontext()
    return around.listener.handing_on(estimator, around.unit)


@contextlib.contextmanager
def heard_by(listener):
    """Tell one of all tasks inside, and nobody else who was told before; None for nobody.

    listener : has ``inside(work, unit, total, in_parts)``, which gives the listener of a task
    """
    pieces = _going_on()
    number = len(pieces)
    pieces.append(_Whole(listener))
    try:
        yield
    finally:
        del pieces[number:]
