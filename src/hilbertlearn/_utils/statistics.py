"""Weighted medians and quantiles; integer weights give what repeated samples give."""

from __future__ import annotations

import numpy as np

from .sums import local_total

MAD_TO_DEVIATION = 1.4826  # standard deviation of a normal sample over its median absolute deviation

_WEISZFELD = 200
_SLACK = 1e-12  # of the whole weight, by which a cumulated one may miss a level and meet it


def weighted_quantile(values, level, weights=None):
    """Quantile of values (n,): averaged over the two neighbours where the cumulated weight meets the level exactly."""
    values = np.asarray(values, dtype=float)
    weights = np.ones(len(values)) if weights is None else np.asarray(weights, dtype=float)
    if level == 0.5 and len(values) and np.ptp(weights) == 0:  # the same without sorting
        return float(np.median(values))
    order = np.argsort(values, kind="stable")
    values, mass = values[order], np.cumsum(weights[order])
    target = level * mass[-1]
    slack = _SLACK * mass[-1]
    left = np.searchsorted(mass, target - slack)
    right = np.searchsorted(mass, target + slack)
    return float((values[min(left, len(values) - 1)] + values[min(right, len(values) - 1)]) / 2)


def mean_rows(Y, weights, total=local_total):
    """Weighted mean (d,) over the observed entries of Y (n, d); 0 for columns never observed."""
    summed = weights @ Y
    if total is local_total and not np.isnan(summed).any():  # everything is observed: one product
        return summed / weights.sum()
    observed = np.isfinite(Y)
    summed, mass = total(np.array([weights @ np.where(observed, Y, 0.0), weights @ observed]))
    return np.divide(summed, mass, out=np.zeros(Y.shape[1]), where=mass > 0)


def covariance(Y, weights):
    """Weighted covariance (d, d) of the columns of Y (n, d), over the rows observed in both; 0 where there is none.

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
    """The same where samples are in several parts: sums of weights say on which side of a value the median is.

    Halving an interval of floating-point numbers, in their order, finds a sample's value exactly.
    """
    observed = np.isfinite(Y)
    mass = total(weights @ observed)
    levels = np.multiply.outer([0.5 - _SLACK, 0.5 + _SLACK], mass)
    low = np.full(levels.shape, _place(-np.finfo(float).max))
    high = np.full(levels.shape, _place(np.finfo(float).max))
    for _ in range(64):
        middle = low // 2 + high // 2 + (low % 2 + high % 2) // 2
        values = _value(middle)
        reached = total(np.array([weights @ (observed & (one >= Y)) for one in values])) >= levels
        low, high = np.where(reached, low, np.minimum(middle + 1, high)), np.where(reached, middle, high)
    return np.where(mass > 0, _value(high).mean(axis=0), 0.0)


def _place(value):
    """Where a floating-point number is in the order of all of them, an integer."""
    bits = np.float64(value).view(np.int64)
    return bits if bits >= 0 else np.iinfo(np.int64).min - bits


def _value(place):
    """The numbers at these places of the order."""
    return np.where(place >= 0, place, np.iinfo(np.int64).min - place).view(np.float64)


def geometric_median(Y, weights, total=local_total):
    """Point (d,) with the smallest weighted sum of distances to the rows of Y (n, d), over observed entries.

    Weiszfeld's algorithm, smoothed at rounding level so that it may start at, or pass through, a sample.
    """
    observed = np.isfinite(Y)
    filled = np.where(observed, Y, 0.0)
    centre = pointwise_median(Y, weights, total)
    if Y.shape[1] == 1:
        return centre
    summed, number = total(np.array([np.sum((filled - centre * observed) ** 2), Y.size]))
    scale = np.sqrt(summed / number) or 1.0
    for _ in range(_WEISZFELD):
        distances = np.sqrt((((filled - centre) * observed) ** 2).sum(axis=1) + (1e-10 * scale) ** 2)
        pull = weights / distances
        summed, mass = total(np.array([pull @ filled, pull @ observed]))
        new = np.divide(summed, mass, out=centre.copy(), where=mass > 0)
        moved = np.abs(new - centre).max()
        centre = new
        if moved <= 1e-9 * scale:
            break
    return centre
