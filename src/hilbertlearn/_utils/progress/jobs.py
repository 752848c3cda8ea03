"""Jobs of joblib, of which one is told."""

from __future__ import annotations

from sklearn.utils.parallel import Parallel

from .tasks import Task


def results(task: Task, jobs, n_jobs=None) -> list:
    """What jobs return, in their order; each is a step of the task.

    jobs : calls delayed by scikit-learn's ``delayed``, which takes its configuration to the workers
    """
    found = []
    with task:
        for one in Parallel(n_jobs=n_jobs, return_as="generator")(jobs):
            found.append(one)
            task.step()
    return found
