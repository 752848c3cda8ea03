"""Vectors as they are: the coordinates are the outputs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.utils import check_array

from ..functions import brings_points
from .base import Space


@dataclass(frozen=True)
class Vector(Space):
    """Real vectors, NaN where not observed; a 1-D array is one output and comes back as 1-D."""

    one_output: bool = False

    @property
    def pointwise(self):
        return True

    @classmethod
    def of(cls, y):
        """The space of outputs y (n, d) or (n,)."""
        return cls(_checked(y).ndim == 1)

    def encode(self, y):
        """Coordinates (n, d) of outputs (n, d) or (n,)."""
        y = _checked(y)
        return y[:, None] if y.ndim == 1 else y

    def decode(self, coordinates):
        """Outputs from coordinates (n, d)."""
        return coordinates[:, 0] if self.one_output else coordinates


def _checked(y):
    if brings_points(y):
        raise ValueError(
            f"y must be numbers of shape (n,) or (n, d), got a {type(y).__name__}; use FunctionalRegressor"
        )
    try:
        return check_array(y, dtype=np.float64, ensure_2d=False, ensure_all_finite="allow-nan", input_name="y")
    except ValueError as error:
        raise ValueError(f"y must be numbers of shape (n,) or (n, d): {error}") from error
