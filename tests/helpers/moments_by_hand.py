"""Models of the squared loss on features by dense systems, which moments must reproduce."""

import numpy as np

from hilbertlearn.training import Moments


def by_hand(Z, Y, M, s, center, weights):
    """B (r, d) and the constant from one dense system over all dual variables observed, ``A + K A M / s = Y``."""
    n, d = Y.shape
    M = np.eye(d) if M is None else M
    seen = np.isfinite(Y)
    mass = weights[:, None] * seen
    mean = (mass * np.nan_to_num(Y)).sum(axis=0) / mass.sum(axis=0) if center else np.zeros(d)
    root = np.sqrt(weights)
    kept = seen.ravel()
    K = np.kron((root[:, None] * Z) @ (root[:, None] * Z).T, M)[np.ix_(kept, kept)]
    A = np.zeros(n * d)
    A[kept] = np.linalg.solve(np.eye(kept.sum()) + K / s, (root[:, None] * (Y - mean)).ravel()[kept])
    return Z.T @ (root[:, None] * A.reshape(n, d)) / s, mean


def moments_of(Z, Y, weights=None, origin=None):
    return Moments.from_rows(Z, Y, weights, np.zeros(Y.shape[1]) if origin is None else origin)


def refitted(Z, Y, M, s, center, weights):
    """Residuals (n, d) of rows, each from a system without it."""
    M = np.eye(Y.shape[1]) if M is None else M
    out = np.empty_like(Y)
    for i in range(len(Y)):
        rest = np.delete(np.arange(len(Y)), i)
        B, mean = by_hand(Z[rest], Y[rest], M, s, center, weights[rest])
        out[i] = Y[i] - mean - Z[i] @ B @ M
    return out
