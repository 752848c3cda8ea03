"""Gram matrices: kernel values between samples."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
import scipy.linalg
from scipy.sparse.linalg import eigsh

from ..._utils.linalg import Spectrum, full_spectrum, low_rank_spectrum, product, spectrum, to_float64
from ..._utils.pivoted_cholesky import expected_rank
from .base import ITERATIONS, ONCE, PATH, Factors, Term, dense_factor_cost
from .factors import CholeskyFactors, InverseFactors, SpectralFactors

# largest rank, relative to n, at which eigenpairs by a low rank are faster than other factors; their time is quadratic
# in the rank
_LOW_RANK = {ONCE: 1 / 10, ITERATIONS: 1 / 4, PATH: 1 / 2}
_SMALL = 50  # samples below which the norm is computed exactly, not estimated by Lanczos iterations


class Gram(ABC):
    """Kernel values between n samples: a matrix, features, or a kernel that a graph penalty deforms."""

    @abstractmethod
    def apply(self, A):
        """``K A`` for A (n, d)."""

    @abstractmethod
    def dense(self):
        """The matrix (n, n)."""

    @abstractmethod
    def scaled(self, root_weights) -> Gram:
        """``D K D`` with D = diag(root_weights)."""

    @abstractmethod
    def take(self, rows) -> Gram:
        """Kernel values between a subset of the samples."""

    @abstractmethod
    def cross(self, rows, columns):
        """Kernel values (len(rows), len(columns)), not scaled, for predictions at `rows` by a model of `columns`."""

    @abstractmethod
    def inner_products(self, C):
        """``C' K C`` (d, d) for expanded coefficients C (N, d), see ``expand``; not scaled."""

    @property
    @abstractmethod
    def diagonal(self):
        """``k(x, x)`` (n,)."""

    @abstractmethod
    def factor(self, term, use) -> Factors:
        """Factors of a separable term with this Gram matrix, see ``Term.factor``."""

    @property
    @abstractmethod
    def norm(self) -> float:
        """Upper bound on the largest eigenvalue, within a few per cent."""

    @abstractmethod
    def spectrum(self) -> Spectrum:
        """Eigenpairs above rounding."""

    refines = False  # whether ``factor`` works in single precision, and solutions are refined in double precision
    depends_on_alpha = False  # whether the matrix is known for one alpha only, see ``term_for_alpha``
    expands = False  # whether predictions use other coefficients than those of these samples, see ``expand``
    separates = True  # whether a subset of the samples has the submatrix, so that columns may have missing entries

    @property
    def dtype(self):
        """Precision of the values."""
        return np.dtype(float)

    def in_precision(self, precision) -> Gram:
        """The same in a working precision, "float32", "float64" or "refined", if it has others."""
        return self

    def factor_cost(self, term, n, use) -> float:
        """About how many multiply-adds ``factor(term, use)`` takes with n samples."""
        return dense_factor_cost(n, term.M is not None, use)

    def step_cost(self, n, d) -> float:
        """About how many multiply-adds ``K A`` takes."""
        return 2.0 * n**2 * d

    def factor_entries(self, n) -> float:
        """How many numbers the factors of n samples hold."""
        return float(n) ** 2

    def apply_from(self, rows, A):
        """``K[:, rows] A``."""
        return self.dense()[:, rows] @ A

    def dot(self, other: Gram) -> float:
        """Sum of the products of entries."""
        return float(np.vdot(self.dense(), other.dense()))

    def plus(self, other: Gram) -> Gram:
        """The sum of two kernels."""
        return DenseGram(self.dense() + other.dense())

    def times(self, factor) -> Gram:
        """The multiple ``factor K``."""
        raise TypeError(f"{type(self).__name__} has no multiples")

    def weights_from(self, penalty):
        """The matrix (r, n) from features of new points to ridge weights of the samples."""
        raise TypeError(f"{type(self).__name__} is not made of features")

    def factored(self) -> Gram:
        """The same, prepared for many alphas if it depends on them."""
        return self

    def rounding(self, alpha) -> float:
        """Expected relative error of the kernel for one alpha."""
        return 0.0

    def term_for_alpha(self, alpha, M) -> Term:
        """The term with operator M for one alpha."""
        from .separable import SeparableTerm

        return SeparableTerm(self, M)

    def expand(self, C):
        """Coefficients (N, d) that predictions use, from those of these samples (n, d)."""
        return C


class DenseGram(Gram):
    """A matrix K (n, n), scaled by ``root`` (n,) on both sides or, for None, as it is."""

    def __init__(self, K, root=None):
        self.K, self.root = K, root

    @property
    def dtype(self):
        return super().dtype if self.K is None else self.K.dtype

    def in_precision(self, precision):
        if precision == "refined":
            from .refined import RefinedGram

            return RefinedGram(to_float64(self.K), self.root)
        return DenseGram(self.K.astype(precision, copy=False), self.root)

    def apply(self, A):
        return product(self.K, A) if self.root is None else self.root[:, None] * product(self.K, self.root[:, None] * A)

    def dense(self):
        return self.K if self.root is None else self.K * self.root[:, None] * self.root

    def scaled(self, root_weights):
        root_weights = root_weights.astype(self.K.dtype, copy=False)
        return self._with(self.K, root_weights if self.root is None else self.root * root_weights)

    def times(self, factor):
        return self._with(factor * self.K, self.root)

    def _with(self, K, root):
        return DenseGram(K, root)

    def take(self, rows):
        return self._with(self.K[np.ix_(rows, rows)], None if self.root is None else self.root[rows])

    def cross(self, rows, columns):
        return self.K[np.ix_(rows, columns)]

    def inner_products(self, C):
        return C.T @ (self.K @ C)

    @property
    def diagonal(self):
        return self.K.diagonal() if self.root is None else self.K.diagonal() * self.root**2

    def factor(self, term, use):
        use = use if term.M is None else PATH
        K = self.dense()
        pairs = low_rank_spectrum(K, _LOW_RANK[use])
        if pairs is None and use != PATH:
            return InverseFactors(term) if use == ITERATIONS else CholeskyFactors(term)
        pairs = full_spectrum(K) if pairs is None else pairs
        return SpectralFactors(pairs, None if term.M is None else term.operator_spectrum)

    def factor_cost(self, term, n, use):
        """With an operator, eigenpairs of a low rank r cost about n r^2 at the speed of products with few columns."""
        if term.M is None or use != ONCE:
            return super().factor_cost(term, n, use)
        rank = expected_rank(self.dense())
        return n * rank**2 if rank < n / 4 else super().factor_cost(term, n, use)

    @property
    def norm(self):
        K = self.dense()
        if len(K) < _SMALL or not K.any():
            return float(scipy.linalg.norm(K, 2))
        start = np.random.default_rng(0).normal(size=len(K))
        return 1.02 * float(eigsh(K, k=1, tol=1e-2, v0=start, return_eigenvectors=False)[0])

    def spectrum(self):
        return spectrum(self.dense())


def as_gram(K) -> Gram:
    return K if isinstance(K, Gram) else DenseGram(K)
