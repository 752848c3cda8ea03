"""Vectors: the coordinates are the outputs, or their images under a metric."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.utils import check_array

from .._utils.linalg import spectrum
from .._utils.statistics import mean_rows, pointwise_median
from .._utils.validation import join_items
from ..data.frames import check_collected, numbers_of
from ..data.functions import has_points, rows_of_none
from ..data.objects import nan_for_missing
from ..operators import as_learned, operator_matrix
from .base import Space, unobserved_remedy

_RANK_TOLERANCE = 1e-12  # eigenvalues of a metric below this share of the largest are zero up to rounding
_CONSTANT = 1e-12  # spread, relative to the largest value of an output, up to which it is constant up to rounding


@dataclass(frozen=True)
class VectorSpace(Space):
    """Real vectors, NaN where not observed; a 1-D array is one output and is decoded as 1-D."""

    one_output: bool = False
    scale: np.ndarray | None = None  # (d,) outputs are divided by it; None for ones

    @property
    def pointwise(self):
        return True

    def encode(self, y):
        """Coordinates (n, d) of outputs (n, d) or (n,)."""
        y = read_vectors(y)
        y = y[:, None] if y.ndim == 1 else y
        return y if self.scale is None else y / self.scale

    def decode(self, coordinates):
        """Outputs from coordinates (n, d)."""
        values = coordinates if self.scale is None else coordinates * self.scale
        return values[:, 0] if self.one_output else values

    def coordinate_scales(self, Y, weights):
        return output_scales(Y, weights) if Y.shape[1] > 1 else None

    def unobserved_mask(self, y):
        y = read_vectors(y)
        return np.atleast_1d(np.isnan(y).all(axis=0))

    def unobserved_outputs(self, columns):
        return columns

    def unobserved_message(self, mask, names, center):
        has_names = names is not None and len(names) == len(mask) and not self.one_output
        outputs = [repr(names[j]) if has_names else j for j in np.flatnonzero(mask)]
        return f"output {join_items(outputs)} has no observed value, {unobserved_remedy(center)}" if outputs else ""


@dataclass(frozen=True, kw_only=True)
class MetricVectorSpace(VectorSpace):
    """Real vectors with the inner product ``y' A z``: coordinates are ``A^1/2 y``.

    Model 1 of Brouard et al. 2016, section 5.2. Entries are mixed, so each vector must be observed completely or not at
    all.
    """

    root: np.ndarray  # (d, d)
    inverse: np.ndarray  # (d, d), pseudo-inverse of the root

    @property
    def pointwise(self):
        return False

    def coordinate_scales(self, Y, weights):
        return None  # entries are mixed

    def unobserved_outputs(self, columns):
        return None  # vectors are observed completely or not at all

    @classmethod
    def from_outputs(cls, y, metric, sample_weight, scale=None):
        """The space of outputs y (n, d) or (n,) under a metric in any form that ``operators.operator_matrix`` takes."""
        base = VectorSpace(read_vectors(y).ndim == 1, scale)
        Y = base.encode(y)
        is_observed = np.isfinite(Y)
        known = is_observed.any(axis=1) & (sample_weight > 0)
        if (is_observed != is_observed[:, :1]).any():
            raise ValueError(
                "output_metric mixes the outputs of a sample: each row of y must be observed completely, or all NaN; "
                "fill the gaps, or use operator= in place of output_metric"
            )
        if as_learned(metric) is not None:
            raise ValueError("output_metric: LearnedOperator is an operator; use operator=LearnedOperator()")
        A = operator_matrix(metric, Y[known], sample_weight[known], name="output_metric")
        A = np.eye(Y.shape[1]) if A is None else np.asarray(A)
        values, vectors = spectrum(A, _RANK_TOLERANCE)
        root, inverse = ((vectors * scale) @ vectors.T for scale in (np.sqrt(values), 1 / np.sqrt(values)))
        return cls(base.one_output, scale, root=root, inverse=inverse)

    def encode(self, y):
        return super().encode(y) @ self.root

    def decode(self, coordinates):
        return super().decode(coordinates @ self.inverse)


def output_scales(y, sample_weight, robust=False):
    """Standard deviations (d,) of outputs (n, d), NaN where not observed; 1 for outputs constant up to rounding.

    robust : whether to use the standard deviation of a normal distribution with the same mean distance from the median,
        which is less sensitive to outliers
    """
    if robust:
        spread = np.sqrt(np.pi / 2) * mean_rows(np.abs(y - pointwise_median(y, sample_weight)), sample_weight)
    else:
        spread = np.sqrt(mean_rows((y - mean_rows(y, sample_weight)) ** 2, sample_weight))
    size = np.abs(np.nan_to_num(y[sample_weight > 0])).max(axis=0, initial=0.0)
    return np.where(spread > _CONSTANT * size, spread, 1.0)


def read_vectors(y, name="y"):
    """Outputs (n,) or (n, d) as floats, NaN where not observed."""
    if isinstance(y, np.ndarray) and y.dtype == np.float64 and 0 < y.ndim <= 2 and y.size and not np.isinf(y).any():
        return y
    if has_points(y):
        raise ValueError(
            f"{name} must be numbers of shape (n,) or (n, d), got a {type(y).__name__}; use FunctionalRegressor"
        )
    check_collected(y, name)
    if getattr(getattr(y, "dtype", None), "kind", "") in ("m", "M"):
        raise ValueError(f"{name} holds dates or durations; predict numbers, such as days since a date of your choice")
    try:
        y = nan_for_missing(rows_of_none(numbers_of(y)))
        return check_array(y, dtype=np.float64, ensure_2d=False, ensure_all_finite="allow-nan", input_name=name)
    except ValueError as error:
        raise ValueError(f"{name} must be numbers of shape (n,) or (n, d): {error}") from error
