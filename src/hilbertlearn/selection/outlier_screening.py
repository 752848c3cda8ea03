"""Outlier screening: small weights for samples far from all predictions, without which others are predicted better.

A bound of the loss limits the influence of an outlier, but each outlier still acts with the whole bound. A few dozen
samples are affected by that, and the selection of settings more than the fit. So where the bound is "auto", samples
beyond a gap in the leave-one-out residuals lose weight, if that improves the predictions of the others. They keep a
millionth, so that dual variables, ``saturated_`` and reports include them.

Weights are continuous functions of the outputs: each criterion is a ramp from 0 to 1, the smallest of them is the
degree to which a sample is an outlier, and its weight falls linearly with the degree. The degree is one half where the
first criterion is half met. A gap closes where two residuals become equal, so that the order of samples has no effect.
Errors are minima over alpha, which are continuous too, unlike the best alpha of a grid.

Thresholds without a gap, at seven to nine medians, took regular samples of tables with heavy tails, whose largest
residuals are 14 to 27 medians. The comparison of predictions keeps regular samples at the edge of the data, whose
residuals are large too.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from .._utils.linalg import row_norms
from .._utils.statistics import pointwise_median, weighted_quantile
from ..leave_one_out import loo_residual_path
from ..losses import Squared
from ..training import Options, Training, fit
from .criterion import NormCriterion
from .error_curve import ErrorCurve, error_curve

SCREENED = 0.5  # factor of the weight below which a sample counts as screened
SCREENED_WEIGHT = 1e-6  # factor of the weight of a gross outlier: it keeps its place among the dual variables
# Ramps: the value at which a criterion is not met at all, and the value from which it is fully met.
_FAR = 4.0, 6.0  # size of an outlier's residual, in medians of all residuals
_GAP = 2.0, 3.0  # ratio of an outlier's residual to the next smaller one; heavy tails have no such gap
_BULK = 36.0, 24.0  # largest size below the gap, in medians; it is larger where most residuals vanish
_MOST = 0.34, 0.30  # share of the weight beyond the gap
_UNEQUAL = -8.0, -6.0  # log10 of the median deviation of outputs from their median, over the largest one
_BETTER = 0.005, 0.015  # relative gain in the mean residual of the other samples
_NOT_WORSE = -0.005, 0.005  # gain in the sum of all residuals, over the sum of those of the other samples
_NEARLY_ALL = 0.8, 0.9  # share of outlying points from which a whole curve counts as outlying
_ROUNDS = 5  # of searches for outliers; more are rarely used
_TINY = np.finfo(float).tiny


def screening_weights(training: Training, weights, penalty):
    """Factors (n,) of the sample weights: 1 for regular samples, down to a millionth for gross outliers.

    Samples beyond a gap in the leave-one-out residuals are outliers if the other samples are predicted better without
    them than with their reduced weight, and all samples, the outliers too, not worse than with the reduced and with the
    full weight. Gaps are examined from the largest residuals downwards, so that a group is compared with a model in
    which samples beyond it are screened already. Outliers hide others: this is repeated with the new weights.

    weights : (n,) factors of the sample weights of a robust fit
    penalty : alpha times the sum of weights
    """
    factors = np.ones(len(training.rows))
    variety = _variety(training)
    for _ in range(_ROUNDS if variety else 0):
        sizes, before = row_sizes(_loo_residuals(training, factors * weights, penalty)), factors
        for group, clarity in gaps(sizes, training.weights):
            degree = min(variety, clarity, _benefit(training, weights, factors, group))
            factors = np.where(group, np.minimum(factors, 1 - degree * (1 - SCREENED_WEIGHT)), factors)
        if (factors == before).all():  # a further round would change nothing either
            break
    return factors


def gaps(sizes, weights) -> Iterator[tuple[np.ndarray, float]]:
    """Masks (n,) of the sizes beyond each gap, the largest sizes first, and how clear the gap is, from above 0 to 1.

    sizes, weights : (n,) of the samples
    """
    median = weighted_quantile(sizes, 0.5, weights)
    if median <= 0:
        return
    order = np.argsort(sizes, kind="stable")
    ordered, mass = sizes[order] / median, np.cumsum(weights[order])
    below, above = ordered[:-1], ordered[1:]
    criteria = [
        _ramp(above, _FAR),
        _ramp(above / np.maximum(below, 1.0), _GAP),  # below the median the gap is wide enough
        _ramp(below, _BULK),
        _ramp(1 - mass[:-1] / mass[-1], _MOST),
    ]
    clarity = np.min(criteria, axis=0)
    for last in np.flatnonzero(clarity)[::-1]:
        group = np.zeros(len(sizes), dtype=bool)
        group[order[last + 1 :]] = True
        yield group, float(clarity[last])


def _variety(training: Training) -> float:
    """Degree, from 0 to 1, to which outputs differ: where most are equal, a rare value is no outlier."""
    deviations = row_sizes(training.Y - pointwise_median(training.Y, training.weights))
    median, largest = weighted_quantile(deviations, 0.5, training.weights), deviations.max()
    return float(_ramp(np.log10(median / largest), _UNEQUAL)) if median > 0 else 0.0


def _benefit(training: Training, weights, factors, group) -> float:
    """Degree, from 0 to 1, to which others are predicted better without a group, and all samples not worse.

    weights : as for ``screening_weights``; factors : (n,) of these weights from screening so far; group : mask (n,)
    """

    def errors(weights):
        """Sums of the sizes of leave-one-out residuals, of the other samples and of all, each at its best alpha."""
        sizes = _loo_sizes(training, weights)
        return np.min(sizes @ (training.weights * ~group)), np.min(sizes @ training.weights)

    others_reduced, all_reduced = errors(factors * weights)
    others_without, all_without = errors(np.where(group, SCREENED_WEIGHT, factors) * weights)
    better = _ramp(1 - others_without / max(others_reduced, _TINY), _BETTER)
    if better == 0:
        return 0.0
    _, all_full = errors(factors * np.where(group, 1.0, weights))
    gain = min(all_reduced, all_full) - all_without
    return float(min(better, _ramp(gain / others_reduced, _NOT_WORSE)))


def replace_outlying_points(training: Training, weights, penalty):
    """Outputs (n, d) on a grid in which outlying points are replaced by predictions; None where there are none.

    Outlying points of many samples distort every model that settings are selected by. Points whose leave-one-out
    residual is far beyond the median are replaced by the value that the model fits there, which the other points of
    the same curve determine too. (A leave-one-out prediction has a larger error, which the selection takes for noise:
    alpha was half a decade too large. It is used where nearly all points of a curve are outlying.) This is repeated as
    long as all points, the outlying ones too, are predicted better. Between a regular and an outlying point, and
    between a round that helps and one that does not, outputs are weighted means of both.

    weights, penalty : as for ``screening_weights``
    """
    given, measure, alphas = training.Y, np.sqrt(training.measure), training.alphas()
    predicted, cleaned, accepted = given - _loo_residuals(training, weights, penalty), given, 1.0
    fitted, sizes = predicted, np.abs(given - predicted) / measure
    for _ in range(_ROUNDS):
        median = weighted_quantile(sizes.ravel(), 0.5, np.repeat(training.weights, sizes.shape[1]))
        with np.errstate(over="ignore"):  # most residuals may vanish
            outlying = _ramp(sizes / max(median, _TINY), _FAR)
        is_outlier = _ramp(outlying.mean(axis=1, keepdims=True), _NEARLY_ALL)  # the curve has no point to rely on
        Y = _blend(given, _blend(fitted, predicted, is_outlier), outlying)
        replaced = training.with_outputs(Y)
        alpha = vertex_alpha(error_curve(replaced, NormCriterion(), alphas, np.ones(len(Y))))
        predicted = Y - _loo_residuals(replaced, 1.0, alpha * training.weights.sum())
        fitted = Y - fit(replaced, Squared(), alpha, Options()).residuals
        before, sizes = sizes, np.abs(given - predicted) / measure
        totals = [(training.weights @ values).sum() for values in (sizes, before)]
        accepted = min(accepted, float(_ramp(1 - totals[0] / max(totals[1], _TINY), _BETTER)))
        if accepted == 0:
            break
        cleaned = _blend(cleaned, Y, accepted)
    return None if cleaned is given else cleaned


def vertex_alpha(curve: ErrorCurve) -> float:
    """alpha at the vertex of the parabola through the smallest error and its neighbours: it moves with the errors."""
    middle = min(max(curve.best, 1), len(curve.alphas) - 2)
    if middle < 1:  # fewer than three alphas
        return curve.best_alpha
    logs, errors = np.log(curve.alphas[middle - 1 : middle + 2]), curve.errors[middle - 1 : middle + 2]
    steps, slopes = np.diff(logs), np.diff(errors) / np.diff(logs)
    bend = slopes[1] - slopes[0]
    if not bend > 0:
        return curve.best_alpha
    vertex = (logs[0] + logs[1]) / 2 - slopes[0] * steps.sum() / 2 / bend
    return float(np.exp(np.clip(vertex, logs[0], logs[2])))


def row_sizes(residuals):
    """Norms (n,) of the observed entries of residuals (n, d)."""
    return row_norms(np.nan_to_num(residuals))


def _ramp(values, ends):
    """Values as numbers from 0, up to the first of two ends, to 1, from the second on, and linear between them."""
    start, stop = ends
    return np.clip((values - start) / (stop - start), 0.0, 1.0)


def _blend(first, second, share):
    """Mean of two arrays, of which the second has that share; exact where the share is 0 or 1."""
    return (1 - share) * first + share * second


def _loo_residuals(training: Training, weights, penalty):
    """Leave-one-out residuals (n, d) under factors (n,) of the sample weights."""
    weighted = replace(training, weights=training.weights * weights)
    return next(loo_residual_path(weighted, [penalty / weighted.weights.sum()]))


def _loo_sizes(training: Training, weights):
    """Sizes (number of alphas, n) of leave-one-out residuals under factors (n,) of the sample weights."""
    alphas = training.alphas()
    weighted, factors = replace(training, weights=training.weights * weights).factor_for_path(alphas)
    share = training.weights.sum() / weighted.weights.sum()  # the penalty, alpha times the sum of weights, stays
    with np.errstate(over="ignore", invalid="ignore"):
        return np.array([row_sizes(residuals) for residuals in loo_residual_path(weighted, alphas * share, factors)])
