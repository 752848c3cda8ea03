"""Conformalised quantiles (Romano, Patterson & Candès 2019): sets whose width follows the input.

An estimator that predicts quantiles gives a lower and an upper one. An output is kept as two columns, once beside each,
so that its residuals are ``y - lower`` and ``y - upper``: all that leaving out, scales and scores work with. Its score
is ``max(lower - y, y - upper)``, negative between the two, and sets reach from the lower quantile less a score to the
upper one and a score.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
from sklearn.pipeline import Pipeline

from .calibration import Calibration, ends_of
from .levels import lower_ends, upper_ends
from .outputs import OutputForm
from .scores import Score, positive


def levels_of(estimator):
    """Levels (L,) of the quantiles that an estimator predicts, behind pipelines and searches; None if it does not."""
    while not getattr(estimator, "predicts_quantiles", False):
        inner = estimator.steps[-1][1] if isinstance(estimator, Pipeline) else getattr(estimator, "estimator", None)
        if inner is None or isinstance(inner, str):
            return None
        estimator = inner
    return np.atleast_1d(np.asarray(estimator.levels, dtype=float))


@dataclass(frozen=True)
class QuantileForm(OutputForm):
    """Outputs as rows (n, 2 d): each beside its lower and beside its upper quantile."""

    n_levels: int = 0
    ends: tuple[int, int] = (0, 0)  # numbers of the levels that sets begin with

    @classmethod
    def around(cls, form: OutputForm, levels, level) -> QuantileForm:
        """The levels nearest to those that hold a share `level` between them."""
        below, above = np.flatnonzero(levels < 0.5), np.flatnonzero(levels > 0.5)
        if not len(below) or not len(above):
            raise ValueError(
                f"estimator: intervals begin with a quantile below the median and one above it, got levels "
                f"{levels.tolist()}; give for example levels=({(1 - level) / 2:.3g}, {(1 + level) / 2:.3g})"
            )
        low = below[np.argmin(np.abs(levels[below] - (1 - level) / 2))]
        high = above[np.argmin(np.abs(levels[above] - (1 + level) / 2))]
        given = {field.name: getattr(form, field.name) for field in fields(OutputForm)}
        return cls(**given, n_levels=len(levels), ends=(int(low), int(high)))

    def rows(self, y):
        values = np.asarray(y, dtype=float) if isinstance(y, np.ndarray) else None
        if values is not None and values.shape[1:] in self._predicted:
            blocks = values.reshape(len(values), self.size, self.n_levels)[:, :, list(self.ends)]
            return np.moveaxis(blocks, 2, 1).reshape(len(values), 2 * self.size)
        rows = super().rows(y)
        return np.hstack([rows, rows])

    def _at_own_points(self, points, values):
        raise ValueError("y must be on the grid of the training curves where an estimator predicts quantiles")

    @property
    def _predicted(self):
        """Shapes of one prediction: those of outputs, of a container of curves without the axis of a single one."""
        shapes = [(*self.shape, self.n_levels)]
        if self.layout is not None and self.shape[-1] == 1:
            shapes.append((*self.shape[:-1], self.n_levels))
        return shapes


class Quantiles(Score):
    """The largest distance of any output, or at any point of a curve, beyond its quantiles: boxes and bands.

    Each relative to a scale, the mean distance between the two quantiles; a band is wide where these are apart.
    """

    def learn(self, residuals, weights, level, robust=False):
        below, above = np.split(residuals, 2, axis=1)
        apart = below - above
        seen = np.isfinite(apart)
        mass = weights @ seen
        return positive(
            np.divide(weights @ np.where(seen, np.abs(apart), 0.0), mass, out=np.ones_like(mass), where=mass > 0)
        )

    def learn_in_units(self, residuals, units, weights, level, robust=False):
        return self.learn(residuals / units, weights, level, robust) * units[: len(units) // 2]

    def sizes(self, residuals, scales):
        return np.fmax.reduce(beyond(residuals) / scales, axis=-1)

    def extents(self, scales):
        return scales


def beyond(residuals):
    """How far outputs are beyond their quantiles (..., d), negative between, from residuals (..., 2 d)."""
    below, above = np.split(residuals, 2, axis=-1)
    return np.maximum(-below, above)


class QuantileCalibration(Calibration):
    """Sets that begin with a lower and end with an upper quantile."""

    def intervals(self, X, own=None):
        return self._ends(X, beyond(self.residuals), own)

    def _ends(self, X, half, own, move=None):
        parts = []
        for rows, centres in self.centres(X, size=2 * half.shape[1]):
            weighed = (None, None) if own is None else (self.weights, own[rows])
            below, above = (part if move is None else move(part) for part in np.split(centres, 2, axis=2))
            lower, upper = ends_of(below, above, half)
            lower = lower_ends(lower, self.level, *weighed)
            upper = upper_ends(upper, self.level, *weighed)
            parts.append((np.minimum(lower, upper), np.maximum(lower, upper)))
        lower, upper = (np.concatenate(ends) for ends in zip(*parts, strict=True))
        return lower, upper
