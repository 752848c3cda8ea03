"""Samples of a conformal predictor: inputs, outputs, weights, groups, and which samples are used."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import _safe_indexing, indexable
from sklearn.utils.validation import _check_sample_weight, _num_samples, column_or_1d

from ..data.objects import StructuredOutputs
from .observations import IrregularOutputs, RowOutputs
from .output_form import OutputForm, with_common_domain
from .wrapped import fit_model, is_searched, select_columns


@dataclass(frozen=True, kw_only=True)
class CalibrationData:
    """What models are fitted to and calibrated on."""

    X: Any
    y: Any
    sample_weight: np.ndarray | None  # (N,)
    rows: np.ndarray  # (n,) positions of the samples in use: of positive weight, with an observed output
    groups: np.ndarray | None = None  # (N,)

    @property
    def n_samples(self) -> int:
        """Number N of samples given to ``fit``."""
        return _num_samples(self.X)

    @property
    def weights(self):
        """Sample weights (N,), ones by default."""
        return np.ones(self.n_samples) if self.sample_weight is None else self.sample_weight

    def calibration_weights(self, rows):
        """Weights of the samples at these positions in the calibration.

        With groups each sample has its weight over the size of its group: a group counts as one sample, because a query
        comes from a new group (hierarchical conformal prediction, Lee, Barber and Willett 2023).
        """
        if self.groups is None:
            return self.weights[rows]
        _, group, sizes = np.unique(self.groups[rows], return_inverse=True, return_counts=True)
        return self.weights[rows] / sizes[group]

    def calibration_size(self, rows) -> tuple[int, str]:
        """Number of exchangeable units among the samples at these positions, and their name: samples, or groups."""
        if self.groups is None:
            return len(rows), "samples"
        return len(np.unique(self.groups[rows])), "groups"

    def outputs_for(self, estimator, rows):
        """Outputs of some samples, as ``estimator.fit`` takes them."""
        return _safe_indexing(self.y, rows)

    def fit_copy(self, estimator, train, columns=None):
        """Fit a copy of the estimator to a training part; columns : as for ``wrapped.select_columns``."""
        X = select_columns(_safe_indexing(self.X, train), columns)
        weights = None if self.sample_weight is None else self.sample_weight[train]
        return fit_model(clone(estimator), X, self.outputs_for(estimator, train), weights)


@dataclass(frozen=True, kw_only=True)
class RowData(CalibrationData):
    """Samples whose outputs are rows of numbers."""

    outputs: RowOutputs | IrregularOutputs
    form: OutputForm

    @classmethod
    def from_arguments(cls, X, y, sample_weight, groups, form: OutputForm) -> RowData:
        """Check the arguments of ``fit``."""
        X, y = indexable(X)[0], indexable(y)[0]
        if form.irregular:
            y = with_common_domain(y)
        outputs = form.observations(y)
        used = _check_samples(X, outputs.is_observed, sample_weight, groups)
        return cls(X=X, y=y, outputs=outputs, form=form, **used)


@dataclass(frozen=True, kw_only=True)
class ObjectData(CalibrationData):
    """Samples whose outputs are objects."""

    outputs: StructuredOutputs  # y after reading

    @classmethod
    def from_arguments(cls, X, y, sample_weight, groups) -> ObjectData:
        """Check the arguments of ``fit``."""
        check_has_outputs(y)
        X, outputs = indexable(X)[0], StructuredOutputs.from_y(y)
        return cls(X=X, y=y, outputs=outputs, **_check_samples(X, outputs.known, sample_weight, groups))

    def outputs_for(self, estimator, rows):
        """Outputs of some samples: after reading, with the labels of all samples, unless a search splits them again."""
        return super().outputs_for(estimator, rows) if is_searched(estimator) else self.outputs[rows]


def check_has_outputs(y):
    """Raise where y is None."""
    if y is None:
        raise ValueError("This ConformalPredictor estimator requires y to be passed, but the target y is None.")


def _check_samples(X, is_observed, sample_weight, groups) -> dict:
    """Checked sample weights and groups, and positions (n,) of the samples in use."""
    n = _num_samples(X)
    if len(is_observed) != n:
        raise ValueError(f"X and y must have as many samples, got inconsistent numbers {n} and {len(is_observed)}")
    weights = check_weights(sample_weight, n)
    if groups is not None:
        groups = column_or_1d(groups)
        if len(groups) != n:
            raise ValueError(f"groups must have one entry a sample, got {len(groups)} for {n}")
    rows = np.flatnonzero(is_observed if weights is None else is_observed & (weights > 0))
    return {"sample_weight": weights, "rows": rows, "groups": groups}


def default_query_weights(sample_weight, n, has_groups):
    """Checked weights (n,) of queries; without any, ones if groups are the exchangeable units and None otherwise."""
    weights = check_weights(sample_weight, n)
    return np.ones(n) if weights is None and has_groups else weights


def check_weights(sample_weight, n):
    """Non-negative weights (n,); None stays None."""
    if sample_weight is None:
        return None
    return _check_sample_weight(sample_weight, np.empty((n, 1)), dtype=float, ensure_non_negative=True)
