"""What held-out residuals are judged by."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .._utils.linalg import row_norms
from .._utils.statistics import weighted_quantile
from ..losses import Loss
from ..training import Samples


@dataclass(frozen=True)
class Criterion:
    """Errors of held-out residuals.

    Without a loss: of several outputs the mean of their relative errors, roots of mean squares over standard
    deviations, of others the mean square, or what the space's decoder makes of them. With a loss, of which residuals
    are known to be large: twice its mean above its least value.
    """

    loss: Loss | None = None

    def summary(self, data: Samples, residuals) -> tuple[float, float]:
        """Error, and its standard error, of residuals (n, d) of the samples of `data`."""
        return self.judge(data)(residuals)

    def judge(self, data: Samples) -> Callable[[np.ndarray], tuple[float, float]]:
        """The summary of residuals of the samples of `data`, a function that many residuals go through."""
        weights = data.weights / data.weights.sum()
        spread = self.spread(data)
        if spread is None:
            return lambda residuals: _mean_and_error(self.errors(data, residuals), weights)
        share = weights[:, None] * np.isfinite(data.Y)
        share = share / np.maximum(share.sum(axis=0), np.finfo(float).tiny)
        return lambda residuals: _relative(residuals, share, spread)

    def spread(self, data: Samples):
        """What errors of each output are relative to (d,), None where those of samples count."""
        return None if self.loss is not None else data.space.coordinate_scales(data.Y, data.weights)

    def errors(self, data: Samples, residuals):
        """Errors (n,) of samples."""
        if self.loss is None:
            return data.space.sample_errors(data.Y, residuals)
        rows = np.nan_to_num(data.encoded.whole(residuals, self.loss))
        floor = self.loss.row_value(np.zeros_like(rows[:1]), data.measure)
        return 2 * (self.loss.row_value(rows, data.measure) - floor)


def _mean_and_error(errors, weights) -> tuple[float, float]:
    """Mean of errors (n,), and its standard error."""
    mean = weights @ errors
    return float(mean), float(np.sqrt(weights**2 @ (errors - mean) ** 2))


def _relative(residuals, share, spread) -> tuple[float, float]:
    """Mean over outputs of relative errors, and its standard error; share : (n, d) of each entry in its output."""
    squares = residuals**2
    squares[np.isnan(squares)] = 0.0
    means = np.einsum("ij,ij->j", share, squares)
    roots = np.sqrt(means)
    # to first order each root moves by half the change of its mean square over itself
    moved = share * np.divide(squares - means, 2 * roots * spread, out=np.zeros_like(squares), where=means > 0)
    return float(np.mean(roots / spread)), float(np.linalg.norm(moved.mean(axis=1)))


class NormCriterion(Criterion):
    """The norms of residuals: what outliers move little, before a loss knows what is large."""

    def spread(self, data):
        return None

    def errors(self, data, residuals):
        return row_norms(np.nan_to_num(residuals))


def robust_weights(loss: Loss | None, residuals, data: Samples):
    """Weights (n,) in (0, 1] under which the squared loss has the optimum of a loss with a bound, to first order.

    Those of iteratively reweighted least squares, ``min(1, bound / |r|)``; without a loss, or for one without
    curvature, they bend at the median residual. Second, what these weights and the penalty are to be multiplied by.
    """
    if loss is not None and loss.pointwise:
        sizes = np.abs(residuals) if data.measure is None else np.abs(residuals) / np.sqrt(data.measure)
        seen = np.isfinite(sizes)
        sizes = np.sum(sizes, axis=1, where=seen) / np.maximum(seen.sum(axis=1), 1)
    else:
        sizes = row_norms(np.nan_to_num(residuals))
    bend = weighted_quantile(sizes, 0.5, data.weights) if loss is None or loss.curvature == 0 else loss.bound
    if bend <= np.finfo(float).tiny:  # most residuals are zero: there is nothing to hold back by
        return np.ones(len(sizes)), 1.0
    unit = 1.0 if loss is None or loss.curvature > 0 else loss.bound / bend
    return np.divide(bend, sizes, out=np.ones_like(sizes), where=sizes > bend), unit
