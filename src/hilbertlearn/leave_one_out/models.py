"""All models of the squared loss without one training sample, from the factors of one fit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..core.terms import Factors
from .residuals import ALONE, CentredTargets, loo_residuals


@dataclass(frozen=True, eq=False)
class LeaveOneOutModels:
    """The n models of the squared loss that are fitted without one sample, from the factors of the model of all.

    The penalty s is held fixed, as in ``loo_residuals``, and the constant is that of the other samples. The factors
    may be as large as the kernel matrix: the caller keeps them and passes them to the methods.
    """

    penalty: float
    residuals: np.ndarray  # (n, d) of each sample under the model without it, NaN where not observed
    shift: np.ndarray | None  # (n, d) change of the constant; None without one
    root: np.ndarray  # (n, 1) square roots of the weights
    Y: np.ndarray  # (n, d) coordinates
    smoothed: Callable | None

    @classmethod
    def from_factors(cls, factors: Factors, Y, penalty, *, center=False, smoothed=None, weights=None):
        """Arguments as for ``loo_residuals``; factors : of the term."""
        options: dict = {"center": center, "smoothed": smoothed, "weights": weights}
        ((_, residuals),) = loo_residuals(None, Y, [penalty], factors=factors, **options)
        targets = CentredTargets.from_outputs(Y, **options)
        return cls(penalty, residuals, targets.shift, targets.root, Y, smoothed)

    def changes(self, factors: Factors, G, rows=None):
        """Changes (m, n, d) of the coordinates predicted at m points when sample i is left out.

        G : (m, N) kernel values of the points, or their features
        rows : positions of the samples to leave out, None for all
        """
        return factors.loo_changes(G, self.residuals, self.shift, self.root, self.penalty, rows)

    def pairwise_residuals(self, factors: Factors, rows):
        """Residuals (b, n, d) of every sample j under the model without j and without each of the samples `rows`.

        NaN for a sample and itself, and where j was not observed.
        """
        weights, center = self.root[:, 0] ** 2, self.shift is not None
        targets = CentredTargets.from_outputs(self.Y, center, self.smoothed, weights).values
        shifts = _pair_shifts(self.Y, weights, self.smoothed, rows) if center else None
        residuals = factors.pairwise_loo_residuals(targets, shifts, self.root, self.penalty, rows)
        return np.where(np.isnan(self.Y), np.nan, residuals)


def _pair_shifts(Y, weights, smoothed, rows):
    """Changes (b, n, d) of the mean when sample j and each of the samples `rows` are left out."""
    observed, values = weights[:, None] * ~np.isnan(Y), np.nan_to_num(Y)
    sums, total = (observed * values).sum(axis=0), observed.sum(axis=0)
    mean = np.divide(sums, total, out=np.full_like(sums, np.nan), where=total > 0)
    rest = total - observed - observed[rows][:, None]
    remaining = sums - observed * values - (observed * values)[rows][:, None]
    shifts = np.divide(remaining, rest, out=np.broadcast_to(mean, rest.shape).copy(), where=rest > total * ALONE) - mean
    shifts = shifts if smoothed is None else smoothed(shifts.reshape(-1, Y.shape[1])).reshape(shifts.shape)
    return np.nan_to_num(shifts)
