"""Grids of alpha and constants of a loss: their values, the loss that compares models, and the selected model."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from sklearn.base import clone

from .. import selection
from .._utils.statistics import MAD_TO_DEVIATION, weighted_quantile
from ..losses import Loss, Squared
from ..training import Options, Training

RULES = ("best", "one_standard_error")
_MULTIPLES = 2.0 ** np.arange(-3, 4)  # grid of a constant, relative to its "auto" value
_EQUAL = 1e-9  # relative difference of errors on a two-way grid up to which they are ties


def check_alphas(alphas):
    """The alphas as an array (n_alphas,); raise unless they are positive."""
    try:
        alphas = np.atleast_1d(np.asarray(alphas, dtype=float))
    except (TypeError, ValueError) as error:
        raise ValueError(f"alphas must be positive numbers or None, got {alphas!r}") from error
    if alphas.ndim != 1 or not len(alphas) or not (np.isfinite(alphas) & (alphas > 0)).all():
        raise ValueError(f"alphas must be positive numbers, got {alphas!r}; for example np.logspace(-6, 1, 30)")
    return alphas


def check_loss_params(loss: Loss, loss_params):
    """Raise unless ``loss_params`` maps parameters of the loss to lists of values or "auto"."""
    if not isinstance(loss_params, dict) or not loss_params:
        raise ValueError(
            "loss_params must be None or a dict of settings of the loss with their values, such as "
            f"{{'kappa': [0.1, 1.0]}} or {{'kappa': 'auto'}}, got {loss_params!r}"
        )
    known = loss.get_params()
    for name, values in loss_params.items():
        if name not in known:
            options = ", ".join(map(repr, known)) or "none"
            raise ValueError(f"loss_params: {loss!r} has no setting {name!r}; it has {options}")
        if isinstance(values, str) and values == "auto":
            _with_auto(loss, [name])
        elif isinstance(values, str) or np.ndim(values) != 1 or not len(values):
            raise ValueError(f"loss_params[{name!r}] must be a list of values or 'auto', got {values!r}")
        else:
            for value in values:
                _with_params(loss, {name: value})


def loss_grid(loss: Loss, loss_params, training: Training, alphas, options: Options) -> list[dict]:
    """All combinations of parameters of the loss, one dict each, in the order of ``loss_params``.

    "auto" is an eighth to eight times the constant that the loss computes from residuals.
    """
    columns = {}
    for name, values in loss_params.items():
        if isinstance(values, str):
            middle = selection.resolve_loss(training, _with_auto(loss, [name]), alphas, options).get_params()[name]
            values = middle * _MULTIPLES
        columns[name] = [value.item() if isinstance(value, np.generic) else value for value in values]
    return [dict(zip(columns, combination)) for combination in itertools.product(*columns.values())]


def with_numbers(loss: Loss, loss_params) -> Loss:
    """The loss with numbers for the searched parameters; with "auto" constants it might scale outputs."""
    return _with_params(
        loss, {name: 1.0 if isinstance(values, str) else values[0] for name, values in loss_params.items()}
    )


def grid_losses(loss: Loss, grid) -> list[Loss]:
    """The losses of a grid of parameters."""
    return [_with_params(loss, params) for params in grid]


def comparison_loss(loss: Loss, grid, training: Training, alphas, options: Options) -> Loss:
    """One loss to compare all models, because values of losses with different constants are not comparable.

    For robust losses it is the loss with its "auto" constants, computed from leave-one-out residuals, so that outliers
    in the test part do not decide. For others it is the squared loss.
    """
    robust = [params for params in grid if np.isfinite(_simplicity(_with_params(loss, params))[0])]
    if not robust or loss.on_margins:
        return Squared()
    common = _with_params(loss, robust[0])
    common = _with_auto(common, [name for name in robust[0] if _takes_auto(loss, name)])
    return selection.resolve_loss(training, common, alphas, options)


def select_model(alphas, losses, errors, spread, rule) -> tuple[int, int]:
    """Positions of the selected alpha and loss.

    alphas : (n_alphas,), in any order
    losses : list of n_losses
    errors, spread : (n_alphas, n_losses), errors and their standard errors

    "best" is the smallest error. "one_standard_error" is the simplest model whose error is within one standard error
    of the smallest: largest alpha, then the most robust loss, then the widest tube. Ties go to the simplest model too.
    For a single loss ties are those of ``alpha="auto"``.
    """
    best = np.unravel_index(np.argmin(errors), errors.shape)
    smallest = errors[best]
    if rule == "one_standard_error":
        within = errors <= smallest + spread[best]
    elif len(losses) == 1:
        order = np.argsort(alphas)
        within = np.zeros(errors.shape, dtype=bool)
        within[order[selection.best_index(errors[order, 0])], 0] = True
    else:
        within = errors <= smallest + _EQUAL * abs(smallest)
    positions = [(int(i), int(j)) for i, j in np.argwhere(within)]
    return max(positions, key=lambda position: (alphas[position[0]], _simplicity(losses[position[1]])))


def error_curve(errors, weights, aggregate):
    """Mean or median over the first axis of errors (n_splits, ...), and its standard error, each of shape (...).

    Weights are relative: standard errors do not depend on their unit.
    """
    shares = weights / weights.sum()
    if aggregate == "mean":
        centre = np.tensordot(shares, errors, 1)
        return centre, np.sqrt(np.tensordot(shares**2, (errors - centre) ** 2, 1))
    centre = _medians(errors, weights)
    deviation = MAD_TO_DEVIATION * _medians(np.abs(errors - centre), weights)
    # for a normal sample the standard error of the median is sqrt(pi/2) times that of the mean
    return centre, np.sqrt(np.pi / 2) * deviation * np.linalg.norm(shares)


def order_by_robustness(losses):
    """Positions of the losses, the one nearest to the squared loss first: the order in which warm starts help."""
    return sorted(range(len(losses)), key=lambda j: _simplicity(losses[j]))


def _medians(values, weights):
    columns = values.reshape(len(values), -1).T
    return np.array([weighted_quantile(column, 0.5, weights) for column in columns]).reshape(values.shape[1:])


def _simplicity(loss: Loss) -> tuple[float, float]:
    """Larger for losses with a smaller bound, then for those with a wider tube (the slope of g* at 0)."""
    loss = loss.resolve(np.array([[1.0], [2.0]])) if loss.needs_residuals else loss  # "auto" is the same in all losses
    return -float(loss.bound), float(loss.conjugate_slope(np.zeros(1))[0])


def _with_params(loss: Loss, params: dict[str, Any]) -> Loss:
    new = clone(loss).set_params(**params)
    new.validate()
    return new


def _takes_auto(loss: Loss, name) -> bool:
    try:
        _with_auto(loss, [name])
    except ValueError:
        return False
    return True


def _with_auto(loss: Loss, names) -> Loss:
    """The loss with "auto" for some parameters."""
    try:
        return _with_params(loss, dict.fromkeys(names, "auto"))
    except ValueError as error:
        raise ValueError(
            f"loss_params: 'auto' is for constants that {loss!r} takes from residuals, and {', '.join(names)} is not "
            "one; give a list of values"
        ) from error
