"""Nyström features: every sample by its kernel values with a few of them, the landmarks.

With landmarks L and the Cholesky factor ``K_LL = R'R``, features are ``Z = K(X, L) R^-1``, so that ``Z Z'`` is
``K_nL K_LL^-1 K_Ln``, the kernel of the projections on the span of the landmarks. R is triangular: the first k columns
of Z are the features of the first k landmarks, and half of the work of a symmetric root is saved.
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

    With landmarks L and ``K_LL = R'R`` they are ``Z = K(X, L) R^-1``: one for each landmark, and ``Z Z'`` is the kernel
    of the projections on the span of the landmarks.

    Parameters
    ----------
    n_components : int or "auto", default=1000
        Number of landmarks, "auto" (in estimators) for as many as lower the held-out error; fewer where the kernel
        matrix of the samples has a smaller rank.
    method : {"medoids", "pivoted", "leverage", "uniform"}, default="medoids"
        How they are chosen: "medoids" (samples in the middle of clusters, as many as landmarks, which errors of
        predictions are smallest with), "pivoted" (randomly pivoted Cholesky decomposition, which leaves the smallest
        part of the kernel's trace), "leverage" (approximate ridge leverage scores) or "uniform".
    random_state : int, RandomState instance or None, default=0
        Of the choice, which is by position: the same samples in another order may have other landmarks.
    points : array of shape (n_components, p) or list, default=None
        The landmarks themselves, inputs as the kernel takes them, in place of samples chosen among those of fit; what
        comes in batches then has the same features whatever the first batch is.

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
        """The map for samples X, of kernel="precomputed" their Gram matrix (n, n), with weights (n,).

        start : a map of the same kernel and samples; the new one has its landmarks first, in the same order
        """
        check_number(self.n_components, "Landmarks: n_components", integer=True)
        check_choice(self.method, "Landmarks: method", tuple(METHODS))
        _check_scalar(kernel)
        X = as_row_indexable(X)
        if self.points is not None:
            return of_points(kernel, _checked_points(self.points, kernel, X))
        candidates = LandmarkCandidates.from_samples(kernel, X, weights)
        first = np.empty(0, dtype=int) if start is None else start.columns
        if start is not None and len(first) >= self.n_components:
            return start.head(self.n_components)
        random = check_random_state(self.random_state)
        number = min(self.n_components, np.count_nonzero(candidates.weights))
        pool = candidates.pool(number, random, first)
        chosen = METHODS[self.method](pool, number, random)
        return _fitted(candidates, pool.rows[chosen], None if start is None else start.root)


def _check_scalar(kernel):
    if isinstance(kernel.kernel, type):
        raise TypeError(f"kernel must be an object, got the class {kernel.kernel.__name__}")
    if kernels.is_operator_valued(kernel.kernel) or kernels.provides_operator(kernel.kernel):
        raise ValueError(
            f"feature_map: landmarks are for kernels whose values are numbers, got {kernel.kernel!r}; "
            "set feature_map=None"
        )


def _checked_points(points, kernel, X):
    """Landmarks that were given, after a look at their form and whether they go with samples X."""
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
        raise ValueError("Landmarks: points contain NaN or infinity; leave those out")
    return points


def of_points(kernel, points) -> LandmarkMap:
    """The map of landmarks that are none of the samples, without those that depend on others to rounding."""
    candidates = LandmarkCandidates.from_samples(kernel, points, None)
    return _fitted(candidates, np.arange(candidates.n)).detach()


def _fitted(candidates, chosen, root=None) -> LandmarkMap:
    """The map of chosen samples, without those that depend on others to rounding; root : of the first ones."""
    if not len(chosen):  # the kernel is zero
        return LandmarkMap(candidates.kernel, None, chosen, np.empty((0, 0)), candidates.n)
    inputs = candidates.samples(chosen)
    K = candidates.kernel.training_gram(_double(inputs))
    root, kept = independent_root(K, candidates.rounding(K.diagonal()), root)
    columns = chosen[kept]
    if candidates.kernel.precomputed:
        inputs = None
    elif len(kept) < len(chosen):
        inputs = candidates.samples(columns)
    return LandmarkMap(candidates.kernel, inputs, columns, root, candidates.n)


def _double(X):
    """Numbers in double precision: the root is computed there, whatever the features are."""
    return X.astype(float) if getattr(X, "dtype", None) == np.float32 else X


@dataclass(frozen=True, eq=False)
class LandmarkMap(FeatureMap):
    """Features ``K(x, L) root^-1`` of landmarks L, nested: the first k are those of the first k landmarks."""

    kernel: InputKernel
    X: Any  # the r landmarks in the form that the kernel takes; None of kernel="precomputed"
    columns: np.ndarray  # (r,) which of the samples of fit they are, -1 for none
    root: np.ndarray  # (r, r) upper triangular, K_LL = root' root
    n_samples: int  # of fit; columns of kernel values for kernel="precomputed"

    @property
    def n_components(self) -> int:
        return len(self.columns)

    def detach(self):
        if self.kernel.precomputed:
            raise ValueError("kernel='precomputed' has values with the samples of fit only; give a kernel of inputs")
        return replace(self, columns=np.full(len(self.columns), -1), n_samples=0)

    def values(self, X):
        return self._values(X, 0)

    def finish(self, values):
        return solve_triangle(self.root, values)

    def expansion(self, W):
        """(kernel, landmarks, C): the function ``Z(x) W`` as kernel values with the landmarks, no whitening of them.

        Of kernel="precomputed", C (n, d) is zero but for the rows of the landmarks.
        """
        C = scipy.linalg.solve_triangular(self.root, W, check_finite=False)
        if not self.kernel.precomputed:
            return self.kernel, self.X, C
        every = np.zeros((self.n_samples, *C.shape[1:]), dtype=C.dtype)
        every[self.columns] = C
        return self.kernel, None, every

    def head(self, k) -> LandmarkMap:
        """The map of the first k landmarks."""
        check_number(k, "k", integer=True)
        inputs = None if self.X is None else _safe_indexing(self.X, slice(0, k))
        return replace(self, X=inputs, columns=self.columns[:k], root=np.asfortranarray(self.root[:k, :k]))

    def extend(self, X, Z):
        """Z (m, r) of this map from its first k columns Z (m, k), which ``head(k)`` gave: only the others are computed.

        ``(K(X, L2) - Z R12) R22^-1``: all columns in several steps cost what they do in one.
        """
        X, k = as_row_indexable(X), Z.shape[1]
        if len(Z) != _num_samples(X) or k > self.n_components:
            raise ValueError(
                f"Z must have {_num_samples(X)} rows and at most {self.n_components} columns, got shape {Z.shape}"
            )
        further = np.asfortranarray(self.root[k:, k:])
        out = np.empty((len(Z), self.n_components), dtype=Z.dtype)
        out[:, :k] = Z
        for rows in self.row_slices(len(Z)):
            values = self._values(_safe_indexing(X, rows), k)
            values -= Z[rows] @ self.root[:k, k:].astype(values.dtype)
            out[rows, k:] = check_features(solve_triangle(further, values), len(values), len(further))
        return out

    def trace_error(self, X, weights=None) -> float:
        """Mean of ``k(x, x) - |z(x)|^2`` over samples X, relative to that of k(x, x), with weights (m,).

        Of kernel="precomputed" X is the Gram matrix (n, n) of the samples of fit.
        """
        if self.kernel.precomputed and X.shape[0] != X.shape[1]:
            raise ValueError(f"X must be the Gram matrix (n, n) with kernel='precomputed', got shape {X.shape}")
        X = as_row_indexable(X)
        whole = self.kernel.diagonal(X)
        squares = np.concatenate([np.einsum("ij,ij->i", Z, Z) for _, Z in self.blocks(X)])
        weights = np.ones(len(whole)) if weights is None else weights
        total = float(weights @ whole)
        return max(0.0, 1.0 - float(weights @ squares) / total) if total > 0 else 0.0

    def _values(self, X, k):
        """Kernel values (m, r - k) with the landmarks after the first k, in an array that may be written to."""
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
            if not isinstance(self.kernel.kernel, str):  # what a callable returns may be kept by it
                values = np.array(values)
        return np.ascontiguousarray(values, dtype=values.dtype if values.dtype == np.float32 else float)
