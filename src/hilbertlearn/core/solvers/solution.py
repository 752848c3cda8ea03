"""What every solver is given and returns."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np


@dataclass(frozen=True)
class Solution:
    """Dual variables (n, d), their relative duality gap, and how they were reached."""

    dual: np.ndarray
    gap: float
    n_iter: int
    converged: bool
    history: list[float] = field(default_factory=list)  # relative gaps, in the order they were checked
    solver: str = ""  # the name of the solver
    gave_up: bool = False  # another solver that suits would be faster
    expansion: np.ndarray | None = None  # (N, d) coefficients on features, with more digits than those of ``dual``
    function: np.ndarray | None = None  # (n, d) of the function the gap belongs to, where that is not of ``dual``
    stopped: bool = False  # by the one who was told of its iterations


class IterationMonitor:
    """A callback (iteration, gap) that may be None, and remembers whether it has asked to stop."""

    def __init__(self, callback):
        self._callback, self.stopped = callback, False

    def __call__(self, iteration, gap) -> bool:
        if self._callback is not None and self._callback(iteration, gap):
            self.stopped = True
        return self.stopped
