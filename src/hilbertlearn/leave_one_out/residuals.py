"""Leave-one-out residuals of the squared loss in closed form, for a whole path of penalties."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..core.terms import ONCE, PATH, Factors, Term
from ..training import Training

ALONE = 1e-14  # share of the total weight that the other samples must have to have a mean


class CentredTargets(NamedTuple):
    """Targets of a squared-loss fit, in the form that ``Factors.loo_residuals`` takes."""

    values: np.ndarray  # (n, d) outputs minus the constant, times sqrt(w); 0 where not observed
    shift: np.ndarray | None  # (n, d) change of the constant without sample i; None without a constant
    root: np.ndarray  # (n, 1) square roots of the weights

    @classmethod
    def from_outputs(cls, Y, center=False, smoothed=None, weights=None) -> CentredTargets:
        """Arguments as for ``loo_residuals``."""
        weights = np.ones(len(Y)) if weights is None else weights
        root = np.sqrt(weights)[:, None]
        if not center:
            return cls(root * np.nan_to_num(Y), None, root)
        observed, values = weights[:, None] * ~np.isnan(Y), np.nan_to_num(Y)
        total = observed.sum(axis=0)
        mean = np.divide((observed * values).sum(axis=0), total, out=np.full(Y.shape[1], np.nan), where=total > 0)
        shift = _mean_of_others(values, observed) - mean  # NaN where nothing is observed, as the mean
        if smoothed is not None:
            mean, shift = smoothed(mean[None])[0], smoothed(shift)
        return cls(root * np.nan_to_num(Y - mean), np.nan_to_num(shift), root)


def loo_residuals(
    term: Term | None,
    Y,
    penalties,
    *,
    center=False,
    smoothed=None,
    weights=None,
    factors: Factors | None = None,
    rows=None,
    targets: CentredTargets | None = None,
):
    """Yield (s, leave-one-out residuals (n, d)) of the squared loss for each penalty s = alpha * sum(w).

    Brouard et al. 2016, section 4, with s held fixed when a sample is left out. With ``center`` the model is fitted to
    ``Y - mean`` and the mean is that of the other samples: by linearity in the targets its exact effect needs the
    residuals of one more column, of ones.

    Parameters
    ----------
    term : the map, scaled by sqrt(w) on both sides when there are weights; not needed with factors
    Y : (n, d) coordinates, neither centred nor scaled, NaN where not observed and the term leaves that out
    penalties : sequence of floats
    center : whether the model has a constant
    smoothed : linear function of means (k, d) that replaces them as the constant, or None
    weights : (n,), None for ones
    factors : of the term, where they exist
    rows : increasing positions of the samples whose residuals are needed; None for all
    targets : ``CentredTargets.from_outputs(Y, center, smoothed, weights)``, where several calls share them
    """
    if targets is None:
        targets = CentredTargets.from_outputs(Y, center, smoothed, weights)
    if factors is None:
        assert term is not None
        factors = term.factor(ONCE if len(penalties) == 1 else PATH)
    missing = np.isnan(Y) if rows is None else np.isnan(Y[rows])
    any_missing = missing.any()
    for s, residuals in zip(penalties, factors.loo_residuals(*targets, np.asarray(penalties, dtype=float), rows)):
        yield float(s), np.where(missing, np.nan, residuals) if any_missing else residuals


def loo_targets(training: Training) -> CentredTargets:
    """The targets of training data, for ``loo_residual_path``."""
    weights = None if training.root_weights is None else training.weights
    return CentredTargets.from_outputs(training.Y, training.recipe.center, training.space.smooth_means, weights)


def loo_residual_path(
    training: Training, alphas, factors: Factors | None = None, rows=None, targets: CentredTargets | None = None
):
    """Yield for each alpha the leave-one-out residuals (n, d) of the squared loss, or those of some rows.

    factors, rows, targets : as for ``loo_residuals``
    """
    options: dict[str, Any] = {"rows": rows, "targets": loo_targets(training) if targets is None else targets}
    total = training.weights.sum()
    if training.depends_on_alpha:  # a kernel for each alpha
        for alpha in alphas:
            ((_, residuals),) = loo_residuals(training.weighted_term(alpha), training.Y, [alpha * total], **options)
            yield residuals
        return
    term = None if factors is not None else training.weighted_term(alphas[0])
    penalties = [alpha * total for alpha in alphas]
    for _, residuals in loo_residuals(term, training.Y, penalties, factors=factors, **options):
        yield residuals


def _mean_of_others(Y, weights):
    """Mean of the rows of Y without row i, for each i, weights (n, d); a row that is alone keeps its own value."""
    total = weights.sum(axis=0)
    rest = total - weights
    alone = rest <= total * ALONE
    return (np.sum(weights * Y, axis=0) - weights * Y * ~alone) / np.where(alone, np.where(total > 0, total, 1.0), rest)
