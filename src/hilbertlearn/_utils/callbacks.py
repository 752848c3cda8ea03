"""Support of scikit-learn's callbacks, which exist from version 1.9 on; with older versions nothing happens.

Callbacks see the tasks of ``_utils.progress``. A callback that returns True at the end of a step ends the iterations of
a solver, or a search with the best settings so far.
"""

from __future__ import annotations

from contextlib import contextmanager
from functools import wraps
from typing import Any

from .progress import callback_scope

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """An estimator without callbacks."""

    def with_callbacks(method):
        return method


class FitCallbacksMixin(CallbackSupportMixin):
    """An estimator whose fit is the outermost task of callbacks, which ``set_callbacks`` of scikit-learn registers.

    Inside it are tasks ("search of the kernel", "search of alpha", "solve", "errors of folds", ...) with their steps.
    """

    @contextmanager
    def _fit_scope(self, X, y, sample_weight):
        """Call callbacks at the start and the end of a fit, and for the tasks inside."""
        if not hasattr(self, "set_callbacks"):
            with callback_scope(None):
                yield
            return
        data = {"X": X, "y": y, "metadata": None if sample_weight is None else {"sample_weight": sample_weight}}
        try:
            context = self._init_callback_context(max_subtasks=None)
            context.call_on_fit_task_begin(estimator=self, **data)
            has_callbacks = bool(getattr(self, "_skl_callbacks", ()))
            with callback_scope(CallbackTask(self, context, data, has_subtasks=True) if has_callbacks else None):
                yield
            context.call_on_fit_task_end(estimator=self, reconstruction_attributes={}, **data)
        finally:
            _tear_down(self)


@with_callbacks
def _tear_down(estimator):
    """Tear down callbacks, which the decorator does.

    Around a whole fit the decorator would make warnings point to lines of scikit-learn.
    """


def with_fit_callbacks(fit):
    """Decorate the method ``fit(X, y, sample_weight, ...)`` of a ``FitCallbacksMixin``."""

    @wraps(fit)
    def wrapper(self, X, y=None, *args, **kwargs):
        sample_weight = kwargs.get("sample_weight", args[0] if args else None)
        with self._fit_scope(X, y, sample_weight):
            return fit(self, X, y, *args, **kwargs)

    return wrapper


class CallbackTask:
    """A task of ``_utils.progress`` as callbacks see it: a context of scikit-learn with a subcontext for each step."""

    def __init__(self, estimator, context, data, *, has_subtasks):
        self._estimator, self._context, self._data, self._has_subtasks = estimator, context, data, has_subtasks
        self._step: Any = None  # subcontext of the open step
        self._step_is_subtask = False  # then the subtask has reported the step

    def subtask(self, work, unit, total, has_subtasks) -> CallbackTask:
        """A task that is one of the steps of this one."""
        self._step_is_subtask = True
        context = self._context.subcontext(task_name=work, max_subtasks=total)
        context.call_on_fit_task_begin(estimator=self._estimator, **self._data)
        task = CallbackTask(self._estimator, context, self._data, has_subtasks=has_subtasks)
        if not has_subtasks:
            task._begin_step(unit)
        return task

    @contextmanager
    def propagate(self, estimator, unit):
        """The fit of another estimator as the next step."""
        self._step = self._context.subcontext(task_name=unit)
        with self._step.propagate_callback_context(estimator):
            self._step.call_on_fit_task_begin(estimator=self._estimator, **self._data)
            yield

    def step(self, unit, last, **facts) -> bool:
        """End a step with facts as metadata, begin the next unless it was the last; returns whether to stop."""
        if self._step_is_subtask:
            self._step_is_subtask = False
            return False
        if self._step is None:
            self._begin_step(unit)
        stop = self._step.call_on_fit_task_end(estimator=self._estimator, **{**self._data, "metadata": facts or None})
        self._step = None
        if not (last or stop or self._has_subtasks):
            self._begin_step(unit)
        return stop

    def _begin_step(self, unit):
        self._step = self._context.subcontext(task_name=unit)
        self._step.call_on_fit_task_begin(estimator=self._estimator, **self._data)

    def end(self):
        """End the task, and a step that was begun and did nothing."""
        if self._step is not None:
            self._step.call_on_fit_task_end(estimator=self._estimator)
        self._context.call_on_fit_task_end(estimator=self._estimator, **self._data)
