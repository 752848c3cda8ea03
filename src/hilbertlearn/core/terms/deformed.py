"""Semi-supervision as a kernel: the penalty of a graph over labelled and unlabelled samples deforms it.

The problem with the penalty ``beta/2 sum_ij S_ij <h(x_i), h(x_j)>`` beside ``alpha/2 ||h||^2`` is the one without it
for the kernel ``k~(x, z) = k(x, z) - k_x' (I + r S K)^-1 r S k_z``, ``r = beta / alpha`` (Brouard et al. 2016, theorems
5 to 7, in the form of a kernel). An eigenvalue m of the operator has ``r m``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.linalg

from ..._utils.linalg import eigenspaces, spectrum
from ..._utils.pivoted_cholesky import pivoted_cholesky
from ..._utils.validation import copies_in_memory
from .base import Term
from .eigenspaces import EigenspaceTerm
from .features import FeatureGram
from .gram import DenseGram, Gram
from .separable import SeparableTerm

_DEPENDENT = 1e-12  # what is left of k(x, x), relative to the largest, when a sample adds nothing to the others
_PER_KERNEL, _BESIDE = 3, 5  # matrices: a deformed kernel, its multiple and factor; K, S, the basis and its making
_HALVINGS = 40  # of the width of groups of eigenvalues
_LU_ERROR = 1e-8  # of predictions, relative to the outputs, beyond which the slower eigenbasis is taken


@dataclass(frozen=True)
class DeformedKernel:
    """The kernel k~ between N samples, for every ratio r.

    K : (N, N) Gram matrix of k
    S : (N, N) PSD matrix of the penalty, dense or sparse
    basis : None, or values s (q,) and vectors B (N, q) with ``k~ = B diag(1 / (1 + r s)) B'`` on the samples
    """

    K: np.ndarray
    S: Any
    basis: Any = None

    def factored(self) -> DeformedKernel:
        """The same with a basis that serves every r, from factors of K = C C' and of C' S C; one LU serves one r."""
        if self.basis is not None:
            return self
        C, _ = pivoted_cholesky(self.K, _DEPENDENT)
        inner = C.T @ (self.S @ C)
        values, vectors = scipy.linalg.eigh((inner + inner.T) / 2, driver="evd", check_finite=False)
        return replace(self, basis=(np.maximum(values, 0.0), C @ vectors))

    @property
    def diagonal(self):
        """``k(x, x)`` (N,), before the deformation."""
        return self.K.diagonal()

    @property
    def scale(self):
        """What 1 / r is to be compared with: the largest k(x, x) times a bound on the norm of S, if a Laplacian."""
        return 2 * float(self.S.diagonal().max()) * max(float(self.diagonal.max()), 0.0)

    def values_of(self, rows):
        """Values of k between some of the samples and those that predictions are made from."""
        return self.K[rows]

    def inner_products(self, C):
        return C.T @ (self.K @ C)

    def undeformed(self, rows) -> Gram:
        """What expands coefficients without a penalty."""
        return FixedRatioGram(None, self, 0.0, rows)

    def most(self, labelled) -> float:
        """How many deformed kernels between so many samples fit in memory, 1 or more."""
        return kernels_in_memory(labelled, len(self.K))

    def prepared(self, alpha, error) -> DeformedKernel:
        """Itself, or with a basis: slower than one LU, whose errors a small alpha would blow up."""
        return self.factored() if error * self.diagonal.max() > _LU_ERROR * alpha else self

    def at_ratio(self, r, rows) -> Gram:
        """The kernel for one ratio, between some of the samples."""
        if self.basis is not None:
            values, B = self.basis
            half = B[rows] / np.sqrt(1 + r * values)
            return FixedRatioGram(half @ half.T, self, r, rows)
        # all samples with these: (I + r K S)^-1 K[:, rows], nothing is subtracted
        system = np.ascontiguousarray(self.S @ self.K)  # its transpose K S is the Fortran array that LAPACK factors
        system *= r
        system.flat[:: len(system) + 1] += 1.0
        factor = scipy.linalg.lu_factor(system.T, overwrite_a=True, check_finite=False)
        columns = scipy.linalg.lu_solve(factor, self.K[:, rows], check_finite=False)
        return FixedRatioGram((columns[rows] + columns[rows].T) / 2, self, r, rows, columns)


@dataclass(frozen=True)
class DeformedFeatureKernel(DeformedKernel):
    """The kernel ``Z (I + r Z'SZ)^-1 Z'`` between N samples, for every ratio r.

    K : (N, r) the features Z in place of the Gram matrix
    basis : None, or values s (r,), ``Z V`` (N, r) and V (r, r) with ``Z'SZ = V diag(s) V'``
    """

    def factored(self):
        if self.basis is not None:
            return self
        inner = self.K.T @ (self.S @ self.K)
        values, V = scipy.linalg.eigh((inner + inner.T) / 2, driver="evd", check_finite=False)
        return replace(self, basis=(np.maximum(values, 0.0), self.K @ V, V))

    @property
    def diagonal(self):
        return np.einsum("ij,ij->i", self.K, self.K)

    def inner_products(self, C):
        return C.T @ C

    def undeformed(self, rows):
        return FeatureGram(self.K[rows])

    def most(self, labelled):
        return max(copies_in_memory(labelled) * labelled / (_PER_KERNEL * self.K.shape[1]), 1.0)

    def prepared(self, alpha, error):
        return self.factored()

    def at_ratio(self, r, rows):
        values, U, V = self.factored().basis
        left = 1 / np.sqrt(1 + r * values)
        return FeatureGram(U[rows] * left, back=V * left)


class FixedRatioGram(DenseGram):
    """The deformed kernel between labelled samples for one ratio; predictions are made from all samples."""

    expands = True
    separates = False

    def __init__(self, K, kernel: DeformedKernel, r, rows, columns=None, root=None):
        super().__init__(K, root)
        self.kernel, self.r, self.rows, self.columns = kernel, r, rows, columns

    def _with(self, K, root):
        return FixedRatioGram(K, self.kernel, self.r, self.rows, self.columns, root)

    def expand(self, C):
        out = np.zeros((len(self.kernel.K), C.shape[1]))
        out[self.rows] = C
        if self.columns is not None:
            out -= self.r * (self.kernel.S @ (self.columns @ C))
        elif self.r > 0:
            values, B = self.kernel.basis
            out -= self.r * (self.kernel.S @ (B @ ((B[self.rows].T @ C) / (1 + self.r * values)[:, None])))
        return out


class DeformedGram(Gram):
    """Labelled samples under the deformed kernel, which depends on alpha; see ``term_for_alpha``."""

    depends_on_alpha = True
    separates = False

    def __init__(self, kernel: DeformedKernel, beta, rows, root_weights=None):
        self.kernel, self.beta, self.rows, self.root = kernel, beta, rows, root_weights

    def factored(self):
        """The same, prepared for many alphas."""
        return DeformedGram(self.kernel.factored(), self.beta, self.rows, self.root)

    def dense(self):
        raise TypeError("the deformed kernel depends on alpha; ask for term_for_alpha(alpha)")

    def apply(self, A):
        return self.dense() @ A

    def factor(self, term, use):
        return self.dense()

    def spectrum(self):
        return self.dense()

    @property
    def norm(self):
        return self.dense()

    def scaled(self, root_weights):
        root = root_weights if self.root is None else self.root * root_weights
        return DeformedGram(self.kernel, self.beta, self.rows, root)

    def take(self, rows):
        """Fewer labelled samples; the others stay, unlabelled."""
        root = None if self.root is None else self.root[rows]
        return DeformedGram(self.kernel, self.beta, self.rows[rows], root)

    def cross(self, rows, columns):
        return self.kernel.values_of(self.rows[rows])

    def inner_products(self, C):
        return self.kernel.inner_products(C)

    @property
    def diagonal(self):
        diagonal = self.kernel.diagonal[self.rows]
        return diagonal if self.root is None else diagonal * self.root**2

    def rounding(self, alpha):
        """Relative error to expect of the deformed kernel in its eigenbasis."""
        return np.finfo(float).eps * (self.beta * self.kernel.scale / float(alpha))

    def term_for_alpha(self, alpha, M):
        if not np.isfinite(self.rounding(alpha)):
            raise ValueError(
                f"manifold={self.beta:g} is too large beside alpha={alpha:g}; lower manifold, or raise alpha"
            )
        kernel, r = self.kernel, self.beta / alpha
        kernel = kernel.prepared(alpha, self.rounding(alpha)) if M is None else kernel.factored()
        if M is None:
            term: Term = SeparableTerm(kernel.at_ratio(r, self.rows))
        else:
            most = kernel.most(len(self.rows))
            shared, error = group_eigenspaces(
                eigenspaces(spectrum(M)), r * float(kernel.basis[0].max(initial=0.0)), most
            )
            grams = [kernel.at_ratio(r * middle, self.rows) for middle, _, _ in shared]
            values, vectors = [value for _, value, _ in shared], [E for _, _, E in shared]
            term = EigenspaceTerm(grams, values, vectors, M, kernel.undeformed(self.rows), error)
        return term if self.root is None else term.scaled(self.root)


def kernels_in_memory(labelled, samples) -> float:
    """How many deformed kernels between so many labelled ones of all samples fit in memory, 1 or more."""
    return max((copies_in_memory(labelled) - _BESIDE * (samples / labelled) ** 2) / _PER_KERNEL, 1.0)


def group_eigenspaces(spaces, scale, most):
    """Eigenspaces (eigenvalue, vectors) that share a kernel, at most so many, and a bound on its relative error.

    The kernel of eigenvalue m has eigenvalues ``m / (1 + r m s)``, s from 0 to ``scale / r``. With another m0 in the
    denominator they change by a factor of at most ``(1 + scale m) / (1 + scale m0)``: groups are as narrow in the
    logarithm of that as their number allows. The operator stays as it is, and with one eigenvalue each all is exact.

    Returns a list of (m0, eigenvalue or eigenvalues (k,), vectors (d, k)) and the bound.
    """
    if len(spaces) <= most:
        return [(value, value, E) for value, E in spaces], 0.0
    values = np.array([value for value, _ in spaces])
    heights = np.log1p(scale * values)
    low, high = 0.0, float(heights[-1] - heights[0])
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if len(_starts(heights, middle)) <= most else (middle, high)
    starts = _starts(heights, high)
    groups, error = [], 0.0
    for a, b in zip(starts, [*starts[1:], len(values)], strict=True):
        height = (heights[a] + heights[b - 1]) / 2
        m0 = float(np.expm1(height) / scale) if b - a > 1 and scale > 0 else values[a]
        own = np.concatenate([np.full(E.shape[1], value) for value, E in spaces[a:b]])
        groups.append((m0, values[a] if b - a == 1 else own, np.hstack([E for _, E in spaces[a:b]])))
        error = max(error, float(np.expm1(heights[b - 1] - height)) if b - a > 1 else 0.0)
    return groups, error


def _starts(heights, width):
    """Where groups of increasing heights, none wider than that, begin."""
    starts = [0]
    while (end := int(np.searchsorted(heights, heights[starts[-1]] + width, side="right"))) < len(heights):
        starts.append(end)
    return starts
