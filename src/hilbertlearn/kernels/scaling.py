"""Standardisation of rows of numbers, as a part of a resolved kernel."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse

from .._utils.equality import EqualByValues
from .._utils.linalg import to_float64
from .stationary import OVERFLOW

# Standard deviations, relative to the largest value of a column: up to the first the column is constant up to rounding;
# from there to the second the factor grows in proportion, so that a column enters the kernel continuously.
_CONSTANT, _VARYING = 1e-12, 1e-8
_EQUAL = 1e-9  # relative difference of standard deviations that counts as none
_SMALLEST = 1e-100  # standard deviation whose square, and that of its inverse, is far from the ends of the floats
_FARTHEST = 1e100  # scaled value whose square is far from the end of the floats


@dataclass(frozen=True, eq=False)
class InputScaling(EqualByValues):
    """Division of columns by their standard deviations, for kernels of rows of numbers.

    Values of dense rows farther than the range of the training values outside of this range are treated as if they
    were that far. Where columns are not in the same units, linear functions of an outlying row are otherwise without
    bound. Columns that are constant among the training samples have the factor 0: no sample tells their effect. Their
    values count for novelty, see ``without_bounds``.
    """

    factors: np.ndarray  # (p,)
    lower: Any = None  # (p,) bounds of values; None for sparse rows, whose zeros stay zeros
    upper: Any = None
    origin: Any = None  # (p,) values that are subtracted; None for zeros
    unit_ratio: float = 1.0  # the largest standard deviation of a column that varies over the smallest one

    def __hash__(self):
        return hash(self.factors.tobytes())

    @classmethod
    def from_samples(cls, X, weights=None, keeps_equal=True) -> InputScaling:
        """The scaling of training inputs X (n, p), dense or sparse, with weights (n,).

        keeps_equal : whether columns with equal standard deviations keep their unit, unless their squares over- or
            underflow; a selected rate makes up for it, a given one does not
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
        relative = np.divide(deviations, size, out=np.zeros_like(size), where=varies)
        presence = np.where(varies, np.clip((relative - _CONSTANT) / (_VARYING - _CONSTANT), 0.0, 1.0), 0.0)
        factors = np.divide(presence, deviations, out=np.zeros_like(deviations), where=varies)
        has_one_unit = (presence == 1).all() and np.ptp(deviations) <= _EQUAL * deviations.max()
        if not varies.any() or (keeps_equal and has_one_unit and _SMALLEST < deviations[0] < 1 / _SMALLEST):
            factors = np.ones_like(factors)
        bounds = {} if is_sparse else {"lower": lower, "upper": upper}
        return cls(factors, **bounds, unit_ratio=_unit_ratio(deviations[varies], presence[varies]))

    @property
    def keeps_units(self) -> bool:
        """Whether rows stay as they are, except beyond the bounds."""
        return bool((self.factors == 1).all())

    def without_bounds(self) -> InputScaling:
        """The same factors for values however far from the training samples, up to the end of the floats.

        A column that is constant among the training samples is zero there, and elsewhere relative to this constant.
        """
        constant = self.factors == 0
        if self.lower is None:  # an absent value of a sparse column is a zero
            return replace(self, factors=np.where(constant, 1.0, self.factors))
        origin = np.where(constant, self.lower, 0.0)
        factors = np.where(constant, 1 / np.where(origin == 0, 1.0, np.abs(origin)), self.factors)
        with np.errstate(over="ignore"):
            reach = _FARTHEST / factors
            return replace(self, factors=factors, lower=self.lower - reach, upper=self.upper + reach, origin=origin)

    def __call__(self, X):
        """Scale rows (m, p)."""
        if scipy.sparse.issparse(X):
            return X.multiply(self.factors.astype(X.dtype)).tocsr()
        scaled = X if self.lower is None else np.clip(X, self.lower, self.upper)
        if self.origin is not None:
            scaled = scaled - self.origin
        return (scaled * self.factors).astype(X.dtype, copy=False)


def _unit_ratio(deviations, presence):
    """The largest of standard deviations (p,) over the smallest; columns of little presence in [0, 1] count less."""
    if not presence.any():
        return 1.0
    logs = np.log(deviations)
    middle = presence @ logs / presence.sum()
    return float(np.exp(np.ptp(presence * (logs - middle))))


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
