"""Landmarks that move: from samples to where functions made of them fit the outputs best.

With kernel values ``K = k(X, L)`` and ``S = k(L, L)`` a model on landmarks L leaves of targets T (n, d)

    f(L) = min over C    1/2 sum_ij w_i (T - K C)_ij^2  +  1/2 sum_j s_j c_j' S c_j.

At the best coefficients the derivative of f is that of the sum with C held fixed (variable projection, Golub and
Pereyra 1973), so that a step costs a few products. Positions of the inducing inputs of sparse Gaussian processes are
learnt so (Snelson and Ghahramani 2006). f only falls; how many steps are made is the user's.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import scipy.linalg
import scipy.optimize

from .._utils.blocks import rows_at_once, slices
from ..kernels import MOVABLE, distances, profile, slope
from .landmarks import LandmarkMap, of_points

_BLOCK_ENTRIES = 2**22  # kernel values at once, 32 MB, of which there are some four
_JITTER = 1e-10  # of k(x, x), on the diagonal of S: landmarks may meet on their way


def moved(found: LandmarkMap, X, targets, weights, penalties, steps, told=None) -> LandmarkMap:
    """The map after so many quasi-Newton steps (L-BFGS) of its landmarks, which are then no samples any more.

    Parameters
    ----------
    found : of a Gaussian or smooth Matérn kernel by name, on rows of numbers
    X : (n, p) inputs
    targets : (n, d)
    weights : (n,) of the samples
    penalties : (d,), s_j above
    steps : number of steps
    told : is called after each, and stops them by returning True; None for nobody
    """
    kernel = found.kernel
    _check_movable(kernel.kernel)
    if not isinstance(X, np.ndarray):
        raise ValueError(f"Landmarks: moves are for inputs in a dense array, got {type(X).__name__}; set moves=0")
    start = np.asarray(found.X, dtype=float)
    if not len(start):
        return found
    left = _Left(
        kernel.kernel, float(kernel.rate), X.astype(float, copy=False), targets, weights, penalties, start.shape
    )
    unit = left(start.ravel())[0]
    if not unit > 0:  # nothing is left to fit
        return found
    result = scipy.optimize.minimize(
        lambda flat: tuple(part / unit for part in left(flat)),
        start.ravel(),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": steps},
        callback=None if told is None else partial(_tell, told),
    )
    return replace(of_points(kernel, result.x.reshape(start.shape)), knows_outputs=True)


def check_moves(setting, kernels):
    """Refuse names of kernels without derivatives where landmarks are to move, before anything is chosen."""
    if getattr(setting, "moves", 0):
        for kernel in kernels:
            if isinstance(kernel, str) and kernel != "auto":
                _check_movable(kernel)


def _check_movable(kernel):
    if not isinstance(kernel, str) or kernel not in MOVABLE:
        raise ValueError(
            f"Landmarks: moves are for the kernels {', '.join(MOVABLE)}, whose values have derivatives, got "
            f"{kernel!r}; set moves=0, or one of these kernels"
        )


def _tell(told, _):
    if told():
        raise StopIteration  # scipy ends with the step that was made last


@dataclass(frozen=True, eq=False)
class _Left:
    """f and its derivative, functions of the landmarks (r p,)."""

    name: str
    gamma: float
    X: np.ndarray
    targets: np.ndarray
    weights: np.ndarray
    penalties: np.ndarray
    shape: tuple[int, int]  # (r, p)

    def __call__(self, flat):
        L = flat.reshape(self.shape)
        D = distances(self.name, L)
        S = profile(self.name, D, self.gamma, symmetric=True)
        S[np.diag_indices_from(S)] += _JITTER
        root = scipy.linalg.cholesky(S, check_finite=False)
        W, C = self._coefficients(L, root)
        value = float(np.sum(self.penalties * np.einsum("ij,ij->j", W, W))) / 2
        pull = (C * self.penalties) @ C.T
        pull *= slope(self.name, D, self.gamma)
        total = pull.sum(axis=1)[:, None] * L - pull @ L
        for rows in self._blocks():
            x = self.X[rows]
            D = distances(self.name, x, L)
            R = self.targets[rows] - profile(self.name, D, self.gamma) @ C
            forces = self.weights[rows, None] * R
            value += float(np.sum(forces * R)) / 2
            pull = forces @ C.T
            pull *= slope(self.name, D, self.gamma)
            total += pull.T @ x - pull.sum(axis=0)[:, None] * L
        return value, 2 * self.gamma * total.ravel()

    def _coefficients(self, L, root):
        """Coefficients of features (r, d), and of kernel values with the landmarks, C."""
        products, right = np.zeros((len(L), len(L))), np.zeros((len(L), self.targets.shape[1]))
        for rows in self._blocks():
            K = profile(self.name, distances(self.name, self.X[rows], L), self.gamma)
            Z = scipy.linalg.solve_triangular(root, K.T, trans=1, check_finite=False)
            weighted = Z * self.weights[rows]
            products += weighted @ Z.T
            right += weighted @ self.targets[rows]
        values, vectors = scipy.linalg.eigh(products, driver="evd", check_finite=False)
        W = vectors @ ((vectors.T @ right) / (np.maximum(values, 0.0)[:, None] + self.penalties))
        return W, scipy.linalg.solve_triangular(root, W, check_finite=False)

    def _blocks(self):
        return slices(len(self.X), rows_at_once(self.shape[0], most=_BLOCK_ENTRIES))
