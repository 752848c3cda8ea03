"""Sums over samples from which the squared loss is solved: features and outputs of any number of rows, never held.

With features Z (n, r), outputs Y (n, d) around a constant c, weights w on the diagonal of D, and the operator M, the
model is ``h(x) = z(x) B M + c`` for

    s B + Z'DZ B M = Z'D (Y - c)         s = alpha sum(w)

so that ``Z'DZ``, ``Z'DY`` and a few sums determine it. They add up over parts of the rows, in any order.

The certificate needs no more than these. With the residuals of B as dual variables, primal and dual value differ by

    gap = ||(Z'D (Y - c) - Z'DZ B M - s B) M^1/2||^2 / (2 s)

the residual of that system: the products of residuals and outputs cancel.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from .._utils.linalg import Spectrum, cholesky, cholesky_solve, full_spectrum, spectrum

MOST_PATTERNS = 100  # patterns of missing rows among the outputs; each needs a matrix (r, r)
_REFINEMENTS = 3  # iterative refinements of a solution whose gap is open
_ROUNDED = 8 * np.finfo(float).eps  # relative rounding error of sums of squares


@dataclass(frozen=True, eq=False, kw_only=True)
class Moments:
    """Sums over rows that have an output and a positive weight; ``a + b`` are those of both.

    Outputs are taken around an origin near their mean, so that a large one costs no digits. Where some outputs of a
    row are not observed, each output has the rows that it was observed in, and outputs with the same ones share
    what is summed of the features: a pattern. Arrays are not to be written to.
    """

    origin: np.ndarray  # (d,)
    pattern: np.ndarray  # (d,) of each output
    n_rows: int  # that count
    total: float  # sum of their weights
    square: float  # sum of w ||z||^2
    weight: np.ndarray  # (p,) sums of the weights, of each pattern
    ZZ: Sequence[np.ndarray]  # p arrays (r, r), sums of w z z'
    Z: np.ndarray  # (p, r) sums of w z
    ZY: np.ndarray  # (r, d) sums of w z (y - origin)
    Y: np.ndarray  # (d,) sums of w (y - origin)
    YY: np.ndarray  # (d,) sums of w (y - origin)^2

    @classmethod
    def empty(cls, n_features, origin) -> Moments:
        """Moments of no rows."""
        r, d = n_features, len(origin)
        return cls(
            origin=np.asarray(origin, dtype=float),
            pattern=np.zeros(d, dtype=int),
            n_rows=0,
            total=0.0,
            square=0.0,
            weight=np.zeros(1),
            ZZ=[np.zeros((r, r))],
            Z=np.zeros((1, r)),
            ZY=np.zeros((r, d)),
            Y=np.zeros(d),
            YY=np.zeros(d),
        )

    @classmethod
    def from_rows(cls, Z, Y, weights, origin) -> Moments:
        """Moments of rows with features Z (n, r), outputs Y (n, d), NaN where not observed, and weights (n,) or None.

        Z is read a few times and copied where there are weights: give as many rows as fit beside each other.
        """
        observed = np.isfinite(Y)
        used, complete = observed.any(axis=1), observed.all(axis=1)
        used = used if weights is None else used & (weights > 0)
        if not used.all():
            Z, Y, observed, complete = Z[used], Y[used], observed[used], complete[used]
            weights = None if weights is None else weights[used]
        if weights is not None and (weights == 1).all():
            weights = None
        values = np.where(observed, Y - origin, 0.0)
        pattern, masks = np.zeros(len(origin), dtype=int), np.ones((len(Z), 1), dtype=bool)
        if not complete.all():
            masks, pattern = np.unique(observed, axis=1, return_inverse=True)
            pattern = np.asarray(pattern).ravel()
            check_patterns(masks.shape[1])
        mask_weights = masks.astype(float) if weights is None else masks * weights[:, None]
        roots = Z if weights is None else np.sqrt(weights)[:, None] * Z
        complete_roots = roots if complete.all() else roots[complete]
        shared = np.asarray(complete_roots.T @ complete_roots, dtype=float)
        ZZ, square = [shared], float(shared.trace())
        if not complete.all():
            part, gaps = roots[~complete], masks[~complete]
            square += float(np.vdot(part, part))
            ZZ = [shared + (rows := part[gaps[:, k]]).T @ rows for k in range(masks.shape[1])]
        weighted = values if weights is None else weights[:, None] * values
        return cls(
            origin=np.asarray(origin, dtype=float),
            pattern=pattern,
            n_rows=len(Z),
            total=float(len(Z) if weights is None else weights.sum()),
            square=square,
            weight=mask_weights.sum(axis=0),
            ZZ=ZZ,
            Z=mask_weights.T @ Z,
            ZY=Z.T @ weighted,
            Y=weighted.sum(axis=0),
            YY=np.einsum("ij,ij->j", weighted, values),
        )

    @property
    def n_features(self) -> int:
        return self.ZY.shape[0]

    @property
    def n_outputs(self) -> int:
        return self.ZY.shape[1]

    @property
    def has_gaps(self) -> bool:
        return len(self.ZZ) > 1

    def __add__(self, other: Moments) -> Moments:
        return self._add(other, np.add)

    def __iadd__(self, other: Moments) -> Moments:
        """As ``a + b``, in the memory of a, whose values are lost: for sums of many."""
        return self._add(other, np.ndarray.__iadd__)

    def _add(self, other, add) -> Moments:
        if self.ZY.shape != other.ZY.shape:
            raise ValueError(
                f"moments of {self.n_features} features and {self.n_outputs} outputs cannot be added to those of "
                f"{other.n_features} and {other.n_outputs}; use the same feature map and outputs"
            )
        other = other.with_origin(self.origin)
        pairs, pattern = np.unique(np.stack([self.pattern, other.pattern]), axis=1, return_inverse=True)
        check_patterns(pairs.shape[1])
        # a pattern that splits into several needs its matrix more than once
        add_matrices = np.add if pairs.shape[1] > len(self.ZZ) else add
        return replace(
            self,
            pattern=np.asarray(pattern).ravel(),
            n_rows=self.n_rows + other.n_rows,
            total=self.total + other.total,
            square=self.square + other.square,
            weight=self.weight[pairs[0]] + other.weight[pairs[1]],
            ZZ=[add_matrices(self.ZZ[i], other.ZZ[j]) for i, j in pairs.T],
            Z=self.Z[pairs[0]] + other.Z[pairs[1]],
            ZY=add(self.ZY, other.ZY),
            Y=self.Y + other.Y,
            YY=self.YY + other.YY,
        )

    def with_origin(self, origin) -> Moments:
        """The same rows, outputs taken around another origin."""
        moved = self.origin - origin
        if not moved.any():
            return self
        mass = self.weight[self.pattern]
        return replace(
            self,
            origin=origin,
            ZY=self.ZY + self.Z[self.pattern].T * moved,
            Y=self.Y + mass * moved,
            YY=self.YY + 2 * moved * self.Y + mass * moved**2,
        )

    @property
    def mean(self):
        """Weighted mean (d,) of each output over the rows that it was observed in; NaN of those never observed."""
        mass = self.weight[self.pattern]
        return self.origin + np.divide(self.Y, mass, out=np.full_like(mass, np.nan), where=mass > 0)

    @property
    def unobserved(self):
        """Which outputs (d,) no row has observed."""
        return ~(self.weight[self.pattern] > 0)


def check_patterns(number):
    """Refuse more patterns of gaps than memory is meant for."""
    if number > MOST_PATTERNS:
        raise ValueError(
            f"y: {number} outputs or groups of them have gaps of their own, and each takes a matrix of features by "
            f"features; at most {MOST_PATTERNS} do. Fill the gaps, leave out rows that are not complete, or fit groups "
            "of outputs one after another"
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class MomentSolution:
    """The model of all rows, ``z(x) @ coefficients @ M + center``; the rows themselves are not kept."""

    alpha: float
    coefficients: np.ndarray  # (r, d)
    center: np.ndarray  # (d,)
    objective: float  # mean loss and penalty
    gap: float  # relative duality gap
    n_iter: int  # of moments: solutions with the same factors
    converged: bool
    n_rows: int  # that count
    unobserved: np.ndarray  # (d,) which coordinates no row has observed


class MomentProblem:
    """The squared loss over rows that moments are known of, for every alpha.

    M : (d, d) operator, or a Kronecker product; None for the identity; with gaps it must be diagonal
    center : whether the model is fitted around the mean of the outputs
    smoothed : linear function of means (k, d) that a model is fitted around in their place, or None
    """

    def __init__(self, moments: Moments, M=None, center=True, smoothed=None):
        if not moments.n_rows:
            raise ValueError(
                "y has no observed entry with a positive weight, it contains only NaN; "
                "give at least one sample with an output"
            )
        if moments.has_gaps and not is_diagonal(M):
            raise ValueError(
                "y has gaps in some outputs, which operator= mixes: that has no formula from moments; fill the gaps, "
                "leave out rows that are not complete, use a diagonal operator or None, or fit in memory"
            )
        self.moments, self.M, self.smoothed = moments, M, smoothed
        mean = moments.mean if center else np.zeros(moments.n_outputs)
        self.center = mean if smoothed is None or not center else smoothed(mean[None])[0]
        self.centered = center

    @cached_property
    def blocks(self) -> list[PatternProblem]:
        """For each pattern of gaps a problem of its own."""
        m, moved = self.moments, np.nan_to_num(self.center - self.moments.origin)
        P = m.ZY - m.Z[m.pattern].T * moved
        YY = m.YY - 2 * moved * m.Y + m.weight[m.pattern] * moved**2
        out = []
        for k, G in enumerate(m.ZZ):
            columns = np.flatnonzero(m.pattern == k)
            M = self.M if self.M is None or len(columns) == m.n_outputs else self.M[np.ix_(columns, columns)]
            out.append(PatternProblem(columns, G, P[:, columns], float(YY[columns].sum()), M))
        return out

    @property
    def scale(self) -> float:
        """The scale of alpha: the mean of k(x, x) times the norm of the operator."""
        size = 1.0 if self.M is None else float(spectrum(self.M).values[-1:].sum())
        return self.moments.square / self.moments.total * size

    def solve(self, alpha, tol=1e-6, path=False) -> MomentSolution:
        """The model for one alpha, refined while its gap is open; path : whether other alphas follow."""
        s, d = alpha * self.moments.total, self.moments.n_outputs
        for block in self.blocks:
            block.factor(s, path)
        B = np.zeros((self.moments.n_features, d))
        for n_iter in range(1, _REFINEMENTS + 2):
            primal = gap = 0.0
            for block in self.blocks:
                change = block.change(B[:, block.columns], s)
                B[:, block.columns] += change
                values = block.values(B[:, block.columns], s)
                primal, gap = primal + values[0], gap + values[1]
            relative = gap / max(primal, np.finfo(float).tiny) if gap > 0 else 0.0
            if relative <= tol or n_iter > _REFINEMENTS:
                break
        return MomentSolution(
            alpha=alpha,
            coefficients=B,
            center=self.center,
            objective=primal / self.moments.total,
            gap=relative,
            n_iter=n_iter,
            converged=relative <= tol,
            n_rows=self.moments.n_rows,
            unobserved=self.moments.unobserved,
        )


class PatternProblem:
    """The problem ``s B + G B M = P`` of the outputs with one pattern of gaps, `columns` of all."""

    def __init__(self, columns, G, P, square, M):
        self.columns, self.G, self.P, self.square, self.M = columns, G, P, square, M
        self._factor: Any = None
        self._pairs: Spectrum | None = None

    @property
    def pairs(self) -> Spectrum:
        """Eigenpairs of G."""
        if self._pairs is None:
            self._pairs = full_spectrum(self.G)
        return self._pairs

    @cached_property
    def operator(self) -> Spectrum | None:
        """Eigenpairs of M, None for the identity."""
        return None if self.M is None else spectrum(self.M)

    def factor(self, s, path):
        """Prepare for a penalty s; path : whether others follow."""
        self._factor = None
        if self.operator is None and not path and self._pairs is None:
            with suppress(np.linalg.LinAlgError):  # rounding made G indefinite: the eigenbasis leaves those pairs out
                self._factor = cholesky(self.G, s)

    def apply(self, B, s):
        """``s B + G B M``."""
        return s * B + self.G @ (B if self.M is None else B @ self.M)

    def change(self, B, s):
        """The correction of B."""
        R = self.P - self.apply(B, s) if B.any() else self.P
        if self._factor is not None:
            return cholesky_solve(self._factor, R)
        (lam, V), M = self.pairs, self.operator
        R = R if M is None else R @ M.vectors
        C = V.T @ R
        gamma = np.ones(1) if M is None else M.values
        # pairs that were left out have eigenvalues that are nothing beside s, or beside rounding
        change = (R - V @ C) / s + V @ (C / (s + np.multiply.outer(lam, gamma)))
        return change if M is None else change @ M.vectors.T

    def values(self, B, s) -> tuple[float, float]:
        """Primal value, from below where it is lost in rounding, and duality gap, both times the sum of weights."""
        BM = B if self.M is None else B @ self.M
        R = self.P - s * B - self.G @ BM
        norm = s / 2 * float(np.vdot(B, BM))
        # half the squared residuals: those of outputs less 2 <BM, P> - <BM, G BM>
        loss = self.square / 2 - float(np.vdot(BM, self.P + R + s * B)) / 2
        squares = R**2 if self.operator is None else (R @ self.operator.vectors) ** 2 * self.operator.values
        return max(loss - _ROUNDED * self.square, 0.0) + norm, float(squares.sum()) / (2 * s)


def is_diagonal(M) -> bool:
    """Whether an operator does not mix outputs."""
    return M is None or (isinstance(M, np.ndarray) and not (M - np.diag(M.diagonal())).any())
