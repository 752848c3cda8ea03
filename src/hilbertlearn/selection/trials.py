"""Settings that were tried, with their held-out errors."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

_AS_GOOD = 1e-4  # relative difference between errors that does not count
_ROUNDING = 1e-12  # squared errors this small beside that of the smoothest model are rounding


class Trial(NamedTuple):
    """One setting, and its error."""

    kernel: Any
    gamma: Any
    alpha: float
    error: float
    standard_error: float
    seconds: float
    n_samples: int
    method: str  # "leave-one-out" or "folds", whose errors are not to be compared with each other


def trials_of(training, alphas, errors, standard_errors, seconds, method) -> tuple[Trial, ...]:
    """Those of the kernels of training data, one for each alpha; seconds : for all of them."""
    kernel, gamma = ([getattr(one, name) for one in training.kernels] for name in ("kernel", "rate"))
    if len(kernel) == 1:
        kernel, gamma = kernel[0], gamma[0]
    share, n = seconds / len(alphas), len(training.rows)
    rows = zip(alphas, errors, standard_errors, strict=True)
    return tuple(Trial(kernel, gamma, float(a), float(e), float(s), share, n, method) for a, e, s in rows)


def trials_table(trials) -> dict[str, np.ndarray]:
    """Columns of the trials, as ``pandas.DataFrame`` takes them."""
    columns = {}
    for name, values in zip(Trial._fields, zip(*trials) if trials else [()] * len(Trial._fields)):
        plain = all(isinstance(value, (int, float)) for value in values)
        kind = int if name == "n_samples" else float if plain else object
        columns[name] = np.fromiter(values, dtype=kind, count=len(values))
    return columns


def best_index(errors):
    """Index, in order of increasing alpha, of the last error that is as good as the smallest.

    Errors often are flat towards small alpha; there the largest alpha is better conditioned and as good.
    """
    errors = np.asarray(errors, dtype=float).tolist()  # few, and a search asks often: faster than arrays
    finite = [error for error in errors if math.isfinite(error)]
    if not finite:
        raise ValueError("y is too large, its squared errors overflow; divide y by its standard deviation")
    least = min(finite)
    as_good = least + _AS_GOOD * abs(least) + _ROUNDING * abs(finite[-1])
    return max(i for i, error in enumerate(errors) if error <= as_good)


def smoothest(errors: dict):
    """The first key, in increasing order, whose error is as good as the smallest."""
    finite = {key: value for key, value in errors.items() if math.isfinite(value)}
    if not finite:
        raise ValueError("y is too large, its squared errors overflow; divide y by its standard deviation")
    least = min(finite.values())
    return min(key for key, value in finite.items() if value <= least + _AS_GOOD * abs(least))
