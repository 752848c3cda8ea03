"""The kernel k(x, z) M: a Gram matrix and an output operator."""

from __future__ import annotations

from functools import cached_property, reduce

import numpy as np
import scipy.linalg

from ..._utils.linalg import Spectrum, as_dtype, psd_root
from ..._utils.sums import cached_attribute
from .base import ONCE, LinearPredictor, Term
from .factors import operator_spectrum
from .gram import Gram, as_gram


class SeparableTerm(Term):
    """The map ``A -> K A M`` of the kernel k(x, z) M; ``M=None`` is the identity."""

    inversion, loo_formula = "direct", "models"

    def __init__(self, K, M=None):
        self.gram = as_gram(K)
        self.M = as_dtype(M, np.float32) if self.gram.dtype == np.float32 else M

    @property
    def K(self):
        return self.gram.dense()

    def takes_mask(self):
        """Whether M is diagonal: each column is then a problem of the samples in which it was observed."""
        if not self.gram.separates:  # unlabelled samples are part of the kernel
            return False
        return self.M is None or (isinstance(self.M, np.ndarray) and not (self.M - np.diag(self.M.diagonal())).any())

    def with_mask(self, mask):
        from .patterns import PatternTerm

        return PatternTerm(self, mask) if self.takes_mask() else self

    def apply(self, A):
        return self.gram.apply(A if self.M is None else A @ self.M)

    def apply_from(self, rows, A):
        """The map at the array with the rows A, and zeros elsewhere."""
        return self.gram.apply_from(rows, A if self.M is None else A @ self.M)

    def predictor(self, C):
        return LinearPredictor(C if self.M is None else C @ self.M)

    def scaled(self, root_weights):
        return SeparableTerm(self.gram.scaled(root_weights), self.M)

    def take(self, rows):
        return SeparableTerm(self.gram.take(rows), self.M)

    def for_alpha(self, alpha):
        return self.gram.term_for_alpha(alpha, self.M)

    def expand(self, C):
        return self.gram.expand(C)

    def expansion_matrix(self, n):
        return self.gram.expand(np.eye(n)) if self.gram.expands else None

    def with_gram(self, gram):
        return SeparableTerm(gram, self.M)

    def weights_from(self, penalty):
        return self.gram.weights_from(penalty)

    def with_operator(self, M):
        return SeparableTerm(self.gram, M)

    def margin_gram(self, Y):
        return self.K * (Y @ Y.T if self.M is None else Y @ self.M @ Y.T)

    def factor(self, use=ONCE):
        return self.gram.factor(self, use)

    def factor_cost(self, n, use=ONCE):
        return self.gram.factor_cost(self, n, use)

    def step_cost(self, n, d):
        return self.gram.step_cost(n, d)

    def as_separable(self):
        return self

    @cached_property
    def operator_spectrum(self) -> Spectrum:
        """Eigenpairs of M, which must not be None."""
        return operator_spectrum(self.M)

    @property
    def operator_norm(self) -> float:
        return 1.0 if self.M is None else float(self.operator_spectrum.values[-1:].sum())

    @cached_attribute
    def norm(self) -> float:
        return self.gram.norm * self.operator_norm

    @property
    def scale(self) -> float:
        return float(self.gram.diagonal.sum()) * self.operator_norm


def nearest_separable(terms) -> SeparableTerm:
    """The separable term nearest to a sum of separable ones in Frobenius norm.

    It is ``(sum_t a_t K_t) (x) (sum_t b_t M_t)`` with (a, b) the leading singular pair of a T x T matrix (Van Loan &
    Pitsianis 1993); a and b are non-negative because inner products of PSD matrices are.
    """
    if len(terms) == 1:
        return terms[0]
    d = next((t.M.shape[0] for t in terms if t.M is not None), 1)
    grams, operators = [t.gram for t in terms], [np.eye(d) if t.M is None else np.asarray(t.M) for t in terms]
    root_k = psd_root(_pairwise(grams, lambda one, other: one.dot(other)))
    root_m = psd_root(_pairwise(operators, np.vdot))
    left, values, right = np.linalg.svd(root_k @ root_m)
    a = np.abs(scipy.linalg.lstsq(root_k, left[:, 0] * values[0])[0])
    b = np.abs(scipy.linalg.lstsq(root_m, right[0])[0])
    gram = sum_grams(one.times(weight) for weight, one in zip(a, grams, strict=True))
    M = sum(weight * operator for weight, operator in zip(b, operators, strict=True))
    return SeparableTerm(gram, None if all(t.M is None for t in terms) and d == 1 else M)


def _pairwise(items, function):
    """Values of a function of two items, for all pairs."""
    return [[function(one, other) for other in items] for one in items]


def sum_grams(grams) -> Gram:
    """The Gram matrix of a sum of kernels."""
    return reduce(lambda one, other: one.plus(other), grams)


def merge_terms(terms) -> SeparableTerm | None:
    """One term equal to the sum of terms without operators; None if some have operators."""
    parts = [term.as_separable() for term in terms]
    if any(part is None or part.M is not None or part.gram.depends_on_alpha for part in parts):
        return None
    return SeparableTerm(sum_grams(part.gram for part in parts))
