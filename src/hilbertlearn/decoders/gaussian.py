"""Pre-images under a Gaussian output kernel, by fixed-point iterations for all queries at once."""

from __future__ import annotations

import numpy as np

from .._utils.blocks import slices
from .candidates import best_of_starts, best_outputs, block_size, select_spread

_ENTRIES = 2**18  # kernel values of a block, 2 MB, which fit in the cache
_MAX_STEPS = 500  # largest number of fixed-point steps; a query that needs more keeps its last point
_STARTS = 6  # starts of the search, besides the best output and the weighted mean; time grows with their number


def find_preimage(W, Y, gamma):
    """Vectors (m, d) that maximise ``sum_i W[q, i] exp(-gamma ||z - Y[i]||^2)``, from W (m, n) and Y (n, d).

    For numbers Y (n,) the result is numbers (m,). The best training output is among the starts, so the result is never
    worse. Without positive weights the supremum, 0, is at infinity; the result is then the best local maximum.
    """
    W, Y = np.asarray(W, dtype=float), np.asarray(Y, dtype=float)
    if Y.ndim == 1:
        return find_preimage(W, Y[:, None], gamma)[:, 0]
    center = Y.mean(axis=0)
    Y = Y - center  # smaller numbers, less rounding in the distances
    best = best_outputs(W, Y, lambda Z, Y: _kernel(Z, Y, gamma))
    anchors = Y[:: -(-len(Y) // 1000)]  # at most about 1000 outputs, evenly spaced
    close = _kernel(anchors, anchors, gamma) > np.exp(-1.0)  # closer than one bandwidth
    kernel = _kernel(anchors, Y, gamma)
    out = np.empty((len(W), Y.shape[1]))
    for rows in slices(len(W), block_size(_ENTRIES) // (len(Y) * (_STARTS + 2))):
        others = anchors[select_spread(W[rows] @ kernel.T, close, _STARTS)]
        positive = np.maximum(W[rows], 0.0)
        total = positive.sum(axis=1, keepdims=True)
        mean = positive @ Y / np.where(total > 0, total, 1.0)  # zero, the centre, where no weight is positive
        starts = np.concatenate([Y[best[rows], None], others, mean[:, None]], axis=1)
        out[rows] = best_of_starts(W[rows], starts, lambda W, Z: _ascend(W, Z, Y, gamma))
    return out + center


def _ascend(W, Z, Y, gamma):
    """Local maxima from Z (p, d), one for each row of W (p, n), and their objectives (p,).

    The fixed-point step goes to the mean of the outputs under the weights ``w_i k(z, y_i)``. It increases the objective
    if weights are positive. Steps that fail are shortened. Steps that succeed are lengthened, because the plain
    iteration is slow.
    """
    Z = Z.copy()
    value, step = _fixed_point(W, Z, Y, gamma)
    factor = np.ones(len(Z))
    active = np.arange(len(Z))
    for _ in range(_MAX_STEPS):
        length = factor[active] * np.linalg.norm(step[active], axis=1)
        active = active[length * np.sqrt(gamma) > 1e-8]  # in units of the kernel's bandwidth
        if not len(active):
            break
        trial = Z[active] + factor[active, None] * step[active]
        new_value, new_step = _fixed_point(W[active], trial, Y, gamma)
        better = new_value > value[active]
        factor[active] = np.where(better, 1.5 * factor[active], np.minimum(factor[active] / 4, 1.0))
        improved = active[better]
        Z[improved], value[improved], step[improved] = trial[better], new_value[better], new_step[better]
    return Z, value


def _fixed_point(W, Z, Y, gamma):
    """Objectives (p,) at Z (p, d), and steps (p, d) uphill.

    With weights of both signs the denominator may vanish or be negative; absolute values then replace it. In any case
    the step is the gradient divided by a positive number.
    """
    terms = W * _kernel(Z, Y, gamma)
    total, size = terms.sum(axis=1), np.abs(terms).sum(axis=1)
    denominator = np.where(total > 0.1 * size, total, size)
    step = terms @ Y - total[:, None] * Z
    return total, step / np.where(denominator > 0, denominator, 1.0)[:, None]


def _kernel(Z, Y, gamma):
    """Gaussian kernel (p, n) of rows Z (p, d) and Y (n, d)."""
    squares = np.einsum("ij,ij->i", Z, Z)[:, None] + np.einsum("ij,ij->i", Y, Y)
    return np.exp(-gamma * np.maximum(squares - 2 * Z @ Y.T, 0.0))
