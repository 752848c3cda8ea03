"""Vectors as they are: the coordinates are the outputs."""

from __future__ import annotations

import numpy as np
from sklearn.utils import check_array


class Vector:
    """Real vectors, NaN where not observed; a 1-D array is one output and comes back as 1-D."""

    pointwise = True
    measure = None

    def encode(self, Y):
        """Coordinates (n, d) of outputs (n, d) or (n,)."""
        try:
            Y = check_array(Y, dtype=np.float64, ensure_2d=False, ensure_all_finite="allow-nan", input_name="y")
        except ValueError as error:
            raise ValueError(f"y must be numbers of shape (n,) or (n, d): {error}") from error
        self.one_output = Y.ndim == 1
        return Y[:, None] if self.one_output else Y

    def decode(self, coordinates):
        """Outputs from coordinates (n, d)."""
        return coordinates[:, 0] if self.one_output else coordinates
