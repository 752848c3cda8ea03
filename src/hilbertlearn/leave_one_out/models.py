"""All models of the squared loss without one training sample, from the factors of one fit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..core.terms import Factors
from .residuals import centred_targets, loo_residuals


@dataclass(frozen=True, eq=False)
class LeaveOneOutModels:
    """The n models of the squared loss that have one sample less, from the factors of the model of all.

    As in ``loo_residuals`` the penalty s is held fixed, and the constant is that of the other samples. The factors,
    which may have the size of the kernel matrix, are passed to the methods and not held.
    """

    penalty: float
    residuals: np.ndarray  # (n, d) of each sample under the model without it, NaN where not observed
    shift: np.ndarray | None  # (n, d) what the constant changes by
    root: np.ndarray  # (n, 1) square roots of the weights
    Y: np.ndarray  # (n, d) coordinates
    smoothed: Callable | None

    @classmethod
    def from_factors(cls, factors: Factors, Y, penalty, *, center=False, smoothed=None, weights=None):
        """Arguments as for ``loo_residuals``; factors : of the term."""
        options: dict = {"center": center, "smoothed": smoothed, "weights": weights}
        ((_, residuals),) = loo_residuals(None, Y, [penalty], factors=factors, **options)
        _, shift, root = centred_targets(Y, center, smoothed, weights)
        return cls(penalty, residuals, shift, root, Y, smoothed)

    def changes(self, factors: Factors, G, rows=None):
        """What coordinates predicted at m points change by without sample i, (m, n, d) or for some samples.

        G : (m, N) kernel values, or features, that predictions are made from
        """
        return factors.loo_changes(G, self.residuals, self.shift, self.root, self.penalty, rows)

    def pairs(self, factors: Factors, rows):
        """Residuals (b, n, d) of every sample j under the model without j and without each of the samples `rows`.

        NaN for a sample and itself, and where j was not observed.
        """
        own, center = self.root[:, 0] ** 2, self.shift is not None
        targets, _, _ = centred_targets(self.Y, center, self.smoothed, own)
        shifts = _shifts_of_pairs(self.Y, own, self.smoothed, rows) if center else None
        found = factors.pairwise_loo_residuals(targets, shifts, self.root, self.penalty, rows)
        return np.where(np.isnan(self.Y), np.nan, found)


def _shifts_of_pairs(Y, weights, smoothed, rows):
    """What the mean (d,) changes by when j and each of the samples `rows` are left out, (b, n, d)."""
    observed, values = weights[:, None] * ~np.isnan(Y), np.nan_to_num(Y)
    sums, total = (observed * values).sum(axis=0), observed.sum(axis=0)
    mean = np.divide(sums, total, out=np.full_like(sums, np.nan), where=total > 0)
    rest = total - observed - observed[rows][:, None]
    left = sums - observed * values - (observed * values)[rows][:, None]
    shifts = np.divide(left, rest, out=np.broadcast_to(mean, rest.shape).copy(), where=rest > total * 1e-14) - mean
    shifts = shifts if smoothed is None else smoothed(shifts.reshape(-1, Y.shape[1])).reshape(shifts.shape)
    return np.nan_to_num(shifts)
