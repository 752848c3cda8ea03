"""Outlier screening: samples far from all predictions, without which the other samples are predicted better.

A bound of the loss limits the influence of an outlier, but each outlier still acts with the whole bound. A few dozen
samples are affected by that, and the selection of settings more than the fit. So where the bound is "auto", samples
beyond the widest gap in the leave-one-out residuals keep a millionth of their weight, if that improves the predictions
of the others. They keep a weight, so that dual variables, ``saturated_`` and reports include them.

Thresholds without a gap, at seven to nine medians, took regular samples of tables with heavy tails, whose largest
residuals are 14 to 27 medians. The comparison of predictions keeps regular samples at the edge of the data, whose
residuals are large too.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from .._utils.linalg import row_norms
from .._utils.statistics import pointwise_median, weighted_quantile
from ..leave_one_out import loo_residual_path
from ..losses import Squared
from ..training import Options, Training, fit
from .criterion import NormCriterion
from .error_curve import error_curve

SCREENED_WEIGHT = 1e-6  # factor of the weight of a screened sample: it keeps its place among the dual variables
_FAR = 5.0  # least size of an outlier's residual, in medians of all residuals
_GAP = 2.5  # least ratio of an outlier's residual to the next smaller one; heavy tails have no such gap
# Largest size of the residual below the gap, in medians. It is exceeded where most residuals vanish.
_BULK = 30.0
_EQUAL = 1e-6  # deviation of an output from the median, relative to the largest one, that counts as none
_MOST = 0.3  # largest share of the weight that is screened
_ROUNDS = 5  # of searches for outliers; more are rarely used
_NEARLY_ALL = 0.85  # share of outlying points from which a whole curve counts as outlying
_BETTER = 0.99  # factor of the mean residual that a round must reach: a gain of 1 %
_TINY = np.finfo(float).tiny


def screen_samples(training: Training, weights, penalty):
    """Mask (n,) of the outliers, often none.

    Samples beyond the widest gap in the leave-one-out residuals are outliers if the other samples are predicted better
    without them than with their reduced weight, and all samples, the outliers too, not worse than with the reduced and
    with the full weight.

    weights : (n,) factors of the sample weights of a robust fit
    penalty : alpha times the sum of weights
    """
    deviations = row_sizes(training.Y - pointwise_median(training.Y, training.weights))
    outliers = np.zeros(len(deviations), dtype=bool)
    if weighted_quantile(deviations, 0.5, training.weights) <= _EQUAL * deviations.max():
        return outliers  # most outputs are equal: a rare value is then no outlier
    largest = _MOST * training.weights.sum()
    for _ in range(_ROUNDS):  # each group is tested by itself
        factors = np.where(outliers, SCREENED_WEIGHT, weights)
        sizes = np.where(outliers, 0.0, row_sizes(_loo_residuals(training, factors, penalty)))
        group = beyond_gap(sizes, training.weights * ~outliers)
        if not group.any() or training.weights @ (outliers | group) > largest:
            return outliers
        if not _improves_others(training, factors, group):
            return outliers
        outliers |= group
    return outliers


def _improves_others(training: Training, weights, group) -> bool:
    """Whether samples outside a group, a mask (n,), are predicted better without it, and all samples not worse."""

    def residual_sizes(factor):
        """Sizes (n,) of leave-one-out residuals where the group has that factor of its weights, at the best alpha."""
        factors = np.where(group, factor, weights)
        curve = error_curve(training, NormCriterion(), training.alphas(), factors)
        return row_sizes(_loo_residuals(training, factors, curve.penalty))

    without, reduced, full = (residual_sizes(factor) for factor in (SCREENED_WEIGHT * weights, weights, 1.0))
    total, others = training.weights, training.weights * ~group
    is_better = others @ without <= _BETTER * (others @ reduced)
    return bool(is_better and total @ without <= min(total @ reduced, total @ full))


def beyond_gap(sizes, weights):
    """Mask (n,) of sizes beyond the widest gap, none where there is no gap; weights (n,) are those of the samples."""
    order = np.argsort(sizes, kind="stable")
    ordered, mass = sizes[order], np.cumsum(weights[order])
    median = weighted_quantile(sizes, 0.5, weights)
    below, above = ordered[:-1], ordered[1:]
    is_gap = (above > _FAR * median) & (above > _GAP * below) & (below <= _BULK * median)
    is_gap &= (mass[:-1] >= (1 - _MOST) * mass[-1]) & (median > 0)
    outliers = np.zeros(len(sizes), dtype=bool)
    if is_gap.any():
        widest = np.argmax(np.where(is_gap, above / np.maximum(below, _TINY), 0.0))
        outliers[order[widest + 1 :]] = True
    return outliers


def replace_outlying_points(training: Training, weights, penalty):
    """Outputs (n, d) on a grid in which outlying points are replaced by predictions; None where there are none.

    Outlying points of many samples distort every model that settings are selected by. Points whose leave-one-out
    residual is far beyond the median are replaced by the value that the model fits there, which the other points of
    the same curve determine too. (A leave-one-out prediction has a larger error, which the selection takes for noise:
    alpha was half a decade too large. It is used where nearly all points of a curve are outlying.) This is repeated as
    long as all points, the outlying ones too, are predicted better.

    weights, penalty : as for ``screen_samples``
    """
    given, measure, alphas = training.Y, np.sqrt(training.measure), training.alphas()
    predicted, cleaned = given - _loo_residuals(training, weights, penalty), None
    fitted, sizes = predicted, np.abs(given - predicted) / measure
    for _ in range(_ROUNDS):
        median = weighted_quantile(sizes.ravel(), 0.5, np.repeat(training.weights, sizes.shape[1]))
        outlying = sizes > _FAR * median
        is_outlier = outlying.mean(axis=1, keepdims=True) > _NEARLY_ALL  # the curve has no point to rely on
        Y = np.where(outlying, np.where(is_outlier, predicted, fitted), given)
        replaced = training.with_outputs(Y)
        curve = error_curve(replaced, NormCriterion(), alphas, np.ones(len(Y)))
        predicted = Y - _loo_residuals(replaced, 1.0, curve.penalty)
        fitted = Y - fit(replaced, Squared(), curve.alpha, Options()).residuals
        before, sizes = sizes, np.abs(given - predicted) / measure
        if not (training.weights @ sizes).sum() <= _BETTER * (training.weights @ before).sum():
            break
        cleaned = Y
    return cleaned


def row_sizes(residuals):
    """Norms (n,) of the observed entries of residuals (n, d)."""
    return row_norms(np.nan_to_num(residuals))


def _loo_residuals(training: Training, weights, penalty):
    """Leave-one-out residuals (n, d) under factors (n,) of the sample weights."""
    weighted = replace(training, weights=training.weights * weights)
    return next(loo_residual_path(weighted, [penalty / weighted.weights.sum()]))
