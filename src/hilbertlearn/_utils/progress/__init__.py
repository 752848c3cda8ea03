"""Progress of long work: live bars or log lines for the user, steps for callbacks.

An estimator has a ``Progress``, which makes tasks: ``with progress.task("search of alpha", "alpha", 13) as task``, then
``task.step(...)``. A task that starts inside another one in the same thread is its subtask.

``tasks.py`` counts steps and reports them to two places: to ``display.py``, if the estimator is verbose, and to the
callbacks of the estimator (``_utils/callbacks.py``), if it has any. The display is a thin adapter: ``rich.progress``
draws bars in a terminal; without rich, and in files and notebooks, ``logging`` writes a line now and then.
"""

from .tasks import Progress, StopSearch, Task, callback_scope, propagate_callbacks, run_jobs

__all__ = ["Progress", "StopSearch", "Task", "callback_scope", "propagate_callbacks", "run_jobs"]
