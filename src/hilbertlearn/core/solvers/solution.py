"""What solvers return, and how they report progress."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np


@dataclass(frozen=True)
class Solution:
    """Dual variables (n, d), their relative duality gap, and how the solver reached them."""

    dual: np.ndarray
    gap: float
    n_iter: int
    converged: bool
    history: list[float] = field(default_factory=list)  # relative gaps, in the order they were computed
    solver: str = ""  # the name of the solver
    gave_up: bool = False  # the solver expects another suitable one to be faster
    expansion: np.ndarray | None = None  # (N, d) coefficients on features, more accurate than those from ``dual``
    function: np.ndarray | None = None  # (n, d) coefficients of the certified function, where they are not ``dual``
    stopped: bool = False  # a callback stopped the solver


def append_solution(first: Solution, second: Solution) -> Solution:
    """The second solution, with the iterations of both; the second solver started at the first solution."""
    return replace(second, n_iter=first.n_iter + second.n_iter, history=first.history + second.history)


class IterationMonitor:
    """Calls an optional callback (iteration, gap), and remembers whether it asked to stop."""

    def __init__(self, callback):
        self._callback, self.stopped = callback, False

    def __call__(self, iteration, gap) -> bool:
        if self._callback is not None and self._callback(iteration, gap):
            self.stopped = True
        return self.stopped
