"""The squared loss with one sample left out at a time, precise where predictions are tiny."""

from __future__ import annotations

import numpy as np

from .inverses import decentred, regularised_inverse


def leave_nodes_out(K, Y, penalty, *, center=False):
    """What the squared loss predicts for each sample when it alone is left out, (n, d).

    With ``G = (K + s I)^-1`` that is ``-G_ii^-1 sum over k != i of G_ik y_k``; the sample's own y has no part in it,
    not even by rounding, see ``leave_pairs_out``. Parameters as there.
    """
    n = len(K)
    if n <= (2 if center else 1):  # nothing is left, or nothing beside the mean
        return np.zeros(Y.shape)
    K, level = decentred(K) if center else (K, 0.0)
    W = regularised_inverse(K, penalty)
    own = W.diagonal() + level / (level + penalty) / (n * penalty)
    np.fill_diagonal(W, 0.0)
    if not center:
        return (W @ Y) / -own[:, None]
    # The others are moved to have mean zero, so that constants of the weights do not count, and cancel here.
    W -= np.partition(W, n // 2, axis=1)[:, n // 2, None]
    np.fill_diagonal(W, 0.0)
    return (W @ Y + (W.sum(axis=1) / (n - 1))[:, None] * Y) / -own[:, None]
