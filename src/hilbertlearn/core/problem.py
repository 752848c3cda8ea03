"""The one problem behind every estimator, in its dual form.

    minimise over A (n, d)    c/2 ||A||^2 - <A, Y> + 1/(2 s) <A, sum_t K_t A M_t> + sum_i g*(a_i)

with ``s = alpha * sum(w)``, weights w = 1 by default. Sample weights enter by ``D = diag(sqrt(w))``: Y and K are
given as ``D Y`` and ``D K D``, and the prox of row i becomes ``sqrt(w) prox(a / sqrt(w))``. Entries that were not
observed are dual variables held at zero.

Arrays may be in single precision. Losses, sums and the certificate are computed in double all the same: the gap is that
of the dual variables as they are, for the Gram matrix as it is.

Samples may be in several parts, each with a problem of its own: every sum over samples passes through ``total``, and
the same solver runs on each part.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .._utils.linalg import dot, exact
from .._utils.sums import kept, same
from ..losses import Loss
from .terms import SeparableTerm, SumTerm, Term


@dataclass(frozen=True)
class Problem:
    """Data of the dual problem; see the module's docstring.

    Parameters
    ----------
    terms : sequence of terms that add up
    Y : (n, d) coordinates, or values (n, m) when the terms are sampled, zero where not observed, multiplied by sqrt(w)
    loss : the loss, its settings numbers
    penalty : s = alpha * sum(w)
    mask : (n, d) booleans, True where observed, or None when everything is
    root_weights : (n,) sqrt(w), or None
    measure : (d,) quadrature weights of point values, or None
    interior : for a loss that forbids large residuals, dual variables and values of a function well within them
    total : function that adds what other parts of the samples have to a sum, an array, over these samples
    """

    terms: Sequence
    Y: np.ndarray
    loss: Loss
    penalty: float
    mask: np.ndarray | None = None
    root_weights: np.ndarray | None = None
    measure: np.ndarray | None = None
    interior: Any = None
    total: Callable = same

    @property
    def term(self) -> Term:
        """The whole linear map."""
        return self.terms[0] if len(self.terms) == 1 else SumTerm(self.terms)

    @property
    def separable_term(self) -> SeparableTerm | None:
        """The only term, when it is separable: then the problem is diagonal in two eigenbases."""
        return self.term.as_separable()

    @property
    def is_linear_system(self) -> bool:
        """Whether the optimum is that of a linear system in all entries: squared loss, no gap that a mask hides."""
        return self.loss.quadratic and (self.mask is None or self.term.observed_entries is not None)

    def take(self, rows, share=1.0) -> Problem:
        """The problem of some samples: the dual variables of the others are held at zero; share : of the penalty."""
        return replace(
            self,
            terms=tuple(term.take(rows) for term in self.terms),
            Y=self.Y[rows],
            penalty=self.penalty * share,
            mask=None if self.mask is None else self.mask[rows],
            root_weights=None if self.root_weights is None else self.root_weights[rows],
        )

    def fitted(self, A):
        """Values (n, d) at the samples of the function whose dual variables are A."""
        return self.term.apply(A) / self.penalty

    def zero_missing(self, A):
        """A with zeros where nothing was observed."""
        return A if self.mask is None else np.where(self.mask, A, 0.0)

    @property
    def is_float32(self) -> bool:
        """Whether dual variables are in single precision."""
        return self.Y.dtype == np.float32

    @property
    def rounding_gap(self) -> float:
        """A gap that rounding of the dual variables keeps from falling further, from above; 0 in double precision.

        Their relative error eps moves fitted values by up to ``eps ||K|| / s``, and the gap by half the square of that;
        variables at a bound move it by as much as themselves.
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
        A = self.zero_missing(exact(A))
        if self.root_weights is None:
            found = self.loss.row_prox(A, step, self.measure)
        else:
            root = self.root_weights[:, None]
            found = root * self.loss.row_prox(A / root, step, self.measure)
        return self._admissible(found)

    def _admissible(self, A):
        """A in the precision of the problem; rounding must not take it beyond the loss's bound."""
        if not self.is_float32:
            return A
        rounded = A.astype(self.Y.dtype)
        if np.isfinite(self.loss.bound):
            beyond = np.abs(rounded) > np.abs(A)
            rounded[beyond] = np.nextafter(rounded[beyond], np.float32(0))
        return rounded

    def norms(self, *arrays):
        """Norms of arrays (n, d), of all samples."""
        return np.sqrt(self.total(np.array([dot(A, A) for A in arrays])))

    def _sum(self, rows, A):
        """Weighted sum over these samples of a function of rows."""
        if self.root_weights is None:
            return rows(A, self.measure).sum()
        root = self.root_weights
        return root**2 @ rows(A / root[:, None], self.measure)

    def dual(self, A, F):
        """Value of the dual problem (a minimum) at A, given ``F = fitted(A)``."""
        return self.dual_value(A, dot(A, F))

    def dual_value(self, A, quadratic):
        """Value of the dual problem at A, given ``quadratic = <A, fitted(A)>``, of these samples."""
        return float(self.total(np.array(self._dual_here(A, quadratic))))

    def primal(self, A, F):
        """n times the objective (sum of weights times, with weights) at the function whose dual variables are A.

        A loss that forbids large residuals is taken at a function near by that it admits, see ``feasible``.
        """
        return float(self.total(np.array(self._primal_here(A, F))))

    def primal_and_dual(self, A, F, B, quadratic) -> tuple[float, float]:
        """``primal(A, F)`` and ``dual_value(B, quadratic)``, by one sum."""
        primal, dual = self.total(np.array([self._primal_here(A, F), self._dual_here(B, quadratic)]))
        return float(primal), float(dual)

    def _dual_here(self, A, quadratic):
        """These samples' part of ``dual_value``."""
        A = exact(A)
        smooth = self.loss.curvature / 2 * dot(A, A) - dot(A, self.Y) + quadratic / 2
        return smooth + self._sum(self.loss.row_conjugate, A)

    def _primal_here(self, A, F):
        """These samples' part of ``primal``."""
        R = self.zero_missing(self.Y - exact(F))
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
        """Dual variables of the function that ``primal`` is taken at: A, or a step from it towards ``inside``."""
        step = self._step_to_interior(self.zero_missing(self.Y - self.fitted(A)))
        return A if not step else (1 - step) * A + step * self.interior[0]

    def _step_to_interior(self, R):
        """How far to go from residuals R to those inside until the loss admits them; None when that is not known."""
        excess = self._violation(R)
        beyond = excess > 0
        if not beyond.any():
            return 0.0
        if self.interior is None:
            return None
        within = self._violation(self.zero_missing(self.Y - self.interior[1]))
        return np.divide(excess, excess - within, out=np.zeros_like(excess), where=beyond).max()

    def _violation(self, R):
        """How much residuals R (n, d), without the weights, violate the constraints of the loss."""
        return self.loss.violation(R if self.root_weights is None else R / self.root_weights[:, None])

    def objective(self, A):
        """``primal`` at the function with dual variables A, also for losses of the margin."""
        if self.loss.on_margins:
            margins, b = self.margin_problem(), self.to_margins(A)
            return margins.primal(b, margins.fitted(b))
        return self.primal(A, self.fitted(A))

    @kept
    def floor(self) -> float:
        """Smallest value the sum of losses can take: zero but for the log loss."""
        return -float(self.total(np.array(self._sum(self.loss.row_conjugate, np.zeros(self.Y.shape)))))

    def gap(self, A, F=None, under=None):
        """Relative duality gap at A: (primal + dual) / (primal above its floor). Zero only at an optimum.

        under : dual variables (n, d) that certify the function of A, by default A
        """
        A = exact(A)
        F = self.fitted(A) if F is None or F.dtype != np.float64 else F
        B = A if under is None else exact(under)
        G = F if under is None else self.fitted(B)
        return relative_gap(*self.primal_and_dual(A, F, B, dot(B, G)), self.floor)

    # ---------------------------------------------------------------- losses of the margin

    def margin_problem(self) -> Problem:
        """The same problem in the variables b of ``a_i = b_i z_i``, for losses of the margin (one column)."""
        gram = self.term.margin_gram(self._targets)
        return Problem(
            (SeparableTerm(gram),), np.zeros((len(self.Y), 1)), self.loss, self.penalty, None, self.root_weights
        )

    @property
    def _targets(self):
        """What margins are taken with, z_i (n, d): the outputs, unless the loss says otherwise."""
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
