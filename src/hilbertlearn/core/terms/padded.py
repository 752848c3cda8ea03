"""Constants without a penalty, and columns in which every function is zero."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..._utils.sums import cached_attribute, local_total
from .base import Factors, Term


class ConstantTerm(Term):
    """The kernel 1 without a penalty, whose functions are constants: dual variables must sum to zero.

    root : (n, d) square roots of the sample weights, zero where missing
    free : number of columns that have a constant; in the others it is zero
    total : function that adds the sums of other parts of the samples
    """

    inversion = "direct"

    def __init__(self, root, free, total=local_total):
        self.root, self.free, self.total = root, free, total

    @cached_attribute
    def _mass(self):
        return self.total(np.einsum("ij,ij->j", self.root, self.root))

    def constant(self, A):
        """The constant (d,) that is nearest to A (n, d) in the weighted mean square."""
        mass, summed = self._mass, self.total(np.einsum("ij,ij->j", self.root, A))
        constant = np.divide(summed, mass, out=np.zeros_like(mass), where=mass > 0)
        constant[self.free :] = 0.0
        return constant

    def apply(self, A):
        raise TypeError("without a penalty the fitted values are not a function of dual variables")

    def scaled(self, root_weights):
        return ConstantTerm(self.root * root_weights[:, None], self.free, self.total)

    def predictor(self, C):
        raise TypeError("a constant needs no kernel values")

    def factor(self, use="once"):
        return _ConstantFactors(self)


@dataclass(frozen=True)
class _ConstantFactors(Factors):
    term: ConstantTerm
    serves_all_penalties = True

    def solve(self, R, shift, penalty):
        return (R - self.term.root * self.term.constant(R)) / shift


class PaddedTerm(Term):
    """A term on all columns but the last, where its functions are zero.

    The last column holds the norm of the part of an output outside its space. A loss of the norm of the whole residual
    depends on it (Bouche et al. 2021, equation 8), and no model can change it.
    """

    def __init__(self, term: Term):
        self.term = term

    @property
    def inversion(self):
        return self.term.inversion

    @property
    def M(self):
        return self.term.M

    @property
    def error(self):
        return self.term.error

    def apply(self, A):
        return _pad(self.term.apply(A[:, :-1]), 0.0)

    def scaled(self, root_weights):
        return PaddedTerm(self.term.scaled(root_weights))

    def predictor(self, C):
        return self.term.predictor(C)

    def coordinates(self, A):
        return self.term.coordinates(A[:, :-1])

    def expand(self, C):
        return self.term.expand(C)

    def take(self, rows):
        return PaddedTerm(self.term.take(rows))

    def factor(self, use="once"):
        inner = self.term.factor(use)
        return None if inner is None else PaddedFactors(inner)

    def factor_cost(self, n, use="once"):
        return self.term.factor_cost(n, use)

    def step_cost(self, n, d):
        return self.term.step_cost(n, d)

    @property
    def norm(self):
        return self.term.norm

    @property
    def scale(self):
        return self.term.scale


@dataclass(frozen=True)
class PaddedFactors(Factors):
    """Factors of a padded term."""

    inner: Factors

    @property
    def serves_all_penalties(self):
        return self.inner.serves_all_penalties

    def solve(self, R, shift, penalty):
        return _pad(self.inner.solve(R[:, :-1], shift, penalty), R[:, -1] / shift)


def _pad(A, last):
    out = np.empty((len(A), A.shape[1] + 1), dtype=A.dtype)
    out[:, :-1], out[:, -1] = A, last
    return out
