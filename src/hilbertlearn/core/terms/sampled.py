"""Functions observed at irregular points: there is one dual variable for each value."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from .base import Factors, Term
from .separable import SeparableTerm

# values up to which their Gram matrix, 200 MB, is factored, which takes as long as some hundred iterations
_MAX_DIRECT = 5000


class SampledTerm(Term):
    """A separable term on values (n, m) at the points of each sample: ``B -> S (K (S' B) M)``, S the sampling."""

    def __init__(self, term, sampling):
        self.term, self.sampling = term, sampling

    @property
    def M(self):
        return self.term.M

    @property
    def unsampled(self):
        return self.term

    @property
    def inversion(self):
        """Few values have a factorisation of the Gram matrix between them, many are solved for by iterations."""
        if self.term.as_separable() is None:
            return None
        return "direct" if int(self.sampling.observed.sum()) <= _MAX_DIRECT else "iterative"

    def apply(self, B):
        return self.sampling.push(self.term.apply(self.sampling.pull(B)))

    def predictor(self, C):
        return self.term.predictor(C)

    def coordinates(self, A):
        return self.sampling.pull(A)

    @property
    def observed_entries(self):
        return self.sampling.observed.reshape(self.sampling.n, self.sampling.m)

    def expand(self, C):
        return self.term.expand(C)

    def expansion_matrix(self, n):
        return self.term.expansion_matrix(n)

    def scaled(self, root_weights):
        return SampledTerm(self.term.scaled(root_weights), self.sampling)

    def take(self, rows):
        return SampledTerm(self.term.take(rows), self.sampling.take(rows))

    def factor(self, use="once"):
        if self.inversion == "direct":
            return ScatteredFactors(self.sampling.observed, self.by_value.factor(use))
        return self.krylov()

    def factor_cost(self, n, use="once"):
        return float(self.sampling.observed.sum()) ** 3 / 6  # of the Gram matrix between values

    def iteration_costs(self, n, d):
        """One matrix between all values, or conjugate gradients, about 50 iterations of 2 n^2 d, in each step."""
        if self.inversion is None:
            return super().iteration_costs(n, d)
        values = float(self.sampling.observed.sum())
        return (values**3 / 2, values**2) if self.inversion == "direct" else (values**3 / 6, 100.0 * n**2 * d)

    def krylov(self):
        return None if self.inversion is None else KrylovFactors(self)

    def krylov_cost(self, n, d):
        """About 250 iterations of 2 n^2 d."""
        return None if self.inversion is None else 500.0 * n**2 * d

    @cached_property
    def by_value(self) -> SeparableTerm:
        """The same map on the observed values (N, 1), with a Gram matrix (N, N) between them; a path shares it."""
        R, samples = self.sampling.dense, np.flatnonzero(self.sampling.observed) // self.sampling.m
        gram = R @ R.T if self.M is None else (R @ self.M) @ R.T
        gram *= self.term.K[np.ix_(samples, samples)]
        return SeparableTerm(gram)

    @cached_property
    def norm(self) -> float:
        return self.term.norm * self.sampling.norm

    @property
    def scale(self) -> float:
        return self.term.scale


@dataclass(frozen=True)
class ScatteredFactors(Factors):
    """Factors of a map on some entries of arrays (n, m); on the others the map is zero."""

    observed: np.ndarray  # (n m,) mask of the entries
    inner: Factors  # factors of the map on columns (N, 1)

    @property
    def serves_all_penalties(self):
        return self.inner.serves_all_penalties

    def solve(self, R, shift, penalty):
        X = R.ravel() / shift
        X[self.observed] = self.inner.solve(R.ravel()[self.observed][:, None], shift, penalty)[:, 0]
        return X.reshape(R.shape)


class KrylovFactors(Factors):
    """Solves ``shift X + S K S' X M / s = R`` for values X, R (n, m) by conjugate gradients from the last solution.

    With ``P = sqrt(K x M / s)`` in the eigenbases of K and M, ``X = (R - S P U) / shift`` where U (r_K, r_M) solves
    ``(shift + P S' S P) U = P S' R``. The preconditioner is the same system with the block ``S_i' S_i`` of each sample
    replaced by the mean of all blocks, which is diagonal in known bases.
    """

    def __init__(self, term: SampledTerm):
        inner, self.sampling = term.term, term.sampling
        self.values, self.Q = inner.gram.spectrum()
        if inner.M is None:
            self.L = np.eye(self.sampling.d)
        else:
            gamma, E = inner.operator_spectrum
            self.L = np.asarray(E) * np.sqrt(gamma)  # M = L L'
        self.mu, self.V = np.linalg.eigh(self.L.T @ self.sampling.mean_gram() @ self.L)
        self.U, self.n_iter = np.zeros((len(self.values), len(self.mu))), 0

    def start(self, X, penalty):
        """Start at the solution X of a similar system."""
        self.U = self._adjoint(X, penalty)

    def solve(self, R, shift, penalty, *, error=1e-9, max_iter=1000):
        """X with ``||X - X*|| <= error ||R|| / shift``; the residual of the system in U bounds the error."""
        eigenvalues = np.multiply.outer(self.values / penalty, np.maximum(self.mu, 0.0))
        goal = error**2 * shift * np.vdot(R, R)
        U, rest = self.U, R - self._values(self.U, penalty)
        residual = self._adjoint(rest, penalty) - shift * U
        direction, rate = np.zeros_like(U), 1.0
        for _ in range(max_iter):
            if np.vdot(residual, residual) <= goal:
                break
            conjugate = (residual @ self.V / (shift + eigenvalues)) @ self.V.T
            rate, previous = np.vdot(residual, conjugate), rate
            direction = conjugate + rate / previous * direction
            values = self._values(direction, penalty)
            image = shift * direction + self._adjoint(values, penalty)
            length = rate / np.vdot(direction, image)
            U, rest, residual = U + length * direction, rest - length * values, residual - length * image
            self.n_iter += 1
        self.U = U
        return rest / shift

    def _values(self, U, penalty):
        return self.sampling.push((self.Q @ (np.sqrt(self.values / penalty)[:, None] * U)) @ self.L.T)

    def _adjoint(self, X, penalty):
        return np.sqrt(self.values / penalty)[:, None] * (self.Q.T @ (self.sampling.pull(X) @ self.L))
