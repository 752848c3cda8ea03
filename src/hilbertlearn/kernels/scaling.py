"""Standardisation of rows of numbers, as a part of a resolved kernel."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse

from .._utils.equality import EqualByValues
from .._utils.linalg import to_float64
from .stationary import OVERFLOW

# Standard deviation, relative to the largest value of a column, below which the column is constant up to rounding.
_CONSTANT = 1e-12
_EQUAL = 1e-9  # relative difference of standard deviations that counts as none
_SMALLEST = 1e-100  # standard deviation whose square, and that of its inverse, is far from the ends of the floats


@dataclass(frozen=True, eq=False)
class InputScaling(EqualByValues):
    """Division of columns by their standard deviations, for kernels of rows of numbers.

    Values of dense rows farther than the range of the training values outside of this range are treated as if they
    were that far. Where columns are not in the same units, linear functions of an outlying row are otherwise without
    bound. Columns that are constant among the training samples have the factor 0: no sample tells their effect.
    """

    factors: np.ndarray  # (p,)
    lower: Any = None  # (p,) bounds of values; None for sparse rows, whose zeros stay zeros
    upper: Any = None

    def __hash__(self):
        return hash(self.factors.tobytes())

    @classmethod
    def from_samples(cls, X, weights=None) -> InputScaling:
        """The scaling of training inputs X (n, p), dense or sparse, with weights (n,).

        Columns with equal standard deviations keep their unit, unless their squares over- or underflow.
        """
        X, is_sparse = to_float64(X), scipy.sparse.issparse(X)
        weights = np.ones(X.shape[0]) if weights is None else np.asarray(weights, dtype=float)
        X, share = (X.tocsc() if is_sparse else X)[weights > 0], weights[weights > 0] / weights.sum()
        low, high = X.min(axis=0), X.max(axis=0)
        if is_sparse:
            low, high = low.toarray().ravel(), high.toarray().ravel()
        with np.errstate(over="ignore"):
            reach = high - low
            lower, upper = low - reach, high + reach
        if not np.isfinite(reach).all():
            raise ValueError(OVERFLOW)
        size, least = np.maximum(abs(low), abs(high)), np.finfo(float).tiny
        unit = _power_of_two(np.where(reach > least, reach, np.maximum(size, 1.0)))  # other squares may overflow
        deviations = unit * np.sqrt((_sparse_variances if is_sparse else _variances)(X, share, unit))
        varies = deviations > np.maximum(_CONSTANT * size, least)
        factors = np.divide(1.0, deviations, out=np.zeros_like(deviations), where=varies)
        has_one_unit = varies.all() and np.ptp(deviations) <= _EQUAL * deviations.max()
        if not varies.any() or (has_one_unit and _SMALLEST < deviations[0] < 1 / _SMALLEST):
            factors = np.ones_like(factors)
        return cls(factors) if is_sparse else cls(factors, lower, upper)

    @property
    def keeps_units(self) -> bool:
        """Whether all columns have the same factor, so that the scaled rows differ from the rows by a factor."""
        return bool((self.factors == self.factors[0]).all())

    @property
    def unit_ratio(self) -> float:
        """The largest standard deviation of a column that varies over the smallest one."""
        used = self.factors[self.factors > 0]
        return float(used.max() / used.min())

    def without_bounds(self) -> InputScaling:
        """The same factors for values however far from the training samples."""
        return replace(self, lower=None, upper=None)

    def __call__(self, X):
        """Scale rows (m, p)."""
        if scipy.sparse.issparse(X):
            return X.multiply(self.factors.astype(X.dtype)).tocsr()
        scaled = X if self.lower is None else np.clip(X, self.lower, self.upper)
        return (scaled * self.factors).astype(X.dtype, copy=False)


def _power_of_two(x):
    """The largest powers of two up to x (p,): division by these is exact."""
    return np.ldexp(1.0, np.frexp(x)[1] - 1)


def _variances(X, share, unit):
    """Variances (p,) of the columns of X (n, p) in their units, with weights (n,) that add up to 1."""
    relative = X / unit
    return share @ (relative - share @ relative) ** 2


def _sparse_variances(X, share, unit):
    """The same for a sparse matrix, in the format by columns."""
    counts = np.diff(X.indptr)
    columns = np.repeat(np.arange(X.shape[1]), counts)
    values, weights = X.data / unit[columns], share[X.indices]
    mean, stored = (np.bincount(columns, w, X.shape[1]) for w in (weights * values, weights))
    squares = np.bincount(columns, weights * (values - mean[columns]) ** 2, X.shape[1])
    return squares + np.where(counts < X.shape[0], np.maximum(1.0 - stored, 0.0), 0.0) * mean**2
