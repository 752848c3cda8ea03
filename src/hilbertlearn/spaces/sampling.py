"""The linear maps from coordinates to observed values, one for each sample, of irregular functions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse

from .._utils.linalg import row_norms


@dataclass(frozen=True)
class Sampling:
    """The map from coordinates (n, d) to values (n, m), sample by sample, and its adjoint.

    ``matrix`` is sparse and block-diagonal, (n m, n d); samples with fewer than m points end in rows of zeros.
    """

    matrix: scipy.sparse.csr_array
    n: int
    m: int
    d: int

    def push(self, C):
        """Values (n, m) of coordinates (n, d), or of one row (d,) for all samples."""
        C = np.broadcast_to(C, (self.n, self.d))
        return (self.matrix @ C.ravel()).reshape(self.n, self.m)

    def pull(self, B):
        """Adjoint of push: (n, m) to (n, d)."""
        return (self.matrix.T @ B.ravel()).reshape(self.n, self.d)

    def take(self, rows):
        """The maps of the given samples."""
        if len(rows) == self.n:
            return self
        lines = (np.asarray(rows)[:, None] * self.m + np.arange(self.m)).ravel()
        columns = (np.asarray(rows)[:, None] * self.d + np.arange(self.d)).ravel()
        return Sampling(self.matrix[lines][:, columns], len(rows), self.m, self.d)

    @property
    def observed(self):
        """Mask (n m,) of the observed values, row by row."""
        return np.diff(self.matrix.indptr) > 0

    @property
    def dense(self):
        """The maps of all samples stacked without their rows of zeros: (N, d), dense."""
        return self.stacked[np.flatnonzero(self.observed)].toarray()

    @property
    def stacked(self):
        """The maps of all samples stacked, sparse (n m, d)."""
        S = self.matrix
        return scipy.sparse.csr_array((S.data, S.indices % self.d, S.indptr), shape=(self.n * self.m, self.d))

    def mean_gram(self):
        """Mean over samples of ``B_i' B_i`` (d, d), B_i the map of sample i."""
        R = self.stacked
        return (R.T @ R).toarray() / self.n

    @property
    def norm(self) -> float:
        """Largest eigenvalue of ``B_i B_i'`` over the samples, by power iterations in all blocks at once."""
        B = np.random.default_rng(0).normal(size=(self.n, self.m))
        sizes = np.zeros(self.n)
        for _ in range(50):
            B = self.push(self.pull(B))
            sizes = row_norms(B)
            B /= np.where(sizes > 0, sizes, 1.0)[:, None]
        return 1.05 * float(sizes.max(initial=0.0))


def block_sampling(blocks, d):
    """A ``Sampling`` from dense matrices (m_i, d), one for each sample."""
    n, m = len(blocks), max(map(len, blocks), default=0)
    if not n * m:
        return Sampling(scipy.sparse.csr_array((n * m, n * d)), n, m, d)
    padded = [np.pad(block, ((0, m - len(block)), (0, 0))) for block in blocks]
    matrix = scipy.sparse.csr_array(scipy.sparse.block_diag(padded, format="csr"))
    matrix.eliminate_zeros()  # a row without entries is a value that is not observed
    return Sampling(matrix, n, m, d)
