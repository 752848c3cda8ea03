"""Leave-pair-out predictions of the squared loss, in closed form for all pairs of samples."""

from __future__ import annotations

import numpy as np

from .._utils.linalg import row_norms
from .inverses import regularised_inverse, undo_centring

# Limits below which inner products lose too many digits, and a pair is computed one by one. Larger values send more
# pairs there: slower, more precise.
_CANCELLED = 1e-4  # squared length of a prediction, relative to the terms of its sum
_DOMINATED = 1e-3  # sum of all terms but the largest, relative to the largest
_HIDDEN = 1e-5  # length of a prediction, relative to its two parts; below, K is used in place of its inverse
_BLOCK = 2**15  # pairs in a block: a dozen arrays of that size fit in the cache
_BLOCK_ENTRIES = 2**22  # numbers in a block of predictions of single pairs
_EPS = np.finfo(float).eps


def leave_pairs_out(K, Y, penalty, *, center=False, inner=None):
    """Inner products of the predictions for two samples by a model fitted without both.

    With ``G = (K + s I)^-1``, the residuals of a set S of samples by the model without them are ``G_SS^-1 (G Y)_S``,
    and the predictions ``Y_S - G_SS^-1 (G Y)_S = -G_SS^-1 G_ST Y_T``, where T are the other samples (Brouard et al.
    2016, section 4). Here S is a pair. The last form is computed. If K is nearly diagonal, predictions are small and
    the difference before it cancels: its rounding errors would depend on the very outputs Y_S to be predicted.

    Parameters
    ----------
    K : (n, n) Gram matrix; the operator is the identity
    Y : (n, d) coordinates
    penalty : float
        s > 0.
    center : bool, default=False
        Rows of Y have mean zero, and the outputs of the other samples are centred again for each pair.
    inner : (n, n) matrix ``Y Y'`` or None, default=None
        Given by callers with many K and penalties; None to compute it.

    Returns
    -------
    products : (n, n) ``<h_i, h_j>`` of the predictions for i and j, symmetric
    squares : (n, n) ``<h_i, h_i>`` of the prediction for i without i and j
        Both are zero on the diagonal, which is no pair.
    """
    n = len(K)
    products, squares = np.zeros((n, n)), np.zeros((n, n))
    if n > (3 if center else 2):  # else no sample remains, or only the mean
        pairs = _PairPredictions(K, Y, penalty, center, Y @ Y.T if inner is None else inner)
        imprecise = pairs.fill_all(products, squares)
        pairs.fill_single(imprecise, products, squares)
    return products, squares


class _InnerProducts:
    """Inner products (n, n) of the rows of Z and of N, and their diagonals."""

    def __init__(self, ZZ, NZ, NN):
        self.ZZ, self.NZ, self.NN = ZZ, NZ, NN
        self.zz, self.nz, self.nn = ZZ.diagonal(), NZ.diagonal(), NN.diagonal()


class _PairPredictions:
    """Leave-pair-out predictions, all times -1.

    Let D² be the diagonal of G, scaled such that its maximum is 1, and ``R = D^-1 G D^-1``, with r at i, j. Then

        D_i h_i = (u - r v) / (1 - r²)        u = sum over k in T of R_ik D_k y_k, v the same for j

    The diagonal of G, which may be much larger than its other entries, has no part in u and v. Each is a sum over all
    samples but i, from which the term of j is subtracted.

    If K is centred, G is (K + c 1 1' + s I)^-1 plus a constant, for a c of our choice. Y_T has mean zero, so that
    constants have no effect on u and v. In the inverse of the 2 x 2 matrix they are ``D_i D_j e_i e_j``.
    """

    def __init__(self, K, Y, penalty, center, inner):
        self.gram, self.center, self.inner = K, center, inner
        n = len(K)
        K, level = undo_centring(K) if center else (K, 0.0)
        G = regularised_inverse(K, penalty)
        roots = np.sqrt(G.diagonal())
        self.largest = roots.max()
        self.D = roots / self.largest  # its squares must not underflow
        G *= np.multiply.outer(1 / roots, 1 / roots)
        self.R = G
        np.fill_diagonal(self.R, 0.0)
        self.e = np.sqrt(level / (level + penalty) / (n * penalty)) / roots
        if center:
            # A constant in the weights would cancel later, with a loss of digits. The median is robust to the few
            # weights that differ, one of which may be that of the pair.
            self.Z, self.W = Y, self.R * self.D
            self.W -= np.partition(self.W, n // 2, axis=1)[:, n // 2, None]
            np.fill_diagonal(self.W, 0.0)
        else:
            self.Z, self.W = self.D[:, None] * Y, self.R
        # The largest term may dominate all others. These are summed separately, for pairs with that sample.
        everyone, lengths = np.arange(n), row_norms(self.Z)
        lengths += center * lengths.mean()  # the mean is subtracted
        self.lengths = lengths * self.D if center else lengths
        weights = np.abs(self.W)
        weights *= lengths
        self.first = weights.argmax(axis=1)
        largest = weights[everyone, self.first]
        self.dominated = weights.sum(axis=1) - largest < _DOMINATED * largest
        weights = self.W[everyone, self.first]
        self.W[everyone, self.first] = 0.0
        self.rest, self.total_of_rest = self.W @ self.Z, self.W.sum(axis=1)
        self.W[everyone, self.first] = weights
        self.sums, self.totals = self.rest + weights[:, None] * self.Z[self.first], self.total_of_rest + weights

    # ---------------------------------------------------------------- all at once

    def fill_all(self, products, squares):
        """Fill in all pairs from inner products of ``sums`` and Z; returns the pairs (m, 2) that may be imprecise."""
        Z, N, n = self.Z, self.sums, len(self.Z)
        ZZ = self.inner if self.center else self.inner * np.multiply.outer(self.D, self.D)  # exactly symmetric
        sums = _InnerProducts(ZZ, N @ Z.T, N @ N.T)
        imprecise = [np.stack([np.flatnonzero(self.dominated), self.first[self.dominated]], axis=1)]
        size = max(1, _BLOCK // n)
        for start in range(0, n, size):
            rows, columns = slice(start, start + size), slice(start, n)
            upper, lower = (rows, columns), (columns, rows)
            block = self._centred_block if self.center else self._block
            product, square_i, square_j, cancelled = block(sums, rows, columns)
            product /= self.D[rows, None] * self.D[columns]
            square_i /= self.D[rows, None] ** 2
            square_j /= self.D[columns] ** 2
            products[upper], products[lower] = product, product.T
            squares[lower] = np.maximum(square_j, 0.0, out=square_j).T
            squares[upper] = np.maximum(square_i, 0.0, out=square_i)
            if cancelled.any():
                imprecise.append(np.argwhere(np.triu(cancelled, 1)) + start)
        np.fill_diagonal(products, 0.0)
        np.fill_diagonal(squares, 0.0)
        i, j = np.sort(np.concatenate(imprecise), axis=1).T
        return np.stack(np.divmod(np.unique(i * n + j), n), axis=1)

    def _block(self, sums, rows, columns):
        """``D_i D_j <h_i, h_j>``, ``D_i² <h_i, h_i>``, ``D_j² <h_j, h_j>``, and a mask of cancellation.

        Here W is R, ``u = N_i - r Z_j`` and ``v = N_j - r Z_i``.
        """
        i, j, r = (rows, None), columns, self.R[rows, columns]
        twice, rr = 2 * r, r * r
        terms_u, terms_v = rr * sums.zz[j], rr * sums.zz[i]
        terms_u += sums.nn[i]
        terms_v += sums.nn[j]
        uu, vv = twice * sums.NZ[rows, columns], twice * sums.NZ[columns, rows].T
        np.subtract(terms_u, uu, out=uu)
        np.subtract(terms_v, vv, out=vv)
        uv = rr * sums.ZZ[rows, columns]
        uv += sums.NN[rows, columns]
        part = sums.nz[i] + sums.nz[j]
        uv -= np.multiply(part, r, out=part)
        # D_i h_i = (u - r v) / (1 - r²)
        np.multiply(twice, uv, out=part)
        square_i, square_j = rr * vv, rr * uu
        square_i += uu
        square_i -= part
        square_j += vv
        square_j -= part
        cancelled = square_i < _CANCELLED * (terms_u + rr * terms_v)
        cancelled |= square_j < _CANCELLED * (terms_v + rr * terms_u)
        uu += vv
        uu *= r
        determinant = np.maximum(1 - rr, _EPS)
        rr += 1.0
        uv *= rr
        uv -= uu
        determinant *= determinant
        for array in (uv, square_i, square_j):
            array /= determinant
        return uv, square_i, square_j, cancelled

    def _centred_block(self, sums, rows, columns):
        """The same if the other outputs are centred for each pair: ``u = N_i + a_i Z_i + b_i Z_j``."""
        i, j, n = (rows, None), columns, len(self.Z)
        b_i, b_j = -self.W[rows, columns], -self.W[columns, rows].T
        a_i, a_j = (self.totals[i] + b_i) / (n - 2), (self.totals[j] + b_j) / (n - 2)
        b_i, b_j = a_i + b_i, a_j + b_j
        zz, nz, nn = sums.zz, sums.nz, sums.nn
        nz_ij, nz_ji, zz_ij = sums.NZ[rows, columns], sums.NZ[columns, rows].T, sums.ZZ[rows, columns]
        uu, terms_u = _square(a_i, b_i, nn[i], zz[i], zz[j], nz[i], nz_ij, zz_ij)
        vv, terms_v = _square(a_j, b_j, nn[j], zz[j], zz[i], nz[j], nz_ji, zz_ij)
        uv = sums.NN[rows, columns] + (b_j * nz[i] + b_i * nz[j]) + b_i * b_j * zz_ij
        uv += (a_j * nz_ij + a_i * nz_ji) + (a_i * b_j * zz[i] + a_j * b_i * zz[j]) + a_i * a_j * zz_ij
        f_i, f_j, g = _inverse_2x2(self.R[rows, columns], self.e[i], self.e[j])
        ff_i, ff_j, gg = f_i**2, f_j**2, g**2
        square_i, square_j = ff_i * uu - 2 * f_i * g * uv + gg * vv, ff_j * vv - 2 * f_j * g * uv + gg * uu
        cancelled = square_i < _CANCELLED * (ff_i * terms_u + gg * terms_v)
        cancelled |= square_j < _CANCELLED * (ff_j * terms_v + gg * terms_u)
        return (f_i * f_j + gg) * uv - g * (f_i * uu + f_j * vv), square_i, square_j, cancelled

    # ---------------------------------------------------------------- single pairs

    def fill_single(self, pairs, products, squares):
        """Fill in pairs (m, 2) from the predictions themselves."""
        size = max(1, _BLOCK_ENTRIES // self.Z.shape[1])
        for start in range(0, len(pairs), size):
            i, j = pairs[start : start + size].T
            u, v = self._weighted(i, j), self._weighted(j, i)
            f_i, f_j, g = (c[:, None] for c in _inverse_2x2(self.R[i, j], self.e[i], self.e[j]))
            h_i, h_j = self._prediction(i, j, f_i * u, g * v), self._prediction(j, i, f_j * v, g * u)
            products[i, j] = products[j, i] = np.einsum("ij,ij->i", h_i, h_j)
            squares[i, j], squares[j, i] = row_norms(h_i) ** 2, row_norms(h_j) ** 2

    def _weighted(self, i, j):
        """u (m, d), or v for j and i."""
        weights = self.W[i, j]
        u, totals = self.sums[i] - weights[:, None] * self.Z[j], self.totals[i] - weights
        first = self.first[i] == j
        u[first], totals[first] = self.rest[i[first]], self.total_of_rest[i[first]]
        if self.center:
            u += (totals / (len(self.Z) - 2))[:, None] * (self.Z[i] + self.Z[j])
        return u

    def _prediction(self, i, j, minuend, subtrahend):
        """h_i (m, d) as a difference, or from K if the difference cancels.

        It cancels where j lies between i and the other samples: the entries of G between i and these are then dominated
        by paths through j, while K has the direct ones.
        """
        h = minuend - subtrahend
        parts = _largest(minuend) + _largest(subtrahend)
        hidden = np.flatnonzero(_largest(h) < _HIDDEN * parts)
        h /= self.D[i, None]
        if len(hidden) and not self.e.any():  # entries of a centred K are not precise enough
            parts = parts[hidden] / self.D[i[hidden]]
            better = self._terms_from_gram(i[hidden], j[hidden]) < parts  # not if K is far from diagonal
            hidden = hidden[better]
            h[hidden] = self._from_gram(i[hidden], j[hidden])
        return h

    def _from_gram(self, i, j):
        """h_i (m, d) as ``K_iT (K_TT + s I)^-1 Y_T``, the inverse being ``G_TT - G_TS G_SS^-1 G_ST``."""
        gram, f, g = self._gram_with_others(i, j)
        m, weights = np.arange(len(i)), gram + gram @ self.R
        at_i, at_j = weights[m, i], weights[m, j]
        weights -= (f * at_i - g * at_j)[:, None] * self.R[i] + (f * at_j - g * at_i)[:, None] * self.R[j]
        weights[m, i] = weights[m, j] = 0.0
        if not self.center:
            return weights @ self.Z
        weights *= self.D
        return weights @ self.Z + (weights.sum(axis=1) / (len(self.Z) - 2))[:, None] * (self.Z[i] + self.Z[j])

    def _terms_from_gram(self, i, j):
        """Size (m,) of the terms that ``_from_gram`` sums."""
        gram, f, _ = self._gram_with_others(i, j)
        return f * (np.abs(gram) @ (self.lengths + np.abs(self.R) @ self.lengths))

    def _gram_with_others(self, i, j):
        """``-K_iT D_T`` (m, n), zero at i and j, and the entries of the 2 x 2 inverse."""
        m, gram = np.arange(len(i)), self.gram[i] * (-(self.largest**2) * self.D)
        gram[m, i] = gram[m, j] = 0.0
        f, _, g = _inverse_2x2(self.R[i, j], 0.0, 0.0)
        return gram, f, g


def _square(a, b, nn, zz, zz_other, nz, nz_other, zz_both):
    """Squared length of ``N + a Z + b Z_other`` from inner products, and the sum of squared lengths of its terms."""
    terms, rest = nn + b**2 * zz_other + a**2 * zz, b * nz_other + a * (nz + b * zz_both)
    return terms + 2 * rest, terms


def _inverse_2x2(r, e_i, e_j):
    """f_i, f_j and g with ``D_i h_i = f_i u - g v`` and ``D_j h_j = f_j v - g u``.

    They are the inverse of the matrix ((1, r), (r, 1)) plus the outer product of (e_i, e_j), which may be much larger.
    The determinant is a sum of non-negative terms.
    """
    determinant = np.maximum(1 - r**2, _EPS)
    if not np.any(e_i):
        return 1 / determinant, 1 / determinant, r / determinant
    f_i, f_j = 1 + e_j**2, 1 + e_i**2
    determinant = determinant + (e_i - e_j) ** 2 + 2 * (e_i * e_j) * np.maximum(1 - r, _EPS)
    return f_i / determinant, f_j / determinant, (r + e_i * e_j) / determinant


def _largest(A):
    """Largest absolute value in each row; squares might underflow."""
    return np.abs(A).max(axis=1)
