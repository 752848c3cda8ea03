"""Terms with one kernel for each eigenvalue of the operator."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from .base import Factors, Term
from .gram import as_gram
from .separable import SeparableTerm


class EigenspaceTerm(Term):
    """The map ``A -> sum_j m_j K_j A E_j E_j'``: a scalar kernel in each eigenspace of the operator.

    grams : list of K_j, Gram matrices (n, n)
    values : the eigenvalues m_j, all positive; an array (k_j,) where different eigenvalues share a kernel
    vectors : list of E_j (d, k_j), orthonormal
    M : (d, d) the operator
    null_gram : Gram matrix that expands coefficients in the null space of the operator, None for no expansion
    error : bound on the relative error of shared kernels
    """

    inversion, loo_formula = "direct", "residuals"

    def __init__(self, grams, values, vectors, M, null_gram=None, error=0.0):
        self.vectors, self.M, self.null_gram, self._error = vectors, M, null_gram, error
        self.parts = [_part(as_gram(K), m) for m, K in zip(values, grams, strict=True)]

    @property
    def error(self):
        return self._error

    def apply(self, A):
        out = np.zeros_like(A)
        for part, E in zip(self.parts, self.vectors, strict=True):
            out += part.apply(A @ E) @ E.T
        return out

    def predictor(self, C):
        raise TypeError("predictions of kernels by direction are made from the kernel before its deformation")

    def scaled(self, root_weights):
        return self._with([part.gram.scaled(root_weights) for part in self.parts])

    def take(self, rows):
        return self._with([part.gram.take(rows) for part in self.parts])

    def _with(self, grams):
        values = [1.0 if part.M is None else part.M.diagonal() for part in self.parts]
        return EigenspaceTerm(grams, values, self.vectors, self.M, self.null_gram, self._error)

    def expand(self, C):
        rest = C - sum(C @ E @ E.T for E in self.vectors)
        out = rest if self.null_gram is None else self.null_gram.expand(rest)
        return out + sum(part.expand(C @ E) @ E.T for part, E in zip(self.parts, self.vectors, strict=True))

    def margin_gram(self, Y):
        return sum(part.margin_gram(Y @ E) for part, E in zip(self.parts, self.vectors, strict=True))

    def factor(self, use="once"):
        return EigenspaceFactors(self.vectors, [part.factor(use) for part in self.parts])

    @cached_property
    def norm(self) -> float:
        return max((part.norm for part in self.parts), default=0.0)


def _part(gram, value):
    """The map in one eigenspace, or in several that share a kernel."""
    return SeparableTerm(gram.times(value)) if np.ndim(value) == 0 else SeparableTerm(gram, np.diag(value))


@dataclass(frozen=True)
class EigenspaceFactors(Factors):
    """Factors for each eigenspace of the operator; in its null space the map is zero."""

    vectors: list
    parts: list[Factors]

    @property
    def serves_all_penalties(self):
        return all(part.serves_all_penalties for part in self.parts)

    def solve(self, R, shift, penalty):
        out = R / shift
        for E, part in zip(self.vectors, self.parts, strict=True):
            T = R @ E
            out += (part.solve(T, shift, penalty) - T / shift) @ E.T
        return out

    def loo_residuals(self, T, shift, root, penalties, rows=None):
        rest = T / root - (0.0 if shift is None else shift)
        rest = rest if rows is None else rest[rows]
        paths = [
            part.loo_residuals(T @ E, None if shift is None else shift @ E, root, penalties, rows)
            for E, part in zip(self.vectors, self.parts, strict=True)
        ]
        for _ in penalties:
            residuals = rest.copy()
            for E, path in zip(self.vectors, paths, strict=True):
                residuals += (next(path) - rest @ E) @ E.T
            yield residuals
