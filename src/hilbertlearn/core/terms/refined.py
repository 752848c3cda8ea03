"""Factors in single precision for terms in double precision: half the time, the same accuracy."""

from __future__ import annotations

import numpy as np

from ..._utils.linalg import to_float64
from .base import PATH, Factors
from .gram import DenseGram
from .separable import SeparableTerm

_EPS = np.finfo(float).eps
_ACCURACY = 1e-10  # residual of a refined solution, relative to the right-hand side
_REFINEMENTS = 20  # at most
_MAX_CONDITION = 1e8  # trace(K) ||M|| / s from which refinement in single precision does not converge
_CONTRACTION = 0.5  # largest ratio of successive residuals; slower refinement takes longer than factors in double


class RefinedGram(DenseGram):
    """Values in double precision with factors in single precision."""

    refines = True

    def _with(self, K, root):
        return RefinedGram(K, root)

    def factor(self, term, use):
        return RefinedFactors(term, use if term.M is None else PATH)


class RefinedFactors(Factors):
    """Factors in single precision, and solutions refined by residuals in double precision.

    Each refinement multiplies the error by about ``||K|| / s`` roundings of single precision (Higham 2002, chapter 12).
    Where that is not a contraction, factors in double precision replace these.
    """

    def __init__(self, term: SeparableTerm, use):
        self.term, self.use = term, use
        self._single: Factors | None = None
        self._double: Factors | None = None
        self._contracts = True

    @property
    def serves_all_penalties(self):
        return self.use == PATH

    @property
    def factors_float64(self) -> Factors:
        """The factors in double precision, computed on first use."""
        if self._double is None:
            self._double = SeparableTerm(self.term.gram.in_precision("float64"), self.term.M).factor(self.use)
        return self._double

    def with_operator(self, M):
        return self.factors_float64.with_operator(M)

    def solve(self, R, shift, penalty):
        condition = self.term.scale / (shift * penalty)
        if not self._contracts or condition > _MAX_CONDITION:
            return self.factors_float64.solve(R, shift, penalty)
        if self._single is None:
            self._single = SeparableTerm(self.term.gram.in_precision("float32"), self.term.M).factor(self.use)
        X, residual, size = np.zeros_like(R), R, float(np.abs(R).max(initial=0.0))
        # products in double precision are rounded too
        goal = size * max(_ACCURACY, 4 * _EPS * condition)
        largest = size
        for _ in range(_REFINEMENTS):
            if largest <= goal:
                return X
            # scaled, so that numbers of any size fit in single precision
            X = X + largest * to_float64(self._single.solve(residual / largest, shift, penalty))
            residual = R - shift * X - self.term.apply(X) / penalty
            previous, largest = largest, float(np.abs(residual).max())
            if not largest <= _CONTRACTION * previous:  # also if it is NaN
                break
        if largest <= goal:
            return X
        self._single, self._contracts = None, False
        return self.factors_float64.solve(R, shift, penalty)

    def loo_residuals(self, T, shift, root, penalties, rows=None):
        return self.factors_float64.loo_residuals(T, shift, root, penalties, rows)
