"""Tasks: long work in steps, reported to the display and to callbacks."""

from __future__ import annotations

import contextlib
import math
import threading
import time
from typing import Any

from sklearn.utils.parallel import Parallel

from .display import DISPLAY

_LOCAL = threading.local()
_SECONDS_BEFORE_ESTIMATE = 0.5  # no remaining time is estimated earlier


def _open_tasks() -> list:
    """The open tasks of this thread, the outermost first."""
    if not hasattr(_LOCAL, "tasks"):
        _LOCAL.tasks = []
    return _LOCAL.tasks


def _innermost():
    return _open_tasks()[-1] if _open_tasks() else None


class StopSearch(Exception):
    """A callback asks a search to end with the best settings so far."""


class Task:
    """Work in steps, a context manager; ``step`` returns whether a callback asks to stop.

    Parameters
    ----------
    name : of the estimator
    work, where : the title in two parts, as "search of the kernel" and "200 samples"
    unit : name of a step, in the singular
    total : number of steps, None if unknown
    exact : whether there are never more steps than ``total``
    is_step : whether the task is one step of the task around it, which then advances with it
    has_subtasks : whether steps are tasks, or fits of another estimator, that callbacks are called for
    callback : ``CallbackTask`` or None
    shown : whether the display shows it
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
        has_subtasks=False,
        callback=None,
        shown=True,
    ):
        self.name, self.title, self.unit = name, f"{work}, {where}" if where else work, unit
        self.total, self.exact, self.is_step, self.has_subtasks = total, exact, is_step, has_subtasks
        self.callback, self.shown = callback, shown
        self.done, self.share, self.text, self.best = 0, None, "", ""
        self.path, self._parent, self._start = [self], None, time.perf_counter()

    def __enter__(self):
        around = _innermost()
        self._parent = around if self.is_step and isinstance(around, Task) else None
        self.path = [*(task for task in _open_tasks() if task.shown), self]
        _open_tasks().append(self)
        self._start = time.perf_counter()
        if self.shown:
            DISPLAY.open(self)
        return self

    def __exit__(self, kind, error, trace):
        failed = kind is not None and not issubclass(kind, StopSearch)
        try:
            self._close(failed)
        except KeyboardInterrupt:  # restore the terminal before the interruption goes on
            self._close(True)
            raise
        if self.callback is not None and not failed:
            self.callback.end()

    def _close(self, failed):
        tasks = _open_tasks()
        if self in tasks:
            del tasks[tasks.index(self) :]
        if self.shown:
            DISPLAY.close(self, failed)

    def step(self, text="", best="", **facts) -> bool:
        """Count a step.

        text : result of the step; best : result of all steps so far; facts : metadata for callbacks
        """
        self.done += 1
        self.text, self.best = text, best
        self._advance(0.0)
        return self._call_back(facts)

    def set_text(self, text):
        """Show a text about the step that is under way."""
        self.text = text
        if self.shown:
            DISPLAY.update(self)

    def search_step(self, text, best, **facts):
        """Count a step of a search; raises ``StopSearch`` if a callback asks to stop."""
        if self.step(text, best, **facts):
            raise StopSearch

    def _call_back(self, facts) -> bool:
        last = self.exact and self.done == self.total
        return self.callback is not None and self.callback.step(self.unit, last, **facts)

    def _advance(self, partial):
        """Update the share of the work that is done; partial : the share of the current step."""
        if self.total:
            done = self.done + partial
            self._set_share(done / (self.total if self.exact else max(self.total, done + 1)))
        elif self.shown:
            DISPLAY.update(self)

    def _set_share(self, share):
        self.share = max(self.share or 0.0, min(share, 1.0))
        if self.shown:
            DISPLAY.update(self)
        if self._parent is not None and self.share < 1:
            self._parent._advance(self.share)

    # ---------------------------------------------------------------- text

    @property
    def seconds(self) -> float:
        """Since the start."""
        return time.perf_counter() - self._start

    @property
    def count(self) -> str:
        """The number of steps so far; empty if there is only one."""
        if self.total and self.exact:
            return f"{self.done} of {self.total}" if self.total > 1 else ""
        return f"{self.done} {self.unit}{'s' * (self.done != 1)}"

    @property
    def details(self) -> str:
        """The best result, and that of the last step."""
        return "; ".join(filter(None, [self.best, self.text]))

    @property
    def status(self) -> str:
        """The state of an open task."""
        return _join(self.title, self.count, self.details, self._remaining())

    def _remaining(self) -> str:
        if not self.share or self.share == 1 or self.seconds < _SECONDS_BEFORE_ESTIMATE:
            return ""
        return f"about {seconds_as_text(self.seconds * (1 / self.share - 1), digits=0)} left"

    def summary(self, failed) -> str:
        """One line for a task that has ended."""
        text = _join(self.title, "broken off" if failed else "", self.best or self.text, self.count)
        return f"[{self.name}] {text} in {seconds_as_text(self.seconds)}"


def _join(title, *details):
    text = ", ".join(filter(None, details))
    return f"{title}: {text}" if text else title


def seconds_as_text(seconds, digits=1) -> str:
    """As ``0.3 s``, ``12 s``, ``3 min 20 s`` or ``2 h 5 min``; digits : decimals below ten seconds."""
    if digits and seconds < 9.95:
        return f"{seconds:.{digits}f} s"
    rounded = max(1, round(seconds))
    if rounded < 60:
        return f"{rounded} s"
    if rounded < 3600:
        return f"{rounded // 60} min {rounded % 60} s"
    return f"{rounded // 3600} h {rounded % 3600 // 60} min"


class Iterations(Task):
    """The iterations of a solver, which calls it with their number and the relative duality gap.

    The share of the work is estimated from the logarithm of the gap, which falls about linearly from 0 to log(tol).
    """

    def __init__(self, name, where, tol, max_iter, **options):
        super().__init__(name, "solve", where, "iteration", **options)
        self._tol, self._max_iter = tol, max_iter

    def __call__(self, iteration, gap) -> bool:
        self.done, self.text = iteration, f"gap {gap:.1e}"
        by_gap = math.log(gap) / math.log(self._tol) if 0 < gap < 1 and self._tol < 1 else float(gap <= self._tol)
        self._set_share(max(by_gap, iteration / self._max_iter))
        return self._call_back({"iteration": iteration, "gap": gap})


class Progress:
    """Makes the tasks of an estimator, which are shown if it is verbose."""

    def __init__(self, name="", verbose=0):
        self.name, self.verbose = name, bool(verbose)

    def task(self, work, unit="step", total=None, *, where="", exact=True, is_step=False, has_subtasks=False) -> Task:
        """See ``Task``."""
        options = {"exact": exact, "is_step": is_step, "has_subtasks": has_subtasks, "shown": self.verbose}
        callback = _subtask_callback(work, unit, total if exact else None, has_subtasks)
        return Task(self.name, work, where, unit, total, callback=callback, **options)

    def iterations(self, where, tol, max_iter) -> contextlib.AbstractContextManager[Any]:
        """A context that gives the callback of a solver, None if neither display nor callbacks need it."""
        callback = _subtask_callback("solve", "iteration")
        if not self.verbose and callback is None:
            return contextlib.nullcontext()
        return Iterations(self.name, where, tol, max_iter, callback=callback, shown=self.verbose)


# ---------------------------------------------------------------- callbacks


def _subtask_callback(work, unit, total=None, has_subtasks=False):
    """The ``CallbackTask`` of a task that starts inside the innermost open one; None if callbacks do not see it."""
    around = _innermost()
    if around is None or around.callback is None or not around.has_subtasks:
        return None
    return around.callback.subtask(work, unit, total, has_subtasks)


class _Fit:
    """A fit as the outermost task of callbacks; the display does not show it."""

    shown, has_subtasks = False, True

    def __init__(self, callback):
        self.callback = callback


@contextlib.contextmanager
def callback_scope(callback):
    """Report the tasks inside to a ``CallbackTask``, and not to those of outer fits; None for no callbacks."""
    tasks = _open_tasks()
    number = len(tasks)
    tasks.append(_Fit(callback))
    try:
        yield
    finally:
        del tasks[number:]


def propagate_callbacks(estimator) -> contextlib.AbstractContextManager[Any]:
    """A context for the fit of another estimator as one step of the innermost task; callbacks are handed on to it."""
    around = _innermost()
    if not isinstance(around, Task) or around.callback is None:
        return contextlib.nullcontext()
    return around.callback.propagate(estimator, around.unit)


# ---------------------------------------------------------------- jobs


def run_jobs(task: Task, jobs, n_jobs=None) -> list:
    """Results of jobs in their order; each job is a step of the task.

    jobs : calls delayed by scikit-learn's ``delayed``, which hands its configuration to the workers
    """
    results = []
    with task:
        for result in Parallel(n_jobs=n_jobs, return_as="generator")(jobs):
            results.append(result)
            task.step()
    return results
