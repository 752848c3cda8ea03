"""Jobs of joblib, of which one is told."""

from __future__ import annotations

from joblib import Parallel

from .tasks import Task


def results(task: Task, jobs, n_jobs=None) -> list:
    """What jobs, calls that joblib has delayed, return, in their order; each is a step of the task."""
    found = []
    with task:
        for one in Parallel(n_jobs=n_jobs, return_as="generator")(jobs):
            found.append(one)
            task.step()
    return found
