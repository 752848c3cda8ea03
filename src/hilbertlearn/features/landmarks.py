"""Nyström features: kernel values with a few samples, the landmarks.

With landmarks L and the Cholesky factor ``K_LL = R'R``, features are ``Z = K(X, L) R^-1``. Then ``Z Z'`` is
``K_nL K_LL^-1 K_Ln``, the kernel of the projections on the span of the landmarks. R is triangular: the first k columns
of Z are the features of the first k landmarks.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse
from sklearn.base import BaseEstimator
from sklearn.utils import _safe_indexing, check_random_state
from sklearn.utils.validation import _num_samples

from .. import kernels
from .._utils.linalg import solve_triangle
from .._utils.pivoted_cholesky import independent_root
from .._utils.validation import check_choice, check_number
from ..kernels import InputKernel
from .base import FeatureMap, as_row_indexable, check_features
from .landmark_selection import METHODS, LandmarkCandidates


class Landmarks(BaseEstimator):
    """Nyström features of any kernel, from landmarks among the samples.

    With landmarks L and ``K_LL = R'R`` the features are ``Z = K(X, L) R^-1``, one for each landmark. ``Z Z'`` is the
    kernel of the projections on the span of the landmarks.

    Parameters
    ----------
    n_components : int or "auto", default=1000
        Number of landmarks; fewer if the Gram matrix has a smaller rank. In estimators, "auto" increases the number as
        long as the leave-one-out error falls.
    method : {"medoids", "pivoted", "leverage", "uniform"}, default="medoids"
        Selection of landmarks: "medoids" (samples nearest to the centres of clusters; smallest prediction errors),
        "pivoted" (randomly pivoted Cholesky decomposition; smallest error of the kernel's trace), "leverage"
        (approximate ridge leverage scores) or "uniform" (random samples).
    random_state : int, RandomState instance or None, default=0
        Seed of the selection. It depends on the order of the samples.
    points : array of shape (n_components, p) or list, default=None
        Given landmarks, as inputs of the kernel; None for landmarks selected from the samples. With given landmarks,
        data in batches have the same features whatever the first batch is.

    References
    ----------
    - Williams and Seeger (2001). Using the Nyström method to speed up kernel machines. NIPS 13.
    - Zhang, Tsang and Kwok (2008). Improved Nyström low-rank approximation and error analysis. ICML ("medoids").
    - Chen, Epperly, Tropp and Webber (2025). Randomly pivoted Cholesky: practical approximation of a kernel matrix with
      few entry evaluations. Communications on Pure and Applied Mathematics 78 ("pivoted").
    - Musco and Musco (2017). Recursive sampling for the Nyström method. NIPS 30 ("leverage").

    Examples
    --------
    >>> import numpy as np
    >>> from hilbertlearn import OperatorKernelRegressor, features
    >>> X = np.linspace(0, 1, 200)[:, None]
    >>> model = OperatorKernelRegressor(gamma=10.0, alpha=1e-6, feature_map=features.Landmarks(10))
    >>> model.fit(X, np.sin(6 * X[:, 0])).predict([[0.25]]).round(2)
    array([1.])
    """

    def __init__(self, n_components=1000, method="medoids", random_state=0, points=None):
        self.n_components, self.method, self.random_state = n_components, method, random_state
        self.points = points

    def fit(self, kernel: InputKernel, X, weights=None, start: LandmarkMap | None = None) -> LandmarkMap:
        """Select landmarks and compute their Cholesky factor.

        Parameters
        ----------
        kernel : InputKernel
            A kernel whose values are numbers.
        X : array, data frame or list of n inputs
            Samples; of a precomputed kernel their Gram matrix (n, n).
        weights : array of shape (n,), default=None
            Weights of the samples; None for ones.
        start : LandmarkMap, default=None
            Map of the same kernel and samples whose landmarks come first in the new map; None for no such map.

        Returns
        -------
        map : LandmarkMap
            The fitted map.
        """
        check_number(self.n_components, "Landmarks: n_components", integer=True)
        check_choice(self.method, "Landmarks: method", tuple(METHODS))
        _check_scalar(kernel)
        X = as_row_indexable(X)
        if self.points is not None:
            return _map_from_points(kernel, _check_points(self.points, kernel, X))
        candidates = LandmarkCandidates.from_samples(kernel, X, weights)
        initial = np.empty(0, dtype=int) if start is None else start.columns
        if start is not None and len(initial) >= self.n_components:
            return start.head(self.n_components)
        rng = check_random_state(self.random_state)
        number = min(self.n_components, np.count_nonzero(candidates.weights))
        pool = candidates.pool(number, rng, initial)
        selected = METHODS[self.method](pool, number, rng)
        return _fit_map(candidates, pool.rows[selected], None if start is None else start.root)


def _check_scalar(kernel):
    """Raise an error for operator-valued kernels and classes."""
    if isinstance(kernel.kernel, type):
        raise TypeError(f"kernel must be an object, got the class {kernel.kernel.__name__}")
    if kernels.is_operator_valued(kernel.kernel) or kernels.provides_operator(kernel.kernel):
        raise ValueError(
            f"feature_map: landmarks are for kernels whose values are numbers, got {kernel.kernel!r}; "
            "set feature_map=None"
        )


def _check_points(points, kernel, X):
    """Return the landmarks of the setting `points`; raise an error unless they have the form of the samples X."""
    if kernel.precomputed:
        raise ValueError("Landmarks: points are inputs, and kernel='precomputed' has none; set points=None")
    if not isinstance(points, list):
        points = as_row_indexable(points) if scipy.sparse.issparse(points) else np.asarray(points)
    if not _num_samples(points):
        raise ValueError("Landmarks: points is empty; give at least one landmark, or None")
    if getattr(points, "ndim", 0) == 2 and getattr(X, "ndim", 0) == 2 and points.shape[1] != X.shape[1]:
        raise ValueError(f"Landmarks: points have {points.shape[1]} columns, and X has {X.shape[1]}; give as many")
    values = points.data if scipy.sparse.issparse(points) else points
    if getattr(values, "dtype", np.dtype(object)).kind == "f" and not np.isfinite(values).all():
        raise ValueError("Landmarks: points contain NaN or infinity; leave these landmarks out")
    return points


def _map_from_points(kernel, points) -> LandmarkMap:
    """The map of given landmarks, without linearly dependent ones."""
    candidates = LandmarkCandidates.from_samples(kernel, points, None)
    return _fit_map(candidates, np.arange(candidates.n)).detach()


def _fit_map(candidates, columns, root=None) -> LandmarkMap:
    """The map of the samples `columns`, without linearly dependent ones; root is the factor of the first ones."""
    if not len(columns):  # the kernel is zero
        return LandmarkMap(candidates.kernel, None, columns, np.empty((0, 0)), candidates.n)
    inputs = candidates.samples(columns)
    K = candidates.kernel.training_gram(_as_float64(inputs))
    root, independent = independent_root(K, candidates.rounding(K.diagonal()), root)
    if candidates.kernel.precomputed:
        inputs = None
    elif len(independent) < len(columns):
        inputs = candidates.samples(columns[independent])
    return LandmarkMap(candidates.kernel, inputs, columns[independent], root, candidates.n)


def _as_float64(X):
    """Inputs in double precision, in which the factor is computed."""
    return X.astype(float) if getattr(X, "dtype", None) == np.float32 else X


@dataclass(frozen=True, eq=False)
class LandmarkMap(FeatureMap):
    """Features ``K(x, L) root^-1`` of landmarks L; the first k are the features of the first k landmarks."""

    kernel: InputKernel
    X: Any  # the r landmarks as inputs of the kernel; None for kernel="precomputed"
    columns: np.ndarray  # (r,) indices of the landmarks among the samples of fit, -1 if they are not samples
    root: np.ndarray  # (r, r) upper triangular, K_LL = root' root
    n_samples: int  # number of samples of fit

    @property
    def n_components(self) -> int:
        """Number r of landmarks."""
        return len(self.columns)

    def detach(self):
        if self.kernel.precomputed:
            raise ValueError("kernel='precomputed' has values with the samples of fit only; give a kernel of inputs")
        return replace(self, columns=np.full(len(self.columns), -1), n_samples=0)

    def without_bounds(self):
        return replace(self, kernel=self.kernel.without_bounds())

    def values(self, X):
        return self._values(X, 0)

    def finish(self, values):
        return solve_triangle(self.root, values)

    def unexplained_variances(self, X, Z):
        return np.maximum(self.kernel.diagonal(X) - np.einsum("ij,ij->i", Z, Z), 0.0)

    def expansion(self, W):
        """Express ``Z(x) W`` by kernel values with the landmarks: (kernel, landmarks, C).

        For kernel="precomputed", C (n, d) is zero except in the rows of the landmarks.
        """
        C = scipy.linalg.solve_triangular(self.root, W, check_finite=False)
        if not self.kernel.precomputed:
            return self.kernel, self.X, C
        full = np.zeros((self.n_samples, *C.shape[1:]), dtype=C.dtype)
        full[self.columns] = C
        return self.kernel, None, full

    def head(self, k) -> LandmarkMap:
        """Return the map of the first k landmarks."""
        check_number(k, "k", integer=True)
        inputs = None if self.X is None else _safe_indexing(self.X, slice(0, k))
        return replace(self, X=inputs, columns=self.columns[:k], root=np.asfortranarray(self.root[:k, :k]))

    def extend(self, X, Z):
        """Extend features Z (m, k) of ``head(k)`` to the features (m, r) of this map.

        The other columns are ``(K(X, L2) - Z R12) R22^-1``. Several steps cost as much as one.
        """
        X, k = as_row_indexable(X), Z.shape[1]
        if len(Z) != _num_samples(X) or k > self.n_components:
            raise ValueError(
                f"Z must have {_num_samples(X)} rows and at most {self.n_components} columns, got shape {Z.shape}"
            )
        root = np.asfortranarray(self.root[k:, k:])
        out = np.empty((len(Z), self.n_components), dtype=Z.dtype)
        out[:, :k] = Z
        for rows in self.row_slices(len(Z)):
            values = self._values(_safe_indexing(X, rows), k)
            values -= Z[rows] @ self.root[:k, k:].astype(values.dtype)
            out[rows, k:] = check_features(solve_triangle(root, values), len(values), len(root))
        return out

    def trace_error(self, X, weights=None) -> float:
        """Compute the mean of ``k(x, x) - |z(x)|^2`` over samples X with weights (m,), relative to that of k(x, x).

        For kernel="precomputed", X is the Gram matrix (n, n) of the samples of fit.
        """
        if self.kernel.precomputed and X.shape[0] != X.shape[1]:
            raise ValueError(f"X must be the Gram matrix (n, n) with kernel='precomputed', got shape {X.shape}")
        X = as_row_indexable(X)
        diagonal = self.kernel.diagonal(X)
        squares = np.concatenate([np.einsum("ij,ij->i", Z, Z) for _, Z in self.blocks(X)])
        weights = np.ones(len(diagonal)) if weights is None else weights
        total = float(weights @ diagonal)
        return max(0.0, 1.0 - float(weights @ squares) / total) if total > 0 else 0.0

    def _values(self, X, k):
        """Kernel values (m, r - k) with the landmarks after the first k, in a new array."""
        if k == self.n_components:
            return np.empty((_num_samples(X), 0))
        if self.kernel.precomputed:
            if X.shape[1] != self.n_samples:
                raise ValueError(
                    f"X must hold kernel values with the {self.n_samples} samples of fit, got {X.shape[1]} columns"
                )
            values = X[:, self.columns[k:]]
            values = values.toarray() if scipy.sparse.issparse(values) else values
        else:
            values = self.kernel(X, _safe_indexing(self.X, slice(k, None)) if k else self.X)
            if not isinstance(self.kernel.kernel, str):  # a callable may keep a reference to its result
                values = np.array(values)
        return np.ascontiguousarray(values, dtype=values.dtype if values.dtype == np.float32 else float)
