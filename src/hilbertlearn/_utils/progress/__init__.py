"""What long work says while it goes on: to the terminal, and to whoever listens.

An estimator has a ``Progress``, which makes tasks: ``with said.task("choice of alpha", "alpha", 13) as task``, then
``task.step(...)``. Tasks inside others are shown inside them.
"""

from .jobs import results
from .tasks import Enough, Progress, Task, handing_on, heard_by

__all__ = ["Enough", "Progress", "Task", "handing_on", "heard_by", "results"]
