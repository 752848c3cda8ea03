"""Gram matrices of features: ``K = Z Z'`` for Z (n, r) is never formed.

Systems with the map are solved by Woodbury's formula from ``Z'Z`` (r, r). The cost is O(n r (r + d)) once and O(n r d)
in each iteration. Predictions use coefficients of the columns of Z.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.linalg

from ..._utils.blocks import rows_at_once, slices
from ..._utils.linalg import Spectrum, cholesky, cholesky_solve, full_spectrum, spectrum
from ..._utils.sums import cached_attribute, local_total
from ..._utils.validation import check_memory
from .base import ONCE, Factors
from .factors import loo_residuals_from_spectrum, residual_maps_from_spectrum
from .gram import DenseGram, Gram

_BLOCK = 2**22  # entries of features that are scaled or rotated at once, 32 MB
_DENSE_REMEDY = "use another loss than one of margins, or fewer samples"
_MAX_RESIDUALS = 2**25  # entries of leave-one-out residuals of several penalties in memory at once, 256 MB


class FeatureGram(Gram):
    """``D Z Z' D`` for features Z (n, r) and D = diag(root), None for the identity.

    prediction_map : (q, r) map from coefficients of the columns of Z to those of the features used for predictions;
        None if these are the same
    total : function that adds the sums of other parts of the samples
    """

    expands = True

    def __init__(self, Z, root=None, prediction_map=None, total: Callable = local_total):
        self.Z, self.root, self.prediction_map, self.total = Z, root, prediction_map, total

    @property
    def shape(self):
        """Shape (n, r) of the features."""
        return self.Z.shape

    def _with_root(self, root):
        return FeatureGram(self.Z, root, self.prediction_map, self.total)

    def pull(self, A):
        """``Z' D A`` (r, d) over all samples."""
        return self.total(self.Z.T @ (A if self.root is None else self.root[:, None] * A))

    def push(self, C):
        """``D Z C`` (n, d)."""
        F = self.Z @ C
        if self.root is not None:
            F *= self.root[:, None]
        return F

    def apply(self, A):
        return self.push(self.pull(A))

    def apply_from(self, rows, A):
        part = self.take(rows)
        return self.push(part.pull(A))

    def dense(self):
        check_memory(
            len(self.Z), 3, f"feature_map: a matrix between all {len(self.Z)} samples and its factors", _DENSE_REMEDY
        )
        Z = self._scaled(slice(None))
        return Z @ Z.T

    def _scaled(self, rows):
        """``D Z`` at the given rows."""
        return self.Z[rows] if self.root is None else self.root[rows][:, None] * self.Z[rows]

    def scaled(self, root_weights):
        return self._with_root(root_weights if self.root is None else self.root * root_weights)

    def times(self, factor):
        return self.scaled(np.full(self.shape[0], np.sqrt(factor)))

    def take(self, rows):
        root = None if self.root is None else self.root[rows]
        return FeatureGram(self.Z[rows], root, self.prediction_map, self.total)

    def plus(self, other):
        if other.expands and self.prediction_map is None and other.prediction_map is None:
            return FeatureGram(np.hstack([self._scaled(slice(None)), other._scaled(slice(None))]), total=self.total)
        return DenseGram(self.dense() + other.dense())

    def dot(self, other):
        return float(np.sum(self.total(self._scaled(slice(None)).T @ other._scaled(slice(None))) ** 2))

    def cross(self, rows, columns):
        return self.Z[rows]

    def inner_products(self, C):
        return C.T @ C

    def expand(self, C):
        return self.prediction_coefficients(self.total(self.Z.T @ C))

    def prediction_coefficients(self, W):
        """Coefficients (q, d) of the features used for predictions, from those of the columns of Z."""
        return W if self.prediction_map is None else self.prediction_map @ W

    @property
    def diagonal(self):
        squares = np.einsum("ij,ij->i", self.Z, self.Z)
        return squares if self.root is None else squares * self.root**2

    @cached_attribute
    def moment(self):
        """``Z' D^2 Z`` (r, r), which has the eigenvalues of the Gram matrix."""
        if self.root is None:
            return self.total(self.Z.T @ self.Z)
        moment = np.zeros((self.Z.shape[1],) * 2, dtype=self.Z.dtype)
        for rows in slices(len(self.Z), rows_at_once(self.Z.shape[1], most=_BLOCK)):
            part = self._scaled(rows)
            moment += part.T @ part
        return self.total(moment)

    @property
    def norm(self):
        return float(scipy.linalg.norm(self.moment, 2))

    def factor(self, term, use):
        operator = None if term.M is None else term.operator_spectrum
        if use == ONCE and operator is None:
            return FeatureCholeskyFactors(self)
        return FeatureSpectralFactors(self, full_spectrum(self.moment), operator)

    def factor_cost(self, term, n, use):
        """``Z'Z`` and its factors."""
        r = self.shape[1]
        return n * r**2 / 2 + (1 / 6 if term.M is None and use == ONCE else 7.5) * r**3

    def step_cost(self, n, d):
        return 2.0 * n * self.shape[1] * d

    def factor_entries(self, n):
        return float(self.shape[1]) * (n + self.shape[1])

    def spectrum(self):
        values, V = spectrum(self.moment)
        return Spectrum(values, self.push(V / np.sqrt(values)))

    def weights_from(self, penalty):
        pairs = full_spectrum(self.moment)
        inverse = (pairs.vectors / (pairs.values + penalty)) @ pairs.vectors.T
        rest = np.eye(len(inverse)) - pairs.vectors @ pairs.vectors.T  # eigenvalues below rounding count as zero
        inverse = inverse + rest / penalty
        weights = (inverse if self.prediction_map is None else self.prediction_map @ inverse) @ self.Z.T
        return weights if self.root is None else weights * self.root**2


class FeatureSpectralFactors(Factors):
    """Eigenpairs of ``Z'Z`` and of M (None for the identity), for every penalty, shift and operator."""

    serves_all_penalties = True

    def __init__(self, gram: FeatureGram, pairs: Spectrum, operator: Spectrum | None = None):
        self.gram, self.pairs, self.operator = gram, pairs, operator

    def with_operator(self, M):
        return FeatureSpectralFactors(self.gram, self.pairs, None if M is None else spectrum(M))

    @property
    def _gamma(self):
        return np.ones(1) if self.operator is None else self.operator.values

    @property
    def _E(self):
        return None if self.operator is None else self.operator.vectors

    def solve(self, R, shift, penalty):
        return self._solved(R, self._coefficients(self.gram.pull(R), shift, penalty), shift)

    def solve_expanded(self, R, shift, penalty):
        P, E = self.gram.pull(R), self._E
        C = self._coefficients(P, shift, penalty)
        W = self.pairs.vectors @ C
        if E is not None:
            W = W @ E.T
            if E.shape[1] < len(E):  # null space of M, projected twice against rounding
                rest = P - (P @ E) @ E.T
                W += (rest - (rest @ E) @ E.T) / (shift * penalty)
        return self._solved(R, C, shift), self.gram.prediction_coefficients(W)

    def _coefficients(self, P, shift, penalty):
        """Coefficients of the solution of ``shift s W + Z'Z W M = P`` in the two eigenbases."""
        (values, V), E = self.pairs, self._E
        return (V.T @ (P if E is None else P @ E)) / (shift * penalty + np.multiply.outer(values, self._gamma))

    def _solved(self, R, C, shift):
        change = self.pairs.vectors @ (C * self._gamma)
        return (R - self.gram.push(change if self._E is None else change @ self._E.T)) / shift

    def loo_residuals(self, T, shift, root, penalties, rows=None):
        """As ``SpectralFactors``; the eigenvectors ``D Z V / sqrt(values)`` are computed in blocks of rows."""
        (values, V), E, gram = self.pairs, self._E, self.gram
        rotation = V / np.sqrt(values)
        coefficients = rotation.T @ gram.pull(T if E is None else T @ E)
        ones = (rotation.T @ gram.pull(root))[:, 0]
        rows = np.arange(len(T)) if rows is None else np.asarray(rows)
        is_complete = len(values) == len(T)
        at_once = max(1, _MAX_RESIDUALS // max(len(rows) * T.shape[1], 1))
        for first in range(0, len(penalties), at_once):
            block = penalties[first : first + at_once]
            out = np.empty((len(block), len(rows), T.shape[1]), dtype=T.dtype)
            for part in slices(len(rows), rows_at_once(len(values), most=_BLOCK)):
                left_out = rows[part]
                Q, shifts = gram.take(left_out).push(rotation), None if shift is None else shift[left_out]
                inputs = Spectrum(values, Q)
                path = loo_residuals_from_spectrum(
                    inputs, self._gamma, E, T[left_out], shifts, root[left_out], block, coefficients, ones, is_complete
                )
                for k, residuals in enumerate(path):
                    out[k, part] = residuals
            yield from out

    @property
    def output_basis(self):
        return self._E

    def influence(self, G, root, penalty, rows=None):
        """``z (Z'DDZ + t)^-1 Z'D`` for features z (m, r) of the points."""
        values, V = self.pairs
        prediction_map, gram = self.gram.prediction_map, self.gram if rows is None else self.gram.take(rows)
        left, right = (G if prediction_map is None else G @ prediction_map) @ V, gram.push(V)
        ones = (V.T @ self.gram.pull(root))[:, 0]
        for t in penalty / self._gamma:
            scaled = left / (values + t)
            yield scaled @ right.T, scaled @ ones

    def residual_map(self, penalty, rows):
        values, V = self.pairs
        inputs = Spectrum(values, self.gram.push(V / np.sqrt(values)))
        return residual_maps_from_spectrum(inputs, penalty / self._gamma, rows)


class FeatureCholeskyFactors(Factors):
    """For M = I: the Cholesky factor of ``Z'Z + s shift I``, for one system or a few."""

    def __init__(self, gram: FeatureGram):
        self.gram = gram
        self._shift, self._factor = None, np.empty(())

    def solve(self, R, shift, penalty):
        return self.solve_expanded(R, shift, penalty)[0]

    def solve_expanded(self, R, shift, penalty):
        if shift * penalty != self._shift:
            try:
                self._factor, self._shift = cholesky(self.gram.moment, shift * penalty), shift * penalty
            except np.linalg.LinAlgError:  # rounding made Z'Z indefinite: use its positive eigenpairs
                return self._spectral.solve_expanded(R, shift, penalty)
        W = cholesky_solve(self._factor, self.gram.pull(R))
        return (R - self.gram.push(W)) / shift, self.gram.prediction_coefficients(W)

    @cached_attribute
    def _spectral(self):
        return FeatureSpectralFactors(self.gram, full_spectrum(self.gram.moment))

    def loo_residuals(self, T, shift, root, penalties, rows=None):
        return self._spectral.loo_residuals(T, shift, root, penalties, rows)

    def influence(self, G, root, penalty, rows=None):
        return self._spectral.influence(G, root, penalty, rows)

    def residual_map(self, penalty, rows):
        return self._spectral.residual_map(penalty, rows)

    def with_operator(self, M):
        return None if M is None else self._spectral.with_operator(M)
