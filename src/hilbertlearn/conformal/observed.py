"""What was seen of outputs: rows of numbers on common points, or functions each at points of its own.

Models predict rows (n, d) in both cases. Between the points of their grid functions are linear here, predictions and
scales alike, so that a function can be compared with them wherever it was seen.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..data.functions import interpolate_linear

_ROUNDING = 64 * np.finfo(float).eps  # of predictions, relative to outputs


@dataclass(frozen=True, eq=False)
class Rows:
    """Outputs (n, d), NaN where not observed."""

    values: np.ndarray

    def __len__(self):
        return len(self.values)

    def __getitem__(self, rows):
        return Rows(self.values[rows])

    def only(self, columns):
        """The same with columns of a mask (1, d) or (n, d) alone, the others not observed."""
        return Rows(np.where(columns, self.values, np.nan))

    @property
    def known(self):
        """(n,) of which anything was observed."""
        return np.isfinite(self.values).any(axis=1)

    def on_rows(self):
        """Outputs as rows (n, d)."""
        return self.values

    def residuals(self, predictions):
        """What is left (n, d) after predictions (n, d), in size at least what rounding makes of them.

        Infinite where there is an output and no prediction, as of a model whose samples do not have that output.
        Formulas and predictions round differently: an output that is constant would have samples without any error,
        and new ones outside of a set of one point.
        """
        found, least = self.values - predictions, _ROUNDING * np.abs(self.values)
        found = np.where(np.isnan(predictions) & np.isfinite(self.values), np.inf, found)
        return np.where(np.abs(found) < least, np.copysign(least, found), found)

    def own_sizes(self, score, predictions, scales):
        """Scores (n,) of each output under the prediction (n, d) and the scale (n, ...) of its own model."""
        return score.sizes(self.residuals(predictions)[None], scales)[0]

    def sizes(self, score, predictions, scales):
        """Scores (n, K) under predictions (n, K, d) and scales (K, ...) of K models."""
        return score.sizes(self.values[:, None] - predictions, scales)


@dataclass(frozen=True, eq=False)
class AtOwnPoints:
    """Functions of one variable: points [(m_i,), ...] of each, and p values [(m_i, p), ...] there, some of them NaN.

    axis : (m,) grid of the predictions, whose rows are (m, p) flattened
    """

    points: list
    values: list
    axis: np.ndarray

    def __len__(self):
        return len(self.points)

    def __getitem__(self, rows):
        own = np.arange(len(self))[rows]
        return AtOwnPoints([self.points[i] for i in own], [self.values[i] for i in own], self.axis)

    def only(self, columns):
        """The same at points between columns of a mask (1, d) or (n, d) of the grid alone, the others not observed."""
        gone = np.broadcast_to(~columns, (len(self), columns.shape[1])).astype(float)
        values = [
            np.where(self._at(points, row) > 0, np.nan, own)
            for points, own, row in zip(self.points, self.values, gone, strict=True)
        ]
        return AtOwnPoints(self.points, values, self.axis)

    @property
    def known(self):
        return np.array([bool(np.isfinite(values).any()) for values in self.values], dtype=bool)

    def on_rows(self):
        """Outputs on the grid, (n, d), as ``residuals`` takes them there."""
        return self.residuals(np.zeros((len(self), len(self.axis) * self._curves)))

    def residuals(self, predictions):
        """Residuals at the points of each function, (n, d) on the grid: linear between them, NaN beyond the ends.

        Where no function of all was seen the nearest values of each stand in, so that scales are known everywhere.
        """
        both = np.full((2, len(self), len(self.axis), self._curves), np.nan)  # inside the ends, and everywhere
        for i, (points, values) in enumerate(zip(self.points, self.values, strict=True)):
            left = values - self._at(points, predictions[i])
            for curve in range(self._curves):
                seen = np.isfinite(left[:, curve])
                if not seen.any():
                    continue
                order = np.argsort(points[seen])
                own = points[seen][order], left[seen, curve][order]
                inside = (self.axis >= own[0][0]) & (self.axis <= own[0][-1])
                both[1, i, :, curve] = np.interp(self.axis, *own)
                both[0, i, inside, curve] = both[1, i, inside, curve]
        inside, everywhere = both
        found = np.where(np.isfinite(inside).any(axis=0), inside, everywhere)
        return found.reshape(len(self), -1)

    def own_sizes(self, score, predictions, scales):
        each = (
            self._sizes(i, score, row[None], scale[None])
            for i, (row, scale) in enumerate(zip(predictions, scales, strict=True))
        )
        return np.concatenate(list(each))

    def sizes(self, score, predictions, scales):
        return np.stack([self._sizes(i, score, rows, scales) for i, rows in enumerate(predictions)])

    def _sizes(self, i, score, predictions, scales):
        """Scores (K,) of function i."""
        points, values = self.points[i], self.values[i]
        if not score.pointwise:
            raise ValueError("score='mahalanobis' needs functions on the training grid; use 'scale', or put y on it")
        if not len(points):
            return np.full(len(predictions), np.nan)
        left = values - self._at(points, predictions)
        flat = (len(left), -1)
        return score.sizes(left.reshape(flat), self._at(points, scales).reshape(len(scales), -1))

    def _at(self, points, rows):
        """Values (..., m_i, p) at points of rows (..., d)."""
        return interpolate_linear(rows.reshape(*rows.shape[:-1], len(self.axis), -1), self.axis, points, axis=-2)

    @property
    def _curves(self):
        return self.values[0].shape[1]
