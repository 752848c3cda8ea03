"""Sets of labels of small Jaccard loss: by enumeration for few labels, else by a search that flips labels."""

from __future__ import annotations

import numpy as np

from .._utils.blocks import slices
from .candidates import best_outputs, block_size
from .sets import decode_f1
from .sums import weighted_losses

_EXACT_LABELS = 12  # number of labels up to which all subsets, 4096, are tried; each further label doubles the time
_ENTRIES = 2**20  # entries of the arrays of a block of queries, 8 MB


def decode_jaccard(W, Y, loss):
    """Sets (m, labels) that minimise ``sum_i W[q, i] loss(z, Y[i])``, W (m, n) of any sign, Y (n, labels).

    Exact up to 12 labels. Beyond, a local search that flips single labels, from three starts: the best output, the set
    of best F1, and the best prefix of the labels sorted by weight.
    """
    labels = Y.shape[1]
    if labels <= _EXACT_LABELS:
        subsets = (np.arange(2**labels)[:, None] >> np.arange(labels) & 1).astype(float)
        return subsets[best_outputs(-W, Y, loss, subsets)]
    starts = [Y[best_outputs(-W, Y, loss)], decode_f1(W, Y, loss), _prefixes(W, Y)]
    optima = np.array([_flip_labels(W, Y, start) for start in starts])
    values = np.array([weighted_losses(W, Z, Y, loss) for Z in optima])
    return optima[values.argmin(axis=0), np.arange(len(W))]


def _prefixes(W, Y):
    """Sets (m, labels) of the first labels, sorted by the weight of their outputs, of the best size."""
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


def _flip_labels(W, Y, Z):
    """Local optima (m, labels) under flips of single labels, from the sets Z."""
    Z = Z.copy()
    for block in slices(len(W), block_size(_ENTRIES) // max(len(Y), 1)):
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
    """Changes (m, labels) of ``sum_i w_i |z and y_i| / |z or y_i|`` when a label is flipped."""
    common = Z @ Y.T
    union = Z.sum(axis=1)[:, None] + Y.sum(axis=1) - common

    def values(a, b):  # w_i a / b of all outputs, 1 for two empty sets
        return W * np.divide(a, b, out=np.ones_like(a), where=b > 0)

    added = (values(common + 1, np.maximum(union, 1)) - values(common, union + 1)) @ Y
    added += values(common, union + 1).sum(axis=1)[:, None]
    # without a label of z, outputs that have the label have one less in common, the others a smaller union
    less_common, less_union = values(np.maximum(common - 1, 0), union), values(common, np.maximum(union - 1, 0))
    removed = (less_common - less_union) @ Y + less_union.sum(axis=1)[:, None]
    return np.where(Z > 0, removed, added) - values(common, union).sum(axis=1)[:, None]
