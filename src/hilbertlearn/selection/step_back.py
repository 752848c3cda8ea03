"""Step back to a smoother model where the solver does not converge at the selected settings."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import numpy as np
from sklearn.base import clone

from ..losses import Loss
from ..training import Fit

# Factor of alpha and of the loss's bound between attempts. A larger one costs accuracy, a smaller one time.
_FACTOR = 10.0**0.5
_ATTEMPTS = 8  # at most; each may take all iterations

Result = TypeVar("Result")


def step_back(
    solve: Callable[[float], Result], is_final: Callable[[Result], bool], first: Result | None = None
) -> Result:
    """The first result that is final, of models with selected settings 1, 3, 10, 30, ... times as large.

    Leave-one-out errors of the squared loss are computed in closed form and do not show whether an iterative solver
    converges. Data without noise select an alpha, and a bound of the loss, at the limit of rounding. Tubes (epsilon)
    do not grow: that made errors a hundred times larger and did not help the solver.

    Parameters
    ----------
    solve : function of the factor of the selected settings
    is_final : whether a result has converged, or would not with smoother settings either
    first : the result at factor 1, where it exists

    Returns
    -------
    The result; the first one where none is final.
    """
    first = solve(1.0) if first is None else first
    result = first
    for attempt in range(1, _ATTEMPTS + 1):
        if is_final(result):
            return result
        result = solve(_FACTOR**attempt)
    return result if is_final(result) else first


def is_final(result: Fit) -> bool:
    """Whether a fit has converged, or a smoother model would not converge either.

    Other reasons to miss the tolerance are a callback that stopped the solver, single precision, and a loss that
    forbids the residuals of a smoother function.
    """
    solution, problem = result.solution, result.problem
    rounded = problem.is_float32 and solution.gap <= problem.rounding_gap
    return solution.converged or solution.stopped or rounded or bool(np.isfinite(result.loss.largest_residual))


def automatic_bounds(setting: Loss, loss: Loss) -> tuple[str, ...]:
    """Names of the loss's "auto" parameters that bound its dual variables, as Huber's kappa does.

    setting, loss : as given, and with numbers for all parameters
    """
    names = [name for name, value in setting.get_params().items() if isinstance(value, str) and value == "auto"]
    return tuple(name for name in names if with_larger_constants(loss, [name], 2.0).bound > loss.bound)


def with_larger_constants(loss: Loss, names, factor) -> Loss:
    """The loss with the named parameters multiplied by a factor."""
    values = loss.get_params()
    return clone(loss).set_params(**{name: factor * values[name] for name in names})
