"""Losses on rankings. An output is a vector with a number for each item, and larger means preferred.

Entry j is the *rank (or rating) of item j*, never the item in place j. ``metrics.ranks_from_order`` computes ranks from
orders; ranks and orders cannot be distinguished automatically. ``[3, 1, 2]`` prefers item 0. Losses of the order alone,
Kendall's and Spearman's, also accept ranks of which the smallest is preferred.

Predictions are full rankings, M consecutive numbers. They start at the lowest rank of the training outputs if all of
these are such rankings (for 0 to M - 1 predictions are 0 to M - 1), else at 1.
"""

from __future__ import annotations

import numpy as np
from scipy.stats import rankdata

from .._utils.naming import unnamed_in_errors
from .base import OutputLoss, as_matrix

_ENTRIES = "entry j the rank of item j (metrics.ranks_from_order makes ranks of orders of items)"


@unnamed_in_errors
class _RankingLoss(OutputLoss):
    """A loss whose predictions are rankings; canonical ones are the numbers 1 to M."""

    def restore(self, outputs, like):
        return outputs + (_lowest_rank(like) - 1)


class Rank(_RankingLoss):
    """Cost of the pairs that a ranking z puts in another order than the ratings y.

    ``sum_ij gamma(y)_ij (1 - sign(z_i - z_j)) / 2`` over the pairs of rated items with ``gamma(y)_ij = y_i - y_j > 0``.
    Pairs that y does not rate (NaN) or rates alike have no cost; pairs that z ties or does not rank cost half. Summed
    over gamma of either sign, as the equation may also be read, the loss is twice this minus a constant of y. Entry j
    of an output is the rating of item j; larger is better.

    Parameters
    ----------
    normalize : bool, default=False
        Whether to divide by the sum of all ``gamma(y)_ij > 0``, the cost of the reversed order.

    References
    ----------
    - Ciliberto, Rosasco and Rudi (2016). A consistent regularization approach for structured prediction. NIPS 29,
      equation 22.

    Examples
    --------
    >>> import numpy as np
    >>> from hilbertlearn import output_losses
    >>> ratings = np.array([[5.0, 3.0, np.nan, 1.0]])
    >>> output_losses.Rank()(np.array([[4.0, 3.0, 2.0, 1.0], [1.0, 2.0, 3.0, 4.0]]), ratings)
    array([[0.],
           [8.]])
    >>> output_losses.Rank(normalize=True)(np.array([[3.0, 4.0, 2.0, 1.0]]), ratings)
    array([[0.25]])
    """

    decoder = "ranking"

    def __init__(self, normalize=False):
        self.normalize = normalize

    def check(self, outputs):
        ratings = as_matrix(outputs, f"a matrix (n, items) of ratings, {_ENTRIES}, NaN where an item is not rated")
        if np.isinf(ratings).any():
            raise ValueError("y contains infinity; give finite ratings, NaN where an item is not rated")
        return ratings

    def __call__(self, Z, Y):
        scale, agreement = self._scale(Y), np.empty((len(Z), len(Y)))
        R, B = _ratings(Y)
        for row, z in zip(agreement, Z):
            row[:] = _agreement(z, R, B)
        losses = np.maximum(scale - agreement, 0.0) / 2
        return losses / np.where(scale > 0, scale, 1.0) if self.normalize else losses

    def preferences(self, W, Y):
        """Compute weighted preferences between items, from which the weighted loss of a ranking follows.

        ``sum_u W[q, u] loss(z, Y[u])`` is a constant minus half the sum of ``G[q, i, j]`` over the pairs in which z
        puts i above j. ``G[q] = sum_u w_u gamma(u) = R diag(w) B' - B diag(w) R'``, with the ratings R (M, n) and the
        indicators B (M, n) of rated items.

        Parameters
        ----------
        W : array of shape (m, n)
            Weights of the outputs for m queries.
        Y : array of shape (n, M)
            Canonical outputs.

        Returns
        -------
        G : array of shape (m, M, M)
            Antisymmetric matrices.
        """
        R, B = _ratings(Y)
        if self.normalize:
            scale = self._scale(Y)
            W = W / np.where(scale > 0, scale, 1.0)
        G = np.array([(R * w) @ B.T for w in W])
        return G - G.transpose(0, 2, 1)

    def _scale(self, Y):
        """Sum of all positive ``gamma(y)_ij`` (n,)."""
        missing = np.isnan(Y)
        # missing ratings have the lowest ranks, so that their number is subtracted
        ranks = rankdata(np.where(missing, -np.inf, Y), axis=1) - missing.sum(axis=1, keepdims=True)
        centred = 2 * ranks - (~missing).sum(axis=1, keepdims=True) - 1
        return np.where(missing, 0.0, Y * centred).sum(axis=1)


@unnamed_in_errors
class _PermutationLoss(_RankingLoss):
    """A loss of rankings without ties and missing items."""

    def check(self, outputs):
        scores = as_matrix(outputs, f"a matrix (n, items) of rankings, {_ENTRIES}")
        if not np.isfinite(scores).all():
            raise ValueError(
                f"y contains NaN or infinity; {type(self).__name__} needs every item ranked, use Rank for gaps"
            )
        tied = (np.diff(np.sort(scores, axis=1), axis=1) == 0).any(axis=1)
        if tied.any():
            raise ValueError(
                f"y has ties, the first in row {int(np.argmax(tied))}; {type(self).__name__} needs rankings without, "
                "use Rank for ratings with ties"
            )
        return rankdata(scores, axis=1)


class Kendall(_PermutationLoss):
    """The share of pairs of items in opposite order, (1 - Kendall's tau) / 2.

    Entry j of an output is the rank of item j; see ``metrics.ranks_from_order`` for orders.

    References
    ----------
    - Kendall (1938). A new measure of rank correlation. Biometrika 30.

    Examples
    --------
    >>> import numpy as np
    >>> from hilbertlearn import output_losses
    >>> ranks = np.array([[1, 2, 3], [2, 1, 3], [3, 2, 1]])
    >>> output_losses.Kendall()(ranks[:1], ranks).round(3)
    array([[0.   , 0.333, 1.   ]])
    """

    decoder = "ranking"

    def __call__(self, Z, Y):
        items, tau = Z.shape[1], np.zeros((len(Z), len(Y)))
        for i in range(items - 1):
            tau += np.sign(Z[:, i, None] - Z[:, i + 1 :]) @ np.sign(Y[:, i, None] - Y[:, i + 1 :]).T
        pairs = max(items * (items - 1) / 2, 1)
        return (pairs - tau) / (2 * pairs) if items > 1 else tau

    def preferences(self, W, Y):
        """Compute weighted preferences between items, as ``Rank.preferences``.

        Parameters
        ----------
        W : array of shape (m, n)
            Weights of the outputs for m queries.
        Y : array of shape (n, M)
            Canonical outputs.

        Returns
        -------
        G : array of shape (m, M, M)
            ``sum_u w_u sign(y_ui - y_uj)`` over the number of pairs.
        """
        items = Y.shape[1]
        G = np.zeros((len(W), items, items))
        for i in range(items):
            G[:, i] = W @ np.sign(Y[:, i, None] - Y)
        return G / max(items * (items - 1) / 2, 1)


class Spearman(_PermutationLoss):
    """Sum of squared differences of the ranks over its largest value, (1 - Spearman's correlation) / 2.

    Entry j of an output is the rank of item j; see ``metrics.ranks_from_order`` for orders.

    References
    ----------
    - Spearman (1904). The proof and measurement of association between two things. American Journal of Psychology 15.

    Examples
    --------
    >>> import numpy as np
    >>> from hilbertlearn import output_losses
    >>> ranks = np.array([[1, 2, 3], [2, 1, 3], [3, 2, 1]])
    >>> output_losses.Spearman()(ranks[:1], ranks).round(3)
    array([[0.  , 0.25, 1.  ]])
    """

    decoder = "assignment"

    def __call__(self, Z, Y):
        items = Z.shape[1]
        squares = (Z**2).sum(axis=1)[:, None] + (Y**2).sum(axis=1) - 2 * (Z @ Y.T)
        return 3 * squares / max(items * (items**2 - 1), 1)


def _lowest_rank(outputs):
    """The integer b if all outputs consist of b, b + 1, ..., b + M - 1; else 1."""
    ranks = np.sort(np.asarray(outputs, dtype=float), axis=1)
    lowest = ranks[0, 0]
    return lowest if lowest == np.rint(lowest) and (ranks == lowest + np.arange(ranks.shape[1])).all() else 1.0


def _ratings(Y):
    """Ratings (M, n), 0 where missing, and indicators (M, n) of rated items: ``gamma(y)_ij = r_i b_j - b_i r_j``."""
    rated = np.isfinite(Y.T)
    return np.where(rated, Y.T, 0.0), rated.astype(float)


def _agreement(z, R, B):
    """``sum_ij gamma_ij sign(z_i - z_j) / 2 = sum_ij r_i b_j sign(z_i - z_j)`` (n,) of z with each column of R and B.

    Items that z ranks alike have the same signs, so their ratings are summed first.
    """
    order = np.argsort(z)[: np.isfinite(z).sum()]  # NaN comes last
    if len(order) == 0:
        return np.zeros(R.shape[1])
    levels = np.flatnonzero(np.diff(z[order], prepend=-np.inf))
    r, b = np.add.reduceat(R[order], levels), np.add.reduceat(B[order], levels)
    counts = np.cumsum(b, axis=0)
    return np.einsum("ij,ij->j", r, 2 * counts - b - counts[-1])  # number of rated items below minus number above
