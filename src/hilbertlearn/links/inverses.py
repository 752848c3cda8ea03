"""Inverses of Gram matrices in which small entries are precise: what samples left out are predicted from."""

from __future__ import annotations

import numpy as np

from .._utils.linalg import shifted_inverse, spectrum

_CENTRED = 8  # how many rounding errors an entry of a centred Gram matrix may have
_EPS = np.finfo(float).eps


def decentred(K):
    """A centred K with the eigenvalue 0 of the constant vector raised to the mean of the others, and that mean.

    Centring puts a share of the diagonal into all other entries, beside which what these say may be small; this takes
    it out again. A matrix that is not centred is returned as it is, with 0.
    """
    n, level = len(K), np.trace(K) / (len(K) - 1)
    if np.abs(K.sum(axis=1)).max() > n * _EPS * level:
        return K, 0.0
    raised = K + level / n
    raised[np.abs(raised) < _CENTRED * _EPS * level / n] = 0.0  # K does not say more
    return raised, level


def regularised_inverse(K, penalty):
    """``(K + s I)^-1`` (n, n). From Cholesky factors small entries are precise relative to themselves, as K's are."""
    inverse = shifted_inverse(K, penalty)
    if inverse is not None:
        return inverse
    # s is less than the rounding errors of K, and might as well be as large as these
    (lam, Q), rounding = spectrum(K), len(K) * _EPS
    penalty = max(penalty, rounding * lam[-1])
    G = np.eye(len(K)) - (Q * (lam / (lam + penalty))) @ Q.T
    G[np.abs(G) < rounding] = 0.0
    own = 1 - (Q**2).sum(axis=1)
    np.fill_diagonal(G, np.where(own < rounding, 0.0, own) + Q**2 @ (penalty / (lam + penalty)))
    return G / penalty
