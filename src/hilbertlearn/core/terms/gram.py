"""Gram matrices: kernel values between samples, whatever they are made of."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
import scipy.linalg
from scipy.sparse.linalg import eigsh

from ..._utils.linalg import Spectrum, exact, full_spectrum, low_rank_spectrum, product, spectrum
from ..._utils.pivoted_cholesky import expected_rank
from .base import ITERATIONS, ONCE, PATH, Factors, Term, dense_factor_cost
from .factors import CholeskyFactors, InverseFactors, SpectralFactors

_LOW_RANK = {ONCE: 1 / 10, ITERATIONS: 1 / 4, PATH: 1 / 2}  # ranks, relative to n, up to which few eigenpairs pay
_SMALL = 50  # samples up to which the norm of a Gram matrix is computed, not estimated


class Gram(ABC):
    """Kernel values between n samples, whatever they are made of; solvers ask for nothing else."""

    @abstractmethod
    def apply(self, A):
        """``K A`` for A (n, d)."""

    @abstractmethod
    def dense(self):
        """The matrix (n, n) itself, for those who need all of it."""

    @abstractmethod
    def scaled(self, root_weights) -> Gram:
        """``D K D`` with D = diag(root_weights)."""

    @abstractmethod
    def take(self, rows) -> Gram:
        """Kernel values between some of the samples."""

    @abstractmethod
    def cross(self, rows, columns):
        """Kernel values of some samples, not scaled, with those that predictions are made from.

        (len(rows), len(columns)) for the model of the samples `columns`.
        """

    @abstractmethod
    def inner_products(self, C):
        """``C' K C`` (d, d) for coefficients C (N, d) at the samples that predictions are made from, not scaled."""

    @property
    @abstractmethod
    def diagonal(self):
        """``k(x, x)`` (n,)."""

    @abstractmethod
    def factor(self, term, use) -> Factors:
        """What inverts the map of `term`, which is made of this and an operator, see ``Term.factor``."""

    @property
    @abstractmethod
    def norm(self) -> float:
        """Largest eigenvalue, from above up to a few per cent."""

    @abstractmethod
    def spectrum(self) -> Spectrum:
        """Eigenpairs above rounding."""

    refines = False  # whether factors are made in single precision, and refined in double
    depends_on_alpha = False  # see ``term_for_alpha``
    expands = False  # whether predictions are made from others than these samples, see ``expand``
    separates = True  # whether a part of the samples has a part of these values, so that columns may have gaps

    @property
    def dtype(self):
        """Of its values."""
        return np.dtype(float)

    def in_precision(self, precision) -> Gram:
        """The same as a working precision asks for, where it can be: "float32", "float64" or "refined"."""
        return self

    def factor_cost(self, term, n, use) -> float:
        """About how many multiply-adds ``factor(term, use)`` takes with n samples."""
        return dense_factor_cost(n, term.M is not None, use)

    def step_cost(self, n, d) -> float:
        """About how many multiply-adds ``K A`` takes."""
        return 2.0 * n**2 * d

    def factor_entries(self, n) -> float:
        """Numbers that factors of n samples hold."""
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
        """What turns features of new points into ridge weights of the samples (r, n)."""
        raise TypeError(f"{type(self).__name__} is not made of features")

    def factored(self) -> Gram:
        """The same, prepared for many alphas where it depends on them."""
        return self

    def rounding(self, alpha) -> float:
        """Relative error to expect of the kernel for that alpha."""
        return 0.0

    def term_for_alpha(self, alpha, M) -> Term:
        """The term with operator M for that alpha."""
        from .separable import SeparableTerm

        return SeparableTerm(self, M)

    def expand(self, C):
        """Coefficients of the kernel at the samples that predictions are made from."""
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

            return RefinedGram(exact(self.K), self.root)
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
        if self.refines:
            from .refined import RefinedFactors

            return RefinedFactors(term, use)
        K = self.dense()
        pairs = low_rank_spectrum(K, _LOW_RANK[use])
        if pairs is None and use != PATH:
            return InverseFactors(term) if use == ITERATIONS else CholeskyFactors(term)
        pairs = full_spectrum(K) if pairs is None else pairs
        return SpectralFactors(pairs, None if term.M is None else term.operator_spectrum)

    def factor_cost(self, term, n, use):
        """A few eigenpairs cost less: at the speed of products with few columns, which iterations have, about n r^2."""
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
