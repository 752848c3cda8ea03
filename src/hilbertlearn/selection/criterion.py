"""Errors by which settings are compared, computed from cross-validated residuals."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from .._utils.linalg import row_norms
from .._utils.statistics import mean_rows
from ..losses import Loss
from ..training import Samples
from .averaging import effective_number, limited_squares

_TINY = np.finfo(float).tiny
_FULL_ROBUSTNESS = 0.01  # 1 - mean weight in a robust fit from which settings are weighted by the robust loss alone
_TRIMMED = 0.7  # share of the samples in a trimmed mean; a larger share of outliers is not meant to be resisted


class ErrorEstimate(NamedTuple):
    """The error of a setting."""

    error: float
    standard_error: float
    # Settings are weighted by differences of this: the logarithm of the mean squared error, with large residuals
    # limited, times the number of independent outputs; twice the logarithm of a mean loss; or of a trimmed mean.
    log_loss: float


@dataclass(frozen=True)
class Criterion:
    """Error of residuals, with a standard error.

    Without a loss, for several outputs: the mean of their relative errors, root mean square over standard deviation.
    Sums of squares would be decided by the largest output alone, means of squares by outputs that cannot be predicted.
    Without a loss, for other outputs: the mean square, or the errors that the space's decoder computes. With a loss:
    twice its mean above its least value.
    """

    loss: Loss | None = None

    def evaluate(self, data: Samples, residuals) -> ErrorEstimate:
        """The error of residuals (n, d) of the samples `data`."""
        return self.evaluator(data)(residuals)

    def evaluator(self, data: Samples) -> Callable[[np.ndarray], ErrorEstimate]:
        """``evaluate`` as a function of residuals alone, for many residuals of the same samples."""
        weights = data.weights / data.weights.sum()
        spread = self.spread(data)
        if spread is None:
            log_loss = self._log_loss_of(data, weights)
            return lambda residuals: _mean_error(self.errors(data, residuals), residuals, weights, log_loss)
        share = weights[:, None] * np.isfinite(data.Y)
        share = share / np.maximum(share.sum(axis=0), np.finfo(float).tiny)
        deviations = np.nan_to_num(data.Y - mean_rows(data.Y, data.weights)) / spread
        number = _number_of_independent_columns(deviations * np.sqrt(share))
        n = effective_number(weights)
        return lambda residuals: _relative_error(residuals, share, spread, number, n)

    def _log_loss_of(self, data: Samples, weights):
        """Function of errors (n,) and residuals (n, d): the logarithm whose differences weight settings."""
        if self.loss is not None:
            return self._log_trimmed_mean_of(weights)
        least = data.space.error_resolution(len(weights))
        if least > 0:
            return lambda errors, residuals: 2 * math.log(weights @ errors + least)  # as of a root mean square
        deviations = data.Y - mean_rows(data.Y, weights)
        variance = max(float(weights @ self.errors(data, deviations)), _TINY)
        number = _number_of_independent_columns(np.nan_to_num(deviations) * np.sqrt(weights)[:, None])
        n = effective_number(weights)

        def log_loss(errors, residuals):
            return number * math.log(max(float(weights @ limited_squares(errors / variance, n)), _TINY))

        return log_loss

    def _log_trimmed_mean_of(self, weights):
        """The same without the largest residuals: of samples, or for a pointwise loss of observed points."""
        if self.loss is None or not self.loss.pointwise:
            return lambda errors, residuals: _log_trimmed_mean(row_norms(np.nan_to_num(residuals)) ** 2, weights)

        def log_trimmed_mean(errors, residuals):
            observed = np.isfinite(residuals)
            share = np.broadcast_to(weights[:, None], residuals.shape)[observed]
            return _log_trimmed_mean(residuals[observed] ** 2, share / share.sum())

        return log_trimmed_mean

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


@dataclass(frozen=True)
class RobustCriterion(Criterion):
    """Error by a loss with a bound. Where hardly any residual exceeds the bound, settings are weighted as without one.

    A bound that no residual exceeds changes nothing. The share of the robust weight grows from 0 with the first one.
    """

    share: float = 1.0  # of the robust weight in the logarithm of a setting's weight

    @classmethod
    def from_weights(cls, loss: Loss, weights, sample_weights) -> RobustCriterion:
        """The criterion for weights (n,) of a robust fit, which are 1 up to the bound."""
        return cls(loss, min(1.0, (1 - float(np.average(weights, weights=sample_weights))) / _FULL_ROBUSTNESS))

    def evaluator(self, data: Samples):
        robust = super().evaluator(data)
        if self.share == 1:
            return robust
        squared = Criterion().evaluator(data)

        def evaluate(residuals):
            error, standard_error, log_loss = robust(residuals)
            return ErrorEstimate(
                error, standard_error, self.share * log_loss + (1 - self.share) * squared(residuals).log_loss
            )

        return evaluate


class NormCriterion(Criterion):
    """Mean norm of residuals. Outliers change it little, and it needs no constants of a loss."""

    def _log_loss_of(self, data, weights):
        return self._log_trimmed_mean_of(weights)

    def spread(self, data):
        return None

    def errors(self, data, residuals):
        return row_norms(np.nan_to_num(residuals))


def _mean_error(errors, residuals, weights, log_loss) -> ErrorEstimate:
    """The mean of errors (n,)."""
    mean = weights @ errors
    error = float(np.sqrt(weights**2 @ (errors - mean) ** 2))
    return ErrorEstimate(float(mean), error, log_loss(errors, residuals))


def _log_trimmed_mean(squares, weights) -> float:
    """Logarithm of the weighted mean of squares (k,) that are not among the largest; weights (k,) add up to 1.

    The mean loss of contaminated samples differs little between settings, since outliers have most of it.
    """
    order = np.argsort(squares)
    mass = np.cumsum(weights[order])
    kept = np.clip(_TRIMMED - (mass - weights[order]), 0.0, weights[order])
    return math.log(max(float(kept @ squares[order]) / _TRIMMED, _TINY))


def _relative_error(residuals, share, spread, number, n) -> ErrorEstimate:
    """The mean over outputs of relative errors.

    share : (n, d) of each entry in its output
    number : of outputs that count as independent
    n : effective number of samples
    """
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
    error = float(np.add.reduce(roots / spread) / len(roots))
    limited = np.einsum("ij,ij->j", share, limited_squares(squares / spread**2, n))
    mean = float(np.add.reduce(np.sqrt(limited)) / len(limited))
    return ErrorEstimate(error, math.sqrt(rows @ rows), 2 * number * math.log(max(mean, _TINY)))


def _number_of_independent_columns(columns) -> float:
    """The participation ratio of the eigenvalues of ``columns' columns``: 1 for equal ones, d for orthonormal ones."""
    inner = columns.T @ columns if columns.shape[1] <= len(columns) else columns @ columns.T
    total = float(np.sum(inner**2))
    return float(np.trace(inner)) ** 2 / total if total > 0 else 1.0
