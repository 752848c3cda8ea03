"""Matrix-valued kernels: a block (d, d) for each pair of samples, one matrix between all entries of Y."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np
import scipy.sparse

from ..._utils.linalg import shifted_inverse
from ...kernels import OperatorValuedKernel
from .base import ONCE, PATH, Term
from .factors import SpectralFactors
from .factory import make_term
from .sampled import ScatteredFactors
from .separable import SeparableTerm

_EPS = np.finfo(float).eps
_BLOCK_COLUMNS = 1000  # columns of a product that several penalties share
_BLOCK_ENTRIES = 2**22  # products of eigenvectors in memory at once: 32 MB


class BlockTerm(Term):
    """The map ``A -> sum_j K_ij a_j`` of blocks ``K_ij`` (d, d), on the observed entries of A (n, d).

    by_entry : the same map on columns (N, 1) of the N observed entries, in the order of ``A.ravel()``
    shape : (n, d)
    observed : (n d,) mask of the observed entries, None for all; on the others the map is zero
    """

    inversion, loo_formula = "direct", "residuals"

    def __init__(self, by_entry: SeparableTerm, shape, observed=None):
        self.by_entry, self._shape, self.masked = by_entry, shape, observed is not None
        self.observed = np.ones(shape[0] * shape[1], dtype=bool) if observed is None else observed

    @classmethod
    def from_blocks(cls, blocks):
        """The map of blocks (n, n, d, d); they are not copied if the memory order is (n, d, n, d)."""
        n, d = blocks.shape[1:3]
        return cls(SeparableTerm(np.ascontiguousarray(blocks.swapaxes(1, 2).reshape(n * d, n * d))), (n, d))

    @property
    def shape(self):
        return self._shape

    def takes_mask(self):
        return True

    @property
    def observed_entries(self):
        return self.observed.reshape(self.shape) if self.masked else None

    @property
    def norm(self) -> float:
        return self.by_entry.norm

    @property
    def scale(self) -> float:
        """The number of samples times the mean of the diagonal: the trace over d if all entries are observed."""
        diagonal = self.by_entry.gram.diagonal
        return self.shape[0] * float(diagonal.mean()) if len(diagonal) else 0.0

    def apply(self, A):
        out = np.zeros(A.size)
        out[self.observed] = self.by_entry.apply(A.ravel()[self.observed, None])[:, 0]
        return out.reshape(A.shape)

    def predictor(self, C):
        return BlockPredictor(C)

    def with_gram(self, gram):
        return BlockTerm(SeparableTerm(None), self.shape) if gram is None else BlockTerm.from_blocks(gram.dense())

    def scaled(self, root_weights):
        root = np.repeat(root_weights, self.shape[1])[self.observed]
        return self._with(self.by_entry.scaled(root), self.shape, self.observed)

    def take(self, rows):
        n, d = self.shape
        entries = np.arange(n * d).reshape(n, d)[rows].ravel()
        observed = self.observed[entries]
        positions = (np.cumsum(self.observed) - 1)[entries[observed]]
        return self._with(self.by_entry.take(positions), (len(entries) // d, d), observed)

    def _with(self, by_entry, shape, observed):
        return BlockTerm(by_entry, shape, observed if self.masked else None)

    def with_mask(self, mask):
        observed = mask.ravel() & self.observed
        return BlockTerm(self.by_entry.take(observed[self.observed]), self.shape, observed)

    def margin_gram(self, Y):
        n, d = self.shape
        samples = np.repeat(np.arange(n), d)[self.observed]
        rows = scipy.sparse.csr_array((Y.ravel()[self.observed], (samples, np.arange(len(samples)))), (n, len(samples)))
        return rows @ (rows @ self.by_entry.K).T

    def factor(self, use=ONCE):
        return (BlockSpectralFactors if use == PATH else BlockInverseFactors)(
            self.observed, self.by_entry.factor(use), self
        )


class BlockPredictor:
    """Values (m, d) from blocks (m, n, d, d) of new points with the samples and coefficients C (n, d)."""

    def __init__(self, coef):
        self.coef = coef

    def __call__(self, blocks):
        m, n, d = blocks.shape[:3]
        return (blocks.swapaxes(1, 2).reshape(m * d, n * d) @ self.coef.ravel()).reshape(m, d)


@make_term.register
def _(kernel: OperatorValuedKernel, gram, operator, outputs):
    d, expected = gram.dense().shape[2], outputs.coordinates.shape[1]
    if d != expected:
        raise ValueError(
            f"kernel: the values of {type(kernel).__name__} are matrices ({d}, {d}), but the outputs have {expected} "
            "coordinates; give a kernel with as many (those of vector fields have one for each column of X)"
        )
    return BlockTerm.from_blocks(gram.dense())


# ---------------------------------------------------------------- factors


@dataclass(frozen=True)
class _BlockFactors(ScatteredFactors):
    """Factors of the matrix between entries; leaving out a sample removes all of its entries."""

    term: BlockTerm

    def loo_residuals(self, T, shift, root, penalties, rows=None):
        """``G_ii^-1 (G t)_i`` with ``G = (K + s I)^-1``, its blocks (d, d), and t the targets of the other samples.

        Solving for all entries but those of sample i is the block form of residual / (1 - leverage) (Brouard et al.
        2016, section 4). Residuals of missing entries are zero.
        """
        n, d = T.shape
        # right-hand sides: the targets, and a constant in each coordinate
        sides = T.reshape(-1, 1) if shift is None else np.hstack([T.reshape(-1, 1), np.kron(root, np.eye(d))])
        sides = np.where(self.observed[:, None], sides, 0.0)
        for rest, blocks in self._reduced(sides, np.asarray(penalties, dtype=float)):
            rest = rest.reshape(n, d, -1)
            right = rest[:, :, 0] if shift is None else rest[:, :, 0] - np.einsum("iab,ib->ia", rest[:, :, 1:], shift)
            values, vectors = np.linalg.eigh(blocks)
            coefficients = np.einsum("iab,ia->ib", vectors, right) / np.maximum(values, _EPS)
            residuals = np.einsum("iab,ib->ia", vectors, coefficients) / root
            yield residuals if rows is None else residuals[rows]

    @abstractmethod
    def _reduced(self, sides, penalties):
        """Yield ``s G sides`` (n d, c) and blocks (n, d, d) of s G for each penalty s; identity at missing entries."""


class BlockInverseFactors(_BlockFactors):
    """Leave-one-out residuals from the inverse, one for each penalty."""

    def _reduced(self, sides, penalties):
        observed = self.observed.reshape(self.term.shape)
        entry = np.maximum(np.cumsum(self.observed) - 1, 0).reshape(observed.shape)
        both, K = observed[:, :, None] & observed[:, None, :], self.term.by_entry.K
        for i, s in enumerate(penalties):
            inverse = shifted_inverse(K, s)
            if inverse is None:  # rounding made K indefinite
                yield from self.term.factor(PATH)._reduced(sides, penalties[i:])
                return
            rest = np.zeros_like(sides)
            rest[self.observed] = s * (inverse @ sides[self.observed])
            yield rest, np.where(both, s * inverse[entry[:, :, None], entry[:, None, :]], np.eye(observed.shape[1]))


class BlockSpectralFactors(_BlockFactors):
    """Leave-one-out residuals from the eigenvectors Q: ``s G = I - Q diag(lam / (lam + s)) Q'``."""

    inner: SpectralFactors

    def _reduced(self, sides, penalties):
        (n, d), lam = self.term.shape, self.inner.inputs.values
        Q = np.zeros((n * d, len(lam)))
        Q[self.observed] = self.inner.inputs.vectors
        weights = lam[:, None] / (lam[:, None] + penalties)
        blocks = np.eye(d) - self._leverages(Q, weights)
        coefficients = Q.T @ sides
        step = max(1, _BLOCK_COLUMNS // sides.shape[1])
        for start in range(0, len(penalties), step):
            block = weights[:, start : start + step]
            changes = Q @ (block[:, :, None] * coefficients[:, None, :]).reshape(len(lam), -1)
            for i, change in enumerate(np.split(changes, block.shape[1], axis=1)):
                yield sides - change, blocks[start + i]

    def _leverages(self, Q, weights):
        """Blocks (penalties, n, d, d) of ``Q diag(w) Q'`` for each column w of weights (r, penalties)."""
        (n, d), r = self.term.shape, Q.shape[1]
        Q, out = Q.reshape(n, d, r), np.empty((n, d, d, weights.shape[1]))
        step = max(1, _BLOCK_ENTRIES // (d * d * max(r, 1)))
        for start in range(0, n, step):
            rows = Q[start : start + step]
            products = (rows[:, :, None, :] * rows[:, None, :, :]).reshape(-1, r)
            out[start : start + step] = (products @ weights).reshape(len(rows), d, d, -1)
        return np.moveaxis(out, 3, 0)
