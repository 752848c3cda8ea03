"""Residuals of the training samples, and the weight that the loss gave to each; ``outlier_report`` reads them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._utils.linalg import row_norms
from ..training import Fit

_SMALLEST = 1e-10  # weight of a sample without influence, relative to the others
_LARGEST = 1e6  # weight of a sample that a loss without curvature fits exactly


@dataclass(frozen=True, eq=False, kw_only=True)
class SampleDiagnostics:
    """Residuals and weights of the n samples in use."""

    rows: np.ndarray  # their positions among the samples given
    weights: np.ndarray  # of the samples, as given
    sizes: np.ndarray  # (n,) norms of residuals, of the observed share of the domain
    held_back: np.ndarray  # (n,) share of the residual beyond the bound of the loss
    residuals: Any = None  # (n, m) NaN where not observed; None where they equal the dual variables
    force: Any = None  # (n,) weights of iteratively reweighted least squares at the optimum; None for ones
    observation_points: Any = (
        None  # for each sample (points, roots of their weights), where functions have points of their own
    )
    sampling: Any = None  # from coordinates to residuals, where these are values
    pulls: Any = None  # (n, d) dual variables in coordinates, where a graph gives coefficients to other samples too
    outside_values: Any = (
        None  # (n, m_1, ..., p) what functions have outside their basis, on the grid; None for nothing
    )
    left: Any = None  # LeaveOneOutData, for leverages; None where there is no formula

    @classmethod
    def from_fit(cls, found: Fit, left, exact: bool):
        """left : as the field; exact : whether residuals and leave-one-out errors have a closed form."""
        training, problem, loss = found.training, found.problem, found.loss
        shared = {"rows": training.rows, "weights": training.weights}
        if training.y is not None:  # rows in pieces are not held
            shared["outside_values"] = training.space.outside_values(training.y[training.rows])
        if training.depends_on_alpha:
            shared["pulls"] = found.sample_coefficients * (problem.penalty / training.weights)[:, None]
        A = found.solution.dual / found.root
        share = np.broadcast_to(np.asarray(found.observed_share, dtype=float), len(A))
        if exact:
            return cls(sizes=row_norms(A) / np.sqrt(share), held_back=np.zeros(len(A)), **shared)
        R = found.residuals
        norms, width = row_norms(R), training.Y.shape[1]
        held = np.zeros(len(R))
        if np.isfinite(loss.bound) and loss.curvature > 0:
            # the dual variables that residuals have at an optimum, where those of the solver are near
            kept = loss.curvature * loss.row_prox(R / loss.curvature, 1 / loss.curvature, problem.measure)
            np.divide(row_norms(R - kept), norms, out=held, where=norms > 0)
        mask, sampling = training.mask, training.encoded.sampling
        return cls(
            sizes=norms / np.sqrt(share),
            held_back=np.minimum(held, 1.0),
            residuals=R[:, :width] if mask is None else np.where(mask, R[:, :width], np.nan),
            force=None if loss.quadratic and mask is None else _force(loss, A, R, share, problem.measure),
            observation_points=None
            if sampling is None
            else training.space.observation_points(training.y[training.rows]),
            sampling=sampling,
            left=left,
            **shared,
        )


def _force(loss, A, R, share, measure):
    """Weights (n,) of iteratively reweighted least squares: dual variables A over residuals R.

    For a pointwise loss the mean over points; what was not observed has weight zero.
    """
    if loss.pointwise:
        sizes, pulls = np.abs(R), np.abs(A)
        weights = np.full(R.shape[1], 1 / R.shape[1]) if measure is None else measure / measure.sum()
        force = np.divide(pulls, sizes, out=np.zeros_like(pulls), where=sizes > 0) @ weights
    else:
        sizes, pulls = row_norms(R), row_norms(A)
        force = share * np.divide(pulls, sizes, out=np.ones_like(pulls), where=sizes > 0)
    largest = _LARGEST * (np.median(force[force > 0]) if (force > 0).any() else 1.0)
    return np.clip(force, _SMALLEST * largest / _LARGEST, largest)
