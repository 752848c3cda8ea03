"""The squared loss with one sample left out at a time, in closed form for a whole path of penalties."""

from __future__ import annotations

import numpy as np

from ..core.terms import ONCE, PATH, Factors, Term
from ..training import Training


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
):
    """Leave-one-out residuals of the squared loss for each penalty s = alpha * sum(w); yields (s, residuals (n, d)).

    Brouard et al. 2016, section 4, with s held fixed when a sample is left out. With ``center`` the model is fitted to
    ``Y - mean`` and the mean is that of the other samples: by linearity in the targets its exact effect needs the
    residuals of one more column, of ones.

    Parameters
    ----------
    term : the map, scaled by sqrt(w) on both sides when there are weights
    smoothed : linear function of means (k, d) that a model is fitted around in their place, or None
    Y : (n, d) coordinates, neither centred nor scaled, NaN where not observed and the term leaves that out
    factors : of the term, where they are there already
    rows : positions of the samples whose residuals are wanted, increasing; None for all
    """
    targets, shift, root = centred_targets(Y, center, smoothed, weights)
    if factors is None:
        assert term is not None
        factors = term.factor(ONCE if len(penalties) == 1 else PATH)
    gone = np.isnan(Y) if rows is None else np.isnan(Y[rows])
    for s, residuals in zip(
        penalties, factors.loo_residuals(targets, shift, root, np.asarray(penalties, dtype=float), rows)
    ):
        yield float(s), np.where(gone, np.nan, residuals) if gone.any() else residuals


def centred_targets(Y, center, smoothed, weights):
    """Targets (n, d) and what they change by (n, d) when sample i is left out, for ``Factors.loo_residuals``."""
    own = np.ones(len(Y)) if weights is None else weights
    root = np.sqrt(own)[:, None]
    mean, shift = np.zeros(Y.shape[1]), None
    if center:
        observed = own[:, None] * ~np.isnan(Y)
        total = observed.sum(axis=0)
        values = np.nan_to_num(Y)
        mean = np.divide((observed * values).sum(axis=0), total, out=np.full_like(mean, np.nan), where=total > 0)
        shift = _mean_of_others(values, observed) - mean  # NaN where nothing is observed, as the mean
        if smoothed is not None:
            mean, shift = smoothed(mean[None])[0], smoothed(shift)
        shift = np.nan_to_num(shift)
    return root * np.nan_to_num(Y - mean), shift, root


def loo_residual_path(training: Training, alphas, factors: Factors | None = None, rows=None):
    """For each alpha the leave-one-out residuals (n, d) of the squared loss, or those of some rows."""
    weights = None if training.root_weights is None else training.weights
    options: dict = {"center": training.recipe.center, "smoothed": training.space.smooth_means, "weights": weights}
    options["rows"] = rows
    total = training.weights.sum()
    if training.depends_on_alpha:  # a kernel for each alpha
        for alpha in alphas:
            ((_, residuals),) = loo_residuals(training.term_at(alpha), training.Y, [alpha * total], **options)
            yield residuals
        return
    penalties = [alpha * total for alpha in alphas]
    for _, residuals in loo_residuals(training.term_at(alphas[0]), training.Y, penalties, factors=factors, **options):
        yield residuals


def _mean_of_others(Y, weights):
    """Mean of the rows of Y without row i, for each i, weights (n, d); what only one row has stays its own."""
    total = weights.sum(axis=0)
    rest = total - weights
    alone = rest <= total * 1e-14
    return (np.sum(weights * Y, axis=0) - weights * Y * ~alone) / np.where(alone, np.where(total > 0, total, 1.0), rest)
