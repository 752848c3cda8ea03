"""The squared loss with two samples left out at a time, in closed form for all pairs."""

from __future__ import annotations

import numpy as np

from .._linalg import row_norms, shifted_inverse, spectrum

_ALIKE = 1e-3  # determinant of two samples' inverse, relative to unrelated ones, below which sums cancel
_BLOCK = 2**15  # pairs at a time: a dozen arrays of that size fit in the cache
_BLOCK_ENTRIES = 2**22  # of predictions of pairs nearly alike
_EPS = np.finfo(float).eps


def leave_pairs_out(K, Y, penalty, *, center=False):
    """Inner products of what the squared loss predicts for two samples when both are left out.

    With ``G = (K + s I)^-1`` the residuals of a set S of samples left out together are ``G_SS^-1 (G Y)_S``; here S has
    two. For pairs i, j the predictions are h_i and h_j: returns ``<h_i, h_j>`` and ``<h_i, h_i>``, each (n, n).

    Parameters
    ----------
    K : (n, n) Gram matrix, the operator is the identity
    Y : (n, d) coordinates
    center : bool, rows of Y have mean zero, and the others are to have it when two are left out
    """
    n, inverse = len(K), shifted_inverse(K, penalty)
    if inverse is None:
        lam, Q = spectrum(K)
        G = np.eye(n) - (Q * (lam / (lam + penalty))) @ Q.T
    else:
        G = penalty * inverse  # its scale does not count, and squares of it must not vanish
    R = G @ Y
    YY, YR, RR = Y @ Y.T, Y @ R.T, R @ R.T
    yy, yr, rr = np.diag(YY), np.diag(YR), np.diag(RR)
    products, squares = np.empty_like(G), np.empty_like(G)
    alike = []
    for start in range(0, n, max(1, _BLOCK // n)):
        rows = slice(start, start + max(1, _BLOCK // n))
        first, second, near = _coefficients(G, rows, center and n > 2)
        # inner products of (y_i, y_j, r_i, r_j) with each other
        i_j, i_rj, ri_j, ri_rj = YY[rows], YR[rows], YR[:, rows].T, RR[rows]
        i_i, i_ri, ri_ri = yy[rows, None], yr[rows, None], rr[rows, None]
        inner = [[i_i, i_j, i_ri, i_rj], [i_j, yy, ri_j, yr], [i_ri, ri_j, ri_ri, ri_rj], [i_rj, yr, ri_rj, rr]]
        products[rows] = _product(first, second, inner)
        squares[rows] = np.maximum(_product(first, first, inner), 0.0)
        alike.append(np.argwhere(near) + np.array([start, 0]))
    _one_by_one(np.concatenate(alike), G, Y, R, center, products, squares)
    return products, squares


def _coefficients(G, rows, center):
    """Coefficients of y_i, y_j, r_i and r_j in h_i and in h_j, for i in rows and all j; None is zero, and which pairs
    i < j are nearly alike."""
    own = np.diag(G)
    largest = np.multiply.outer(own[rows], own)
    determinants = np.maximum(largest - G[rows] ** 2, _EPS * largest)
    diagonal = np.arange(len(G))[rows, None] == np.arange(len(G))
    determinants[diagonal] = 1.0
    a, a_other, b = own / determinants, own[rows, None] / determinants, G[rows] / determinants
    near = (determinants < _ALIKE * largest) & (np.arange(len(G))[rows, None] < np.arange(len(G)))
    if not center:  # h_i = y_i - a r_i + b r_j
        return [1.0, None, -a, b], [None, 1.0, b, -a_other], near
    # the others are moved by the mean of these two, and what they predict with them
    ones = G.sum(axis=1)
    moved = (1 - a * ones[rows, None] + b * ones) / (len(G) - 2)
    moved_other = (1 - a_other * ones + b * ones[rows, None]) / (len(G) - 2)
    return [1 + moved, moved, -a, b], [moved_other, 1 + moved_other, b, -a_other], near


def _product(p, q, inner):
    """``<sum_k p_k v_k, sum_m q_m v_m>`` from inner products of the v."""
    return sum(p[k] * q[m] * inner[k][m] for k in range(4) for m in range(4) if p[k] is not None and q[m] is not None)


def _one_by_one(pairs, G, Y, R, center, products, squares):
    """Of samples nearly alike the sums cancel: put in what comes from their predictions."""
    n, own, ones = len(G), np.diag(G), G.sum(axis=1)
    size = max(1, _BLOCK_ENTRIES // Y.shape[1])
    for start in range(0, len(pairs), size):
        i, j = pairs[start : start + size].T
        largest = own[i] * own[j]
        determinants = np.maximum(largest - G[i, j] ** 2, _EPS * largest)
        predictions = []
        for p, q in ((i, j), (j, i)):
            h = Y[p] - (own[q, None] * R[p] - G[p, q][:, None] * R[q]) / determinants[:, None]
            if center and n > 2:
                rest = 1 - (own[q] * ones[p] - G[p, q] * ones[q]) / determinants
                h += rest[:, None] * (Y[p] + Y[q]) / (n - 2)
            predictions.append(h)
        ahead, behind = predictions
        products[i, j] = products[j, i] = np.einsum("ij,ij->i", ahead, behind)
        squares[i, j], squares[j, i] = row_norms(ahead) ** 2, row_norms(behind) ** 2
