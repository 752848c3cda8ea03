"""What is added to quantiles so that as many cross-validated outputs are below each as its level says."""

from __future__ import annotations

import numpy as np


def level_offsets(residuals, weights, levels):
    """For each column the quantile (d,) of cross-validated residuals, of the level of the column; 0 without any.

    Of n exchangeable residuals the k-th smallest is above a new one with probability k / (n + 1). The quantile of level
    tau is therefore at the rank ``tau (n + 1)``, between neighbouring ranks by linear interpolation, so that it is
    continuous in residuals and weights. Of weighted residuals, n is ``(sum w)^2 / sum w^2``.

    residuals : (n, d), NaN where not observed; column j has level ``levels[j % len(levels)]``
    """
    columns = np.tile(levels, residuals.shape[1] // len(levels))
    return np.array([_quantile(column, weights, level) for column, level in zip(residuals.T, columns, strict=True)])


def _quantile(values, weights, level):
    observed = np.isfinite(values) & (weights > 0)
    if not observed.any():
        return 0.0
    order = np.argsort(values[observed], kind="stable")
    values, weights = values[observed][order], weights[observed][order] / weights[observed].sum()
    number = 1 / float(weights @ weights)
    # the k-th smallest is the mean of the quantile function over shares of (k - 1) / n to k / n
    half = 0.5 / number
    middle = float(np.clip(level + (level - 0.5) / number, half, 1 - half))
    shares = np.concatenate([[0.0], np.cumsum(weights)])
    integral = np.concatenate([[0.0], np.cumsum(weights * values)])
    low, high = np.interp([middle - half, middle + half], shares, integral)
    return float(high - low) * number
