"""Base classes of terms and of their factors.

A `Term` is the map ``A -> sum_j K(x_i, x_j) a_j`` of an operator-valued kernel K on dual variables A (n, d). Three
methods are abstract; the others have defaults that subclasses override where they can do better. A term holds no
factors: the caller creates them by `Term.factor` and passes them on.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

# what factors are used for: one system, many systems with one penalty, many penalties
ONCE, ITERATIONS, PATH = "once", "iterations", "path"


def dense_factor_cost(n, operator, use) -> float:
    """Multiply-adds for a matrix (n, n): Cholesky factor (n^3 / 6), inverse (n^3 / 2), eigendecomposition (7.5 n^3)."""
    return (7.5 if operator or use == PATH else 0.5 if use == ITERATIONS else 1 / 6) * n**3


class LinearPredictor:
    """Values ``G @ coef`` at points with kernel values G (m, n) with the samples."""

    def __init__(self, coef):
        self.coef = coef

    def __call__(self, G):
        return G @ self.coef


class Term(ABC):
    """The map of an operator-valued kernel on the dual variables of n samples."""

    M = None  # the output operator (d, d), None for the identity or where there is none
    inversion: str | None = None  # how ``shift X + map(X) / s = R`` is solved: "direct", "iterative" or not at all
    loo_formula: str | None = None  # leave-one-out in closed form: "residuals", "models" (predictions too) or None

    @abstractmethod
    def apply(self, A):
        """The map at A (n, d)."""

    @abstractmethod
    def scaled(self, root_weights):
        """The map ``D map(D A)`` with D = diag(root_weights)."""

    @abstractmethod
    def predictor(self, C):
        """The function ``kernel values with the samples -> values (m, d)`` whose coefficients are C (n, d)."""

    def for_alpha(self, alpha) -> Term:
        """The map for one alpha; a graph penalty makes the kernel depend on it."""
        return self

    @property
    def unsampled(self) -> Term:
        """The map on coordinates, for a term on values at irregular points; else the term itself."""
        return self

    def coordinates(self, A):
        """Coefficients (n, d) in coordinates of the output space, from dual variables."""
        return A

    def expand(self, C):
        """Coefficients (N, d) that predictions use, from those of the n samples (n, d)."""
        return C

    def expansion_matrix(self, n):
        """The matrix (N, n) of ``expand``, None for the identity."""
        return None

    def takes_mask(self) -> bool:
        """Whether ``with_mask`` restricts the map, so that the problem needs no mask."""
        return False

    def with_mask(self, mask) -> Term:
        """The map restricted to the observed entries if ``takes_mask``, else itself."""
        return self

    def without_mask(self) -> Term:
        """The map on all entries where ``factor`` is cheaper for it: a prox under a mask keeps the others at zero."""
        return self

    @property
    def observed_entries(self):
        """The entries (n, d) that the map is restricted to, as booleans; None for all."""
        return None

    @property
    def error(self) -> float:
        """Bound on the relative error of the kernel; positive where one kernel replaces several."""
        return 0.0

    def with_operator(self, M) -> Term:
        """The same input kernel with another operator."""
        raise TypeError(f"{type(self).__name__} has no operator of its own")

    def with_gram(self, gram) -> Term:
        """The same map with another Gram matrix, or without one (None)."""
        raise TypeError(f"{type(self).__name__} is not made of a Gram matrix")

    def take(self, rows) -> Term:
        """The map of a subset of the samples."""
        raise TypeError(f"{type(self).__name__} cannot be cut to some of its samples")

    def weights_from(self, penalty):
        """The matrix (r, n) from features of new points to ridge weights of the samples, for M = I."""
        raise TypeError(f"{type(self).__name__} is not made of features")

    def margin_gram(self, Y):
        """``<y_i, K(x_i, x_j) y_j>``, shape (n, n)."""
        raise TypeError(f"{type(self).__name__} has no margins")

    def factor(self, use=ONCE) -> Any:
        """Factors that solve systems with the map; None if ``inversion`` is None."""
        return None

    def factor_cost(self, n, use=ONCE) -> float:
        """About how many multiply-adds ``factor(use)`` takes with n samples."""
        return dense_factor_cost(n, self.M is not None, use)

    def step_cost(self, n, d) -> float:
        """About how many multiply-adds a product with the map takes; a solution by factors takes twice as many."""
        return 2.0 * n**2 * d

    def iteration_costs(self, n, d) -> tuple[float, float]:
        """Multiply-adds of the factors for the iterations of a solver, and of one linear step with them."""
        return self.factor_cost(n, ITERATIONS), 2 * self.step_cost(n, d)

    def krylov(self):
        """Conjugate gradients made for this map, None where the general ones serve."""
        return None

    def krylov_cost(self, n, d) -> float | None:
        """Multiply-adds of ``krylov``, None without it."""
        return None

    def preconditioner(self) -> Factors | None:
        """Factors of an approximation of the map, for conjugate gradients."""
        return self.factor(ITERATIONS)

    def as_separable(self):
        """The term itself if it is ``A -> K A M``, else None."""
        return None

    @property
    def norm(self) -> float:
        """Upper bound on the largest eigenvalue, within a few per cent; callers correct it where it is too small."""
        A = np.random.default_rng(0).normal(size=self.shape)
        size = 0.0
        for _ in range(30):
            length = np.linalg.norm(A)
            if length == 0:
                return 0.0
            A = self.apply(A / length)
            size = float(np.linalg.norm(A))
        return 1.05 * size

    @property
    def shape(self) -> tuple[int, int]:
        """Shape (n, d) of the dual variables."""
        raise TypeError(f"{type(self).__name__} takes any number of columns")

    @property
    def scale(self) -> float:
        """The scale of alpha times the sum of weights; the same for repeated and for weighted samples."""
        return self.norm


class Factors(ABC):
    """Solves systems ``shift X + map(X) / s = R`` with the map of one term."""

    serves_all_penalties = False  # whether they serve all shifts and penalties without another factorisation

    @abstractmethod
    def solve(self, R, shift, penalty):
        """X (n, d) for R (n, d) and s = penalty."""

    def solve_expanded(self, R, shift, penalty):
        """``solve``, and ``Term.expand(X / s)`` if the factors give it more accurately than X does; else None."""
        return self.solve(R, shift, penalty), None

    def with_operator(self, M) -> Factors | None:
        """The factors for another operator; None where new factors cost as much."""
        return None

    def detached(self, shift, penalty) -> Factors:
        """Factors for one shift and penalty, without references to the term."""
        return self

    def without_mask(self) -> Factors:
        """The factors of ``Term.without_mask``."""
        return self

    def fitted(self, problem, A):
        """Fitted values of A, by the BLAS library of the factorisation."""
        return problem.fitted(A)

    def loo_residuals(self, T, shift, root, penalties, rows=None):
        """Yield leave-one-out residuals (n, d) for each penalty; the penalty is the same without the sample.

        T : (n, d) targets, multiplied by ``root``
        shift : (n, d) change of the other targets when sample i is left out (the centre moves); None for no change
        root : (n, 1) square roots of the sample weights, by which the map is scaled
        rows : increasing indices of the samples whose residuals are computed; None for all
        """
        raise TypeError(f"{type(self).__name__} has no formula for samples left out")

    def influence(self, G, root, penalty, rows=None):
        """Yield the weights of the targets in predictions at m points, one pair for each eigenvalue of M.

        A pair is W (m, n), or its columns `rows`, and ``W @ root`` (m,): in the eigenbasis of M, predictions are W @ T
        for targets T (n, r_M).

        G : (m, N) kernel values or features of the points, not scaled
        root, rows : as in ``loo_residuals``
        """
        raise TypeError(f"{type(self).__name__} does not say how predictions depend on the targets")

    def loo_changes(self, G, residuals, shift, root, penalty, rows=None):
        """Changes (m, n, d) of predictions at m points when samples are left out one at a time.

        The model without sample i equals the model of all samples with the target i replaced by its leave-one-out
        prediction, and the constant moved by ``shift``: ``shift_i (1 - W root) - W_i root_i residual_i`` in each
        eigendirection of M.

        G, root, penalty : as in ``influence``
        residuals : (n, d) result of ``loo_residuals``, NaN where missing
        shift, rows : as in ``loo_residuals``
        """
        left_out = slice(None) if rows is None else rows
        changes, E = root[left_out] * np.nan_to_num(residuals[left_out]), self.output_basis  # of the targets
        shifts = None if shift is None else shift[left_out]
        if E is None:
            ((W, total),) = self.influence(G, root, penalty, rows)
            out = -W[:, :, None] * changes
            if shifts is not None:
                out += (1 - total)[:, None, None] * shifts
            return out
        rotated_changes = np.empty((len(G), len(changes), E.shape[1]))
        rotated, rotated_shifts = changes @ E, None if shifts is None else shifts @ E
        for g, (W, total) in enumerate(self.influence(G, root, penalty, rows)):
            np.multiply(W, -rotated[:, g], out=rotated_changes[:, :, g])
            if rotated_shifts is not None:
                # the shift itself is added below
                rotated_changes[:, :, g] -= np.multiply.outer(total, rotated_shifts[:, g])
        out = (rotated_changes.reshape(-1, E.shape[1]) @ E.T).reshape(len(G), len(changes), -1)
        if shifts is not None:
            out += shifts
        return out

    def residual_map(self, penalty, rows):
        """Yield the matrix ``t (K + t)^-1`` from targets to residuals, t = s / eigenvalue, for each eigenvalue of M.

        A pair is some of its rows (b, n), and its diagonal (n,).
        """
        raise TypeError(f"{type(self).__name__} has no map from targets to residuals")

    def pairwise_loo_residuals(self, T, shifts, root, penalty, rows):
        """Residuals (b, n, d) of every sample j when it is left out together with each of `rows`; NaN for i = j.

        With H = ``residual_map`` and e = H T, the residuals of i and j solve a system of two unknowns,
        ``H[ij, ij]^-1 e[ij]``.

        T, root : as in ``loo_residuals``
        shifts : (b, n, d) changes of the other targets, None for no change
        """
        E, b = self.output_basis, len(rows)
        residuals = self.solve(T, 1.0, penalty)
        residuals = residuals if E is None else residuals @ E
        constants = np.ones((1, T.shape[1])) if E is None else np.ones((1, E.shape[1])) @ E.T
        ones = self.solve(root * constants, 1.0, penalty)
        ones = ones if E is None else ones @ E
        rotated_shifts = None if shifts is None else shifts if E is None else _rotated(shifts, E)
        out = np.empty((b, *residuals.shape))
        for g, (H, diagonal) in enumerate(self.residual_map(penalty, rows)):
            directions = slice(None) if E is None else slice(g, g + 1)
            determinant = diagonal[rows][:, None] * diagonal - H**2
            determinant[np.arange(b), rows] = np.nan
            residual_j, residual_i = residuals[None, :, directions], residuals[rows][:, None, directions]
            if rotated_shifts is not None:
                residual_j = residual_j - ones[None, :, directions] * rotated_shifts[..., directions]
                residual_i = residual_i - ones[rows][:, None, directions] * rotated_shifts[..., directions]
            numerator = diagonal[rows][:, None, None] * residual_j - H[:, :, None] * residual_i
            out[..., directions] = numerator / (determinant * root[:, 0])[:, :, None]
        if E is None:
            return out
        inside = _rotated(out, E.T)
        if E.shape[1] == E.shape[0]:
            return inside
        # in the null space of M predictions are the constant
        deviations = (T / root)[None] - (0.0 if shifts is None else shifts)
        return inside + deviations - _rotated(_rotated(deviations, E), E.T)

    @property
    def output_basis(self):
        """Eigenvectors (d, r_M) of M, None for the identity."""
        return None


def _rotated(values, E):
    """Values (..., d) times E (d, r), which may be a Kronecker product."""
    return (values.reshape(-1, values.shape[-1]) @ E).reshape(*values.shape[:-1], -1)


class SumTerm(Term):
    """The sum of several terms."""

    def __init__(self, terms):
        self.terms = tuple(terms)

    def apply(self, A):
        return sum(term.apply(A) for term in self.terms)

    def scaled(self, root_weights):
        return SumTerm(term.scaled(root_weights) for term in self.terms)

    def predictor(self, C):
        raise TypeError("each term of a sum has a predictor, of its own kernel's values")

    def margin_gram(self, Y):
        return sum(term.margin_gram(Y) for term in self.terms)

    def take(self, rows):
        return SumTerm(term.take(rows) for term in self.terms)

    def preconditioner(self):
        """Factors of the separable term that is nearest to the sum of the separable parts."""
        from .separable import nearest_separable

        parts = [part for term in self.terms if (part := term.as_separable()) is not None]
        return nearest_separable(parts).factor(ITERATIONS) if parts else None

    @property
    def norm(self):
        return sum(term.norm for term in self.terms)

    @property
    def scale(self):
        return sum(term.scale for term in self.terms)
