"""Vectors as they are: the coordinates are the outputs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg
from sklearn.utils import check_array

from ..functions import brings_points, rows_of_none
from ..operators import as_learned, operator_matrix
from .base import Space

_RANK = 1e-12  # eigenvalues of a metric, relative to the largest, that count as zero


@dataclass(frozen=True)
class Vector(Space):
    """Real vectors, NaN where not observed; a 1-D array is one output and comes back as 1-D."""

    one_output: bool = False

    @property
    def pointwise(self):
        return True

    @classmethod
    def of(cls, y):
        """The space of outputs y (n, d) or (n,)."""
        return cls(_checked(y).ndim == 1)

    def encode(self, y):
        """Coordinates (n, d) of outputs (n, d) or (n,)."""
        y = _checked(y)
        return y[:, None] if y.ndim == 1 else y

    def decode(self, coordinates):
        """Outputs from coordinates (n, d)."""
        return coordinates[:, 0] if self.one_output else coordinates


@dataclass(frozen=True)
class Metric(Space):
    """Real vectors with the inner product ``y' A z``: coordinates are ``A^1/2 y``.

    Model 1 of Brouard et al. 2016, section 5.2. Entries are mixed, so that vectors are known whole or not at all.
    """

    root: np.ndarray  # (d, d)
    inverse: np.ndarray  # (d, d), pseudo-inverse of the root
    one_output: bool

    @classmethod
    def of(cls, y, metric, sample_weight):
        """The space of outputs y (n, d), or (n,); metric as ``operators.operator_matrix`` takes it."""
        y = _checked(y)
        Y = y[:, None] if y.ndim == 1 else y
        seen = np.isfinite(Y)
        known = seen.any(axis=1) & (sample_weight > 0)
        if (seen != seen[:, :1]).any():
            raise ValueError(
                "output_metric mixes the outputs of a sample: each row of y must be known whole, or all NaN; fill the "
                "gaps, or use operator= in place of output_metric"
            )
        if as_learned(metric) is not None:
            raise ValueError("output_metric: Learned is an operator; use operator=Learned()")
        A = operator_matrix(metric, Y[known], sample_weight[known], name="output_metric")
        A = np.eye(Y.shape[1]) if A is None else np.asarray(A)
        values, vectors = scipy.linalg.eigh(A)
        roots = np.sqrt(np.where(values > _RANK * max(values[-1], 0.0), values, 0.0))
        inverse = np.divide(1.0, roots, out=np.zeros_like(roots), where=roots > 0)
        return cls((vectors * roots) @ vectors.T, (vectors * inverse) @ vectors.T, y.ndim == 1)

    def encode(self, y):
        y = _checked(y)
        return (y[:, None] if y.ndim == 1 else y) @ self.root

    def decode(self, coordinates):
        y = coordinates @ self.inverse
        return y[:, 0] if self.one_output else y


def _checked(y):
    if brings_points(y):
        raise ValueError(
            f"y must be numbers of shape (n,) or (n, d), got a {type(y).__name__}; use FunctionalRegressor"
        )
    try:
        y = rows_of_none(y)
        return check_array(y, dtype=np.float64, ensure_2d=False, ensure_all_finite="allow-nan", input_name="y")
    except ValueError as error:
        raise ValueError(f"y must be numbers of shape (n,) or (n, d): {error}") from error
