"""What every linear map of the problem is, and what its factors are.

A `Term` is the map ``A -> sum_j K(x_i, x_j) a_j`` of an operator-valued kernel K on dual variables A (n, d). Three
methods say what it is; the rest is derived from them, or said by those that can do better. A term holds no factors:
`Term.factor` makes them, and whoever paid for them passes them on.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

ONCE, ITERATIONS, PATH = "once", "iterations", "path"  # what factors are for: one system, many, many penalties


def dense_factor_cost(n, operator, use) -> float:
    """Multiply-adds for a matrix (n, n): a Cholesky factor, an inverse, or with an operator an eigendecomposition."""
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
    loo_formula: str | None = None  # what its factors give in closed form: leave-one-out "residuals", or whole "models"

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
        """The map for that alpha: a graph's penalty changes the kernel with it."""
        return self

    @property
    def unsampled(self) -> Term:
        """The map on coordinates behind one on values that are seen at points."""
        return self

    def coordinates(self, A):
        """Coefficients (n, d) in coordinates of the output space, from dual variables."""
        return A

    def expand(self, C):
        """Coefficients (N, d) of the kernel at the N samples that predictions are made from."""
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
        """The same kernel of the inputs with another operator."""
        raise TypeError(f"{type(self).__name__} has no operator of its own")

    def with_gram(self, gram) -> Term:
        """The same map with the kernel's values in another form, or without them (None)."""
        raise TypeError(f"{type(self).__name__} is not made of a Gram matrix")

    def take(self, rows) -> Term:
        """The map of some of the samples."""
        raise TypeError(f"{type(self).__name__} cannot be cut to some of its samples")

    def weights_from(self, penalty):
        """What turns features of new points into ridge weights of the samples (r, n), where M is the identity."""
        raise TypeError(f"{type(self).__name__} is not made of features")

    def margin_gram(self, Y):
        """``<y_i, K(x_i, x_j) y_j>``, shape (n, n)."""
        raise TypeError(f"{type(self).__name__} has no margins")

    def factor(self, use=ONCE) -> Any:
        """What solves systems with the map; None where ``inversion`` is."""
        return None

    def factor_cost(self, n, use=ONCE) -> float:
        """About how many multiply-adds ``factor(use)`` takes with n samples."""
        return dense_factor_cost(n, self.M is not None, use)

    def step_cost(self, n, d) -> float:
        """About how many multiply-adds a product with the map takes, or half a solution by its factors."""
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
        """Factors of a map near this one, for conjugate gradients."""
        return self.factor(ITERATIONS)

    def as_separable(self):
        """Itself where it is ``A -> K A M``, else None."""
        return None

    @property
    def norm(self) -> float:
        """Largest eigenvalue, from above up to a few per cent; who takes steps by it notices when it is short."""
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
        """Shape (n, d) of what the map is applied to."""
        raise TypeError(f"{type(self).__name__} takes any number of columns")

    @property
    def scale(self) -> float:
        """What alpha times the sum of weights is to be compared with, the same for repeated and weighted samples."""
        return self.norm


class Factors(ABC):
    """Solves ``shift X + map(X) / s = R`` again and again, for the map of one term."""

    every_penalty = False  # whether other shifts and penalties cost no factorisation

    @abstractmethod
    def solve(self, R, shift, penalty):
        """X (n, d) for R (n, d) and s = penalty."""

    def solve_expanded(self, R, shift, penalty):
        """``solve``, and with it ``Term.expand(X / s)``, where that has more digits than made of X; else None."""
        return self.solve(R, shift, penalty), None

    def with_operator(self, M) -> Factors | None:
        """The same with another operator, None where that takes as long as new ones."""
        return None

    def detached(self, shift, penalty) -> Factors:
        """Factors for that shift and penalty alone that hold nothing else."""
        return self

    def without_mask(self) -> Factors:
        """Those of ``Term.without_mask``."""
        return self

    def fitted(self, problem, A):
        """Fitted values of A, by the BLAS that the factors came from."""
        return problem.fitted(A)

    def loo_residuals(self, T, shift, root, penalties, rows=None):
        """Yield residuals (n, d) for each penalty, of samples left out one at a time, with the penalty held fixed.

        T : (n, d) targets, multiplied by ``root``
        shift : (n, d) what the targets of the others change by when sample i is left out, None for nothing
        root : (n, 1) square roots of the sample weights, by which the map is scaled
        rows : which samples' residuals are wanted, increasing; None for all
        """
        raise TypeError(f"{type(self).__name__} has no formula for samples left out")

    def influence(self, G, root, penalty, rows=None):
        """How predictions at m points depend on the targets, one pair for each eigenvalue of M, in that eigenbasis.

        Yields W (m, n), or its columns `rows`, and ``W @ root`` (m,): predictions are W @ T for targets T (n, r_M).

        G : (m, N) kernel values, or features, that predictions are made from, not scaled
        root, rows : as in ``loo_residuals``
        """
        raise TypeError(f"{type(self).__name__} does not say how predictions depend on the targets")

    def loo_changes(self, G, residuals, shift, root, penalty, rows=None):
        """What predictions at m points change by when samples are left out one at a time, (m, n, d) or at `rows`.

        Without sample i the model is that of all with its target replaced by its prediction without it, around the
        constant that moves by ``shift``: ``shift_i (1 - W root) - W_i root_i residual_i``, in each direction of M.

        G, root, penalty : as in ``influence``
        residuals : (n, d) those of ``loo_residuals``, NaN where not observed
        shift, rows : as in ``loo_residuals``
        """
        own = slice(None) if rows is None else rows
        pulled, E = root[own] * np.nan_to_num(residuals[own]), self.output_basis
        moved = None if shift is None else shift[own]
        if E is None:
            ((W, total),) = self.influence(G, root, penalty, rows)
            out = -W[:, :, None] * pulled
            if moved is not None:
                out += (1 - total)[:, None, None] * moved
            return out
        inside = np.empty((len(G), len(pulled), E.shape[1]))
        along, moves = pulled @ E, None if moved is None else moved @ E
        for g, (W, total) in enumerate(self.influence(G, root, penalty, rows)):
            np.multiply(W, -along[:, g], out=inside[:, :, g])
            if moves is not None:
                inside[:, :, g] -= np.multiply.outer(total, moves[:, g])  # the shift itself is added below
        out = (inside.reshape(-1, E.shape[1]) @ E.T).reshape(len(G), len(pulled), -1)
        if moved is not None:
            out += moved
        return out

    def residual_map(self, penalty, rows):
        """What is left of targets by the fit, ``t (K + t)^-1`` with t = s / eigenvalue, one pair for each one of M.

        Yields its rows (b, n) there, and its diagonal (n,).
        """
        raise TypeError(f"{type(self).__name__} does not say what is left of targets")

    def pairwise_loo_residuals(self, T, shifts, root, penalty, rows):
        """Residuals (b, n, d) of every sample j left out together with each of the samples `rows`; NaN for itself.

        With H = ``residual_map`` and e = H T what remains of i and j is H_ij^-1 times e_ij, a system of two unknowns.

        T, root : as in ``loo_residuals``
        shifts : (b, n, d) what the targets of the others change by, None for nothing
        """
        E, b = self.output_basis, len(rows)
        left = self.solve(T, 1.0, penalty)
        left = left if E is None else left @ E
        along = np.ones((1, T.shape[1])) if E is None else np.ones((1, E.shape[1])) @ E.T
        ones = self.solve(root * along, 1.0, penalty)
        ones = ones if E is None else ones @ E
        moved = None if shifts is None else shifts if E is None else _rotated(shifts, E)
        out = np.empty((b, *left.shape))
        for g, (H, diagonal) in enumerate(self.residual_map(penalty, rows)):
            own = slice(None) if E is None else slice(g, g + 1)
            determinant = diagonal[rows][:, None] * diagonal - H**2
            determinant[np.arange(b), rows] = np.nan
            of_j, of_i = left[None, :, own], left[rows][:, None, own]
            if moved is not None:
                of_j = of_j - ones[None, :, own] * moved[..., own]
                of_i = of_i - ones[rows][:, None, own] * moved[..., own]
            found = diagonal[rows][:, None, None] * of_j - H[:, :, None] * of_i
            out[..., own] = found / (determinant * root[:, 0])[:, :, None]
        if E is None:
            return out
        inside = _rotated(out, E.T)
        if E.shape[1] == E.shape[0]:
            return inside
        rest = (T / root)[None] - (0.0 if shifts is None else shifts)  # directions that M drops have the constant
        return inside + rest - _rotated(_rotated(rest, E), E.T)

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
        """Factors of the separable term nearest to the sum of the separable ones."""
        from .separable import nearest_separable

        parts = [part for term in self.terms if (part := term.as_separable()) is not None]
        return nearest_separable(parts).factor(ITERATIONS) if parts else None

    @property
    def norm(self):
        return sum(term.norm for term in self.terms)

    @property
    def scale(self):
        return sum(term.scale for term in self.terms)
