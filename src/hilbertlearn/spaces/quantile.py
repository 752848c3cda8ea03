"""Coordinates of quantiles of several levels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .base import Space


@dataclass(frozen=True)
class QuantileSpace(Space):
    """Coordinates (n, d L) of quantiles of L levels: each coordinate of a base space is repeated L times.

    ``encode`` returns L copies of an output, from which the residuals of its quantiles are computed. ``decode`` returns
    quantiles with one axis more than outputs; a single level may omit this axis.
    """

    base: Space
    n_levels: int
    axis: bool = True  # False: quantiles of a single level have the shape of outputs

    @property
    def pointwise(self):
        return self.base.pointwise

    @property
    def measure(self):
        return None if self.base.measure is None else np.repeat(self.base.measure, self.n_levels)

    @property
    def axes(self):
        """Axes of the base space of functions; vectors have none."""
        return self.base.axes  # type: ignore[attr-defined]

    @property
    def grids(self):
        return self.base.grids  # type: ignore[attr-defined]

    def encode(self, y):
        return np.repeat(self.base.encode(y), self.n_levels, axis=1)

    def decode(self, coordinates):
        """Quantiles (n, L) of one output, (n, d, L) of vectors or curves; without the last axis if not ``axis``."""
        levels = [np.asarray(self.base.decode(part)) for part in self._parts(coordinates)]
        return np.stack(levels, axis=-1) if self.axis else levels[0]

    def decode_differences(self, coordinates):
        levels = [np.asarray(self.base.decode_differences(part)) for part in self._parts(coordinates)]
        return np.stack(levels, axis=-1) if self.axis else levels[0]

    def evaluate_on_grid(self, coordinates):
        """Values (n, ..., p, L) of functions on the grid, levels last."""
        return np.stack([self.base.evaluate_on_grid(part) for part in self._parts(coordinates)], axis=-1)  # type: ignore[attr-defined]

    def smooth_means(self, means):
        """Smoothed quantiles of each level, sorted because smoothing may make them cross."""
        smooth = np.stack([self.base.smooth_means(part) for part in self._parts(means)], axis=2)
        return np.sort(smooth, axis=2).reshape(means.shape)

    def coordinate_scales(self, Y, weights):
        spread = self.base.coordinate_scales(Y[:, :: self.n_levels], weights)
        return None if spread is None else np.repeat(spread, self.n_levels)

    def encode_filled(self, y):
        return np.repeat(self.base.encode_filled(y), self.n_levels, axis=1)

    def _parts(self, coordinates):
        """Coordinates (n, d) of each level."""
        return [np.ascontiguousarray(coordinates[:, k :: self.n_levels]) for k in range(self.n_levels)]
