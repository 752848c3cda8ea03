"""Constants of losses that are left to the data, from leave-one-out residuals.

Constants of a loss with a bound, as Huber's kappa, come from iteratively reweighted least squares: at the optimum of
such a loss large residuals have weights below one. Residuals are leave-one-out, so that an outlier has no part in the
model that evaluates it. Where outlier screening has changed weights, medians and constants are means over nested sets
of samples, which makes them continuous in these weights.
"""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from .._utils.linalg import row_norms
from .._utils.statistics import pointwise_median, weighted_quantile
from ..core.terms import Factors
from ..leave_one_out import loo_residual_path
from ..losses import Loss, Squared
from ..training import Options, Samples, Training
from .criterion import Criterion, NormCriterion
from .error_curve import error_curve
from .folds import fold_residuals
from .surrogate import fill_missing_values, selection_subsample

_REWEIGHTINGS = 3  # rounds of weights between two searches; they change little after the second


def is_robust(loss: Loss) -> bool:
    """Whether the loss bounds the influence of large residuals."""
    resolved = loss.resolve(np.array([[1.0], [2.0]])) if loss.needs_residuals else loss
    return bool(np.isfinite(resolved.bound)) and not loss.on_margins


def resolve_loss(training: Training, loss: Loss, alphas, options: Options, factors: Factors | None = None) -> Loss:
    """The loss with numbers for all constants, for models along a path of alphas.

    factors : of the training data's term, where they exist
    """
    if not loss.needs_residuals:
        return loss
    if len(training.rows) == 1:
        return loss.resolve(training.Y - training.Y)
    data = fill_missing_values(selection_subsample(training))
    share = float(training.weights.sum() / data.weights.sum())
    if data.closed_form and loss.symmetric and is_robust(loss):
        return _resolve_robust(data, loss, np.sort(alphas) * share)
    if data.closed_form:
        alpha = error_curve(data, Criterion(), np.sort(alphas)).best_alpha if len(alphas) > 1 else alphas[0]
        residuals = next(loo_residual_path(data, [alpha * share], factors if data is training else None))
    else:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # these models only serve the selection
            residuals = fold_residuals(data, Squared(), float(np.median(alphas)), options.quick())
    return _resolve(loss, residuals, data)


def _resolve(setting: Loss, residuals, data: Samples) -> Loss:
    """The loss with numbers from residuals (n, d), means over the nested sets of samples."""
    residuals = data.encoded.with_outside(residuals, setting)
    shares, weights = zip(*data.nested_weights, strict=True)
    losses = [setting.resolve(residuals, data.measure, kept) for kept in weights]
    if len(losses) == 1:
        return losses[0]
    constants = [loss.get_params() for loss in losses]
    automatic = [name for name, value in setting.get_params().items() if isinstance(value, str) and value == "auto"]
    means = {name: float(np.dot(shares, [values[name] for values in constants])) for name in automatic}
    return clone(setting).set_params(**means)


def _resolve_robust(training: Training, setting: Loss, alphas) -> Loss:
    """A loss with a bound, with numbers for all constants; of several alphas the best is used."""
    weights = initial_weights(training)
    alpha = error_curve(training, NormCriterion(), alphas, weights).best_alpha if len(alphas) > 1 else alphas[0]
    loss, unit = setting, 1.0
    for _ in range(2):  # the second time in the unit of the first
        loss, weights, unit = reweight(training, setting, weights, alpha / unit * training.weights.sum())
    return loss


def initial_weights(samples: Samples):
    """Weights (n,) of a robust model from distances to the median, before there is a model."""
    Y = samples.encoded.coordinates
    median = sum(share * pointwise_median(Y, weights) for share, weights in samples.nested_weights)
    return robust_weights(None, Y - median, samples)[0]


def reweight(training: Training, setting: Loss, weights, penalty):
    """The loss with numbers, weights (n,) and the unit of alpha after rounds of iteratively reweighted least squares.

    weights : (n,) of the first round
    penalty : alpha times the sum of weights, held fixed
    """
    loss, unit = setting, 1.0
    for _ in range(_REWEIGHTINGS):
        weighted = replace(training, weights=training.weights * weights)
        residuals = next(loo_residual_path(weighted, [penalty / weighted.weights.sum()]))
        loss = _resolve(setting, residuals, training)
        weights, unit = robust_weights(loss, residuals, training)
    return loss, weights, unit


def robust_weights(loss: Loss | None, residuals, data: Samples):
    """Weights (n,) in (0, 1] under which the squared loss has the optimum of a loss with a bound, to first order.

    They are ``min(1, bound / |r|)``; without a loss, or for one without curvature, the median residual replaces the
    bound. The second result is the unit of alpha: the number that these weights and the penalty are multiplied by.
    """
    if loss is not None and loss.pointwise:
        sizes = np.abs(residuals) if data.measure is None else np.abs(residuals) / np.sqrt(data.measure)
        observed = np.isfinite(sizes)
        sizes = np.sum(sizes, axis=1, where=observed) / np.maximum(observed.sum(axis=1), 1)
    else:
        sizes = row_norms(np.nan_to_num(residuals))
    if loss is None or loss.curvature == 0:
        bend = sum(share * weighted_quantile(sizes, 0.5, weights) for share, weights in data.nested_weights)
    else:
        bend = loss.bound
    if bend <= np.finfo(float).tiny:  # most residuals are zero: there is no scale
        return np.ones(len(sizes)), 1.0
    unit = 1.0 if loss is None or loss.curvature > 0 else loss.bound / bend
    return np.divide(bend, sizes, out=np.ones_like(sizes), where=sizes > bend), unit
