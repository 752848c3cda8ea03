"""Step back to a smoother model where the solver does not converge at the selected settings."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import numpy as np
from sklearn.base import clone

from ..losses import Loss
from ..training import Fit

_FACTOR = 10.0**0.5  # of alpha and the loss's bound between attempts; larger ones cost accuracy, smaller ones time
_ATTEMPTS = 8  # with smoother models, each of which may take all iterations

Found = TypeVar("Found")


def step_back(solve: Callable[[float], Found], is_final: Callable[[Found], bool]) -> Found:
    """The first result that is final, of models with selected settings 1, 3, 10, 30, ... times as large.

    Leave-one-out errors of the squared loss are computed in closed form and do not tell whether an iterative solver
    converges. Without noise they select an alpha, and a bound of the loss, at the limit of rounding.

    Parameters
    ----------
    solve : function of the factor of the selected settings
    is_final : whether a result has converged, or would not with smoother settings either

    Returns
    -------
    found : the result; the first where none is final
    """
    first = found = solve(1.0)
    for attempt in range(1, _ATTEMPTS + 1):
        if is_final(found):
            return found
        found = solve(_FACTOR**attempt)
    return found if is_final(found) else first


def is_final(found: Fit) -> bool:
    """Whether a fit has converged, or missed its tolerance for another reason than a lack of smoothness.

    Such reasons are a callback that stopped it, single precision, and a loss that forbids the residuals of a smoother
    function.
    """
    solution, problem = found.solution, found.problem
    rounded = problem.is_float32 and solution.gap <= problem.rounding_gap
    return solution.converged or solution.stopped or rounded or bool(np.isfinite(found.loss.largest_residual))


def automatic_bounds(setting: Loss, loss: Loss) -> tuple[str, ...]:
    """Names of the loss's parameters that are left to the data and bound its dual variables, as Huber's kappa does.

    setting, loss : as given, and with numbers for all parameters
    """
    names = [name for name, value in setting.get_params().items() if isinstance(value, str) and value == "auto"]
    return tuple(name for name in names if with_larger_constants(loss, [name], 2.0).bound > loss.bound)


def with_larger_constants(loss: Loss, names, factor) -> Loss:
    """The loss with the named parameters multiplied by a factor."""
    values = loss.get_params()
    return clone(loss).set_params(**{name: factor * values[name] for name in names})
