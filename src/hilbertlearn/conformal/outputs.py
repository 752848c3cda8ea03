"""Outputs as rows of numbers, and back in the form in which they came."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import check_array

from ..frames import FrameForm, numbers_of
from ..functions import Curves, Layout, brings_points, read_functions, rows_of_none


@dataclass(frozen=True)
class OutputForm:
    """How outputs become rows (n, d) of numbers, and sets of them come back.

    Numbers, vectors, arrays of any shape (functions on a grid), data frames, and scikit-fda's functions on a grid.
    """

    shape: tuple  # of one output in an array, () for a number
    frame: FrameForm | None = None
    layout: Layout | None = None  # of a container of functions, with their grid
    axes: Any = None
    domain: Any = None

    @classmethod
    def of(cls, y) -> OutputForm:
        if not brings_points(y):
            return cls(_numbers(y).shape[1:], FrameForm.of(y))
        data, layout = read_functions(y)
        if not isinstance(data, Curves):
            raise TypeError(
                "y: functions at points of their own have no common points for a band; give them on a grid, with NaN "
                "where they were not observed"
            )
        return cls(data.values.shape[1:], None, layout, data.axes, data.domain)

    @property
    def size(self) -> int:
        return int(np.prod(self.shape))

    def rows(self, y):
        """Outputs, or predictions, as rows (n, d), NaN where not observed."""
        if self.layout is None:
            if self.frame is not None:
                self.frame.check(y)
            values = _numbers(y)
        else:
            values = read_functions(y)[0].values if brings_points(y) else _numbers(y)
        if int(np.prod(values.shape[1:])) != self.size:
            raise ValueError(
                f"y must have the shape (n, {', '.join(map(str, self.shape))}) of the training outputs, got "
                f"{values.shape}"
            )
        return values.reshape(len(values), self.size)

    def array(self, rows):
        """Rows (n, d) in the shape of the outputs, (n, *shape)."""
        return rows.reshape(len(rows), *self.shape)

    def wrap(self, rows, X=None):
        """Rows (n, d) in the form of the training outputs; X : inputs, whose index a data frame takes over."""
        values = self.array(rows)
        if self.layout is not None:
            return self.layout.wrap(values, self.axes, self.domain)
        if self.frame is not None:
            return self.frame.wrap(values, X.index if hasattr(X, "iloc") else None)
        return values


def _numbers(y):
    """Numbers (n, ...) of an array, a list or a data frame."""
    try:
        return check_array(
            rows_of_none(numbers_of(y)),
            dtype=np.float64,
            ensure_2d=False,
            allow_nd=True,
            ensure_all_finite="allow-nan",
            input_name="y",
        )
    except (TypeError, ValueError) as error:
        raise ValueError(f"y must be numbers for intervals, regions and bands: {error}") from error
