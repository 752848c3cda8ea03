"""Leave-one-out predictions of the squared loss that are precise even where they are tiny."""

from __future__ import annotations

import numpy as np

from .inverses import regularised_inverse, undo_centring


def leave_nodes_out(K, Y, penalty, *, center=False):
    """Leave-one-out predictions (n, d) of the squared loss.

    With ``G = (K + s I)^-1`` they are ``-G_ii^-1 sum over k != i of G_ik y_k``. The output of sample i has no part in
    them, not even by rounding. The parameters are those of ``leave_pairs_out``.
    """
    n = len(K)
    if n <= (2 if center else 1):  # no sample remains, or only the mean
        return np.zeros(Y.shape)
    K, level = undo_centring(K) if center else (K, 0.0)
    W = regularised_inverse(K, penalty)
    diagonal = W.diagonal() + level / (level + penalty) / (n * penalty)
    np.fill_diagonal(W, 0.0)
    if not center:
        return (W @ Y) / -diagonal[:, None]
    # The other outputs are shifted to mean zero. A constant in the weights has no effect then, and is removed first.
    W -= np.partition(W, n // 2, axis=1)[:, n // 2, None]
    np.fill_diagonal(W, 0.0)
    return (W @ Y + (W.sum(axis=1) / (n - 1))[:, None] * Y) / -diagonal[:, None]
