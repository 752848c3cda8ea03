"""The squared loss in closed form: solutions, and leave-one-out residuals for a whole path of penalties."""

from __future__ import annotations

import numpy as np

from ..problem import Separable
from .linear_step import linear_step
from .solution import Solution

_BLOCK_BYTES = 2**28  # size of the largest temporary of the batched leave-one-out


def solve(problem, **_) -> Solution:
    """Dual variables ``c A + K A M / s = Y`` of one separable term, everything observed."""
    A = linear_step(problem.separable, problem.penalty).solve(problem.Y, problem.loss.curvature)
    gap = problem.gap(A)
    return Solution(A, gap, 1, True, [gap])


def leave_one_out(term: Separable, Y, penalties, *, center=False, weights=None):
    """Leave-one-out residuals of the squared loss for each penalty s = alpha * sum(w); yields (s, residuals (n, d)).

    Brouard et al. 2016, section 4, for every M: in the eigenbasis of M, residual / (1 - leverage), with s held fixed
    when a sample is left out. With ``center`` the model is fitted to ``Y - mean`` and the mean is that of the other
    samples: by linearity in the targets its exact effect needs the residuals of one more column, of ones.

    Parameters
    ----------
    term : K (n, n), scaled by sqrt(w) on both sides when there are weights, and M
    Y : (n, d) coordinates, neither centred nor scaled
    """
    root = np.ones(len(Y)) if weights is None else np.sqrt(weights)
    lam, Q = term.input_spectrum
    E = None if term.M is None else term.operator_spectrum.vectors
    gam = np.ones(1) if term.M is None else term.operator_spectrum.values
    total = root @ root
    others = _mean_of_others(Y, root**2) if center else None
    Yc = Y - (root**2 @ Y / total if center else 0.0)
    T = root[:, None] * (Yc if E is None else Yc @ E)  # (n, r_M) in the kept directions
    shift = None if others is None else (others - (root**2 @ Y / total))
    shift = shift if shift is None or E is None else shift @ E
    QT, ones, squares = Q.T @ T, Q.T @ root, Q**2
    for s in penalties:
        W = np.multiply.outer(lam, gam) / (np.multiply.outer(lam, gam) + s)  # (r_K, r_M) shrinkage
        keep = 1 - squares @ W
        keep = np.maximum(keep, np.finfo(float).eps)
        residual = (T - Q @ (W * QT)) / keep
        if shift is not None:
            residual = residual - shift * ((root[:, None] - Q @ (W * ones[:, None])) / keep)
        residual /= root[:, None]
        if E is not None:  # directions that M drops are predicted by the mean alone
            full = Y - others if center else Y
            residual = full + (residual - full @ E) @ E.T
        yield s, residual


def _mean_of_others(Y, weights):
    """Mean of the rows of Y without row i, for each i; a single sample has no others, so its own stays."""
    total = weights.sum()
    rest = total - weights
    alone = rest <= total * 1e-14
    return (weights @ Y - weights[:, None] * Y * ~alone[:, None]) / np.where(alone, total, rest)[:, None]
