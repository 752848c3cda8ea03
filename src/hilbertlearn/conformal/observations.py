"""Observed outputs: rows of numbers on common points, or irregular functions, each at its own points.

Models predict rows (n, d) in both cases. Predictions and scales are interpolated linearly between the points of their
grid, so that a function can be compared with them wherever it was observed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..data.functions import interpolate_linear

_ROUNDING = 64 * np.finfo(float).eps  # smallest size of a residual relative to the output: rounding of a prediction


@dataclass(frozen=True, eq=False)
class RowOutputs:
    """Outputs (n, d), NaN where not observed."""

    values: np.ndarray

    def __len__(self):
        return len(self.values)

    def __getitem__(self, rows):
        return RowOutputs(self.values[rows])

    def masked(self, mask):
        """The same outputs, observed only where a mask (1, d) or (n, d) is True."""
        return RowOutputs(np.where(mask, self.values, np.nan))

    @property
    def is_observed(self):
        """(n,) whether any entry of an output was observed."""
        return np.isfinite(self.values).any(axis=1)

    def to_rows(self):
        """Outputs as rows (n, d)."""
        return self.values

    def residuals(self, predictions):
        """Residuals (n, d) of predictions (n, d), in size at least the rounding error of a prediction.

        They are infinite where an output has no prediction, as of a model whose training samples lack that output.
        Closed forms and predictions round differently. Without the lower bound the calibration samples of a constant
        output would have residual zero, and new ones would lie outside a set of one point.
        """
        residuals, smallest = self.values - predictions, _ROUNDING * np.abs(self.values)
        residuals = np.where(np.isnan(predictions) & np.isfinite(self.values), np.inf, residuals)
        return np.where(np.abs(residuals) < smallest, np.copysign(smallest, residuals), residuals)

    def scores_by_sample(self, score, predictions, scales):
        """Score (n,) of each output under its own prediction (n, d) and scale (n, ...)."""
        return score.sizes(self.residuals(predictions)[None], scales)[0]

    def scores(self, score, predictions, scales):
        """Scores (n, K) under predictions (n, K, d) and scales (K, ...) of K models."""
        return score.sizes(self.values[:, None] - predictions, scales)


@dataclass(frozen=True, eq=False)
class IrregularOutputs:
    """Functions of one variable, each at its own points."""

    points: list  # arrays (m_i,)
    values: list  # arrays (m_i, p), NaN where not observed
    axis: np.ndarray  # (m,) grid of the predictions, whose rows are (m, p) flattened

    def __len__(self):
        return len(self.points)

    def __getitem__(self, rows):
        indices = np.arange(len(self))[rows]
        return IrregularOutputs([self.points[i] for i in indices], [self.values[i] for i in indices], self.axis)

    def masked(self, mask):
        """The same functions, observed only between points of the grid where a mask (1, d) or (n, d) is True."""
        hidden = np.broadcast_to(~mask, (len(self), mask.shape[1])).astype(float)
        values = [
            np.where(self._interpolate(points, row) > 0, np.nan, function)
            for points, function, row in zip(self.points, self.values, hidden, strict=True)
        ]
        return IrregularOutputs(self.points, values, self.axis)

    @property
    def is_observed(self):
        return np.array([bool(np.isfinite(values).any()) for values in self.values], dtype=bool)

    def to_rows(self):
        """Outputs interpolated to the grid, (n, d), in the same way as ``residuals``."""
        return self.residuals(np.zeros((len(self), len(self.axis) * self._n_curves)))

    def residuals(self, predictions):
        """Residuals at the points of each function, interpolated to the grid, (n, d); NaN beyond its end points.

        Where no function was observed the nearest value of each replaces NaN, so that scales exist everywhere.
        """
        inside, everywhere = np.full((2, len(self), len(self.axis), self._n_curves), np.nan)
        for i, (points, values) in enumerate(zip(self.points, self.values, strict=True)):
            residuals = values - self._interpolate(points, predictions[i])
            for curve in range(self._n_curves):
                observed = np.isfinite(residuals[:, curve])
                if not observed.any():
                    continue
                order = np.argsort(points[observed])
                sorted_points, known = points[observed][order], residuals[observed, curve][order]
                is_inside = (self.axis >= sorted_points[0]) & (self.axis <= sorted_points[-1])
                everywhere[i, :, curve] = np.interp(self.axis, sorted_points, known)
                inside[i, is_inside, curve] = everywhere[i, is_inside, curve]
        return np.where(np.isfinite(inside).any(axis=0), inside, everywhere).reshape(len(self), -1)

    def scores_by_sample(self, score, predictions, scales):
        scores = (
            self._scores(i, score, row[None], scale[None])
            for i, (row, scale) in enumerate(zip(predictions, scales, strict=True))
        )
        return np.concatenate(list(scores))

    def scores(self, score, predictions, scales):
        return np.stack([self._scores(i, score, rows, scales) for i, rows in enumerate(predictions)])

    def _scores(self, i, score, predictions, scales):
        """Scores (K,) of function i."""
        points, values = self.points[i], self.values[i]
        if not score.pointwise:
            raise ValueError("score='mahalanobis' needs functions on the training grid; use 'scale', or put y on it")
        if not len(points):
            return np.full(len(predictions), np.nan)
        residuals = values - self._interpolate(points, predictions)
        scales_at = self._interpolate(points, scales).reshape(len(scales), -1)
        return score.sizes(residuals.reshape(len(residuals), -1), scales_at)

    def _interpolate(self, points, rows):
        """Values (..., m_i, p) at points of rows (..., d)."""
        return interpolate_linear(rows.reshape(*rows.shape[:-1], len(self.axis), -1), self.axis, points, axis=-2)

    @property
    def _n_curves(self):
        return self.values[0].shape[1]
