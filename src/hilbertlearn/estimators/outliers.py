"""Residuals of the training samples by size."""

from __future__ import annotations

import numpy as np

from ..losses.balls import row_norms
from ..problem import Sampled


def outlier_scores(problem, dual, root):
    """Sizes (n,) of residuals, or (n, d) of each point for a loss of points, over their median; 0 if not observed."""
    quadratic = problem.loss.quadratic  # then the dual variables are the residuals
    residuals = problem.loss.curvature * dual if quadratic else problem.observed(problem.Y - problem.fitted(dual))
    residuals = residuals / root
    if problem.loss.pointwise:
        sizes = np.abs(residuals) if problem.measure is None else np.abs(residuals) / np.sqrt(problem.measure)
    else:
        sizes = row_norms(residuals) / np.sqrt(_observed_share(problem))
    typical = np.median(sizes[problem.mask] if sizes.ndim == 2 and problem.mask is not None else sizes)
    return sizes / (typical if typical > 0 else 1.0)


def _observed_share(problem):
    """Share (n,) of each sample's entries, or of its domain, that was observed."""
    if problem.mask is None or any(isinstance(term, Sampled) for term in problem.terms):
        return 1.0
    weights = np.ones(problem.Y.shape[1]) if problem.measure is None else problem.measure
    return problem.mask @ weights / weights.sum()
