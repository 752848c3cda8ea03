"""Errors by which settings are compared, computed from cross-validated residuals."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .._utils.linalg import row_norms
from ..losses import Loss
from ..training import Samples


@dataclass(frozen=True)
class Criterion:
    """Error of residuals, with a standard error.

    Without a loss, for several outputs: the mean of their relative errors, root mean square over standard deviation.
    Sums of squares would be decided by the largest output alone, means of squares by outputs that cannot be predicted.
    Without a loss, for other outputs: the mean square, or the errors that the space's decoder computes. With a loss:
    twice its mean above its least value.
    """

    loss: Loss | None = None

    is_root = False  # whether errors that are not relative are roots of mean squares, not mean squares

    def log_losses(self, data: Samples, errors):
        """Logarithms of mean squared errors, or of mean losses, whose differences weight settings.

        Losses that are no continuous numbers are at least what the number of samples can tell from zero.
        """
        power = 2.0 if self.is_root or self.spread(data) is not None else 1.0
        least = 0.0 if self.loss is not None else data.space.error_resolution(len(data.rows))
        return power * np.log(np.maximum(np.asarray(errors, dtype=float) + least, np.finfo(float).tiny))

    def evaluate(self, data: Samples, residuals) -> tuple[float, float]:
        """Error and standard error of residuals (n, d) of the samples `data`."""
        return self.evaluator(data)(residuals)

    def evaluator(self, data: Samples) -> Callable[[np.ndarray], tuple[float, float]]:
        """``evaluate`` as a function of residuals alone, for many residuals of the same samples."""
        weights = data.weights / data.weights.sum()
        spread = self.spread(data)
        if spread is None:
            return lambda residuals: _mean_and_error(self.errors(data, residuals), weights)
        share = weights[:, None] * np.isfinite(data.Y)
        share = share / np.maximum(share.sum(axis=0), np.finfo(float).tiny)
        return lambda residuals: _relative_error(residuals, share, spread)

    def spread(self, data: Samples):
        """Standard deviations (d,) that errors of outputs are relative to; None where each sample has one error."""
        return None if self.loss is not None else data.space.coordinate_scales(data.Y, data.weights)

    def errors(self, data: Samples, residuals):
        """Errors (n,) of samples."""
        if self.loss is None:
            return data.space.sample_errors(data.Y, residuals)
        rows = np.nan_to_num(data.encoded.with_outside(residuals, self.loss))
        floor = self.loss.row_value(np.zeros_like(rows[:1]), data.measure)
        return 2 * (self.loss.row_value(rows, data.measure) - floor)


class NormCriterion(Criterion):
    """Mean norm of residuals. Outliers change it little, and it needs no constants of a loss."""

    is_root = True

    def spread(self, data):
        return None

    def errors(self, data, residuals):
        return row_norms(np.nan_to_num(residuals))


def _mean_and_error(errors, weights) -> tuple[float, float]:
    """Mean of errors (n,), and its standard error."""
    mean = weights @ errors
    return float(mean), float(np.sqrt(weights**2 @ (errors - mean) ** 2))


def _relative_error(residuals, share, spread) -> tuple[float, float]:
    """Mean over outputs of relative errors, and its standard error; share : (n, d) of each entry in its output."""
    squares = residuals**2
    squares[np.isnan(squares)] = 0.0
    means = np.einsum("ij,ij->j", share, squares)
    roots = np.sqrt(means)
    # to first order a root changes by half the change of its mean square, divided by itself
    changes, scale, positive = squares - means, 2 * roots * spread, means > 0
    if positive.all():
        changes /= scale
    else:
        changes = np.divide(changes, scale, out=np.zeros_like(changes), where=positive)
    changes *= share
    rows = np.add.reduce(changes, axis=1) / changes.shape[1]
    return float(np.add.reduce(roots / spread) / len(roots)), math.sqrt(rows @ rows)
