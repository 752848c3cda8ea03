"""Histograms that minimise a weighted sum of chi-square or Wasserstein losses, for weights of any sign."""

from __future__ import annotations

import numpy as np

from .._utils.blocks import slices
from .candidates import best_outputs, block_size
from .sums import weighted_losses

_ENTRIES = 2**19  # entries of the arrays of a block of queries, 4 MB
_STEPS = 200  # largest number of steps of the ascent
_TOLERANCE = 1e-11  # gain of a step, relative to the sum of absolute weights, at which the ascent ends
_KNOTS = 64  # masses of a bin at which its gain is tabulated for the start
_HALVINGS = 30  # largest number of halvings of a step
_BISECTIONS = 60  # bisections of Lagrange multipliers; they reach double precision
_TINY = 1e-300  # added to denominators that may be zero
_VALUES = 2**12  # values of the distribution function that dynamic programming tries; time grows with their number


# ------------------------------------------------------------------ chi-square


def decode_chi2(W, Y, loss):
    """Histograms (m, bins) for the chi-square loss.

    ``(z - y)^2 / (z + y) = z + y - 4 z y / (z + y)``, so that z maximises ``sum_k g_k(z_k)`` over the simplex, with the
    gain ``g_k(t) = sum_i w_i t y_ik / (t + y_ik)`` of a bin. Weights of one sign, or nearly, make each gain concave and
    the result the maximum. In general the ascent starts at the better of two points: the best output, and the maximum
    of the concave envelopes of the gains, which the Lagrange multiplier of ``sum z = 1`` separates into bins. Each step
    increases the objective.
    """
    Z = _envelope_start(W, Y)
    best = Y[best_outputs(-W, Y, loss)]
    worse = weighted_losses(W, best, Y, loss) < weighted_losses(W, Z, Y, loss)
    Z[worse] = best[worse]
    for rows in slices(len(W), block_size(_ENTRIES) // max(Y.size, 1)):
        Z[rows] = _climb(W[rows], Y, Z[rows])
    return Z


def _envelope_start(W, Y):
    """Histograms (m, bins) near the maximum of the concave envelopes of the bins' gains, on knots dense at zero."""
    knots = np.linspace(0, 1, _KNOTS + 1) ** 2
    Z = np.empty((len(W), Y.shape[1]))
    for rows in slices(len(W), block_size(_ENTRIES) // (len(knots) * Y.shape[1])):
        gains = np.stack([W[rows] @ (y[:, None] * knots / (y[:, None] + knots + _TINY)) for y in Y.T], axis=1)
        low, high = gains.min(axis=(1, 2)), gains.max(axis=(1, 2))
        bound = (high - low) / knots[1] + _TINY  # slopes of the envelopes are not larger
        upper, lower = bound, -bound  # multipliers whose masses sum to at most one, and to at least one
        for _ in range(_BISECTIONS):
            middle = (upper + lower) / 2
            over = _masses(gains, knots, middle).sum(axis=1) > 1
            upper, lower = np.where(over, upper, middle), np.where(over, middle, lower)
        small, large = _masses(gains, knots, upper), _masses(gains, knots, lower)
        deficit, excess = 1 - small.sum(axis=1), large.sum(axis=1) - 1
        share = np.clip(deficit / np.maximum(deficit + excess, _TINY), 0, 1)[:, None]
        Z[rows] = (1 - share) * small + share * large
    return _normalise(Z)


def _masses(gains, knots, multiplier):
    """For each bin (m, bins) the knot with the largest gain minus multiplier (m,) times mass."""
    return knots[np.argmax(gains - multiplier[:, None, None] * knots, axis=2)]


def _climb(W, Y, Z):
    """Local maxima from Z (m, bins); each step goes to the maximum of a model of the gains on the simplex.

    The gain of the positive weights has the slope ``h(t) = sum_i w_i (y_i / (t + y_i))^2``. As ``h^(-1/2)`` is nearly
    linear, the model is ``h(t) = a / (t + b)^2``. The gain of the negative weights is convex; its model is the tangent.
    """
    Z, height, scale = Z.copy(), _height(W, Y, Z), np.abs(W).sum(axis=1)
    rows = np.arange(len(W))
    for _ in range(_STEPS):
        step = _model_maximum(Z[rows], *_slopes(W[rows], Y, Z[rows])) - Z[rows]
        previous = height[rows]
        pending = np.arange(len(rows))
        for halving in range(_HALVINGS):
            q = rows[pending]
            new = _normalise(Z[q] + step[pending] / 2**halving)
            new_height = _height(W[q], Y, new)
            higher = new_height > height[q]
            Z[q[higher]], height[q[higher]] = new[higher], new_height[higher]
            pending = pending[~higher]
            if not len(pending):
                break
        rows = rows[height[rows] - previous > _TOLERANCE * scale[rows]]
        if not len(rows):
            break
    return Z


def _shares(Y, Z):
    """``y / (z + y)`` (m, n, bins), 0 for bins empty in both, and ``z + y``."""
    total = Z[:, None, :] + (Y + _TINY)
    return Y / total, total


def _height(W, Y, Z):
    """``sum_ik w_i z_k y_ik / (z_k + y_ik)`` (m,)."""
    return np.einsum("qk,qk->q", (W[:, None, :] @ _shares(Y, Z)[0])[:, 0], Z)


def _slopes(W, Y, Z):
    """Slope and minus half the curvature of the gain of positive weights, slope for negative ones, all (m, bins)."""
    squares, total = _shares(Y, Z)
    squares *= squares
    slopes = np.stack([np.maximum(W, 0.0), np.minimum(W, 0.0)], axis=1) @ squares
    squares /= total
    return slopes[:, 0], (np.maximum(W, 0.0)[:, None, :] @ squares)[:, 0], slopes[:, 1]


def _model_maximum(Z, slope, curvature, tangent):
    """Histograms (m, bins) where ``a / (t + b)^2 + tangent`` is the same for bins with mass, and less for others."""
    distance = np.where(curvature > 0, slope / np.maximum(curvature, _TINY), 1.0)  # t + b at t = z
    root, b = np.sqrt(slope) * distance, distance - Z

    def largest_slope(mass):
        return (tangent + (root / (b + mass)) ** 2).max(axis=1)

    def masses(multiplier):
        return np.maximum(root / np.sqrt(np.maximum(multiplier[:, None] - tangent, _TINY)) - b, 0.0)

    # the multiplier lies between the slopes at mass one, of a single bin, and at equal shares
    low, high = largest_slope(1.0), largest_slope(1 / Z.shape[1])
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        over = masses(middle).sum(axis=1) > 1
        low, high = np.where(over, middle, low), np.where(over, high, middle)
    new = masses(high)
    remainder = 1 - new.sum(axis=1)  # more than rounding where bins without positive weights are the best
    new[np.arange(len(new)), tangent.argmax(axis=1)] += np.maximum(remainder, 0.0)
    return _normalise(new)


def _normalise(Z):
    """Rows divided by their sums; a row of zeros gets all mass in the first bin."""
    Z = np.maximum(Z, 0.0)
    Z[~Z.any(axis=1), 0] = 1.0
    return Z / Z.sum(axis=1, keepdims=True)


# ------------------------------------------------------------------ Wasserstein distance on a line


def decode_wasserstein(W, Y, loss):
    """Histograms (m, bins) for the Wasserstein loss of ordered bins.

    With distribution functions F of z and C_i of the outputs the weighted loss is a sum over bins of
    ``phi_k(F_k) = sum_i w_i |F_k - C_ik|``, under ``0 <= F_1 <= F_2 <= ... <= 1``. Each phi_k is linear between the
    values C_ik and has its smallest value at one of them, or at 0 or 1. Where these are in order, as weighted medians
    are for weights that are not negative, they are the minimum. Otherwise dynamic programming over the values C_ik of
    all bins computes the minimum. It is exact for up to 4096 distinct values; beyond, it uses 4096 quantiles of them.
    """
    C = np.minimum(np.cumsum(Y, axis=1)[:, :-1], 1.0)
    F = np.zeros((len(W), C.shape[1]))
    bins = [_AbsoluteSum(W, column) for column in C.T]
    for k, phi in enumerate(bins):
        values = np.unique(np.concatenate([[0.0, 1.0], C[:, k]]))
        F[:, k] = values[_first_smallest(phi.at(values)(slice(None)), np.abs(W).sum(axis=1))]
    rows = np.flatnonzero((np.diff(F, axis=1) < 0).any(axis=1))
    values = np.unique(np.concatenate([[0.0, 1.0], C.ravel()]))
    if len(values) > _VALUES:
        values = values[np.linspace(0, len(values) - 1, _VALUES).astype(int)]
    at_values = [phi.at(values) for phi in bins] if len(rows) else []
    for part in slices(len(rows), block_size(8 * _ENTRIES) // (len(values) * max(len(bins), 1))):
        F[rows[part]] = values[_monotone([phi(rows[part]) for phi in at_values])]
    return np.diff(F, axis=1, prepend=0.0, append=1.0)


class _AbsoluteSum:
    """``phi(t) = sum_i w_i |t - c_i|`` for weights W (m, n) and c (n,), by sums over the c_i below t."""

    def __init__(self, W, c):
        order = np.argsort(c)
        self.c = c[order]
        self.below = _sums(W[:, order])
        self.moments = _sums(W[:, order] * self.c)

    def at(self, values):
        """A function from rows to phi (m', v) at the values (v,)."""
        columns = np.searchsorted(self.c, values)

        def phi(rows):
            below, moments = self.below[rows], self.moments[rows]
            slopes, shifts = 2 * below - below[:, -1:], 2 * moments - moments[:, -1:]
            return np.take(slopes, columns, axis=1) * values - np.take(shifts, columns, axis=1)

        return phi


def _sums(A):
    """Sums (m, n + 1) of the first 0, 1, ... columns."""
    return np.concatenate([np.zeros((len(A), 1)), np.cumsum(A, axis=1)], axis=1)


def _first_smallest(phi, scale):
    """The first column (m,) of phi that is smallest up to rounding, so that medians with ties are in order."""
    return np.argmax(phi <= phi.min(axis=1, keepdims=True) + _TOLERANCE * scale[:, None], axis=1)


def _monotone(phi):
    """Columns (m, bins), not decreasing from bin to bin, of the smallest sum of phi, a list of (m, v) for the bins."""
    total, totals = np.zeros_like(phi[0]), []
    for phi_k in phi:
        total = np.minimum.accumulate(total, axis=1) + phi_k
        totals.append(total)
    columns = np.empty((len(total), len(phi)), dtype=int)
    stop = np.full(len(total), total.shape[1])
    for k in range(len(phi) - 1, -1, -1):
        allowed = np.where(np.arange(total.shape[1]) < stop[:, None], totals[k], np.inf)
        columns[:, k] = allowed.argmin(axis=1)
        stop = columns[:, k] + 1
    return columns
