"""What inverts the map ``A -> K A M`` of a matrix K: eigenpairs, Cholesky factors, inverses."""

from __future__ import annotations

import copy
from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..._utils.linalg import (
    Spectrum,
    cholesky,
    cholesky_solve,
    in_dtype,
    shifted_inverse,
    spectrum,
    symmetric_inverse,
    symmetric_product,
)
from .base import PATH, Factors

_EPS = np.finfo(float).eps
_BLOCK_COLUMNS = 1000  # of the products that several penalties share


@dataclass(frozen=True)
class SpectralFactors(Factors):
    """Eigenpairs of K and of M (None for the identity); those below rounding are left out."""

    inputs: Spectrum
    operator: Spectrum | None = None

    every_penalty = True

    def with_operator(self, M):
        """The same with another operator."""
        return SpectralFactors(
            self.inputs, None if M is None else operator_spectrum(in_dtype(M, self.inputs.vectors.dtype))
        )

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

    def loo_residuals(self, T, shift, root, penalties, rows=None):
        (lam, Q), E = self.inputs, self._E
        coefficients, ones = Q.T @ (T if E is None else T @ E), Q.T @ root[:, 0]
        whole = Q.shape[1] == len(T)
        if rows is not None:
            Q, T, root, shift = Q[rows], T[rows], root[rows], None if shift is None else shift[rows]
        inputs = Spectrum(lam, Q)
        return loo_residuals_from_spectrum(inputs, self._gamma, E, T, shift, root, penalties, coefficients, ones, whole)

    @property
    def output_basis(self):
        return self._E

    def influence(self, G, root, penalty, rows=None):
        """``k D (K + t)^-1`` with t = s / gamma; what eigenvectors do not span of k D is divided by t alone."""
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
    """``t (K + t)^-1`` for each t, rows (b, n) and diagonal (n,), from eigenpairs of K; the rest is left whole."""
    lam, Q = inputs
    free, unspanned = 0.0, 0.0
    if Q.shape[1] < len(Q):
        free = -Q[rows] @ Q.T
        free[np.arange(len(rows)), rows] += 1
        unspanned = np.maximum(1 - np.einsum("ij,ij->i", Q, Q), 0.0)
    for t in ratios:
        share = t / (lam + t)
        yield (Q[rows] * share) @ Q.T + free, Q**2 @ share + unspanned


def loo_residuals_from_spectrum(inputs: Spectrum, gamma, E, T, shift, root, penalties, coefficients, ones, whole):
    """Residuals of some rows, each left out of all samples: in the eigenbasis of M, residual / (1 - leverage).

    Brouard et al. 2016, section 4, for every M. Both are formed from what is left of each eigenvalue, not as
    differences: at small penalties these would cancel.

    inputs : eigenvalues of K (r,), and these rows of its eigenvectors
    gamma, E : eigenvalues and eigenvectors of M, ones and None for the identity
    T, shift, root : as in ``Factors.loo_residuals``, in these rows
    coefficients, ones : (r, d) and (r,) those of the targets, in the eigenbasis of M, and of the roots of all samples
    whole : whether the eigenvectors span everything
    """
    lam, Q = inputs
    # directions that M drops are predicted by the constant alone
    rest = None if E is None or E.shape[1] == E.shape[0] else T / root - (0.0 if shift is None else shift)
    targets = T if E is None else T @ E
    moved = shift if E is None or shift is None else shift @ E
    ratios = np.divide.outer(penalties, gamma)  # what is left of eigenvalue lam is t / (lam + t), t = s / gamma
    # what is not in the span of the eigenvectors is left as it is; with all of them there is nothing, not rounding
    outside = None if whole else targets - Q @ coefficients
    free = 0.0 if whole else (root[:, 0] - Q @ ones)[:, None, None]
    unspanned = 0.0 if whole else np.maximum(1 - np.einsum("ij,ij->i", Q, Q), 0.0)[:, None, None]
    left = PenaltyInterpolator(Q**2, lam, ratios)
    of_ones = PenaltyInterpolator(Q * ones, lam, ratios) if shift is not None else None
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


class PenaltyInterpolator:
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


class _ShiftedFactors(Factors):
    """For M = I: what comes of the Cholesky factor of ``K + s shift I``, renewed when shift or penalty change."""

    def __init__(self, term):
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
        """``(K + s I)^-1``, None where rounding made K indefinite."""
        return shifted_inverse(self.term.K, s)


class CholeskyFactors(_ShiftedFactors):
    """The factor itself: for a system or a few."""

    def _made(self, factor):
        return factor

    def _solved(self, R):
        return cholesky_solve(self._factor, R, overwrite=True)

    def fitted(self, problem, A):
        return symmetric_product(self.term.K, A, 1 / problem.penalty)


class InverseFactors(_ShiftedFactors):
    """The inverse, so that a solution is one product by numpy: for the iterations of a solver.

    Triangular solves by scipy in a loop with numpy's products are far slower: the two bring a BLAS each, and the idle
    threads of one get in the way of the other.
    """

    def _made(self, factor):
        return symmetric_inverse(factor)

    def _solved(self, R):
        return self._factor @ R

    def _inverse(self, s):
        self._renew(s)
        return self._factor if self._instead is None else None

    def influence(self, G, root, penalty, rows=None):
        self._renew(penalty)
        if self._instead is not None:
            yield from self._instead.influence(G, root, penalty, rows)
            return
        W = (G * root[:, 0]) @ self._factor
        yield W if rows is None else W[:, rows], W @ root[:, 0]

    def residual_map(self, penalty, rows):
        self._renew(penalty)
        if self._instead is not None:
            yield from self._instead.residual_map(penalty, rows)
            return
        yield penalty * self._factor[rows], penalty * self._factor.diagonal()


def operator_spectrum(M) -> Spectrum:
    """Eigenpairs of an operator in its own precision, computed in double: it is small beside Gram matrices."""
    factors = [f for f in getattr(M, "factors", [M]) if not isinstance(f, int)]
    dtype: Any = np.result_type(*factors) if factors else np.dtype(float)
    if dtype != np.float32:
        return spectrum(M)
    rounding = None if hasattr(M, "factors") else len(M) * float(np.finfo(dtype).eps)
    values, vectors = spectrum(in_dtype(M, np.float64), rounding)
    return Spectrum(values.astype(dtype), in_dtype(vectors, dtype))
