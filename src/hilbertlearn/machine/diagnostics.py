"""Residuals of the training samples, and the weight that the loss gave to each; ``outlier_report`` reads them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._utils.linalg import row_norms
from ..training import Fit

# Bounds of the weights of iteratively reweighted least squares, relative to their median: weights are zero for samples
# without influence, and infinite for samples that a loss without curvature fits exactly.
_SMALLEST, _LARGEST = 1e-10, 1e6


@dataclass(frozen=True, eq=False, kw_only=True)
class SampleDiagnostics:
    """Residuals and weights of the n samples in use."""

    rows: np.ndarray  # their positions among the samples given
    weights: np.ndarray  # of the samples, as given
    sizes: np.ndarray  # (n,) norms of residuals, of the observed share of the domain
    held_back: np.ndarray  # (n,) share of the residual beyond the bound of the loss
    residuals: Any = None  # (n, m) NaN where not observed; None where they equal the dual variables
    irls_weights: Any = None  # (n,) weights of iteratively reweighted least squares at the optimum; None for ones
    # for each sample (points, roots of their weights), where functions have their own points
    observation_points: Any = None
    sampling: Any = None  # from coordinates to residuals, where these are values
    # (n, d) dual variables in coordinates, where a graph gives coefficients to other samples too
    dual_coordinates: Any = None
    # (n, m_1, ..., p) parts of the functions outside their basis, on the grid; None for nothing
    outside_values: Any = None
    loo_data: Any = None  # LeaveOneOutData, for leverages; None where there is no formula

    @classmethod
    def from_fit(cls, fit: Fit, loo_data, has_closed_form: bool):
        """loo_data : as the field; has_closed_form : whether residuals and leave-one-out errors have one."""
        training, problem, loss = fit.training, fit.problem, fit.loss
        shared = {"rows": training.rows, "weights": training.weights}
        if training.y is not None:  # rows in batches are not kept
            shared["outside_values"] = training.space.outside_values(training.y[training.rows])
        if training.depends_on_alpha:
            shared["dual_coordinates"] = fit.sample_coefficients * (problem.penalty / training.weights)[:, None]
        A = fit.solution.dual / fit.root
        share = np.broadcast_to(np.asarray(fit.observed_share, dtype=float), len(A))
        if has_closed_form:
            return cls(sizes=row_norms(A) / np.sqrt(share), held_back=np.zeros(len(A)), **shared)
        R = fit.residuals
        norms, width = row_norms(R), training.Y.shape[1]
        held_back = np.zeros(len(R))
        if np.isfinite(loss.bound) and loss.curvature > 0:
            # dual variables of these residuals at an optimum; those of the solver are close to them
            dual = loss.curvature * loss.row_prox(R / loss.curvature, 1 / loss.curvature, problem.measure)
            np.divide(row_norms(R - dual), norms, out=held_back, where=norms > 0)
        mask, sampling, points = training.mask, training.encoded.sampling, None
        if sampling is not None:
            points = training.space.observation_points(training.y[training.rows])
        return cls(
            sizes=norms / np.sqrt(share),
            held_back=np.minimum(held_back, 1.0),
            residuals=R[:, :width] if mask is None else np.where(mask, R[:, :width], np.nan),
            irls_weights=None if loss.quadratic and mask is None else _irls_weights(loss, A, R, share, problem.measure),
            observation_points=points,
            sampling=sampling,
            loo_data=loo_data,
            **shared,
        )


def _irls_weights(loss, A, R, share, measure):
    """Weights (n,) of iteratively reweighted least squares: dual variables A over residuals R.

    For a pointwise loss the mean over points; entries that were not observed have weight zero.
    """
    if loss.pointwise:
        sizes, duals = np.abs(R), np.abs(A)
        shares = np.full(R.shape[1], 1 / R.shape[1]) if measure is None else measure / measure.sum()
        weights = np.divide(duals, sizes, out=np.zeros_like(duals), where=sizes > 0) @ shares
    else:
        sizes, duals = row_norms(R), row_norms(A)
        weights = share * np.divide(duals, sizes, out=np.ones_like(duals), where=sizes > 0)
    largest = _LARGEST * (np.median(weights[weights > 0]) if (weights > 0).any() else 1.0)
    return np.clip(weights, _SMALLEST * largest / _LARGEST, largest)
