"""Conformalised quantiles (Romano, Patterson & Candès 2019): sets whose width follows the input.

An estimator that predicts quantiles gives a lower and an upper one. An output is stored as two columns, one for each,
so that its residuals are ``y - lower`` and ``y - upper``; models, scales and scores work with these. Its score is
``max(lower - y, y - upper)``, negative between the two. Sets reach from the lower quantile minus a score to the upper
quantile plus a score.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from .calibration import Calibration, ends_around
from .levels import lower_ends, upper_ends
from .output_form import OutputForm
from .rows import RowSets
from .scores import Score, replace_zeros
from .wrapped import quantile_levels


@dataclass(frozen=True)
class QuantileForm(OutputForm):
    """Outputs as rows (n, 2 d): each twice, for its lower and for its upper quantile."""

    n_levels: int = 0
    ends: tuple[int, int] = (0, 0)  # positions of the lower and the upper level

    @classmethod
    def from_levels(cls, form: OutputForm, levels, level) -> QuantileForm:
        """The form with the two levels nearest to ``(1 -+ level) / 2``."""
        below, above = np.flatnonzero(levels < 0.5), np.flatnonzero(levels > 0.5)
        if not len(below) or not len(above):
            raise ValueError(
                f"estimator: intervals begin with a quantile below the median and one above it, got levels "
                f"{levels.tolist()}; give for example levels=({(1 - level) / 2:.3g}, {(1 + level) / 2:.3g})"
            )
        low = below[np.argmin(np.abs(levels[below] - (1 - level) / 2))]
        high = above[np.argmin(np.abs(levels[above] - (1 + level) / 2))]
        values = {field.name: getattr(form, field.name) for field in fields(OutputForm)}
        return cls(**values, n_levels=len(levels), ends=(int(low), int(high)))

    def rows(self, y):
        values = np.asarray(y, dtype=float) if isinstance(y, np.ndarray) else None
        if values is not None and values.shape[1:] in self._prediction_shapes:
            blocks = values.reshape(len(values), self.size, self.n_levels)[:, :, list(self.ends)]
            return np.moveaxis(blocks, 2, 1).reshape(len(values), 2 * self.size)
        rows = super().rows(y)
        return np.hstack([rows, rows])

    def _irregular_outputs(self, points, values):
        raise ValueError("y must be on the grid of the training curves where an estimator predicts quantiles")

    @property
    def _prediction_shapes(self):
        """Shapes of one prediction; a container of single curves may come without its last axis."""
        shapes = [(*self.shape, self.n_levels)]
        if self.layout is not None and self.shape[-1] == 1:
            shapes.append((*self.shape[:-1], self.n_levels))
        return shapes


class QuantileDistance(Score):
    """The largest distance of any output, or at any point of a curve, beyond its quantiles: boxes and bands.

    Distances are relative to a scale, the mean distance between the two quantiles.
    """

    def learn(self, residuals, weights, level, robust=False):
        below, above = np.split(residuals, 2, axis=1)
        distances = below - above
        observed = np.isfinite(distances)
        mass = weights @ observed
        sums = weights @ np.where(observed, np.abs(distances), 0.0)
        return replace_zeros(np.divide(sums, mass, out=np.ones_like(mass), where=mass > 0))

    def learn_in_units(self, residuals, units, weights, level, robust=False):
        return self.learn(residuals / units, weights, level, robust) * units[: len(units) // 2]

    def sizes(self, residuals, scales):
        return np.fmax.reduce(beyond(residuals) / scales, axis=-1)

    def extents(self, scales):
        return scales


def beyond(residuals):
    """Distances (..., d) of outputs beyond their quantiles, negative between them, from residuals (..., 2 d)."""
    below, above = np.split(residuals, 2, axis=-1)
    return np.maximum(-below, above)


class QuantileCalibration(Calibration):
    """Sets around a lower and an upper quantile."""

    def intervals(self, X, query_weights=None):
        return self._ends(X, beyond(self.residuals), query_weights)

    def _ends(self, X, half_widths, query_weights, interpolate=None):
        parts = []
        for rows, centres, _ in self.centres(X, size=2 * half_widths.shape[1]):
            below, above = np.split(centres, 2, axis=2)
            if interpolate is not None:
                below, above = interpolate(below), interpolate(above)
            lower, upper = ends_around(below, above, half_widths)
            weights = self._weight_arguments(query_weights, rows)
            lower = lower_ends(lower, self.level, *weights)
            upper = upper_ends(upper, self.level, *weights)
            parts.append((np.minimum(lower, upper), np.maximum(lower, upper)))
        lower, upper = (np.concatenate(ends) for ends in zip(*parts, strict=True))
        return lower, upper


class QuantileSets(RowSets):
    """Intervals, regions and bands around the quantiles that the estimator predicts."""

    calibration_class = QuantileCalibration

    @staticmethod
    def as_score(score):
        """The score of quantiles, from "auto" only."""
        if not isinstance(score, QuantileDistance) and score != "auto":
            raise ValueError(
                f"score={score!r} is of residuals around one prediction, and the estimator predicts quantiles; "
                "set score='auto'"
            )
        return QuantileDistance()

    @classmethod
    def _output_form(cls, settings, y):
        form, _ = super()._output_form(settings, y)
        return QuantileForm.from_levels(form, quantile_levels(settings.estimator), settings.level), None
