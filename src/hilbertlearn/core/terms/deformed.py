"""Semi-supervision as a kernel: a graph penalty over labelled and unlabelled samples deforms the kernel.

The problem with the additional penalty ``beta/2 sum_ij S_ij <h(x_i), h(x_j)>`` is the problem without it for the kernel
``k~(x, z) = k(x, z) - k_x' (I + r S K)^-1 r S k_z``, ``r = beta / alpha`` (Brouard et al. 2016, theorems 5 to 7, in the
form of a kernel). In the eigenspace of an eigenvalue m of the operator, the ratio is ``r m``.
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

_DEPENDENT = 1e-12  # residual of k(x, x), relative to the largest, at which a sample depends linearly on the others
_PER_KERNEL = 3  # matrices in memory for each deformed kernel: the kernel, its multiple, its factor
_SHARED = 5  # matrices (N, N) in memory for all of them: K, S, the basis and two for its computation
_HALVINGS = 40  # bisections of the width of groups of eigenvalues
_LU_ERROR = 1e-8  # error of predictions, relative to the outputs, beyond which the slower eigenbasis replaces the LU


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
        """The same with a basis for every r, from factors of K = C C' and of C' S C; an LU serves one r only."""
        if self.basis is not None:
            return self
        C, _ = pivoted_cholesky(self.K, _DEPENDENT)
        inner = C.T @ (self.S @ C)
        values, vectors = scipy.linalg.eigh((inner + inner.T) / 2, driver="evd", check_finite=False)
        return replace(self, basis=(np.maximum(values, 0.0), C @ vectors))

    @property
    def diagonal(self):
        """``k(x, x)`` (N,) of the kernel before the deformation."""
        return self.K.diagonal()

    @property
    def scale(self):
        """The scale of 1 / r: the largest k(x, x) times a bound on the norm of S (a Laplacian)."""
        return 2 * float(self.S.diagonal().max()) * max(float(self.diagonal.max()), 0.0)

    def prediction_values(self, rows):
        """Values of k between some of the samples and all of them, from which predictions are made."""
        return self.K[rows]

    def inner_products(self, C):
        return C.T @ (self.K @ C)

    def undeformed(self, rows) -> Gram:
        """A Gram matrix that expands coefficients as if there were no graph penalty."""
        return FixedRatioGram(None, self, 0.0, rows)

    def capacity(self, labelled) -> float:
        """How many deformed kernels between the labelled samples fit in memory, at least 1."""
        return kernels_in_memory(labelled, len(self.K))

    def prepared(self, alpha, error) -> DeformedKernel:
        """The kernel itself, or with a basis where a small alpha would magnify the errors of an LU decomposition."""
        return self.factored() if error * self.diagonal.max() > _LU_ERROR * alpha else self

    def at_ratio(self, r, rows) -> Gram:
        """The Gram matrix for one ratio, between some of the samples."""
        if self.basis is not None:
            values, B = self.basis
            half = B[rows] / np.sqrt(1 + r * values)
            return FixedRatioGram(half @ half.T, self, r, rows)
        # (I + r K S)^-1 K[:, rows]: no subtraction, no cancellation
        system = np.ascontiguousarray(self.S @ self.K)  # its transpose K S is in LAPACK's memory order
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

    def capacity(self, labelled):
        return max(copies_in_memory(labelled) * labelled / (_PER_KERNEL * self.K.shape[1]), 1.0)

    def prepared(self, alpha, error):
        return self.factored()

    def at_ratio(self, r, rows):
        values, U, V = self.factored().basis
        left = 1 / np.sqrt(1 + r * values)
        return FeatureGram(U[rows] * left, prediction_map=V * left)


class FixedRatioGram(DenseGram):
    """The deformed kernel between labelled samples for one ratio; predictions use all samples."""

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
        """Fewer labelled samples; the others stay as unlabelled ones."""
        root = None if self.root is None else self.root[rows]
        return DeformedGram(self.kernel, self.beta, self.rows[rows], root)

    def cross(self, rows, columns):
        return self.kernel.prediction_values(self.rows[rows])

    def inner_products(self, C):
        return self.kernel.inner_products(C)

    @property
    def diagonal(self):
        diagonal = self.kernel.diagonal[self.rows]
        return diagonal if self.root is None else diagonal * self.root**2

    def rounding(self, alpha):
        """Expected relative error of the deformed kernel in its eigenbasis."""
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
            max_groups = kernel.capacity(len(self.rows))
            shared, error = group_eigenspaces(
                eigenspaces(spectrum(M)), r * float(kernel.basis[0].max(initial=0.0)), max_groups
            )
            grams = [kernel.at_ratio(r * middle, self.rows) for middle, _, _ in shared]
            values, vectors = [value for _, value, _ in shared], [E for _, _, E in shared]
            term = EigenspaceTerm(grams, values, vectors, M, kernel.undeformed(self.rows), error)
        return term if self.root is None else term.scaled(self.root)


def kernels_in_memory(labelled, samples) -> float:
    """How many deformed kernels fit in memory, at least 1, for numbers of labelled and of all samples."""
    return max((copies_in_memory(labelled) - _SHARED * (samples / labelled) ** 2) / _PER_KERNEL, 1.0)


def group_eigenspaces(spaces, scale, max_groups):
    """At most `max_groups` groups of eigenspaces that share a kernel, and a bound on the relative error of the kernels.

    spaces : list of (eigenvalue, vectors)

    The kernel of eigenvalue m has eigenvalues ``m / (1 + r m s)``, s from 0 to ``scale / r``. With another m0 in the
    denominator they change by a factor of at most ``(1 + scale m) / (1 + scale m0)``. Groups are as narrow in the
    logarithm of that factor as their number allows. With one eigenvalue in each group the result is exact.

    Returns a list of (m0, eigenvalue or eigenvalues (k,), vectors (d, k)) and the bound.
    """
    if len(spaces) <= max_groups:
        return [(value, value, E) for value, E in spaces], 0.0
    values = np.array([value for value, _ in spaces])
    heights = np.log1p(scale * values)
    low, high = 0.0, float(heights[-1] - heights[0])
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if len(_starts(heights, middle)) <= max_groups else (middle, high)
    starts = _starts(heights, high)
    groups, error = [], 0.0
    for a, b in zip(starts, [*starts[1:], len(values)], strict=True):
        height = (heights[a] + heights[b - 1]) / 2
        m0 = float(np.expm1(height) / scale) if b - a > 1 and scale > 0 else values[a]
        repeated = np.concatenate([np.full(E.shape[1], value) for value, E in spaces[a:b]])
        groups.append((m0, values[a] if b - a == 1 else repeated, np.hstack([E for _, E in spaces[a:b]])))
        error = max(error, float(np.expm1(heights[b - 1] - height)) if b - a > 1 else 0.0)
    return groups, error


def _starts(heights, width):
    """First indices of groups of increasing heights, none wider than `width`."""
    starts = [0]
    while (end := int(np.searchsorted(heights, heights[starts[-1]] + width, side="right"))) < len(heights):
        starts.append(end)
    return starts
