"""Sets of labels of small Jaccard loss: all of them where labels are few, else a search that flips labels."""

from __future__ import annotations

import numpy as np

from .._utils.blocks import slices
from .candidates import at_once, best_outputs
from .sets import f1_sets
from .sums import weighted_losses

_FEW = 12  # labels whose subsets, 4096, are all looked at
_ENTRIES = 2**20  # of the arrays of a block of queries


def decode(W, Y, loss):
    """Sets (m, labels) that minimise ``sum_i W[q, i] loss(z, Y[i])``, W (m, n) of any sign, Y (n, labels).

    Exact up to 12 labels. Beyond, the best of what flips of single labels lead to from the best output, from the set of
    best F1, and from the labels of largest weight, as many as is best.
    """
    labels = Y.shape[1]
    if labels <= _FEW:
        everything = (np.arange(2**labels)[:, None] >> np.arange(labels) & 1).astype(float)
        return everything[best_outputs(-W, Y, loss, everything)]
    starts = [Y[best_outputs(-W, Y, loss)], f1_sets(W, Y, loss), _prefixes(W, Y)]
    found = np.array([_flipped(W, Y, start) for start in starts])
    values = np.array([weighted_losses(W, Z, Y, loss) for Z in found])
    return found[values.argmin(axis=0), np.arange(len(W))]


def _prefixes(W, Y):
    """Sets (m, labels) of the first labels, as many as is best, in order of the weight of the outputs with them."""
    order = np.argsort(-(W @ Y), axis=1, kind="stable")
    Z = np.zeros((len(W), Y.shape[1]))
    sizes, ranks = Y.sum(axis=1), np.arange(1, Y.shape[1] + 1)
    for z, w, labels in zip(Z, W, order):
        common = np.cumsum(Y[:, labels], axis=1)
        values = w @ (common / (ranks + sizes[:, None] - common))
        best = values.argmax()
        if values[best] > w[sizes == 0].sum():
            z[labels[: best + 1]] = 1
    return Z


def _flipped(W, Y, Z):
    """Sets (m, labels) of which no single flip of a label is better, from the sets Z."""
    Z = Z.copy()
    for block in slices(len(W), at_once(_ENTRIES) // max(len(Y), 1)):
        rows = np.arange(block.start, block.stop)
        for _ in range(4 * Y.shape[1]):
            gains = _gains(W[rows], Y, Z[rows])
            best = gains.argmax(axis=1)
            better = gains[np.arange(len(rows)), best] > 1e-12 * np.abs(W[rows]).sum(axis=1)
            rows, best = rows[better], best[better]
            if not len(rows):
                break
            Z[rows, best] = 1 - Z[rows, best]
    return Z


def _gains(W, Y, Z):
    """What flipping each label adds to ``sum_i w_i |z and y_i| / |z or y_i|`` (m, labels)."""
    common = Z @ Y.T
    union = Z.sum(axis=1)[:, None] + Y.sum(axis=1) - common

    def values(a, b):  # w_i a / b of all outputs, 1 for two empty sets
        return W * np.divide(a, b, out=np.ones_like(a), where=b > 0)

    put_in = (values(common + 1, np.maximum(union, 1)) - values(common, union + 1)) @ Y
    put_in += values(common, union + 1).sum(axis=1)[:, None]
    # of a label in z: an output with it has one less in common, one without it a smaller union
    with_it, without_it = values(np.maximum(common - 1, 0), union), values(common, np.maximum(union - 1, 0))
    left_out = (with_it - without_it) @ Y + without_it.sum(axis=1)[:, None]
    return np.where(Z > 0, left_out, put_in) - values(common, union).sum(axis=1)[:, None]
