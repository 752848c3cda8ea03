"""p-norms of rows written out, rows and measures to try them on, and minima by Clarabel."""

import warnings

import cvxpy as cp
import numpy as np
import pytest

from helpers.losses_by_hand import BY_HAND
from hilbertlearn.losses import EpsilonInsensitive, Huber

INF = np.inf
TIGHT = {"solver": "CLARABEL", "tol_gap_abs": 1e-12, "tol_gap_rel": 1e-12, "tol_feas": 1e-12}
MEASURES = {"plain": None, "measure": np.array([0.05, 0.3, 0.1, 0.35, 0.2])}
measures = pytest.mark.parametrize("measure", MEASURES.values(), ids=MEASURES.keys())
P = [1, 1.1, 1.25, 1.5, 2, 3, 7, 11, INF]
every_p = pytest.mark.parametrize("p", P)
ALL_LOSSES = [loss for loss, *_ in BY_HAND] + [
    loss for p in P for loss in (Huber(0.7, p), EpsilonInsensitive(0.4, p), EpsilonInsensitive(3.0, p))
]


def exponents(p):
    """Weights t with ||a||_p = ||t a||_p of the usual p-norm: sum_j m_j |a_j / sqrt(m_j)|^p."""
    return (0 if np.isinf(p) else 1 / p) - 1 / 2


def norm(a, p, measure):
    """Weighted p-norm of one row, written out."""
    m = np.ones(len(a)) if measure is None else measure
    v = np.abs(a) / np.sqrt(m)
    top = max(v)
    return top if np.isinf(p) or top == 0 else top * sum(m * (v / top) ** p) ** (1 / p)


def cp_norm(x, p, measure):
    m = np.ones(x.shape[0]) if measure is None else measure
    return cp.pnorm(cp.multiply(m ** exponents(p), x), p)


def rows(seed=0, d=5):
    """Rows of different sizes: inside, near and far outside of a unit ball, with zeros, and one of zeros."""
    A = np.random.default_rng(seed).normal(size=(7, d)) * np.array([0.05, 0.3, 0.6, 1, 3, 20, 0])[:, None]
    A[1, 2] = A[4, 0] = A[4, 3] = 0.0
    return A


class Minimum:
    """A problem in one row, which is compiled once and solved for many rows, as accurately as Clarabel gets it."""

    def __init__(self, objective, row, *constraints):
        self.row, self.problem = row, cp.Problem(cp.Minimize(objective), list(constraints))

    def at(self, row):
        """The least value; Clarabel warns when it is short of TIGHT."""
        self.row.value = row
        with warnings.catch_warnings(action="ignore", category=UserWarning):
            return self.problem.solve(**TIGHT)
