"""Inverses of Gram matrices whose small entries are precise, for cross-validated predictions."""

from __future__ import annotations

import numpy as np

from .._utils.linalg import shifted_inverse, spectrum

_CENTRED = 8  # rounding errors of an entry of a centred Gram matrix, in units of eps times the mean eigenvalue over n
_EPS = np.finfo(float).eps


def undo_centring(K):
    """A centred K whose eigenvalue 0 of the constant vector is raised to the mean of the others, and that mean.

    Centring adds a share of the diagonal to all other entries, which may be much larger than these; raising the
    eigenvalue removes it. A matrix that is not centred is returned unchanged, with 0.
    """
    n, level = len(K), np.trace(K) / (len(K) - 1)
    if np.abs(K.sum(axis=1)).max() > n * _EPS * level:
        return K, 0.0
    raised = K + level / n
    raised[np.abs(raised) < _CENTRED * _EPS * level / n] = 0.0  # rounding errors of K
    return raised, level


def regularised_inverse(K, penalty):
    """``(K + s I)^-1`` (n, n). By Cholesky factors, small entries have a small relative error if those of K have."""
    inverse = shifted_inverse(K, penalty)
    if inverse is not None:
        return inverse
    # s is below the rounding errors of K, and is raised to their size
    (lam, Q), rounding = spectrum(K), len(K) * _EPS
    penalty = max(penalty, rounding * lam[-1])
    G = np.eye(len(K)) - (Q * (lam / (lam + penalty))) @ Q.T
    G[np.abs(G) < rounding] = 0.0
    outside = 1 - (Q**2).sum(axis=1)  # share of each unit vector outside the span of Q
    np.fill_diagonal(G, np.where(outside < rounding, 0.0, outside) + Q**2 @ (penalty / (lam + penalty)))
    return G / penalty
