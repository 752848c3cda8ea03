"""Standardisation of rows of numbers, as a part of a resolved kernel."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse

from .._utils.linalg import to_float64

# Standard deviation, relative to the largest value of a column, below which the column is constant up to rounding.
_CONSTANT = 1e-12
_EQUAL = 1e-9  # relative difference of standard deviations that counts as none


@dataclass(frozen=True, eq=False)
class InputScaling:
    """Division of columns by their standard deviations, for kernels of rows of numbers.

    Values of dense rows farther than the range of the training values outside of this range are treated as if they
    were that far. Where columns are not in the same units, linear functions of an outlying row are otherwise without
    bound. Columns that are constant among the training samples have the factor 0: no sample tells their effect.
    """

    factors: np.ndarray  # (p,)
    lower: Any = None  # (p,) bounds of values; None for sparse rows, whose zeros stay zeros
    upper: Any = None

    @classmethod
    def from_samples(cls, X, weights=None) -> InputScaling:
        """The scaling of training inputs X (n, p), dense or sparse, with weights (n,).

        Columns with equal standard deviations keep their unit.
        """
        X = to_float64(X)
        weights = np.ones(X.shape[0]) if weights is None else np.asarray(weights, dtype=float)
        share = weights / weights.sum()
        is_sparse = scipy.sparse.issparse(X)
        mean = np.asarray(share @ X).ravel()
        if is_sparse:
            size = np.asarray(abs(X).max(axis=0).todense()).ravel()
            variance = np.asarray(share @ X.multiply(X)).ravel() - mean**2
        else:
            size, variance = np.abs(X).max(axis=0), share @ (X - mean) ** 2
        deviations = np.sqrt(np.maximum(variance, 0.0))
        varies = deviations > _CONSTANT * size
        factors = np.divide(1.0, deviations, out=np.zeros_like(deviations), where=varies)
        has_one_unit = varies.all() and np.ptp(deviations) <= _EQUAL * deviations.max()
        if has_one_unit or not varies.any():
            factors = np.ones_like(factors)
        if is_sparse:
            return cls(factors=factors)
        used = X[weights > 0]
        low, high = used.min(axis=0), used.max(axis=0)
        with np.errstate(over="ignore"):
            reach = high - low
            return cls(factors, low - reach, high + reach)

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
