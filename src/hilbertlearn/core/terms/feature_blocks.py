"""Features in blocks of rows, read or computed again in each pass: ``K = Z Z'`` where Z does not fit in memory.

A product with K takes two passes: ``Z'A``, then Z times that. Dual variables (n, d) are in memory. Everything else is
as with features in memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cached_property
from typing import Any

import numpy as np

from .features import FeatureGram, local_total

_IN_MEMORY = 2**25  # entries of features, 256 MB, up to which a subset of the rows is read into memory


class FeatureBlockGram(FeatureGram):
    """``D Z Z' D`` for features Z (n, r) in blocks, and D = diag(root), None for the identity.

    blocks : function that returns an iterable of pairs (slice, Z of these rows); a pair is valid until the next one
    shape : (n, r)
    prediction_map, total : as in ``FeatureGram``
    """

    def __init__(
        self, blocks: Callable[[], Iterable], shape, root=None, prediction_map=None, total: Callable = local_total
    ):
        self.blocks, self._shape = blocks, shape
        self.root, self.prediction_map, self.total = root, prediction_map, total

    @property
    def shape(self):
        return self._shape

    def _with_root(self, root):
        return FeatureBlockGram(self.blocks, self.shape, root, self.prediction_map, self.total)

    def _scaled_blocks(self):
        """Pairs (rows, ``D Z`` there)."""
        for rows, Z in self.blocks():
            yield rows, Z if self.root is None else self.root[rows][:, None] * Z

    def _pulled(self, A, root):
        out: Any = 0.0
        for rows, Z in self.blocks():
            part = A[rows] if root is None else root[rows][:, None] * A[rows]
            out = out + Z.T @ part
        return self.total(out)

    def pull(self, A):
        return self._pulled(A, self.root)

    def push(self, C):
        out = np.empty((self.shape[0], *C.shape[1:]), dtype=C.dtype)
        for rows, Z in self.blocks():
            np.matmul(Z, C, out=out[rows])
        if self.root is not None:
            out *= self.root[:, None]
        return out

    def apply_from(self, rows, A):
        padded = np.zeros((self.shape[0], A.shape[1]), dtype=A.dtype)
        padded[rows] = A
        return self.apply(padded)

    def dense(self):
        raise TypeError("features in blocks have no Gram matrix of all samples; use features in memory")

    def take(self, rows):
        rows = np.arange(self.shape[0])[rows]
        root = None if self.root is None else self.root[rows]
        if (np.diff(rows) > 0).all() and len(rows) * self.shape[1] > _IN_MEMORY:
            shape = (len(rows), self.shape[1])
            return FeatureBlockGram(lambda: self._part(rows), shape, root, self.prediction_map, self.total)
        order = np.argsort(rows, kind="stable")
        parts = [Z.copy() for _, Z in self._part(rows[order])]
        Z = np.empty((len(rows), self.shape[1]))
        Z[order] = np.concatenate(parts) if parts else np.empty((0, self.shape[1]))
        return FeatureGram(Z, root, self.prediction_map, self.total)

    def _part(self, rows):
        """Blocks of the given rows, which increase."""
        first = 0
        for block, Z in self.blocks():
            positions = rows[np.searchsorted(rows, block.start) : np.searchsorted(rows, block.stop)] - block.start
            if len(positions):
                yield slice(first, first + len(positions)), Z[positions]
                first += len(positions)

    def plus(self, other):
        raise TypeError("features in blocks are not added to others; give one kernel")

    def dot(self, other):
        raise TypeError("features in blocks are not compared with others; give one kernel")

    def cross(self, rows, columns):
        return self.take(rows).cross(slice(None), columns)

    def expand(self, C):
        return self.prediction_coefficients(self._pulled(C, None))

    @property
    def diagonal(self):
        out = np.empty(self.shape[0])
        for rows, Z in self._scaled_blocks():
            out[rows] = np.einsum("ij,ij->i", Z, Z)
        return out

    @cached_property
    def moment(self):
        out: Any = 0.0
        for _, Z in self._scaled_blocks():
            out = out + Z.T @ Z
        return self.total(out)

    def weights_from(self, penalty):
        raise TypeError("weights of samples take features in memory; use an output kernel alone, or fewer samples")
