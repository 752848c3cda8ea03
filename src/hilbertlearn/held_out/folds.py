"""Models fitted without some of the samples, and their errors there."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from sklearn.model_selection import KFold

from ..training import Fit, Options, Training, fit_path

FOLDS = 5  # where leaving out has no closed form
_PLATEAU = 0.01  # relative distance from the first error of a path


def shuffled_folds(n):
    """List of (train, test), positions among n samples."""
    return list(KFold(min(FOLDS, n), shuffle=True, random_state=0).split(np.arange(n)))


def own_error(training: Training, found: Fit, test):
    """Twice the weighted mean of the model's own loss above its least value: for the square, squared errors."""
    loss, space, y = found.loss, found.training.space, training.y[training.rows[test]]
    values = found.coordinates_at(training.cross(test, found.training))
    residuals, weights = space.residuals(y, values), training.weights[test]
    if loss.on_margins:
        targets = np.where(np.isnan(residuals), 0.0, loss.targets_of(np.nan_to_num(residuals + values)))
        return 2 * float(np.average(loss.row_value(-np.sum(targets * values, axis=1)[:, None]), weights=weights))
    rows = full_rows(loss, space, y, np.nan_to_num(residuals))
    floor = loss.row_value(np.zeros_like(rows[:1]), space.measure)
    return 2 * float(np.average(loss.row_value(rows, space.measure) - floor, weights=weights))


def full_rows(loss, space, y, residuals):
    """Residuals (n, d) with what the outputs have outside their space, where the loss sees it."""
    outside = None if loss.quadratic else space.outside(y)
    return residuals if outside is None else np.column_stack([residuals, outside])


def fold_errors(
    training: Training, folds, alphas, loss, options: Options, *, error: Callable = own_error, patience=None
):
    """Errors (n_folds, n_alphas) on held-out folds, positions among the training samples.

    Each fold's kernel is factored once; paths run from the largest alpha down, the order in which warm starts help.

    loss : one with numbers for its settings, or a function of a fold's training data that gives it
    error : function of training data, a fit to a part of it and the positions held out
    patience : a path ends after that many alphas in a row without a smaller error; the rest counts as infinite
    """
    order = np.argsort(alphas)[::-1]
    errors = np.full((len(folds), len(alphas)), np.inf)
    for row, (train, test) in zip(errors, folds, strict=True):
        part = training.take(train)
        path = fit_path(part, loss(part) if callable(loss) else loss, [alphas[i] for i in order], options)
        for step, (i, found) in enumerate(zip(order, path, strict=False)):
            row[i] = error(training, found, test)
            if patience is not None and _steps_without_gain(row[order[: step + 1]]) >= patience:
                break
    return errors


def _steps_without_gain(errors):
    """Steps of a path since its smallest error; those as bad as the first, where the model is all smoothed away, do not
    count: errors may lie on that plateau for long before they fall."""
    since = errors[np.argmin(errors) + 1 :]
    return int(np.sum(np.abs(since - errors[0]) > _PLATEAU * errors[0]))


def held_out_residuals(training: Training, loss, alpha, options: Options):
    """Residuals (n, d) of each sample under the model fitted without its fold."""
    residuals = np.full(training.Y.shape, np.nan)
    for train, test in shuffled_folds(len(training.Y)):
        found = next(fit_path(training.take(train), loss, [alpha], options))
        values = found.coordinates_at(training.cross(test, found.training))
        left = found.training.space.residuals(training.y[training.rows[test]], values)
        residuals[test, : left.shape[1]] = left  # curves of a fold may have fewer points
    return residuals
