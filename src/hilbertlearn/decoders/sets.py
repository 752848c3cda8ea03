"""Sets of labels that minimise a weighted sum of losses, as rows of a 0/1 matrix."""

from __future__ import annotations

import numpy as np


def threshold(W, Y, loss):
    """Sets (m, labels) for the Hamming loss: a label is in when those that have it weigh more than those that lack it.

    The loss is a sum over labels, so this is exact for weights W (m, n) of any sign and sum.
    """
    return (W @ (2 * Y - 1) > 0).astype(float)


def f1_sets(W, Y, loss):
    """Sets (m, labels) for the F1 loss, exact for weights W (m, n) of any sign and sum.

    The loss is one less ``2 |z and y| / (|z| + |y|)``, linear in z once ``|z| = s`` is fixed: the best set of size s is
    the s labels of largest gain ``sum_i 2 w_i y_ik / (s + |y_i|)`` (general F-measure maximiser of Dembczynski et al.
    2011). The gains of all s come from the products ``W Y`` over the outputs of one size.
    """
    sizes = Y.sum(axis=1).astype(int)
    kept = np.unique(sizes[sizes > 0])
    by_size = np.array([W[:, sizes == t] @ Y[sizes == t] for t in kept]).reshape(len(kept), *W.shape[:1], Y.shape[1])
    best = W[:, sizes == 0].sum(axis=1)  # of the empty set, which agrees with empty sets only
    sets = np.zeros((len(W), Y.shape[1]))
    for s in range(1, Y.shape[1] + 1):
        gains = np.tensordot(2 / (s + kept), by_size, axes=1)
        labels = np.argpartition(-gains, s - 1, axis=1)[:, :s]
        value = np.take_along_axis(gains, labels, axis=1).sum(axis=1)
        better = value > best
        best[better], sets[better] = value[better], 0.0
        sets[np.flatnonzero(better)[:, None], labels[better]] = 1.0
    return sets
