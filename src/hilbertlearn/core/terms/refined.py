"""Factors in single precision for terms in double: a factorisation in half the time, to the accuracy of double."""

from __future__ import annotations

import numpy as np

from ..._utils.linalg import exact
from .base import PATH, Factors
from .gram import DenseGram
from .separable import SeparableTerm

_EPS = np.finfo(float).eps
_REFINED = 1e-10  # residual of a refined solution, relative to the right-hand side
_REFINEMENTS = 20
_HOPELESS = 1e8  # trace(K) ||M|| / s from which single precision does not contract
_CONTRACTS = 0.5  # times the residual before, at most: slower refinement takes longer than factors in double


class RefinedGram(DenseGram):
    """Values in double precision whose factors are single, and refined."""

    refines = True

    def _with(self, K, root):
        return RefinedGram(K, root)


class RefinedFactors(Factors):
    """Factors in single precision of a term whose Gram matrix is double, and solutions refined with products in double.

    Each refinement multiplies the error by about ``||K|| / s`` roundings of single precision (Higham 2002, chapter 12);
    where that is not a contraction, factors in double precision take the place of these.
    """

    def __init__(self, term: SeparableTerm, use):
        self.term, self.use = term, use
        self._single: Factors | None = None
        self._double: Factors | None = None
        self._contracts = True

    @property
    def every_penalty(self):
        return self.use == PATH

    @property
    def double(self) -> Factors:
        """The factors in double precision."""
        if self._double is None:
            self._double = SeparableTerm(self.term.gram.in_precision("float64"), self.term.M).factor(self.use)
        return self._double

    def with_operator(self, M):
        return self.double.with_operator(M)

    def solve(self, R, shift, penalty):
        condition = self.term.scale / (shift * penalty)
        if not self._contracts or condition > _HOPELESS:
            return self.double.solve(R, shift, penalty)
        if self._single is None:
            self._single = SeparableTerm(self.term.gram.in_precision("float32"), self.term.M).factor(self.use)
        X, rest, size = np.zeros_like(R), R, float(np.abs(R).max(initial=0.0))
        # products in double precision have their rounding too
        wanted = size * max(_REFINED, 4 * _EPS * condition)
        left = size
        for _ in range(_REFINEMENTS):
            if left <= wanted:
                return X
            X = X + left * exact(self._single.solve(rest / left, shift, penalty))  # numbers of any size
            rest = R - shift * X - self.term.apply(X) / penalty
            before, left = left, float(np.abs(rest).max())
            if not left <= _CONTRACTS * before:  # NaN too
                break
        if left <= wanted:
            return X
        self._single, self._contracts = None, False
        return self.double.solve(R, shift, penalty)

    def loo_residuals(self, T, shift, root, penalties, rows=None):
        return self.double.loo_residuals(T, shift, root, penalties, rows)
