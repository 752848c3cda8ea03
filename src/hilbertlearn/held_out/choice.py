"""Settings left to the data: alpha, and what is "auto" in a loss, from residuals of samples held out."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ..losses import Loss, Squared
from ..terms import Factors
from ..training import Options, Training
from .folds import fold_errors, full_rows, held_out_residuals, shuffled_folds
from .loo import residual_path

_AS_GOOD = 1e-4  # relative difference between errors that does not count
_ROUNDING = 1e-12  # squared errors this small beside that of the smoothest model are rounding
_THIN = 2  # every second alpha of the default grid is tried over folds
_ROBUST_RANGE = (1e-4, 10, 11)  # smallest, largest and number of alphas tried, relative to the squared loss's
_PATIENCE = 5  # a path towards small alphas, the slow ones, stops when that many in a row were no better
_TOL, _MAX_ITER = 1e-4, 200  # gap and iterations of models that only serve to choose


@dataclass(frozen=True)
class Choice:
    """What was left to the data."""

    alpha: float
    loss: Loss
    training: Training  # as the choice left it: prepared for many alphas or not
    factors: Factors | None = None  # of its term, where the choice has paid for them


def choose(training: Training, loss: Loss, alpha, options: Options) -> Choice:
    """alpha, and the loss with its settings as numbers; alpha : a number or "auto"."""
    if not isinstance(alpha, str):
        return Choice(float(alpha), settled(training, loss, [float(alpha)], options), training)
    chosen = _from_ridge(training, loss, training.alphas(), options)
    if not np.isfinite(chosen.loss.bound) or len(training.Y) == 1:
        return chosen
    # outliers blow up the alpha of the squared loss: try smaller ones as well, by the loss itself
    alphas = chosen.alpha * np.geomspace(*_ROBUST_RANGE)
    return replace(chosen, alpha=_search(training, chosen.loss, alphas, options))


def settled(training: Training, loss: Loss, alphas, options: Options) -> Loss:
    """The loss with its settings as numbers, for models along a path of alphas."""
    if not loss.needs_residuals:
        return loss
    few = np.sort(alphas) if training.closed_form else [float(np.median(alphas))]
    return _from_ridge(training, loss, few, options).loss


def _from_ridge(training: Training, loss, alphas, options) -> Choice:
    """The best of increasing alphas for the squared loss, and the loss with settings from its held-out residuals."""
    if len(training.Y) == 1:  # nothing to hold out: the smoothest model
        return Choice(float(alphas[-1]), loss.resolve(training.Y - training.Y), training)
    factors, data = None, training
    if training.closed_form:
        data = training.distinct()
        alpha = alphas[0]
        if len(alphas) > 1:
            prepared, own = data.prepared(alphas)
            with np.errstate(over="ignore", invalid="ignore"):  # best_index says what overflows
                errors = [
                    data.space.held_out_errors(data.Y, r) @ data.weights for r in residual_path(prepared, alphas, own)
                ]
            alpha = alphas[best_index(errors)]
            training, factors = (prepared, own) if data is training else (training, None)
            data = prepared
        residuals = next(residual_path(data, [alpha], factors)) if loss.needs_residuals else None
    else:
        alpha = _search(training, Squared(), alphas[::_THIN], replace(options, solver="auto"))
        residuals = None
        if loss.needs_residuals:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                residuals = held_out_residuals(training, Squared(), alpha, _quick(replace(options, solver="auto")))
    if residuals is not None and training.encoded.sampling is None:
        residuals = full_rows(loss, data.space, data.y[data.rows], residuals)
    return Choice(float(alpha), loss.resolve(residuals, training.measure, data.weights), training, factors)


def best_index(errors):
    """Index, in order of increasing alpha, of the last error that is as good as the smallest.

    Errors often are flat towards small alpha; there the largest alpha is better conditioned and as good.
    """
    errors = np.asarray(errors)
    finite = errors[np.isfinite(errors)]
    if not len(finite):
        raise ValueError("y is too large, its squared errors overflow; divide y by its standard deviation")
    as_good = finite.min() + _AS_GOOD * abs(finite.min()) + _ROUNDING * abs(finite[-1])
    return int(np.flatnonzero(errors <= as_good)[-1])


def _search(training: Training, loss, alphas, options):
    """The alpha with the smallest error over folds."""
    if len(alphas) == 1:
        return alphas[0]
    folds = shuffled_folds(len(training.Y))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # of models that only serve to choose
        errors = fold_errors(training, folds, alphas, loss, _quick(options), patience=_PATIENCE)
    return float(alphas[best_index(errors.mean(axis=0))])


def _quick(options: Options) -> Options:
    return Options(options.solver, max(options.tol, _TOL), _MAX_ITER)
