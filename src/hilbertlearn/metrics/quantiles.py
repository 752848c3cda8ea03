"""Scores of predicted quantiles."""

from __future__ import annotations

import numpy as np

from ..losses import Pinball, check_levels


def pinball_loss(y_true, y_pred, levels, sample_weight=None):
    """Mean pinball loss over the observed entries of y_true and over levels.

    Parameters
    ----------
    y_true : array of shape (n,) or (n, d)
        Outputs, NaN where not observed.
    y_pred : array of shape (n, L) or (n, d, L)
        Quantiles; for a single level also of the shape of y_true.
    levels : float or array of shape (L,)
        A number in (0, 1), or increasing numbers.
    sample_weight : array of shape (n,), default=None
        Non-negative weights of the samples; None for ones.

    Returns
    -------
    loss : float
        The loss; smaller is better.

    References
    ----------
    - Koenker and Bassett (1978). Regression quantiles. Econometrica 46.

    Examples
    --------
    >>> import numpy as np
    >>> from hilbertlearn import metrics
    >>> y, quantiles = np.array([1.0, 2.0, 3.0]), np.array([[0.5, 1.5], [1.5, 2.5], [2.5, 3.5]])
    >>> round(metrics.pinball_loss(y, quantiles, levels=[0.1, 0.9]), 3)
    0.05
    """
    return float(np.mean(pinball_by_output(y_true, y_pred, levels, sample_weight)))


def pinball_by_output(y_true, y_pred, levels, sample_weight=None):
    """Mean pinball losses (outputs, L) over the observed entries of each output; unobserved outputs are dropped."""
    y, q, taus = _blocks(y_true, y_pred, levels)
    weights = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight, dtype=float)
    is_observed = np.isfinite(y)
    share = weights[:, None] * is_observed
    total = share.sum(axis=0)
    if not (total > 0).any():
        raise ValueError("y has no observed output with a positive weight to score; give at least one")
    residuals = np.where(is_observed, y, 0.0)[:, :, None] - np.where(is_observed[:, :, None], q, 0.0)
    losses = np.maximum(taus * residuals, (taus - 1) * residuals)
    return np.einsum("ij,ijl->jl", share, losses)[total > 0] / total[total > 0, None]


def d2_pinball(y_true, y_pred, levels, sample_weight=None, pooled=False):
    """1 - pinball loss / pinball loss of the constant quantiles of y_true, mean over outputs and levels.

    Parameters
    ----------
    y_true : array of shape (n,) or (n, d)
        Outputs, NaN where not observed.
    y_pred : array of shape (n, L) or (n, d, L)
        Quantiles; for a single level also of the shape of y_true.
    levels : float or array of shape (L,)
        A number in (0, 1), or increasing numbers.
    sample_weight : array of shape (n,), default=None
        Non-negative weights of the samples; None for ones.
    pooled : bool, default=False
        Whether to sum losses over outputs before dividing, as for the points of curves.

    Returns
    -------
    score : float
        At most 1; 0 for the constant quantiles.

    References
    ----------
    - Koenker and Machado (1999). Goodness of fit and related inference processes for quantile regression. Journal of
      the American Statistical Association 94.

    Examples
    --------
    >>> import numpy as np
    >>> from hilbertlearn import metrics
    >>> y, quantiles = np.array([1.0, 2.0, 3.0]), np.array([[0.5, 1.5], [1.5, 2.5], [2.5, 3.5]])
    >>> round(metrics.d2_pinball(y, quantiles, levels=[0.1, 0.9]), 3)
    0.5
    """
    y, q, taus = _blocks(y_true, y_pred, levels)
    weights = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight, dtype=float)
    constants = Pinball(taus).best_constant(np.repeat(y, len(taus), axis=1), weights).reshape(1, -1, len(taus))
    loss = pinball_by_output(y, q, taus, weights)
    constant_loss = pinball_by_output(y, np.broadcast_to(constants, q.shape), taus, weights)
    if pooled:
        loss, constant_loss = loss.sum(axis=0), constant_loss.sum(axis=0)
    shares = np.divide(loss, constant_loss, out=np.where(loss > 0, np.inf, 0.0), where=constant_loss > 0)
    return float(np.mean(1 - np.where(np.isinf(shares), 1.0, shares)))


def _blocks(y_true, y_pred, levels):
    """Outputs (n, d), quantiles (n, d, L) and levels (L,), checked."""
    taus, y = check_levels(levels), np.asarray(y_true, dtype=float)
    q = np.asarray(y_pred, dtype=float)
    if q.size != y.size * len(taus) or len(q) != len(y):
        raise ValueError(
            f"y_pred must have a quantile for each of {len(taus)} levels beside each output of y_true, shape "
            f"{(*y.shape, len(taus))}, got {q.shape}"
        )
    return y.reshape(len(y), -1), q.reshape(len(y), -1, len(taus)), taus
