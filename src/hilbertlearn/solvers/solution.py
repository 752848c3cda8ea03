"""What every solver returns."""

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
