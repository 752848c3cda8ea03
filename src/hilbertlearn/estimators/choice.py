"""Settings left to the data: alpha, and what is "auto" in a loss, from residuals of samples held out."""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import KFold
from sklearn.utils import _safe_indexing, indexable
from sklearn.utils.metaestimators import _safe_split
from sklearn.utils.validation import _num_samples

from ..kernels import Affinity, as_graph
from ..losses import Squared
from ..outputs import hidden
from .training import Training

_AS_GOOD = 1e-4  # relative difference between errors that does not count
_ROUNDING = 1e-12  # squared errors this small beside that of the smoothest model are rounding
_FOLDS = 5  # where leave-one-out has no closed form
_THIN = 2  # every second alpha of the default grid is tried there
_ROBUST_RANGE = (1e-4, 10, 11)  # smallest, largest and number of alphas tried, relative to the squared loss's
_PATIENCE = 5  # a path towards small alphas, the slow ones, stops when that many in a row were no better
_PLATEAU = 0.01  # relative distance from the first error of a path
_TOL, _MAX_ITER = 1e-4, 200  # gap and iterations of models that only serve to choose


def choose(estimator, training: Training, loss, y):
    """alpha, and the loss with its settings as numbers."""
    if not isinstance(estimator.alpha, str):
        return float(estimator.alpha), resolve(estimator, training, loss, y, [float(estimator.alpha)])
    alpha, loss = from_ridge(estimator, training, loss, y, training.alphas())
    if np.isfinite(loss.bound) and len(training.Y) > 1:
        # outliers blow up the alpha of the squared loss: try smaller ones as well, by the loss itself
        model = clone(estimator).set_params(loss=loss)
        alpha = _search(model, training, y, alpha * np.geomspace(*_ROBUST_RANGE))
    return float(alpha), loss


def resolve(estimator, training: Training, loss, y, alphas):
    """The loss with its settings as numbers, for models along a path of alphas."""
    if not loss.needs_residuals:
        return loss
    few = np.sort(alphas) if training.closed_form else [float(np.median(alphas))]
    return from_ridge(estimator, training, loss, y, few)[1]


def from_ridge(estimator, training: Training, loss, y, alphas):
    """The best of increasing alphas for the squared loss, and the loss with settings from its held-out residuals."""
    if len(training.Y) == 1:  # nothing to hold out: the smoothest model
        return alphas[-1], loss.resolve(training.Y - training.Y)
    if training.closed_form:
        training = training.distinct()
        alpha = alphas[0]
        if len(alphas) > 1:
            with np.errstate(over="ignore", invalid="ignore"):  # best_index says what overflows
                errors = [training.loo_errors(r) @ training.weights for r in training.loo(alphas, estimator.center)]
            alpha = alphas[best_index(errors)]
        residuals = next(training.loo([alpha], estimator.center)) if loss.needs_residuals else None
    else:
        ridge = clone(estimator).set_params(loss=Squared(), solver="auto")
        alpha = _search(ridge, training, y, alphas[::_THIN])
        residuals = _held_out_residuals(ridge, training, y, alpha) if loss.needs_residuals else None
    return alpha, loss.resolve(residuals, training.measure, training.weights)


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


def fold_errors(estimator, alphas, folds, X, y, sample_weight, *, scorer=None, patience=None):
    """Errors (n_folds, n_alphas) on held-out folds: ``held_out_loss``, or minus the scores of a scorer.

    Each fold's kernel is factored once; paths run from the largest alpha down, the order in which warm starts help.
    With ``patience`` a path ends after that many alphas in a row without a smaller error; the rest counts as infinite.
    """
    order = np.argsort(alphas)[::-1]
    errors = np.full((len(folds), len(alphas)), np.inf)
    parts = split(estimator, folds, X, y, sample_weight)
    for row, (X_train, y_train, weight, test, X_test, y_test) in zip(errors, parts, strict=True):
        weight_test = None if sample_weight is None else _safe_indexing(sample_weight, test)
        models = estimator.fit_path(X_train, y_train, [alphas[i] for i in order], weight)
        for step, (i, model) in enumerate(zip(order, models, strict=False)):
            if scorer is None:
                row[i] = model._held_out_loss(X_test, y_test, weight_test)
            else:
                row[i] = -scorer(model, X_test, y_test)
            if patience is not None and _steps_without_gain(row[order[: step + 1]]) >= patience:
                break
    return errors


def _steps_without_gain(errors):
    """Steps of a path since its smallest error; those as bad as the first, where the model is all smoothed away, do not
    count: errors may lie on that plateau for long before they fall."""
    since = errors[np.argmin(errors) + 1 :]
    return int(np.sum(np.abs(since - errors[0]) > _PLATEAU * errors[0]))


def held_out_loss(model, X, y, sample_weight=None):
    """Twice the weighted mean of the model's own loss above its least value: the squared error, for the squared loss.

    Samples without any output do not count.
    """
    loss = model.loss_
    values = model._coordinates(model._check_X(X, reset=False))
    residuals = model.space_.residuals(y, values)
    weights = np.isfinite(residuals).any(axis=1) * (1.0 if sample_weight is None else np.asarray(sample_weight, float))
    if not weights.any():
        raise ValueError("cv: a fold has no observed output with a positive weight; use other folds")
    if loss.on_margins:
        losses = loss.row_value(-np.nansum((residuals + values) * values, axis=1, keepdims=True))
    else:
        residuals = np.nan_to_num(residuals)
        losses = loss.row_value(residuals, model.space_.measure)
        losses = losses - loss.row_value(np.zeros_like(residuals[:1]), model.space_.measure)
    return 2 * float(np.average(losses, weights=weights))


def _search(model, training: Training, y, alphas):
    """The alpha with the smallest error over folds."""
    if len(alphas) == 1:
        return alphas[0]
    model, folds, data = _quick(model, training, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # of models that only serve to choose
        errors = fold_errors(model, alphas, folds, *data, patience=_PATIENCE)
    return alphas[best_index(errors.mean(axis=0))]


def _held_out_residuals(model, training: Training, y, alpha):
    """Residuals (n, d) of each sample under the model fitted without its fold."""
    model, folds, data = _quick(model, training, y)
    around = training.around
    residuals = np.full((len(training.Y if around is None else around.rows), training.Y.shape[1]), np.nan)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for X_train, y_train, weight, test, X_test, y_test in split(model, folds, *data):
            fitted = next(model.fit_path(X_train, y_train, [alpha], weight))
            left = fitted.space_.residuals(y_test, fitted._coordinates(fitted._check_X(X_test, reset=False)))
            residuals[test, : left.shape[1]] = left  # curves of a fold may have fewer points
    return residuals if around is None else residuals[around.labelled]


def _quick(model, training: Training, y):
    """The model set to a loose gap, folds of the samples with outputs, and the data to split."""
    model.set_params(alpha=1.0, tol=max(model.tol, _TOL), max_iter=_MAX_ITER, verbose=0)
    n, around = len(training.Y), training.around
    folds = list(KFold(min(_FOLDS, n), shuffle=True, random_state=0).split(np.arange(n)))
    if around is None:
        X, rows, weights = training.X, training.rows, training.weights
    else:
        X, rows, weights = around.X, around.rows, around.weights
        folds = [(around.labelled[train], around.labelled[test]) for train, test in folds]
        graph = as_graph(model.graph, training.n_samples)
        model.set_params(graph=graph if isinstance(graph, Affinity) else graph[rows][:, rows])
    return model, folds, (X, _safe_indexing(indexable(y)[0], rows), weights)


def split(estimator, folds, X, y, sample_weight):
    """For each fold ``(X_train, y_train, weight_train, test, X_test, y_test)``; Gram matrices are cut on both sides.

    With a graph's penalty the samples held out stay in training, without their outputs.
    """
    for train, test in folds:
        if estimator.manifold:
            y_train = hidden(y, np.setdiff1d(np.arange(_num_samples(X)), train))
            yield X, y_train, sample_weight, test, _safe_indexing(X, test), _safe_indexing(y, test)
            continue
        X_train, y_train = _safe_split(estimator, X, y, train)
        X_test, y_test = _safe_split(estimator, X, y, test, train)
        weight = None if sample_weight is None else _safe_indexing(sample_weight, train)
        yield X_train, y_train, weight, test, X_test, y_test
