"""Scikit-learn's callbacks, where the installed version has them (from 1.9 on); nothing elsewhere."""

from __future__ import annotations

from contextlib import contextmanager
from functools import wraps
from typing import Any

from .naming import unnamed_in_errors
from .progress import heard_by

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """No callbacks to support."""

    def with_callbacks(method):
        return method


@unnamed_in_errors
class Watched(CallbackSupportMixin):
    """An estimator whose fit is the outermost task that callbacks are told of; ``set_callbacks`` is scikit-learn's.

    Inside it are tasks ("choice of the kernel", "choice of alpha", "solve", "errors of folds", ...) with their steps.
    A callback that asks to stop at the end of a step ends a solver's iterations, or a search with the best so far.
    """

    @contextmanager
    def watching(self, X, y, sample_weight):
        """A fit, of which callbacks are told."""
        if not hasattr(self, "set_callbacks"):
            with heard_by(None):
                yield
            return
        given = {"X": X, "y": y, "metadata": None if sample_weight is None else {"sample_weight": sample_weight}}
        try:
            context = self._init_callback_context(max_subtasks=None)
            context.call_on_fit_task_begin(estimator=self, **given)
            some = bool(getattr(self, "_skl_callbacks", ()))
            with heard_by(_Task(self, context, given, in_parts=True) if some else None):
                yield
            context.call_on_fit_task_end(estimator=self, reconstruction_attributes={}, **given)
        finally:
            _tear_down(self)


@with_callbacks
def _tear_down(estimator):
    """Nothing by itself: callbacks end with it. Around a whole fit warnings would be at lines of scikit-learn's."""


def watched(fit):
    """The method ``fit(X, y, sample_weight, ...)`` of a ``Watched``, on the copy that it is made on."""

    @wraps(fit)
    def told(self, X, y=None, *more, **named):
        weights = named.get("sample_weight", more[0] if more else None)
        with self.watching(X, y, weights):
            return fit(self, X, y, *more, **named)

    return told


class _Task:
    """A task that callbacks are told of, as ``_progress`` asks for it."""

    def __init__(self, estimator, context, given, *, in_parts):
        self._estimator, self._context, self._given, self._in_parts = estimator, context, given, in_parts
        self._step: Any = None  # that has begun
        self._has_parts = False  # whether the step was made of a task

    def inside(self, work, unit, total, in_parts) -> _Task:
        """A task that is one of the steps of this one."""
        self._has_parts = True
        context = self._context.subcontext(task_name=work, max_subtasks=total)
        context.call_on_fit_task_begin(estimator=self._estimator, **self._given)
        new = _Task(self._estimator, context, self._given, in_parts=in_parts)
        if not in_parts:
            new._begin(unit)
        return new

    @contextmanager
    def handing_on(self, estimator, unit):
        """The fit of another estimator, which is the next step."""
        self._step = self._context.subcontext(task_name=unit)
        with self._step.propagate_callback_context(estimator):
            self._step.call_on_fit_task_begin(estimator=self._estimator, **self._given)
            yield

    def step(self, unit, last, **facts) -> bool:
        """A step has ended, its facts are metadata; the next begins unless it was the last. Whether to stop."""
        if self._has_parts:  # the task inside was the step
            self._has_parts = False
            return False
        if self._step is None:
            self._begin(unit)
        stop = self._step.call_on_fit_task_end(estimator=self._estimator, **{**self._given, "metadata": facts or None})
        self._step = None
        if not (last or stop or self._in_parts):
            self._begin(unit)
        return stop

    def _begin(self, unit):
        self._step = self._context.subcontext(task_name=unit)
        self._step.call_on_fit_task_begin(estimator=self._estimator, **self._given)

    def end(self):
        """The task has ended, and with it a step that was begun and is empty."""
        if self._step is not None:
            self._step.call_on_fit_task_end(estimator=self._estimator)
        self._context.call_on_fit_task_end(estimator=self._estimator, **self._given)
