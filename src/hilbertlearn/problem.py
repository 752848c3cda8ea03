"""The one problem behind every estimator, in its dual form.

    minimise over A (n, d)    c/2 ||A||^2 - <A, Y> + 1/(2 s) <A, sum_t K_t A M_t> + sum_i g*(a_i)

with ``s = alpha * sum(w)``, weights w = 1 by default. Sample weights enter by ``D = diag(sqrt(w))``: Y and K are
given as ``D Y`` and ``D K D``, and the prox of row i becomes ``sqrt(w) prox(a / sqrt(w))``. Entries that were not
observed are dual variables held at zero.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import Any, NamedTuple

import numpy as np
import scipy.linalg
from scipy.sparse.linalg import eigsh

from .losses import Loss
from .losses.balls import row_norms
from .operators import Kronecker


class Spectrum(NamedTuple):
    """Eigenpairs of a PSD matrix above rounding: values (r,) in increasing order, vectors (n, r)."""

    values: np.ndarray
    vectors: Any  # an array, or a Kronecker product of arrays


def spectrum(S, rounding=None) -> Spectrum:
    """Eigenpairs of the PSD matrix S (n, n) that are larger than rounding errors; of a product, by factor.

    rounding : what counts as such, relative to the largest eigenvalue; None is n times the machine's
    The values of a product are not in order, but the last is the largest.
    """
    if isinstance(S, Kronecker):
        parts = [(np.ones(f), f) if isinstance(f, int) else spectrum(f) for f in S.factors]
        return Spectrum(reduce(np.kron, (values for values, _ in parts)), Kronecker(vectors for _, vectors in parts))
    values, vectors = scipy.linalg.eigh(S, driver="evd", check_finite=False)
    rounding = len(values) * np.finfo(float).eps if rounding is None else rounding
    kept = values > max(values[-1], 0.0) * rounding
    first = np.argmax(kept) if kept.any() else len(values)
    return Spectrum(values[first:], vectors[:, first:])  # a view of whole Fortran columns: BLAS takes it as it is


class LinearPredictor:
    """Values ``G @ coef`` at points with kernel values G (m, n) with the samples."""

    def __init__(self, coef):
        self.coef = coef

    def __call__(self, G):
        return G @ self.coef


class Separable:
    """The map ``A -> K A M`` of the kernel k(x, z) M; ``M=None`` is the identity.

    Factorisations are computed when first asked for and kept, so that problems which share a term (a path over
    alpha, leave-one-out, the iterations of a solver) share them.
    """

    def __init__(self, K, M=None):
        self.K, self.M = K, M

    def apply(self, A):
        return self.K @ A if self.M is None else self.K @ (A @ self.M)

    def predictor(self, A):
        """The function ``G (m, n) -> values (m, d)`` of kernel values with the samples whose dual variables are A."""
        return LinearPredictor(A if self.M is None else A @ self.M)

    def scaled(self, root_weights):
        """The term with K replaced by D K D."""
        return Separable(self.K * root_weights[:, None] * root_weights, self.M)

    def with_operator(self, M):
        """The term with another operator, which shares what is known of K."""
        term = Separable(self.K, M)
        if self.factored:
            term.__dict__["input_spectrum"] = self.input_spectrum
        return term

    def margin_gram(self, Y):
        """``<y_i, K(x_i, x_j) y_j>``, shape (n, n)."""
        return self.K * (Y @ Y.T if self.M is None else Y @ self.M @ Y.T)

    @cached_property
    def input_spectrum(self) -> Spectrum:
        return spectrum(self.K)

    @cached_property
    def operator_spectrum(self) -> Spectrum:
        """Eigenpairs of M; not to be asked for when M is the identity."""
        return spectrum(self.M)

    @property
    def factored(self) -> bool:
        """Whether the eigendecomposition of K is at hand already."""
        return "input_spectrum" in self.__dict__

    @cached_property
    def norm(self) -> float:
        """Largest eigenvalue of the map, up to a few per cent."""
        if self.factored:
            top = self.input_spectrum.values[-1:].sum()
        elif len(self.K) < 50 or not self.K.any():
            top = scipy.linalg.norm(self.K, 2)
        else:
            start = np.random.default_rng(0).normal(size=len(self.K))
            top = 1.02 * eigsh(self.K, k=1, tol=1e-2, v0=start, return_eigenvectors=False)[0]
        return float(top) * self.operator_norm

    @property
    def operator_norm(self) -> float:
        return 1.0 if self.M is None else float(self.operator_spectrum.values[-1:].sum())

    @property
    def trace(self) -> float:
        """Trace of K times the norm of M: the scale of the term, the same for repeated and for weighted samples."""
        return float(np.trace(self.K)) * self.operator_norm


class PerDirection:
    """The map ``A -> sum_j m_j K_j A E_j E_j'``: a kernel of its own for each eigenvalue m_j of the operator.

    grams : list of K_j (n, n)
    values : (j,) the eigenvalues, all different and positive
    vectors : list of E_j (d, k_j), orthonormal
    M : (d, d) the operator
    """

    def __init__(self, grams, values, vectors, M):
        self.grams, self.values, self.vectors, self.M = grams, values, vectors, M
        # in these directions the map is a scalar kernel
        self.parts = [Separable(m * K) for m, K in zip(values, grams, strict=True)]

    def apply(self, A):
        out = np.zeros_like(A)
        for part, E in zip(self.parts, self.vectors, strict=True):
            out += part.apply(A @ E) @ E.T
        return out

    def scaled(self, root_weights):
        outer = np.multiply.outer(root_weights, root_weights)
        return PerDirection([K * outer for K in self.grams], self.values, self.vectors, self.M)

    def margin_gram(self, Y):
        return sum(part.K * ((Y @ E) @ (Y @ E).T) for part, E in zip(self.parts, self.vectors, strict=True))

    @cached_property
    def norm(self) -> float:
        return max((part.norm for part in self.parts), default=0.0)


class Sampled:
    """A separable term seen through a sampling: ``B -> S (K (S' B) M)`` on values (n, m) at each sample's points."""

    def __init__(self, term: Separable, sampling):
        self.term, self.sampling = term, sampling

    def apply(self, B):
        return self.sampling.push(self.term.apply(self.sampling.pull(B)))

    def predictor(self, A):
        """As ``Separable.predictor``, from coefficients A (n, d) in coordinates."""
        return self.term.predictor(A)

    def scaled(self, root_weights):
        return Sampled(self.term.scaled(root_weights), self.sampling)

    @property
    def M(self):
        return self.term.M

    @cached_property
    def by_value(self) -> Separable:
        """The same map on the observed values (N, 1), as one Gram matrix between them, (N, N)."""
        R, samples = self.sampling.seen, np.flatnonzero(self.sampling.observed) // self.sampling.m
        gram = R @ R.T if self.M is None else (R @ self.M) @ R.T
        gram *= self.term.K[np.ix_(samples, samples)]
        return Separable(gram)

    @cached_property
    def norm(self) -> float:
        """An estimate of the map's largest eigenvalue, from above."""
        return self.term.norm * self.sampling.norm

    @property
    def trace(self) -> float:
        return self.term.trace


@dataclass(frozen=True)
class Problem:
    """Data of the dual problem; see the module's docstring.

    Parameters
    ----------
    terms : sequence of terms with ``apply(A)``, ``norm`` and, for one separable term, spectra
    Y : (n, d) coordinates, or values (n, m) when the terms are sampled, zero where not observed, multiplied by sqrt(w)
    loss : the loss, its settings numbers
    penalty : s = alpha * sum(w)
    mask : (n, d) booleans, True where observed, or None when everything is
    root_weights : (n,) sqrt(w), or None
    measure : (d,) quadrature weights of point values, or None
    """

    terms: Sequence
    Y: np.ndarray
    loss: Loss
    penalty: float
    mask: np.ndarray | None = None
    root_weights: np.ndarray | None = None
    measure: np.ndarray | None = None

    @property
    def separable(self) -> Separable | None:
        """The only term, when it is separable: then the problem is diagonal in two eigenbases."""
        return self.terms[0] if len(self.terms) == 1 and isinstance(self.terms[0], Separable) else None

    @property
    def direct(self) -> Separable | PerDirection | None:
        """The only term, when linear systems with it are solved by factorisations."""
        one = len(self.terms) == 1 and isinstance(self.terms[0], (Separable, PerDirection))
        return self.terms[0] if one else None

    def fitted(self, A):
        """Values (n, d) at the samples of the function whose dual variables are A."""
        return sum(term.apply(A) for term in self.terms) / self.penalty

    def observed(self, A):
        """A with zeros where nothing was observed."""
        return A if self.mask is None else np.where(self.mask, A, 0.0)

    def gradient(self, A, F):
        """Gradient of the smooth part at A, given ``F = fitted(A)``."""
        return self.loss.curvature * A - self.Y + F

    @property
    def lipschitz(self) -> float:
        return self.loss.curvature + sum(term.norm for term in self.terms) / self.penalty

    def prox(self, A, step):
        """Prox of ``step * sum_i g*``, on the observed entries."""
        A = self.observed(A)
        if self.root_weights is None:
            return self.loss.row_prox(A, step, self.measure)
        root = self.root_weights[:, None]
        return root * self.loss.row_prox(A / root, step, self.measure)

    def _sum(self, rows, A):
        """Weighted sum over samples of a function of rows."""
        if self.root_weights is None:
            return rows(A, self.measure).sum()
        root = self.root_weights
        return root**2 @ rows(A / root[:, None], self.measure)

    def dual(self, A, F):
        """Value of the dual problem (a minimum) at A, given ``F = fitted(A)``."""
        return self.dual_value(A, _dot(A, F))

    def dual_value(self, A, quadratic):
        """Value of the dual problem at A, given ``quadratic = <A, fitted(A)>``."""
        smooth = self.loss.curvature / 2 * _dot(A, A) - _dot(A, self.Y) + quadratic / 2
        return smooth + self._sum(self.loss.row_conjugate, A)

    def primal(self, A, F):
        """n times the objective (sum of weights times, with weights) at the function whose dual variables are A."""
        R = self.observed(self.Y - F)
        norm = _dot(A, F) / 2
        if np.isfinite(self.loss.largest_residual):
            R, norm = self._made_feasible(A, F, R)
        return self._sum(self.loss.row_value, R) + norm

    def objective(self, A):
        """``primal`` at the function with dual variables A, also for losses of the margin."""
        if self.loss.on_margins:
            margins, b = self.margins(), self.to_margins(A)
            return margins.primal(b, margins.fitted(b))
        return self.primal(A, self.fitted(A))

    @cached_property
    def floor(self) -> float:
        """Smallest value the sum of losses can take: zero but for the log loss."""
        return -self._sum(self.loss.row_conjugate, np.zeros_like(self.Y))

    def gap(self, A, F=None):
        """Relative duality gap at A: (primal + dual) / (primal above its floor). Zero only at an optimum."""
        F = self.fitted(A) if F is None else F
        return relative_gap(self.primal(A, F), self.dual(A, F), self.floor)

    def _made_feasible(self, A, F, R):
        """Residuals and half squared norm of a function near by that a hard constraint on residuals admits: a step
        towards one that is well inside."""
        radius, norms = self._radius, row_norms(R)
        if not (norms > radius).any():
            return R, _dot(A, F) / 2
        if self._inside is None:
            return R, np.inf
        B, G = self._inside
        S = self.observed(self.Y - G)
        step = np.divide(norms - radius, norms - row_norms(S), out=np.zeros_like(norms), where=norms > radius).max()
        square = (1 - step) ** 2 * _dot(A, F) + 2 * step * (1 - step) * _dot(A, G) + step**2 * _dot(B, G)
        return (1 - step) * R + step * S, square / 2

    @property
    def _radius(self):
        return self.loss.largest_residual * (1 if self.root_weights is None else self.root_weights)

    @cached_property
    def _inside(self):
        """Dual variables and values of a smooth function whose residuals are smaller than a hard constraint admits,
        half of it where that can be had; it lives in one of the terms. None when ridge regression finds none."""
        best, inside = 1.0, None
        for term in self.terms:
            blocks = _diagonal_blocks(term)
            hats = [Q.T @ (self.Y if E is None else self.Y @ E) for _, Q, E in blocks]
            top = max((products.max(initial=0.0) for products, _, _ in blocks), default=0.0)
            for shift in top * np.logspace(1, -15, 33) if blocks else ():
                B, G = np.zeros_like(self.Y), np.zeros_like(self.Y)
                for (products, Q, E), hat in zip(blocks, hats, strict=True):
                    C = Q @ (hat / (products + shift))
                    F = Q @ (hat * products / (products + shift))
                    B += C if E is None else C @ E.T
                    G += F if E is None else F @ E.T
                reach = np.max(row_norms(self.observed(self.Y - G)) / self._radius)
                if reach < best:
                    best, inside = reach, (self.penalty * B, G)
                if best <= 0.5:
                    return inside
        return inside

    def margins(self) -> Problem:
        """The same problem in the variables b of ``a_i = b_i y_i``, for losses of the margin (one column)."""
        gram = sum(term.margin_gram(self._unscaled) for term in self.terms)
        return Problem((Separable(gram),), np.zeros((len(self.Y), 1)), self.loss, self.penalty, None, self.root_weights)

    @property
    def _unscaled(self):
        return self.Y if self.root_weights is None else self.Y / self.root_weights[:, None]

    def from_margins(self, b):
        """Dual variables A (n, d) from b (n, 1)."""
        return b * self._unscaled

    def to_margins(self, A):
        """b (n, 1) from dual variables A (n, d)."""
        Y = self._unscaled
        squares = np.einsum("ij,ij->i", Y, Y)
        products = np.einsum("ij,ij->i", A, Y)
        return np.divide(products, squares, out=np.zeros_like(squares), where=squares > 0)[:, None]


def _diagonal_blocks(term):
    """Triples (eigenvalues (r, q), Q (n, r), E (d, q), None for the identity) of a term's map; [] if not at hand."""
    if isinstance(term, PerDirection):
        spectra = [part.input_spectrum for part in term.parts]
        return [(s.values[:, None], s.vectors, E) for s, E in zip(spectra, term.vectors, strict=True)]
    if not isinstance(term, Separable):
        return []
    lam, Q = term.input_spectrum
    gam, E = (np.ones(1), None) if term.M is None else term.operator_spectrum
    return [(np.multiply.outer(lam, gam), Q, E)]


def relative_gap(primal, dual, floor=0.0):
    """(primal + dual) / (primal - floor), at least 0; infinite when a value is not finite."""
    if not (np.isfinite(primal) and np.isfinite(dual)):
        return np.inf
    gap = max(primal + dual, 0.0)
    return 0.0 if gap == 0 else float(gap) / max(float(primal - floor), np.finfo(float).tiny)


def _dot(A, B):
    # arrays from LAPACK are in another order than numpy's, and vdot would copy them
    return float(np.vdot(A, B) if A.flags.c_contiguous and B.flags.c_contiguous else np.einsum("ij,ij->", A, B))
