"""Weighted means, medians and quantiles. Integer weights have the effect of repeated samples."""

from __future__ import annotations

import numpy as np

from .sums import local_total

MAD_TO_DEVIATION = 1.4826  # standard deviation of a normal sample over its median absolute deviation

_WEISZFELD_ITERATIONS = 200  # at most; the loop ends once a step is below 1e-9 of the spread
_SLACK = 1e-12  # share of the total weight up to which a cumulative weight equals a level


def weighted_quantile(values, level, weights=None):
    """Quantile of values (n,): the mean of two neighbours if the cumulative weight equals the level."""
    values = np.asarray(values, dtype=float)
    weights = np.ones(len(values)) if weights is None else np.asarray(weights, dtype=float)
    if level == 0.5 and len(values) and np.ptp(weights) == 0:  # no sorting needed
        return float(np.median(values))
    order = np.argsort(values, kind="stable")
    values, mass = values[order], np.cumsum(weights[order])
    target = level * mass[-1]
    slack = _SLACK * mass[-1]
    left = np.searchsorted(mass, target - slack)
    right = np.searchsorted(mass, target + slack)
    return float((values[min(left, len(values) - 1)] + values[min(right, len(values) - 1)]) / 2)


def mean_rows(Y, weights, total=local_total):
    """Weighted mean (d,) over the observed entries of Y (n, d); 0 for columns without any."""
    summed = weights @ Y
    if total is local_total and not np.isnan(summed).any():  # no entry is missing
        return summed / weights.sum()
    observed = np.isfinite(Y)
    summed, mass = total(np.array([weights @ np.where(observed, Y, 0.0), weights @ observed]))
    return np.divide(summed, mass, out=np.zeros(Y.shape[1]), where=mass > 0)


def covariance(Y, weights):
    """Weighted covariance (d, d) of the columns of Y (n, d), over the rows observed in both; 0 without any.

    With gaps it need not be positive semi-definite.
    """
    observed = np.isfinite(Y)
    centred = np.where(observed, Y - mean_rows(Y, weights), 0.0)
    pairs = (observed.T * weights) @ observed
    return np.divide((centred.T * weights) @ centred, pairs, out=np.zeros_like(pairs), where=pairs > 0)


def pointwise_median(Y, weights, total=local_total):
    """Weighted median (d,) of each column over its observed entries."""
    if total is not local_total:
        return _median_of_parts(Y, weights, total)
    out = np.zeros(Y.shape[1])
    for j, column in enumerate(Y.T):
        observed = np.isfinite(column)
        if observed.any():
            out[j] = weighted_quantile(column[observed], 0.5, weights[observed])
    return out


def _median_of_parts(Y, weights, total):
    """``pointwise_median`` of samples in several parts: a sum of weights tells on which side of a value the median is.

    Bisection over the ordered floating-point numbers finds the value of a sample exactly, in 64 steps.
    """
    observed = np.isfinite(Y)
    mass = total(weights @ observed)
    levels = np.multiply.outer([0.5 - _SLACK, 0.5 + _SLACK], mass)
    low = np.full(levels.shape, _float_index(-np.finfo(float).max))
    high = np.full(levels.shape, _float_index(np.finfo(float).max))
    for _ in range(64):
        middle = low // 2 + high // 2 + (low % 2 + high % 2) // 2
        values = _float_at(middle)
        reached = total(np.array([weights @ (observed & (row >= Y)) for row in values])) >= levels
        low, high = np.where(reached, low, np.minimum(middle + 1, high)), np.where(reached, middle, high)
    return np.where(mass > 0, _float_at(high).mean(axis=0), 0.0)


def _float_index(value):
    """The integer position of a float in the order of all floats."""
    bits = np.float64(value).view(np.int64)
    return bits if bits >= 0 else np.iinfo(np.int64).min - bits


def _float_at(index):
    """The floats at positions of that order."""
    return np.where(index >= 0, index, np.iinfo(np.int64).min - index).view(np.float64)


def geometric_median(Y, weights, total=local_total):
    """Point (d,) with the smallest weighted sum of distances to the rows of Y (n, d), over observed entries.

    Weiszfeld's algorithm. Distances are smoothed by 1e-10 of the spread, so that the path may meet a sample.
    """
    observed = np.isfinite(Y)
    filled = np.where(observed, Y, 0.0)
    centre = pointwise_median(Y, weights, total)
    if Y.shape[1] == 1:
        return centre
    summed, number = total(np.array([np.sum((filled - centre * observed) ** 2), Y.size]))
    scale = np.sqrt(summed / number) or 1.0
    for _ in range(_WEISZFELD_ITERATIONS):
        distances = np.sqrt((((filled - centre) * observed) ** 2).sum(axis=1) + (1e-10 * scale) ** 2)
        pull = weights / distances
        summed, mass = total(np.array([pull @ filled, pull @ observed]))
        new = np.divide(summed, mass, out=centre.copy(), where=mass > 0)
        moved = np.abs(new - centre).max()
        centre = new
        if moved <= 1e-9 * scale:
            break
    return centre
