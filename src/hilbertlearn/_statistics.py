"""Weighted medians and quantiles; integer weights give what repeated samples give."""

from __future__ import annotations

import numpy as np

_WEISZFELD = 200


def weighted_quantile(values, level, weights=None):
    """Quantile of values (n,): averaged over the two neighbours where the cumulated weight meets the level exactly."""
    values = np.asarray(values, dtype=float)
    weights = np.ones(len(values)) if weights is None else np.asarray(weights, dtype=float)
    if level == 0.5 and len(values) and np.ptp(weights) == 0:  # the same without sorting
        return float(np.median(values))
    order = np.argsort(values, kind="stable")
    values, mass = values[order], np.cumsum(weights[order])
    target = level * mass[-1]
    slack = 1e-12 * mass[-1]
    left = np.searchsorted(mass, target - slack)
    right = np.searchsorted(mass, target + slack)
    return float((values[min(left, len(values) - 1)] + values[min(right, len(values) - 1)]) / 2)


def mean_rows(Y, weights):
    """Weighted mean (d,) over the observed entries of Y (n, d); 0 for columns never observed."""
    total = weights @ Y
    if not np.isnan(total).any():  # everything is observed: one product
        return total / weights.sum()
    observed = np.isfinite(Y)
    mass = weights @ observed
    return np.divide(weights @ np.where(observed, Y, 0.0), mass, out=np.zeros(Y.shape[1]), where=mass > 0)


def covariance(Y, weights):
    """Weighted covariance (d, d) of the columns of Y (n, d), over the rows observed in both; 0 where there is none.

    With gaps it need not be positive semi-definite.
    """
    observed = np.isfinite(Y)
    centred = np.where(observed, Y - mean_rows(Y, weights), 0.0)
    pairs = (observed.T * weights) @ observed
    return np.divide((centred.T * weights) @ centred, pairs, out=np.zeros_like(pairs), where=pairs > 0)


def pointwise_median(Y, weights):
    """Weighted median (d,) of each column over its observed entries."""
    out = np.zeros(Y.shape[1])
    for j, column in enumerate(Y.T):
        observed = np.isfinite(column)
        if observed.any():
            out[j] = weighted_quantile(column[observed], 0.5, weights[observed])
    return out


def geometric_median(Y, weights):
    """Point (d,) with the smallest weighted sum of distances to the rows of Y (n, d), over observed entries.

    Weiszfeld's algorithm, smoothed at rounding level so that it may start at, or pass through, a sample.
    """
    observed = np.isfinite(Y)
    filled = np.where(observed, Y, 0.0)
    centre = pointwise_median(Y, weights)
    if Y.shape[1] == 1:
        return centre
    scale = np.sqrt(np.mean((filled - centre * observed) ** 2)) or 1.0
    for _ in range(_WEISZFELD):
        distances = np.sqrt((((filled - centre) * observed) ** 2).sum(axis=1) + (1e-10 * scale) ** 2)
        pull = weights / distances
        mass = pull @ observed
        new = np.divide(pull @ filled, mass, out=centre.copy(), where=mass > 0)
        moved = np.abs(new - centre).max()
        centre = new
        if moved <= 1e-9 * scale:
            break
    return centre
