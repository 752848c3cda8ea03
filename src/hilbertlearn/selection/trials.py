"""Evaluated settings with their cross-validated errors, and the rules that take the best of them."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from ..kernels import AverageKernel

# Relative difference between two errors that counts as none: ties go to the smoother model. Ten times as much would
# let errors decide that differ by less than between two draws of the same samples.
_TIE = 1e-4
# Squared errors below this share of the error of the smoothest model are rounding.
_ROUNDING = 1e-12


class Trial(NamedTuple):
    """One setting, and its error."""

    kernel: Any
    gamma: Any
    alpha: float
    error: float
    standard_error: float
    seconds: float
    n_samples: int
    method: str  # "leave-one-out" or "folds"; errors of different methods cannot be compared


def make_trials(training, alphas, errors, standard_errors, seconds, method) -> tuple[Trial, ...]:
    """A trial for each alpha, of the kernels of training data; seconds : for all of them.

    An average of kernels has its name, so that kernels by name are a column of text.
    """
    settings = [one.kernel for one in training.kernels]
    kernel: Any = [one.name if isinstance(one, AverageKernel) else one for one in settings]
    gamma: Any = [one.rate for one in training.kernels]
    if len(kernel) == 1:
        kernel, gamma = kernel[0], gamma[0]
    share, n = seconds / len(alphas), len(training.rows)
    rows = zip(alphas, errors, standard_errors, strict=True)
    return tuple(Trial(kernel, gamma, float(a), float(e), float(s), share, n, method) for a, e, s in rows)


def trials_table(trials) -> dict[str, np.ndarray]:
    """Columns of the trials, in the form that ``pandas.DataFrame`` takes."""
    columns: dict[str, np.ndarray] = {}
    for name, values in zip(Trial._fields, zip(*trials) if trials else [()] * len(Trial._fields)):
        columns[name] = np.fromiter(values, dtype=_column_type(name, values), count=len(values))
    return columns


def _column_type(name, values) -> type:
    if name == "n_samples":
        return int
    if name == "gamma":  # kernels without a rate have None, several kernels a list
        return float if all(isinstance(value, (int, float)) for value in values) else object
    return object if name in ("kernel", "method") and values else float


def best_index(errors) -> int:
    """Index, in order of increasing alpha, of the last error that equals the smallest up to a tie.

    Errors are often flat towards small alpha. The largest alpha of a flat part is the best conditioned.
    """
    errors = np.asarray(errors, dtype=float).tolist()  # a handful of numbers: lists are faster than arrays
    finite = _finite(errors)
    least = min(finite)
    bound = least + _TIE * abs(least) + _ROUNDING * abs(finite[-1])
    return max(i for i, error in enumerate(errors) if error <= bound)


def smoothest(errors: dict):
    """The smallest key whose error equals the smallest error up to a tie."""
    least = min(_finite(errors.values()))
    bound = least + _TIE * abs(least)
    return min(key for key, error in errors.items() if error <= bound)


def _finite(errors) -> list[float]:
    finite = [error for error in errors if math.isfinite(error)]
    if not finite:
        raise ValueError("y is too large, its squared errors overflow; divide y by its standard deviation")
    return finite
