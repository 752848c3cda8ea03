"""Vectors and histograms that minimise a weighted sum of losses in closed form."""

from __future__ import annotations

import numpy as np


def decode_mean(W, Y, loss):
    """Vectors (m, d) for the squared loss, or numbers (m,) when Y is (n,).

    ``sum_i w_i ||z - y_i||^2`` has its minimum at the weighted mean ``W Y / sum w`` if ``sum w > 0``, else none.
    With weights of both signs this mean may be far from all outputs, at any distance when they almost cancel. So z is
    the minimum in the box spanned by the training outputs and the value ``W Y`` of plain regression: the mean, clipped
    to the box, or if ``sum w <= 0`` the better end of the box for each entry. Weights of sum one always give ``W Y``,
    and so do weights for which all z have the same loss.
    """
    sums, plain = W.sum(axis=1), W @ Y
    sums = sums.reshape(-1, *(1,) * (Y.ndim - 1))
    low, high = np.minimum(Y.min(axis=0), plain), np.maximum(Y.max(axis=0), plain)
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):  # such means are clipped, or not used
        inner = np.clip(plain / sums, low, high)
    gain = (high - low) * (2 * plain - sums * (low + high))  # loss of the lower end minus loss of the upper end
    end = np.where(gain > 0, high, np.where(gain < 0, low, plain))
    return np.where(sums > 0, inner, end)


def decode_hellinger(W, Y, loss):
    """Histograms (m, bins) for the Hellinger loss: ``sqrt(z)`` is the positive part of ``W sqrt(Y)``, of norm one.

    Exact for weights of any sign and sum; where no entry is positive, all mass goes to the bin of the largest.
    """
    roots = W @ np.sqrt(Y)
    squares = np.maximum(roots, 0.0) ** 2
    totals = squares.sum(axis=1)
    vertex = totals <= 0
    squares[vertex, roots[vertex].argmax(axis=1)] = 1.0
    return squares / np.where(vertex, 1.0, totals)[:, None]
