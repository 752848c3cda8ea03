"""The kernel k(x, z) M: Gram matrices, the term, and its factors."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.linalg
from scipy.sparse.linalg import eigsh

from .._linalg import (
    Spectrum,
    cholesky,
    cholesky_solve,
    exact,
    expected_rank,
    full_spectrum,
    in_dtype,
    low_rank_spectrum,
    product,
    psd_root,
    shifted_inverse,
    spectrum,
    symmetric_inverse,
    symmetric_product,
)
from .base import ITERATIONS, ONCE, PATH, Factors, LinearPredictor, Term

_EPS = np.finfo(float).eps
_BLOCK_COLUMNS = 1000  # of the products that several penalties share
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

    depends_on_alpha = expands = False
    refines = False  # whether factors are made in single precision, and refined in double

    @property
    def dtype(self):
        """Of its values."""
        return np.dtype(float)

    def in_precision(self, precision) -> Gram:
        """The same as a working precision asks for, where it can be: "float32", "float64" or "refined"."""
        return self

    def times(self, factor) -> Gram:
        """The multiple ``factor K``."""
        raise TypeError(f"{type(self).__name__} has no multiples")

    def factored(self) -> Gram:
        """The same, prepared for many alphas where it depends on them."""
        return self

    def rounding(self, alpha) -> float:
        """Relative error to expect of the kernel for that alpha."""
        return 0.0

    def term_at(self, alpha, M) -> Term:
        """The term with operator M for that alpha."""
        return Separable(self, M)

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


def as_gram(K) -> Gram:
    return K if isinstance(K, Gram) else DenseGram(K)


class Separable(Term):
    """The map ``A -> K A M`` of the kernel k(x, z) M; ``M=None`` is the identity."""

    closed_form = True
    inversion = "direct"

    def __init__(self, K, M=None):
        self.gram = as_gram(K)
        self.M = in_dtype(M, np.float32) if self.gram.dtype == np.float32 else M

    @property
    def K(self):
        return self.gram.dense()

    @property
    def expands(self):
        return self.gram.expands

    @property
    def takes_gaps(self):
        """Where columns do not mix, each is a problem of the samples it was observed in."""
        if self.gram.depends_on_alpha or self.gram.expands:  # the samples not observed are part of the kernel
            return False
        return self.M is None or (isinstance(self.M, np.ndarray) and not (self.M - np.diag(self.M.diagonal())).any())

    def observed(self, mask):
        from .patterns import ByPattern

        return ByPattern(self, mask) if self.takes_gaps else self

    def apply(self, A):
        return self.gram.apply(A if self.M is None else A @ self.M)

    def apply_from(self, rows, A):
        """The map at the array that has the rows A there, and zeros elsewhere."""
        return self.K[:, rows] @ (A if self.M is None else A @ self.M)

    def predictor(self, C):
        return LinearPredictor(C if self.M is None else C @ self.M)

    def scaled(self, root_weights):
        return Separable(self.gram.scaled(root_weights), self.M)

    def take(self, rows):
        return Separable(self.gram.take(rows), self.M)

    def at(self, alpha):
        return self.gram.term_at(alpha, self.M)

    def expand(self, C):
        return self.gram.expand(C)

    def with_gram(self, gram):
        return Separable(gram, self.M)

    def with_operator(self, M):
        return Separable(self.gram, M)

    def margin_gram(self, Y):
        return self.K * (Y @ Y.T if self.M is None else Y @ self.M @ Y.T)

    def factor(self, use=ONCE):
        use = use if self.M is None else PATH
        if self.gram.refines:
            from .refined import Refined

            return Refined(self, use)
        pairs = low_rank_spectrum(self.K, _LOW_RANK[use])
        if pairs is None and use != PATH:
            return Inverse(self) if use == ITERATIONS else Cholesky(self)
        pairs = full_spectrum(self.K) if pairs is None else pairs
        return Spectral(pairs, None if self.M is None else self.operator_spectrum)

    def factor_cost(self, n):
        """A few eigenpairs cost less: at the speed of products with few columns, which iterations have, about n r^2."""
        if self.M is None:
            return super().factor_cost(n)
        rank = expected_rank(self.K)
        return n * rank**2 if rank < n / 4 else super().factor_cost(n)

    def as_separable(self):
        return self

    @cached_property
    def operator_spectrum(self) -> Spectrum:
        """Eigenpairs of M; not to be asked for when M is the identity."""
        return operator_spectrum(self.M)

    @property
    def operator_norm(self) -> float:
        return 1.0 if self.M is None else float(self.operator_spectrum.values[-1:].sum())

    @cached_property
    def norm(self) -> float:
        K = self.K
        if len(K) < _SMALL or not K.any():
            return float(scipy.linalg.norm(K, 2)) * self.operator_norm
        start = np.random.default_rng(0).normal(size=len(K))
        return 1.02 * float(eigsh(K, k=1, tol=1e-2, v0=start, return_eigenvectors=False)[0]) * self.operator_norm

    @property
    def scale(self) -> float:
        return float(self.gram.diagonal.sum()) * self.operator_norm


# ---------------------------------------------------------------- factors


@dataclass(frozen=True)
class Spectral(Factors):
    """Eigenpairs of K and of M (None for the identity); those below rounding are left out."""

    inputs: Spectrum
    operator: Spectrum | None = None

    every_penalty = True

    def with_operator(self, M):
        """The same with another operator."""
        return Spectral(self.inputs, None if M is None else operator_spectrum(in_dtype(M, self.inputs.vectors.dtype)))

    def solve(self, R, shift, penalty):
        Q, E, eigenvalues = self.inputs.vectors, self._E, self._eigenvalues
        R = R.astype(Q.dtype, copy=False)
        coefficients = Q.T @ (R if E is None else R @ E)
        coefficients *= eigenvalues / (shift * penalty + eigenvalues)
        change = Q @ coefficients  # what the kept eigenpairs take away from R / shift
        return (R - (change if E is None else change @ E.T)) / shift

    @cached_property
    def _eigenvalues(self):
        """Of the map, (r_K, r_M)."""
        return np.multiply.outer(self.inputs.values, self._gamma)

    @property
    def _gamma(self):
        return np.ones(1, dtype=self.inputs.values.dtype) if self.operator is None else self.operator.values

    @property
    def _E(self):
        return None if self.operator is None else self.operator.vectors

    def left_out(self, T, shift, root, penalties):
        """In the eigenbasis of M, residual / (1 - leverage) (Brouard et al. 2016, section 4, for every M).

        Both are formed from what is left of each eigenvalue, not as differences: at small penalties these would cancel.
        """
        (lam, Q), E = self.inputs, self._E
        # directions that M drops are predicted by the constant alone
        rest = None if E is None or E.shape[1] == E.shape[0] else T / root - (0.0 if shift is None else shift)
        targets = T if E is None else T @ E
        moved = shift if E is None or shift is None else shift @ E
        coefficients, ones = Q.T @ targets, Q.T @ root[:, 0]
        ratios = np.divide.outer(
            penalties, self._gamma
        )  # what is left of eigenvalue lam is t / (lam + t), t = s / gamma
        # what is not in the span of the eigenvectors is left as it is; with all of them there is nothing, not rounding
        whole = Q.shape[1] == len(T)
        outside = None if whole else targets - Q @ coefficients
        free = 0.0 if whole else (root[:, 0] - Q @ ones)[:, None, None]
        unspanned = 0.0 if whole else np.maximum(1 - np.einsum("ij,ij->i", Q, Q), 0.0)[:, None, None]
        left = SmoothInPenalty(Q**2, lam, ratios)
        of_ones = SmoothInPenalty(Q * ones, lam, ratios) if shift is not None else None
        block, columns = max(1, _BLOCK_COLUMNS // max(targets.shape[1], 1)), targets.shape[1]
        for start in range(0, len(penalties), block):
            t = ratios[start : start + block]  # (b, r_M); b penalties share one product
            W = t / (lam[:, None, None] + t)
            W = W * coefficients[:, None, :]  # (r_K, b, d)
            residuals = (Q @ W.reshape(len(lam), len(t) * columns)).reshape(len(T), len(t), columns)
            if outside is not None:
                residuals += outside[:, None, :]
            if of_ones is not None:
                residuals -= moved[:, None, :] * (free + of_ones(t))
            residuals /= root[:, :, None] * np.maximum(unspanned + left(t), _EPS)
            for i in range(len(t)):
                if E is None:
                    yield residuals[:, i]
                elif rest is None:
                    yield residuals[:, i] @ E.T
                else:
                    yield rest + (residuals[:, i] - rest @ E) @ E.T


class SmoothInPenalty:
    """``P @ (t / (lam + t))`` for many t, P (n, r): an analytic function of log t.

    Chebyshev interpolation in log t is exact to rounding with six nodes a unit of log t (the poles are at distance pi
    from the real line), so that thousands of values of t cost about as much as a hundred.
    """

    def __init__(self, P, lam, ratios):
        self.P, self.lam = P, lam
        low, high = (np.log(ratios.min()), np.log(ratios.max())) if ratios.size else (0.0, 0.0)
        number = int(12 + 6.5 * (high - low))
        self.nodes = None
        if ratios.size > 2 * number:
            angles = np.pi * np.arange(number + 1) / number
            self.nodes = (low + high) / 2 + (high - low) / 2 * np.cos(angles)
            self.signs = np.where(np.arange(number + 1) % 2, -1.0, 1.0)
            self.signs[[0, -1]] *= 0.5
            self.values = P @ (np.exp(self.nodes) / (lam[:, None] + np.exp(self.nodes)))

    def __call__(self, t):
        """Values (n, *t.shape), or (n, b, 1) broadcast over directions when M is the identity."""
        flat = t.ravel()
        if self.nodes is None:
            return (self.P @ (flat / (self.lam[:, None] + flat))).reshape(len(self.P), *t.shape)
        distance = np.subtract.outer(np.log(flat), self.nodes)
        exact = distance == 0
        distance[exact] = 1.0
        weights = self.signs / distance  # barycentric formula
        at_node = exact.any(axis=1)
        weights[at_node] = exact[at_node]
        weights /= weights.sum(axis=1, keepdims=True)
        return (self.values @ weights.T).reshape(len(self.P), *t.shape)


class _Shifted(Factors):
    """For M = I: what comes of the Cholesky factor of ``K + s shift I``, renewed when shift or penalty change."""

    def __init__(self, term: Separable):
        self.term: Any = term
        self._shift, self._factor = None, np.empty(())
        self._instead: Factors | None = None

    def solve(self, R, shift, penalty):
        self._renew(shift * penalty)
        if self._instead is not None:
            return self._instead.solve(R, shift, penalty)
        return self._solved((penalty * R).astype(self._factor.dtype, copy=False))

    def _renew(self, shift):
        if shift == self._shift or self._instead is not None:
            return
        self._factor = np.empty(())  # free the old one before the new one is made
        try:
            self._factor, self._shift = self._made(cholesky(self.term.K, shift)), shift
        except np.linalg.LinAlgError:  # rounding made K indefinite: the eigenbases leave those pairs out
            self._instead = self.term.factor(PATH)

    def detached(self, shift, penalty):
        self._renew(shift * penalty)
        if self._instead is not None:
            return self._instead
        new = copy.copy(self)
        new.term = None
        return new

    @abstractmethod
    def _made(self, factor):
        """What is kept of the factor."""

    @abstractmethod
    def _solved(self, R):
        """``(K + s shift I)^-1 R``; R may be overwritten."""

    def left_out(self, T, shift, root, penalties):
        """From the inverse of ``K + s I`` for each penalty."""
        for i, s in enumerate(penalties):
            inverse = shifted_inverse(self.term.K, s)
            if inverse is None:
                yield from self.term.factor(PATH).left_out(T, shift, root, penalties[i:])
                return
            residuals = s * (inverse @ T - (0.0 if shift is None else shift * (inverse @ root)))
            yield residuals / (root * np.maximum(s * np.diag(inverse)[:, None], _EPS))


class Cholesky(_Shifted):
    """The factor itself: for a system or a few."""

    def _made(self, factor):
        return factor

    def _solved(self, R):
        return cholesky_solve(self._factor, R, overwrite=True)

    def fitted(self, problem, A):
        return symmetric_product(self.term.K, A, 1 / problem.penalty)


class Inverse(_Shifted):
    """The inverse, so that a solution is one product by numpy: for the iterations of a solver.

    Triangular solves by scipy in a loop with numpy's products are far slower: the two bring a BLAS each, and the idle
    threads of one get in the way of the other.
    """

    def _made(self, factor):
        return symmetric_inverse(factor)

    def _solved(self, R):
        return self._factor @ R


def operator_spectrum(M) -> Spectrum:
    """Eigenpairs of an operator in its own precision, computed in double: it is small beside Gram matrices."""
    dtype = np.result_type(*(f for f in M.factors if not isinstance(f, int))) if hasattr(M, "factors") else M.dtype
    if dtype != np.float32:
        return spectrum(M)
    rounding = None if hasattr(M, "factors") else len(M) * float(np.finfo(dtype).eps)
    values, vectors = spectrum(in_dtype(M, np.float64), rounding)
    return Spectrum(values.astype(dtype), in_dtype(vectors, dtype))


def nearest(terms) -> Separable:
    """The separable term nearest to a sum of separable ones in Frobenius norm.

    It is ``(sum_t a_t K_t) (x) (sum_t b_t M_t)`` with (a, b) the leading singular pair of a T x T matrix (Van Loan &
    Pitsianis 1993); a and b are non-negative because inner products of PSD matrices are.
    """
    if len(terms) == 1:
        return terms[0]
    d = next((t.M.shape[0] for t in terms if t.M is not None), 1)
    inputs = [t.K for t in terms]
    outputs = [np.eye(d) if t.M is None else np.asarray(t.M) for t in terms]
    root_k, root_m = (psd_root([[np.vdot(S, T) for T in each] for S in each]) for each in (inputs, outputs))
    left, values, right = np.linalg.svd(root_k @ root_m)
    a = np.abs(scipy.linalg.lstsq(root_k, left[:, 0] * values[0])[0])
    b = np.abs(scipy.linalg.lstsq(root_m, right[0])[0])
    K = sum(weight * S for weight, S in zip(a, inputs, strict=True))
    M = sum(weight * S for weight, S in zip(b, outputs, strict=True))
    return Separable(K, None if all(t.M is None for t in terms) and d == 1 else M)


def merged(terms) -> Separable | None:
    """One term in place of a sum of them that have no operator, None where some have."""
    parts = [term.as_separable() for term in terms]
    if any(part is None or part.M is not None or part.gram.depends_on_alpha for part in parts):
        return None
    return Separable(sum(part.K for part in parts))
