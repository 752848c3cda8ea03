"""The containers of training data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..data.frames import FrameForm


@dataclass(frozen=True)
class DataForm:
    """The containers of the training data, in which predictions are given back."""

    frame: FrameForm | None = None  # of the outputs, where they came in a data frame or a series
    index: Any = None  # of the samples, where they came in a data frame of pandas
    single: bool = False  # whether predictions are float32

    def check_order(self, y):
        """Raise if outputs in a data frame have their columns in another order than the training outputs."""
        if self.frame is not None:
            self.frame.check(y)

    def round(self, outputs):
        """Numbers in float32 where the training inputs were, anything else as it is."""
        floats = isinstance(outputs, np.ndarray) and outputs.dtype == np.float64
        return outputs.astype(np.float32) if self.single and floats else outputs

    def wrap(self, outputs, X, points=None):
        """Outputs predicted for X in a data frame or a series, where the training outputs came in one.

        points : where functions were evaluated, None for the training grid
        """
        if self.frame is None:
            return outputs
        return self.frame.wrap(outputs, X.index if hasattr(X, "iloc") else None, points)
