"""The squared loss in closed form: solutions, and leave-one-out residuals for a whole path of penalties."""

from __future__ import annotations

import numpy as np
import scipy.linalg

from ..problem import PerDirection, Separable
from .linear_step import cholesky, solve_once, symmetric_inverse
from .solution import Solution

_REFINEMENTS = 3
_EPS = np.finfo(float).eps
_BLOCK_COLUMNS = 1000  # of the products that several penalties share


def solve(problem, *, tol=1e-6, **_) -> Solution:
    """Dual variables ``c A + K A M / s = Y`` of one term, everything observed; refined while the gap is open.

    Eigenbases lose about ||K|| / s digits, and each refinement with the same factors wins some back.
    """
    c = problem.loss.curvature
    A = solve_once(problem.direct, problem.penalty, problem.Y, c)
    F = fitted(problem, A)
    history = [problem.gap(A, F)]
    while history[-1] > tol and len(history) <= _REFINEMENTS:
        A = A + solve_once(problem.direct, problem.penalty, problem.Y - c * A - F, c)
        F = fitted(problem, A)
        history.append(problem.gap(A, F))
    return Solution(A, history[-1], len(history), history[-1] <= tol, history)


def fitted(problem, A):
    """Fitted values of A, by the BLAS that factored K: waking up numpy's threads costs as much as the product."""
    term = problem.separable
    if term is None or term.M is not None or term.factored:
        return problem.fitted(A)
    return scipy.linalg.blas.dgemm(1 / problem.penalty, term.K.T, A)  # K is symmetric, its transpose in LAPACK's order


def leave_one_out(term: Separable | PerDirection, Y, penalties, *, center=False, weights=None):
    """Leave-one-out residuals of the squared loss for each penalty s = alpha * sum(w); yields (s, residuals (n, d)).

    Brouard et al. 2016, section 4, for every M: in the eigenbasis of M, residual / (1 - leverage), with s held fixed
    when a sample is left out. With ``center`` the model is fitted to ``Y - mean`` and the mean is that of the other
    samples: by linearity in the targets its exact effect needs the residuals of one more column, of ones.

    Parameters
    ----------
    term : K (n, n), scaled by sqrt(w) on both sides when there are weights, and M
    Y : (n, d) coordinates, neither centred nor scaled
    """
    if isinstance(term, PerDirection):
        yield from _by_direction(term, Y, penalties, center, weights)
        return
    root = np.ones((len(Y), 1)) if weights is None else np.sqrt(weights)[:, None]
    E = None if term.M is None else term.operator_spectrum.vectors
    mean = root[:, 0] ** 2 @ Y / (root**2).sum() if center else np.zeros(Y.shape[1])
    others = _mean_of_others(Y, root[:, 0] ** 2) if center else mean  # of the rest, for each sample
    T = root * _rotated(Y - mean, E)
    shift = _rotated(others - mean, E)
    penalties = np.asarray(penalties, dtype=float)
    inverse = shifted_inverse(term.K, penalties[0]) if E is None and len(penalties) == 1 and not term.factored else None
    if inverse is not None:
        residuals = penalties[0] * (inverse @ T - shift * (inverse @ root))
        yield penalties[0], residuals / (root * np.maximum(penalties[0] * np.diag(inverse)[:, None], _EPS))
        return
    lam, Q = term.input_spectrum
    gam = np.ones(1) if E is None else term.operator_spectrum.values
    coefficients = Q.T @ T
    ratios = np.divide.outer(penalties, gam)  # the shrinkage of eigenvalue lam is lam / (lam + s / gam)
    leverage = _SmoothInPenalty(Q**2, lam, ratios)
    ones = _SmoothInPenalty(Q * (Q.T @ root[:, 0]), lam, ratios)
    block = max(1, _BLOCK_COLUMNS // max(T.shape[1], 1))
    for start in range(0, len(penalties), block):
        t = ratios[start : start + block]  # (b, r_M); b penalties share one product
        W = lam[:, None, None] / (lam[:, None, None] + t)
        W = W * coefficients[:, None, :]  # (r_K, b, d)
        fitted = (Q @ W.reshape(len(lam), len(t) * T.shape[1])).reshape(len(Y), len(t), T.shape[1])
        residuals = T[:, None, :] - fitted
        if center:
            residuals -= shift[:, None, :] * (root[:, :, None] - ones(t))
        residuals /= root[:, :, None] * np.maximum(1 - leverage(t), _EPS)
        for i, s in enumerate(penalties[start : start + block]):
            # directions that M drops are predicted by the mean alone
            rest = Y - others if E is not None and E.shape[1] < E.shape[0] else None
            yield float(s), _rotated_back(residuals[:, i], E, rest)


def _by_direction(term: PerDirection, Y, penalties, center, weights):
    """Leave-one-out residuals in each eigenspace of the operator; those it drops are predicted by the mean alone."""
    rest = Y - _mean_of_others(Y, np.ones(len(Y)) if weights is None else weights) if center else Y
    parts = [
        leave_one_out(part, Y @ E, penalties, center=center, weights=weights)
        for part, E in zip(term.parts, term.vectors, strict=True)
    ]
    for s in penalties:
        residuals = rest.copy()
        for part, E in zip(parts, term.vectors, strict=True):
            residuals += (next(part)[1] - rest @ E) @ E.T
        yield float(s), residuals


class _SmoothInPenalty:
    """``P @ (lam / (lam + t))`` for many t, P (n, r): an analytic function of log t.

    Chebyshev interpolation in log t is exact to rounding with six nodes a unit of log t (the poles are at distance pi
    from the real line), so that thousands of values of t cost about as much as a hundred.
    """

    def __init__(self, P, lam, ratios):
        self.P, self.lam = P, lam
        low, high = (np.log(ratios.min()), np.log(ratios.max())) if ratios.size else (0.0, 0.0)
        number = int(12 + 6.5 * (high - low))
        self.nodes = None
        if ratios.size > 2 * number:
            angles = np.pi * np.arange(number + 1) / number
            self.nodes = (low + high) / 2 + (high - low) / 2 * np.cos(angles)
            self.signs = np.where(np.arange(number + 1) % 2, -1.0, 1.0)
            self.signs[[0, -1]] *= 0.5
            self.values = P @ (lam[:, None] / (lam[:, None] + np.exp(self.nodes)))

    def __call__(self, t):
        """Values (n, *t.shape), or (n, b, 1) broadcast over directions when M is the identity."""
        flat = t.ravel()
        if self.nodes is None:
            return (self.P @ (self.lam[:, None] / (self.lam[:, None] + flat))).reshape(len(self.P), *t.shape)
        distance = np.subtract.outer(np.log(flat), self.nodes)
        exact = distance == 0
        distance[exact] = 1.0
        weights = self.signs / distance  # barycentric formula
        at_node = exact.any(axis=1)
        weights[at_node] = exact[at_node]
        weights /= weights.sum(axis=1, keepdims=True)
        return (self.values @ weights.T).reshape(len(self.P), *t.shape)


def shifted_inverse(K, s):
    """``(K + s I)^-1`` (n, n), several times cheaper than eigenvectors; None where rounding made K indefinite."""
    try:
        return symmetric_inverse(cholesky(K, s))
    except np.linalg.LinAlgError:
        return None


def _rotated(Y, E):
    return Y if E is None else Y @ E


def _rotated_back(residuals, E, rest):
    if E is None:
        return residuals
    return residuals @ E.T if rest is None else rest + (residuals - rest @ E) @ E.T


def _mean_of_others(Y, weights):
    """Mean of the rows of Y without row i, for each i; a single sample has no others, so its own stays."""
    total = weights.sum()
    rest = total - weights
    alone = rest <= total * 1e-14
    return (weights @ Y - weights[:, None] * Y * ~alone[:, None]) / np.where(alone, total, rest)[:, None]
