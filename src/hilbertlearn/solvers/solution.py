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
