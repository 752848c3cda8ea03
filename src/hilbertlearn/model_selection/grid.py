"""Grids of alpha and the constants of a loss: what is on them, what models are compared by, and which is chosen."""

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
_MULTIPLES = 2.0 ** np.arange(-3, 4)  # of a constant's own "auto", for a grid that is left to the data
_EQUAL = 1e-9  # relative difference between errors on a two-way grid that is rounding


def check_alphas(alphas):
    """Positive numbers (n_alphas,)."""
    try:
        alphas = np.atleast_1d(np.asarray(alphas, dtype=float))
    except (TypeError, ValueError) as error:
        raise ValueError(f"alphas must be positive numbers or None, got {alphas!r}") from error
    if alphas.ndim != 1 or not len(alphas) or not (np.isfinite(alphas) & (alphas > 0)).all():
        raise ValueError(f"alphas must be positive numbers, got {alphas!r}; for example np.logspace(-6, 1, 30)")
    return alphas


def check_loss_params(loss: Loss, loss_params):
    """Raise unless it says which settings of the loss are to be searched, and with which values."""
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
            _left_open(loss, [name])
        elif isinstance(values, str) or np.ndim(values) != 1 or not len(values):
            raise ValueError(f"loss_params[{name!r}] must be a list of values or 'auto', got {values!r}")
        else:
            for value in values:
                _changed(loss, {name: value})


def loss_grid(loss: Loss, loss_params, training: Training, alphas, options: Options) -> list[dict]:
    """Settings of the loss to be tried, one dict each: all combinations, in the order given.

    "auto" is the constant that the loss takes from residuals itself, an eighth to eight times of it.
    """
    columns = {}
    for name, values in loss_params.items():
        if isinstance(values, str):
            middle = selection.resolve_loss(training, _left_open(loss, [name]), alphas, options).get_params()[name]
            values = middle * _MULTIPLES
        columns[name] = [value.item() if isinstance(value, np.generic) else value for value in values]
    return [dict(zip(columns, combination)) for combination in itertools.product(*columns.values())]


def with_numbers(loss: Loss, loss_params) -> Loss:
    """The loss with numbers for what is searched: with constants of its own it may scale outputs, with these not."""
    return _changed(loss, {name: 1.0 if isinstance(values, str) else values[0] for name, values in loss_params.items()})


def losses_of(loss: Loss, grid) -> list[Loss]:
    """The losses with these settings."""
    return [_changed(loss, params) for params in grid]


def judge(loss: Loss, grid, training: Training, alphas, options: Options) -> Loss:
    """One loss that all models are compared by: values of their own losses say nothing about each other.

    For losses that resist outliers it is the loss itself, with those constants that held-out residuals give it (its
    "auto"), so that outliers among the held-out samples do not decide. For others it is the squared loss.
    """
    robust = [params for params in grid if np.isfinite(_simplicity(_changed(loss, params))[0])]
    if not robust or loss.on_margins:
        return Squared()
    common = _changed(loss, robust[0])
    common = _left_open(common, [name for name in robust[0] if _takes_auto(loss, name)])
    return selection.resolve_loss(training, common, alphas, options)


def choose(alphas, losses, errors, spread, rule) -> tuple[int, int]:
    """Positions of the chosen alpha and loss.

    alphas : (n_alphas,), any order; losses : list, errors, spread : (n_alphas, n_losses) with standard errors

    "best" is the smallest error. "one_standard_error" is the simplest model whose error is within one standard error
    of the smallest: largest alpha, then the loss that holds outliers back most, then the one with the widest tube.
    Equals go to the simpler model as well. For a single loss equal is what ``alpha="auto"`` takes for equal.
    """
    best = np.unravel_index(np.argmin(errors), errors.shape)
    least = errors[best]
    if rule == "one_standard_error":
        within = errors <= least + spread[best]
    elif len(losses) == 1:
        order = np.argsort(alphas)
        within = np.zeros(errors.shape, dtype=bool)
        within[order[selection.best_index(errors[order, 0])], 0] = True
    else:
        within = errors <= least + _EQUAL * abs(least)
    places = [(int(i), int(j)) for i, j in np.argwhere(within)]
    return max(places, key=lambda place: (alphas[place[0]], _simplicity(losses[place[1]])))


def error_curve(errors, weights, aggregate):
    """Mean or median over the first axis of errors (n_splits, ...), and its standard error, each of shape (...).

    Weights say how much an error counts, and not how many there are: standard errors do not depend on their unit.
    """
    shares = weights / weights.sum()
    if aggregate == "mean":
        centre = np.tensordot(shares, errors, 1)
        return centre, np.sqrt(np.tensordot(shares**2, (errors - centre) ** 2, 1))
    centre = _medians(errors, weights)
    deviation = MAD_TO_DEVIATION * _medians(np.abs(errors - centre), weights)
    # of a normal sample the median varies sqrt(pi/2) times as much as the mean
    return centre, np.sqrt(np.pi / 2) * deviation * np.linalg.norm(shares)


def from_plain_to_robust(losses):
    """Positions of the losses from the one nearest to the squared loss on: the order in which warm starts help."""
    return sorted(range(len(losses)), key=lambda j: _simplicity(losses[j]))


def _medians(values, weights):
    columns = values.reshape(len(values), -1).T
    return np.array([weighted_quantile(column, 0.5, weights) for column in columns]).reshape(values.shape[1:])


def _simplicity(loss: Loss) -> tuple[float, float]:
    """Larger for losses that hold residuals back earlier, then for those with a wider tube (the slope of g* at 0)."""
    loss = loss.resolve(np.array([[1.0], [2.0]])) if loss.needs_residuals else loss  # what is open is the same in all
    return -float(loss.bound), float(loss.conjugate_slope(np.zeros(1))[0])


def _changed(loss: Loss, params: dict[str, Any]) -> Loss:
    new = clone(loss).set_params(**params)
    new.validate()
    return new


def _takes_auto(loss: Loss, name) -> bool:
    try:
        _left_open(loss, [name])
    except ValueError:
        return False
    return True


def _left_open(loss: Loss, names) -> Loss:
    """The loss with settings that it takes from residuals."""
    try:
        return _changed(loss, dict.fromkeys(names, "auto"))
    except ValueError as error:
        raise ValueError(
            f"loss_params: 'auto' is for constants that {loss!r} takes from residuals, and {', '.join(names)} is not "
            "one; give a list of values"
        ) from error
