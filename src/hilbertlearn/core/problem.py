"""The optimisation problem behind every estimator, in its dual form.

    minimise over A (n, d)    c/2 ||A||^2 - <A, Y> + 1/(2 s) <A, sum_t K_t A M_t> + sum_i g*(a_i)

with ``s = alpha * sum(w)``; the weights w are 1 by default. Sample weights enter by ``D = diag(sqrt(w))``: Y and K are
given as ``D Y`` and ``D K D``, and the prox of row i becomes ``sqrt(w) prox(a / sqrt(w))``. The dual variables of
missing entries are zero.

Arrays may be in single precision. Losses, sums and the gap are computed in double precision from them.

Samples may be in several parts, each with its own problem: every sum over samples passes through ``total``, and the
same solver runs on each part.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .._utils.linalg import dot, to_float64
from .._utils.sums import cached_attribute, local_total
from ..losses import Loss
from .terms import SeparableTerm, SumTerm, Term


@dataclass(frozen=True)
class Problem:
    """Data of the dual problem; see the docstring of the module.

    Parameters
    ----------
    terms : sequence of Term
        The map of the problem is their sum.
    Y : array of shape (n, d)
        Coordinates, or values (n, m) when the terms are sampled; zero where missing, multiplied by sqrt(w).
    loss : Loss
        The loss; all of its settings are numbers.
    penalty : float
        s = alpha * sum(w).
    mask : array of shape (n, d), default=None
        True where observed; None if all entries are.
    root_weights : array of shape (n,), default=None
        sqrt(w); None for ones.
    measure : array of shape (d,), default=None
        Quadrature weights of point values; None for ones.
    interior : pair of arrays of shape (n, d), default=None
        For a loss with hard constraints: dual variables and values of a function that satisfies them strictly.
    total : callable, default=local_total
        Adds the sums of other parts of the samples to a sum, an array, over these samples.
    """

    terms: Sequence
    Y: np.ndarray
    loss: Loss
    penalty: float
    mask: np.ndarray | None = None
    root_weights: np.ndarray | None = None
    measure: np.ndarray | None = None
    interior: Any = None
    total: Callable = local_total

    @property
    def term(self) -> Term:
        """The map of the problem: the only term, or the sum of all."""
        return self.terms[0] if len(self.terms) == 1 else SumTerm(self.terms)

    @property
    def separable_term(self) -> SeparableTerm | None:
        """The only term if it is separable, else None: the problem is then diagonal in two eigenbases."""
        return self.term.as_separable()

    @property
    def is_linear_system(self) -> bool:
        """Whether the optimum solves a linear system: squared loss, and missing entries only within the term."""
        return self.loss.quadratic and (self.mask is None or self.term.observed_entries is not None)

    def take(self, rows, share=1.0) -> Problem:
        """The problem of a subset of the samples, with a share of the penalty; other dual variables are zero."""
        return replace(
            self,
            terms=tuple(term.take(rows) for term in self.terms),
            Y=self.Y[rows],
            penalty=self.penalty * share,
            mask=None if self.mask is None else self.mask[rows],
            root_weights=None if self.root_weights is None else self.root_weights[rows],
        )

    def fitted(self, A):
        """Values (n, d) at the samples of the function with dual variables A."""
        return self.term.apply(A) / self.penalty

    def zero_missing(self, A):
        """A with zeros in place of missing entries."""
        return A if self.mask is None else np.where(self.mask, A, 0.0)

    @property
    def is_float32(self) -> bool:
        """Whether dual variables are in single precision."""
        return self.Y.dtype == np.float32

    @property
    def rounding_gap(self) -> float:
        """Upper bound on the gap that rounding of the dual variables may leave; 0 in double precision.

        A relative error eps of the dual variables changes fitted values by up to ``eps ||K|| / s``, and the gap by half
        the square of that. Variables at a bound change the gap by their own error.
        """
        if not self.is_float32:
            return 0.0
        eps = float(np.finfo(self.Y.dtype).eps)
        return (eps * self.term.scale / self.penalty) ** 2 + (2 * eps if np.isfinite(self.loss.bound) else 0.0)

    def gradient(self, A, F):
        """Gradient of the smooth part at A, given ``F = fitted(A)``."""
        return self.loss.curvature * A - self.Y + F

    @property
    def lipschitz(self) -> float:
        return self.loss.curvature + self.term.norm / self.penalty

    def prox(self, A, step):
        """Prox of ``step * sum_i g*``, on the observed entries."""
        A = self.zero_missing(to_float64(A))
        if self.root_weights is None:
            result = self.loss.row_prox(A, step, self.measure)
        else:
            root = self.root_weights[:, None]
            result = root * self.loss.row_prox(A / root, step, self.measure)
        return self._round_inwards(result)

    def _round_inwards(self, A):
        """A in the precision of the problem, rounded towards zero where the loss has a bound."""
        if not self.is_float32:
            return A
        rounded = A.astype(self.Y.dtype)
        if np.isfinite(self.loss.bound):
            is_larger = np.abs(rounded) > np.abs(A)
            rounded[is_larger] = np.nextafter(rounded[is_larger], np.float32(0))
        return rounded

    def norms(self, *arrays):
        """Norms of arrays (n, d) over all samples."""
        return np.sqrt(self.total(np.array([dot(A, A) for A in arrays])))

    def _sum(self, rows, A):
        """Weighted sum of a function of rows over these samples."""
        if self.root_weights is None:
            return rows(A, self.measure).sum()
        root = self.root_weights
        return root**2 @ rows(A / root[:, None], self.measure)

    def dual(self, A, F):
        """Value of the dual problem (a minimum) at A, given ``F = fitted(A)``."""
        return self.dual_value(A, dot(A, F))

    def dual_value(self, A, quadratic):
        """Value of the dual problem at A, given ``quadratic = <A, fitted(A)>`` of these samples."""
        return float(self.total(np.array(self._dual_part(A, quadratic))))

    def primal(self, A, F):
        """n (or the sum of the weights) times the objective at the function with dual variables A.

        Under a loss with hard constraints, the objective at the ``feasible`` function.
        """
        return float(self.total(np.array(self._primal_part(A, F))))

    def primal_and_dual(self, A, F, B, quadratic) -> tuple[float, float]:
        """``primal(A, F)`` and ``dual_value(B, quadratic)``, with one call of ``total``."""
        primal, dual = self.total(np.array([self._primal_part(A, F), self._dual_part(B, quadratic)]))
        return float(primal), float(dual)

    def _dual_part(self, A, quadratic):
        """The part of these samples in ``dual_value``."""
        A = to_float64(A)
        smooth = self.loss.curvature / 2 * dot(A, A) - dot(A, self.Y) + quadratic / 2
        return smooth + self._sum(self.loss.row_conjugate, A)

    def _primal_part(self, A, F):
        """The part of these samples in ``primal``."""
        R = self.zero_missing(self.Y - to_float64(F))
        norm = dot(A, F) / 2
        if self.loss.is_constrained:
            step = self._step_to_interior(R)
            if step is None:
                return np.inf
            if step > 0:
                B, G = self.interior
                R = (1 - step) * R + step * self.zero_missing(self.Y - G)
                square = (1 - step) ** 2 * dot(A, F) + 2 * step * (1 - step) * dot(A, G) + step**2 * dot(B, G)
                norm = square / 2
        return self._sum(self.loss.row_value, R) + norm

    def feasible(self, A):
        """Dual variables of a feasible function: A, or the shortest step from A to ``interior`` that is feasible."""
        step = self._step_to_interior(self.zero_missing(self.Y - self.fitted(A)))
        return A if not step else (1 - step) * A + step * self.interior[0]

    def _step_to_interior(self, R):
        """Length of the step from residuals R towards ``interior`` that makes them feasible; None without one."""
        violation = self._violation(R)
        is_violated = violation > 0
        if not is_violated.any():
            return 0.0
        if self.interior is None:
            return None
        change = violation - self._violation(self.zero_missing(self.Y - self.interior[1]))
        return np.divide(violation, change, out=np.zeros_like(violation), where=is_violated).max()

    def _violation(self, R):
        """How much residuals R (n, d), without the weights, violate the constraints of the loss."""
        return self.loss.violation(R if self.root_weights is None else R / self.root_weights[:, None])

    def objective(self, A):
        """``primal`` at the function with dual variables A, for losses of margins too."""
        if self.loss.on_margins:
            margins, b = self.margin_problem(), self.to_margins(A)
            return margins.primal(b, margins.fitted(b))
        return self.primal(A, self.fitted(A))

    @cached_attribute
    def floor(self) -> float:
        """Smallest possible value of the sum of losses: zero except for the log loss."""
        return -float(self.total(np.array(self._sum(self.loss.row_conjugate, np.zeros(self.Y.shape)))))

    def gap(self, A, F=None, dual=None):
        """Relative duality gap at A: (primal + dual) / (primal - floor). It is zero only at an optimum.

        dual : dual variables (n, d) that certify the function of A, by default A
        """
        A = to_float64(A)
        F = self.fitted(A) if F is None or F.dtype != np.float64 else F
        B = A if dual is None else to_float64(dual)
        G = F if dual is None else self.fitted(B)
        return relative_gap(*self.primal_and_dual(A, F, B, dot(B, G)), self.floor)

    # ---------------------------------------------------------------- losses of the margin

    def margin_problem(self) -> Problem:
        """For losses of margins: the same problem in the variables b (n, 1) with ``a_i = b_i z_i``."""
        gram = self.term.margin_gram(self._targets)
        return Problem(
            (SeparableTerm(gram),), np.zeros((len(self.Y), 1)), self.loss, self.penalty, None, self.root_weights
        )

    @property
    def _targets(self):
        """The targets z_i (n, d) of the margins ``<z_i, h(x_i)>``; by default the outputs."""
        Y = self.Y if self.root_weights is None else self.Y / self.root_weights[:, None]
        return self.zero_missing(self.loss.margin_targets(Y))

    def from_margins(self, b):
        """Dual variables A (n, d) from b (n, 1)."""
        return b * self._targets

    def to_margins(self, A):
        """b (n, 1) from dual variables A (n, d)."""
        Z = self._targets
        squares = np.einsum("ij,ij->i", Z, Z)
        products = np.einsum("ij,ij->i", A, Z)
        return np.divide(products, squares, out=np.zeros_like(squares), where=squares > 0)[:, None]


def relative_gap(primal, dual, floor=0.0):
    """(primal + dual) / (primal - floor), at least 0; infinite when a value is not finite."""
    if not (np.isfinite(primal) and np.isfinite(dual)):
        return np.inf
    gap = max(primal + dual, 0.0)
    return 0.0 if gap == 0 else float(gap) / max(float(primal - floor), float(np.finfo(float).tiny))
