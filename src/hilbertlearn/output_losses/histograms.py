"""Losses on histograms: non-negative rows of sum one."""

from __future__ import annotations

import numpy as np
from sklearn.metrics.pairwise import additive_chi2_kernel, manhattan_distances

from .._utils.naming import unnamed_in_errors
from .base import OutputLoss, as_matrix


@unnamed_in_errors
class _HistogramLoss(OutputLoss):
    """A loss of histograms; rows are divided by their sums."""

    def check(self, outputs):
        histograms = as_matrix(outputs, "a matrix (n, bins) of histograms")
        if not np.isfinite(histograms).all():
            raise ValueError("y contains NaN or infinity; histograms need all bins, drop incomplete ones")
        lowest = histograms.min(axis=1)
        if (lowest < 0).any():
            row = int(np.argmax(lowest < 0))
            raise ValueError(f"y: histograms must be non-negative, row {row} has the entry {lowest[row]:g}")
        sums = histograms.sum(axis=1)
        invalid = np.abs(sums - 1) > 1e-6  # smaller deviations are rounding
        if invalid.any():
            row = int(np.argmax(invalid))
            raise ValueError(
                f"y: histograms must sum to one, row {row} sums to {sums[row]:g}; divide rows by their sums"
            )
        return histograms / sums[:, None]


class Hellinger(_HistogramLoss):
    """Squared Hellinger distance of histograms, ``1/sqrt(2) sum_k (sqrt(z_k) - sqrt(y_k))^2``.

    Outputs are rows of non-negative numbers that sum to 1.

    References
    ----------
    - Ciliberto, Rosasco and Rudi (2016). A consistent regularization approach for structured prediction. NIPS 29,
      equation 23.

    Examples
    --------
    >>> import numpy as np
    >>> from hilbertlearn import output_losses
    >>> halves, ends = np.array([[0.5, 0.5, 0.0]]), np.array([[0.5, 0.0, 0.5], [0.0, 0.0, 1.0]])
    >>> output_losses.Hellinger()(halves, ends).round(3)
    array([[0.707, 1.414]])
    """

    decoder = "sqrt_mean"
    discrete = False

    def __call__(self, Z, Y):
        squares = Z.sum(axis=1)[:, None] + Y.sum(axis=1) - 2 * (np.sqrt(Z) @ np.sqrt(Y).T)
        return np.maximum(squares, 0.0) / np.sqrt(2)


class Chi2(_HistogramLoss):
    """``sum_k (z_k - y_k)^2 / (z_k + y_k)``, over bins that are not empty in both.

    Outputs are rows of non-negative numbers that sum to 1.

    References
    ----------
    - Ciliberto, Rosasco and Rudi (2016). A consistent regularization approach for structured prediction. NIPS 29,
      example 1.

    Examples
    --------
    >>> import numpy as np
    >>> from hilbertlearn import output_losses
    >>> halves, ends = np.array([[0.5, 0.5, 0.0]]), np.array([[0.5, 0.0, 0.5], [0.0, 0.0, 1.0]])
    >>> output_losses.Chi2()(halves, ends).round(3)
    array([[1., 2.]])
    """

    decoder = "chi2_mean"
    discrete = False

    def __call__(self, Z, Y):
        return -additive_chi2_kernel(Z, Y)


class Wasserstein1d(_HistogramLoss):
    """Earth mover's distance of histograms with ordered bins at distance one.

    Outputs are rows of non-negative numbers that sum to 1.

    References
    ----------
    - Peyré and Cuturi (2019). Computational optimal transport. Foundations and Trends in Machine Learning 11.

    Examples
    --------
    >>> import numpy as np
    >>> from hilbertlearn import output_losses
    >>> halves, ends = np.array([[0.5, 0.5, 0.0]]), np.array([[0.5, 0.0, 0.5], [0.0, 0.0, 1.0]])
    >>> output_losses.Wasserstein1d()(halves, ends).round(3)
    array([[0.5, 1.5]])
    """

    decoder = "distribution_median"
    discrete = False

    def __call__(self, Z, Y):
        return manhattan_distances(np.cumsum(Z, axis=1), np.cumsum(Y, axis=1))
