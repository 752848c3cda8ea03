"""Factors of the map ``A -> K A M`` with a matrix K: eigenpairs, Cholesky factors, inverses."""

from __future__ import annotations

import copy
from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..._utils.linalg import (
    Spectrum,
    as_dtype,
    cholesky,
    cholesky_solve,
    shifted_inverse,
    spectrum,
    symmetric_inverse,
    symmetric_product,
)
from .base import PATH, Factors

_EPS = np.finfo(float).eps
_FEWER_NODES = 0.5  # cost of interpolation, over that of the sums themselves, up to which it is used
_BLOCK_COLUMNS = 1000  # columns of a product that several penalties share; more need more memory and gain no speed


@dataclass(frozen=True)
class SpectralFactors(Factors):
    """Eigenpairs of K and of M (None for the identity), without eigenvalues below rounding."""

    inputs: Spectrum
    operator: Spectrum | None = None

    serves_all_penalties = True

    def with_operator(self, M):
        """The same eigenpairs of K with another operator."""
        return SpectralFactors(
            self.inputs, None if M is None else operator_spectrum(as_dtype(M, self.inputs.vectors.dtype))
        )

    def solve(self, R, shift, penalty):
        Q, E, eigenvalues = self.inputs.vectors, self._E, self._eigenvalues
        R = R.astype(Q.dtype, copy=False)
        coefficients = Q.T @ (R if E is None else R @ E)
        coefficients *= eigenvalues / (shift * penalty + eigenvalues)
        change = Q @ coefficients  # the part of R / shift that the eigenpairs remove
        return (R - (change if E is None else change @ E.T)) / shift

    @cached_property
    def _eigenvalues(self):
        """Eigenvalues of the map, (r_K, r_M)."""
        return np.multiply.outer(self.inputs.values, self._gamma)

    @property
    def _gamma(self):
        return np.ones(1, dtype=self.inputs.values.dtype) if self.operator is None else self.operator.values

    @property
    def _E(self):
        return None if self.operator is None else self.operator.vectors

    def loo_residuals(self, T, shift, root, penalties, rows=None):
        (lam, Q), E = self.inputs, self._E
        coefficients, ones = Q.T @ (T if E is None else T @ E), Q.T @ root[:, 0]
        is_complete = Q.shape[1] == len(T)
        if rows is not None:
            Q, T, root, shift = Q[rows], T[rows], root[rows], None if shift is None else shift[rows]
        inputs = Spectrum(lam, Q)
        return loo_residuals_from_spectrum(
            inputs, self._gamma, E, T, shift, root, penalties, coefficients, ones, is_complete
        )

    @property
    def output_basis(self):
        return self._E

    def influence(self, G, root, penalty, rows=None):
        """``k D (K + t)^-1`` with t = s / gamma; the part of k D outside the eigenvectors' span is divided by t."""
        (lam, Q), V = self.inputs, G * root[:, 0]
        left, right, ones = V @ Q, Q if rows is None else Q[rows], Q.T @ root[:, 0]
        free, total = None, 0.0
        if Q.shape[1] < len(Q):
            free = (V if rows is None else V[:, rows]) - left @ right.T
            total = V @ root[:, 0] - left @ ones
        for t in penalty / self._gamma:
            scaled = left / (lam + t)
            W = scaled @ right.T
            yield (W, scaled @ ones) if free is None else (W + free / t, scaled @ ones + total / t)

    def residual_map(self, penalty, rows):
        return residual_maps_from_spectrum(self.inputs, penalty / self._gamma, rows)


def residual_maps_from_spectrum(inputs: Spectrum, ratios, rows):
    """Yield rows (b, n) and diagonal (n,) of ``t (K + t)^-1`` for each t; identity outside the eigenvectors' span."""
    lam, Q = inputs
    free, unspanned = 0.0, 0.0
    if Q.shape[1] < len(Q):
        free = -Q[rows] @ Q.T
        free[np.arange(len(rows)), rows] += 1
        unspanned = np.maximum(1 - np.einsum("ij,ij->i", Q, Q), 0.0)
    for t in ratios:
        share = t / (lam + t)
        yield (Q[rows] * share) @ Q.T + free, Q**2 @ share + unspanned


def loo_residuals_from_spectrum(inputs: Spectrum, gamma, E, T, shift, root, penalties, coefficients, ones, is_complete):
    """Yield leave-one-out residuals of some rows: in the eigenbasis of M, residual / (1 - leverage).

    Brouard et al. 2016, section 4, for every M. Both are computed from the remainder ``t / (lam + t)`` of each
    eigenvalue, not as differences, which would cancel at small penalties.

    inputs : eigenvalues of K (r,), and these rows of its eigenvectors
    gamma, E : eigenvalues and eigenvectors of M, ones and None for the identity
    T, shift, root : as in ``Factors.loo_residuals``, in these rows
    coefficients, ones : (r, d) and (r,) coefficients of all targets, in the eigenbasis of M, and of all roots
    is_complete : whether the eigenvectors span the whole space
    """
    lam, Q = inputs
    ratios = np.divide.outer(penalties, gamma)  # t = s / gamma
    rotated = T if E is None else T @ E
    rotated_shift = shift if E is None or shift is None else shift @ E
    # parts outside the span of the eigenvectors; exactly zero, not rounding, when these are complete
    outside = None if is_complete else rotated - Q @ coefficients
    ones_outside = 0.0 if is_complete else (root[:, 0] - Q @ ones)[:, None, None]
    unspanned = 0.0 if is_complete else np.maximum(1 - np.einsum("ij,ij->i", Q, Q), 0.0)[:, None, None]
    sums = PenaltyInterpolator([Q**2] if shift is None else [Q**2, Q * ones], lam, ratios)
    block, columns = max(1, _BLOCK_COLUMNS // max(rotated.shape[1], 1)), rotated.shape[1]
    for start in range(0, len(penalties), block):
        t = ratios[start : start + block]  # (b, r_M); b penalties share one product
        shares = t / (lam[:, None, None] + t)
        remainder, *ones_remainder = sums(t, shares)
        W = shares * coefficients[:, None, :]  # (r_K, b, d)
        residuals = (Q @ W.reshape(len(lam), len(t) * columns)).reshape(len(T), len(t), columns)
        if outside is not None:
            residuals += outside[:, None, :]
        if shift is not None:
            residuals -= rotated_shift[:, None, :] * (ones_outside + ones_remainder[0])
        residuals /= root[:, :, None] * np.maximum(unspanned + remainder, _EPS)
        yield from _rotate_back(residuals, E, T, shift, root)


def _rotate_back(residuals, E, T, shift, root):
    """Yield residuals (n, d) of each penalty from those in the eigenbasis of M, (n, b, r_M)."""
    if E is None:
        yield from np.moveaxis(residuals, 1, 0)
    elif E.shape[1] == E.shape[0]:
        for i in range(residuals.shape[1]):
            yield residuals[:, i] @ E.T
    else:  # in the null space of M predictions are the constant
        rest = T / root - (0.0 if shift is None else shift)
        for i in range(residuals.shape[1]):
            yield rest + (residuals[:, i] - rest @ E) @ E.T


class PenaltyInterpolator:
    """``P @ (t / (lam + t))`` for matrices P (n, r) and many t: an analytic function of log t.

    Chebyshev interpolation in log t is exact to rounding with six nodes for each unit of log t (the poles are at
    distance pi from the real line). It replaces the r columns of P by as many as there are nodes, and is used where
    these are fewer.
    """

    def __init__(self, matrices, lam, ratios):
        self.matrices = matrices
        low, high = (np.log(ratios.min()), np.log(ratios.max())) if ratios.size else (0.0, 0.0)
        number = int(12 + 6.5 * (high - low))
        self.nodes = None
        if number * (ratios.size + len(lam)) < _FEWER_NODES * ratios.size * len(lam):
            angles = np.pi * np.arange(number + 1) / number
            self.nodes = (low + high) / 2 + (high - low) / 2 * np.cos(angles)
            self.signs = np.where(np.arange(number + 1) % 2, -1.0, 1.0)
            self.signs[[0, -1]] *= 0.5
            at_nodes = np.exp(self.nodes) / (lam[:, None] + np.exp(self.nodes))
            self.values = [P @ at_nodes for P in matrices]

    def __call__(self, t, shares):
        """For each matrix values (n, *t.shape), or (n, b, 1) broadcast over directions when M is the identity.

        shares : (r, *t.shape) t / (lam + t)
        """
        if self.nodes is None:
            columns = shares.reshape(len(shares), t.size)
            return [(P @ columns).reshape(len(P), *t.shape) for P in self.matrices]
        distance = np.subtract.outer(np.log(t.ravel()), self.nodes)
        exact = distance == 0
        distance[exact] = 1.0
        weights = self.signs / distance  # barycentric formula
        at_node = exact.any(axis=1)
        weights[at_node] = exact[at_node]
        weights /= weights.sum(axis=1, keepdims=True)
        return [(values @ weights.T).reshape(len(values), *t.shape) for values in self.values]


class _ShiftedFactors(Factors):
    """For M = I: factors from the Cholesky factor of ``K + s shift I``, computed again when ``s shift`` changes."""

    def __init__(self, term):
        self.term: Any = term
        self._shift, self._factor = None, np.empty(())
        self._fallback: Factors | None = None

    def solve(self, R, shift, penalty):
        self._update(shift * penalty)
        if self._fallback is not None:
            return self._fallback.solve(R, shift, penalty)
        return self._solve_prepared((penalty * R).astype(self._factor.dtype, copy=False))

    def _update(self, shift):
        if shift == self._shift or self._fallback is not None:
            return
        self._factor = np.empty(())  # free the old factor before the new one is computed
        try:
            self._factor, self._shift = self._prepare(cholesky(self.term.K, shift)), shift
        except np.linalg.LinAlgError:  # rounding made K indefinite: use its positive eigenpairs
            self._fallback = self.term.factor(PATH)

    def detached(self, shift, penalty):
        self._update(shift * penalty)
        if self._fallback is not None:
            return self._fallback
        new = copy.copy(self)
        new.term = None
        return new

    @abstractmethod
    def _prepare(self, factor):
        """The matrix to keep, from the Cholesky factor."""

    @abstractmethod
    def _solve_prepared(self, R):
        """``(K + s shift I)^-1 R``; R may be overwritten."""

    def loo_residuals(self, T, shift, root, penalties, rows=None):
        """From the inverse of ``K + s I`` for each penalty."""
        for i, s in enumerate(penalties):
            inverse = self._inverse(s)
            if inverse is None:
                yield from self.term.factor(PATH).loo_residuals(T, shift, root, penalties[i:], rows)
                return
            residuals = s * (inverse @ T - (0.0 if shift is None else shift * (inverse @ root)))
            residuals /= root * np.maximum(s * np.diag(inverse)[:, None], _EPS)
            yield residuals if rows is None else residuals[rows]

    def _inverse(self, s):
        """``(K + s I)^-1``, None if rounding made K indefinite."""
        return shifted_inverse(self.term.K, s)


class CholeskyFactors(_ShiftedFactors):
    """The Cholesky factor, for one system or a few."""

    def _prepare(self, factor):
        return factor

    def _solve_prepared(self, R):
        return cholesky_solve(self._factor, R, overwrite=True)

    def fitted(self, problem, A):
        return symmetric_product(self.term.K, A, 1 / problem.penalty)


class InverseFactors(_ShiftedFactors):
    """The inverse, for the iterations of a solver: a solution is then one product of numpy.

    Triangular solves of scipy between products of numpy are far slower: each library has its own BLAS, and the idle
    threads of one slow down the other.
    """

    def _prepare(self, factor):
        return symmetric_inverse(factor)

    def _solve_prepared(self, R):
        return self._factor @ R

    def _inverse(self, s):
        self._update(s)
        return self._factor if self._fallback is None else None

    def influence(self, G, root, penalty, rows=None):
        self._update(penalty)
        if self._fallback is not None:
            yield from self._fallback.influence(G, root, penalty, rows)
            return
        W = (G * root[:, 0]) @ self._factor
        yield W if rows is None else W[:, rows], W @ root[:, 0]

    def residual_map(self, penalty, rows):
        self._update(penalty)
        if self._fallback is not None:
            yield from self._fallback.residual_map(penalty, rows)
            return
        yield penalty * self._factor[rows], penalty * self._factor.diagonal()


def operator_spectrum(M) -> Spectrum:
    """Eigenpairs of an operator in its own precision, computed in double precision: operators are small."""
    factors = [f for f in getattr(M, "factors", [M]) if not isinstance(f, int)]
    dtype: Any = np.result_type(*factors) if factors else np.dtype(float)
    if dtype != np.float32:
        return spectrum(M)
    rounding = None if hasattr(M, "factors") else len(M) * float(np.finfo(dtype).eps)
    values, vectors = spectrum(as_dtype(M, np.float64), rounding)
    return Spectrum(values.astype(dtype), as_dtype(vectors, dtype))
