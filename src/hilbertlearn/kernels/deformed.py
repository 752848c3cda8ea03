"""Semi-supervision as a kernel: the deformed kernel of a graph over labelled and unlabelled samples."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import scipy.linalg
import scipy.sparse

_RANK = 1e-12  # what is left of k(x, x), relative to the largest, when a sample adds nothing to the others


class Deformed:
    """The kernel ``k~(x, z) = k(x, z) - k_x' (I + r S K)^-1 r S k_z`` with values at N samples.

    The problem with the penalty ``beta/2 sum_ij S_ij <h(x_i), h(x_j)>`` beside ``alpha/2 ||h||^2`` is the one without
    it for this kernel, ``r = beta / alpha`` (Brouard et al. 2016, theorems 5 to 7, in the form of a kernel).

    Parameters
    ----------
    K : (N, N) Gram matrix of k
    S : (N, N) PSD matrix of the penalty, dense or sparse
    """

    def __init__(self, K, S):
        self.K, self.S = K, S
        self._last: tuple = (None, None, None)

    @property
    def scale(self):
        """What 1 / r is to be compared with: the largest k(x, x) times a bound on the norm of S, if a Laplacian."""
        return 2 * float(self.S.diagonal().max()) * max(float(self.K.diagonal().max()), 0.0)

    @cached_property
    def spectrum(self):
        """Values s (q,) and vectors B (N, q) with ``k~ = B diag(1 / (1 + r s)) B'`` on the samples, for every r.

        One factorisation K = C C' and one of C' S C: worth it when many r are asked for.
        """
        factor, pivots, rank, _ = scipy.linalg.lapack.dpstrf(
            self.K, lower=1, tol=_RANK * max(self.K.diagonal().max(), 0.0)
        )
        C = np.empty((len(self.K), rank))
        C[pivots - 1] = np.tril(factor)[:, :rank]
        inner = C.T @ (self.S @ C)
        values, vectors = scipy.linalg.eigh((inner + inner.T) / 2, driver="evd", check_finite=False)
        return np.maximum(values, 0.0), C @ vectors

    def gram(self, r, rows):
        """``k~`` between samples, (l, l) for rows (l,)."""
        if "spectrum" in self.__dict__:
            values, B = self.spectrum
            half = B[rows] / np.sqrt(1 + r * values)
            return half @ half.T
        G = self._columns(r, rows)[rows]
        return (G + G.T) / 2

    def coefficients(self, A, r, rows):
        """Coefficients (N, d) of k for those A (l, d) of k~: ``k(x, X) @ result`` equals ``k~(x, X[rows]) @ A``."""
        if "spectrum" in self.__dict__:
            values, B = self.spectrum
            smooth = B @ ((B[rows].T @ A) / (1 + r * values)[:, None])
        else:
            smooth = self._columns(r, rows) @ A
        out = -r * (self.S @ smooth)
        np.add.at(out, rows, A)
        return out

    def _columns(self, r, rows):
        """``k~`` (N, l) between all samples and some: ``(I + r K S)^-1 K[:, rows]``, nothing is subtracted."""
        if self._last[0] == r and np.array_equal(self._last[1], rows):
            return self._last[2]
        system = np.ascontiguousarray(self.S @ self.K)  # its transpose K S is the Fortran array that LAPACK factors
        system *= r
        system.flat[:: len(system) + 1] += 1.0
        factor = scipy.linalg.lu_factor(system.T, overwrite_a=True, check_finite=False)
        columns = scipy.linalg.lu_solve(factor, self.K[:, rows], check_finite=False)
        self._last = (r, np.array(rows), columns)
        return columns
