"""Samples and points that are plainly wrong: far from all others when held out, which are predicted better without."""

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

SCREENED_WEIGHT = 1e-6  # times the weight of a sample that is wrong: it keeps its place among the dual variables
_FAR = 5.0  # times the median size of residuals that those of wrong samples have at least,
_APART = 2.5  # and times the size that is next to theirs: the tails of good ones have no such gap
_BULK = 30.0  # times the median that the size below the gap has at most: where most residuals vanish nothing is far
_EQUAL = 1e-6  # of the largest deviation of outputs from their median: none
_MOST = 0.3  # share of the weight that may be wrong
_ROUNDS = 5  # in which wrong samples, or points, are looked for
_TINY = np.finfo(float).tiny
_NEARLY_ALL = 0.85  # share of the points of a curve that are outlying where the whole curve is
_BETTER = 0.99  # times the mean residual before: what it takes to distrust samples, or is worth another round


def screen_samples(training: Training, weights, penalty):
    """Mask (n,) of the samples that are not to be trusted, often none.

    Huber's loss and its like hold outliers back, but each still pulls with the whole bound; with few samples that is
    felt. Where held-out residuals have gaps, those beyond the widest are taken for wrong if others are predicted better
    without them than with their weight reduced, and all samples, these too, no worse than so and than with all of it:
    good samples at the edge of the data have large residuals as well, but say something about others, or nothing.

    weights : (n,) factors of the sample weights of a robust fit
    penalty : alpha times the sum of weights
    """
    deviations = sizes_of(training.Y - pointwise_median(training.Y, training.weights))
    wrong = np.zeros(len(deviations), dtype=bool)
    if weighted_quantile(deviations, 0.5, training.weights) <= _EQUAL * deviations.max():
        return wrong  # most outputs are equal: what is rare then is not wrong
    for _ in range(_ROUNDS):  # each group has to be wrong by itself
        factors = np.where(wrong, SCREENED_WEIGHT, weights)
        sizes = np.where(wrong, 0.0, sizes_of(_left_out(training, factors, penalty)))
        group = beyond_a_gap(sizes, training.weights * ~wrong)
        largest = _MOST * training.weights.sum()
        if (
            not group.any()
            or training.weights @ (wrong | group) > largest
            or not _contradicts(training, factors, group)
        ):
            return wrong
        wrong |= group
    return wrong


def _contradicts(training: Training, weights, group) -> bool:
    """Whether samples that are not in a group, a mask (n,), are predicted better without it, and all no worse."""

    def held_out(factor):
        """Sizes (n,) of residuals where the group has such factors of its weights, at the best alpha."""
        factors = np.where(group, factor, weights)
        curve = error_curve(training, NormCriterion(), training.alphas(), factors)
        return sizes_of(_left_out(training, factors, curve.penalty))

    without, reduced, whole = held_out(SCREENED_WEIGHT * weights), held_out(weights), held_out(1.0)
    total, others = training.weights, training.weights * ~group
    better = others @ without <= _BETTER * (others @ reduced)
    return bool(better and total @ without <= min(total @ reduced, total @ whole))


def beyond_a_gap(sizes, weights):
    """Mask (n,) of sizes beyond the widest gap, none where there is no gap; weights (n,) are those of the samples."""
    order = np.argsort(sizes, kind="stable")
    ordered, mass = sizes[order], np.cumsum(weights[order])
    middle = weighted_quantile(sizes, 0.5, weights)
    below, above = ordered[:-1], ordered[1:]
    gap = (above > _FAR * middle) & (above > _APART * below) & (below <= _BULK * middle)
    gap &= (mass[:-1] >= (1 - _MOST) * mass[-1]) & (middle > 0)
    found = np.zeros(len(sizes), dtype=bool)
    if gap.any():
        found[order[np.argmax(np.where(gap, above / np.maximum(below, _TINY), 0.0)) + 1 :]] = True
    return found


def replace_outlying_points(training: Training, weights, penalty):
    """Outputs (n, d) on a grid in which outlying points are replaced by predictions; None where there are none.

    Outlying points of many samples spoil every model that settings are selected by. Points whose leave-one-out residual
    is far beyond the median are replaced by the value that the model fits there, which the other points of the same
    curve determine too. (A leave-one-out prediction has a larger error, which selection would take for noise; it is
    taken where nearly all points of a curve are outlying.) The model is fitted again as long as all points, these too,
    are predicted better.

    weights, penalty : as in ``screen_samples``
    """
    given, measure, alphas = training.Y, np.sqrt(training.measure), training.alphas()
    predicted, cleaned = given - _left_out(training, weights, penalty), None
    fitted, sizes = predicted, np.abs(given - predicted) / measure
    for _ in range(_ROUNDS):
        middle = weighted_quantile(sizes.ravel(), 0.5, np.repeat(training.weights, sizes.shape[1]))
        outlying = sizes > _FAR * middle
        wrong = outlying.mean(axis=1, keepdims=True) > _NEARLY_ALL  # such a curve tells nothing of its values
        Y = np.where(outlying, np.where(wrong, predicted, fitted), given)
        new = training.with_outputs(Y)
        curve = error_curve(new, NormCriterion(), alphas, np.ones(len(Y)))
        predicted = Y - _left_out(new, 1.0, curve.penalty)
        fitted = Y - fit(new, Squared(), curve.alpha, Options()).residuals
        before, sizes = sizes, np.abs(given - predicted) / measure
        if not (training.weights @ sizes).sum() <= _BETTER * (training.weights @ before).sum():
            break
        cleaned = Y
    return cleaned


def sizes_of(residuals):
    """NormCriterion (n,) of the observed entries of residuals (n, d)."""
    return row_norms(np.nan_to_num(residuals))


def _left_out(training: Training, weights, penalty):
    """Leave-one-out residuals (n, d) under factors (n,) of the sample weights."""
    own = replace(training, weights=training.weights * weights)
    return next(loo_residual_path(own, [penalty / own.weights.sum()]))
