"""Gram matrices from names, objects and callables, and the bandwidth heuristics."""

from __future__ import annotations

from functools import partial

import numpy as np
import scipy.sparse
from sklearn.metrics.pairwise import (
    KERNEL_PARAMS,
    PAIRWISE_KERNEL_FUNCTIONS,
    additive_chi2_kernel,
    euclidean_distances,
    manhattan_distances,
    pairwise_kernels,
    rbf_kernel,
)
from sklearn.utils import _safe_indexing

from .._statistics import weighted_quantile
from .._validation import check_number, check_symmetric_psd

PRECOMPUTED = "precomputed"
NAMES = sorted(set(PAIRWISE_KERNEL_FUNCTIONS) | {PRECOMPUTED})
_WITHOUT_GAMMA = (PRECOMPUTED, "linear", "cosine", "additive_chi2")
_DISTANCES = {  # what gamma multiplies
    "rbf": partial(euclidean_distances, squared=True),
    "laplacian": manhattan_distances,
    "chi2": lambda X: -additive_chi2_kernel(X),
}
# positive definite by construction
_POSITIVE = {"rbf", "laplacian", "linear", "cosine", "chi2", "poly", "polynomial"}
# the exponent at the median distance; for rbf the median then is one bandwidth
_AT_MEDIAN = {"rbf": 0.5, "laplacian": 1.0, "chi2": 1.0}
_OVERFLOW = "X is too large, its kernel overflows; scale X, for example with StandardScaler"
_BLOCK_ENTRIES = 2**18
_DIAGONAL_ROWS = 64  # of the Gram matrices that k(x, x) is read from
_MEDIAN_ROWS = 1000  # rows the median is taken over


def check_kernel(kernel):
    """Raise unless kernel is a known name or a callable ``(X, Z) -> Gram``."""
    if isinstance(kernel, str):
        if kernel not in NAMES:
            raise ValueError(
                f"kernel: unknown name {kernel!r}; known: {', '.join(NAMES)}, or a callable (X, Z) -> Gram"
            )
    elif not callable(kernel):
        raise TypeError(
            f"kernel must be a name, a callable (X, Z) -> Gram or a list of (kernel, operator), got {kernel!r}"
        )


def is_precomputed(kernel):
    """Whether inputs are kernel values already."""
    return isinstance(kernel, str) and kernel == PRECOMPUTED


def check_params(kernels, params):
    """Raise unless params is None or a dictionary of parameters that one of the kernels, by name, has."""
    if params is None:
        return
    names = [kernel for kernel in kernels if isinstance(kernel, str)]
    known = sorted(set().union(*(KERNEL_PARAMS.get(name, ()) for name in names)) - {"gamma"})
    if not isinstance(params, dict) or not set(params) <= set(known):
        raise ValueError(
            f"kernel_params must be a dictionary with keys among {known}, got {params!r}; gamma is an argument of the "
            "estimator, and objects have parameters of their own"
        )


def resolve_gamma(kernel, gamma, X, weights=None):
    """The number behind ``gamma``: itself, or from X by the median or by scikit-learn's scale rule.

    ``"median"`` is 1 / (2 median squared distance) for rbf, 1 / median city-block distance for laplacian and 1 / median
    chi-squared distance for chi2, over pairs of distinct samples; kernels without a distance fall back on ``"scale"``,
    1 / (number of features * variance). None for kernels without a gamma.
    """
    check_number(gamma, "gamma", choices=("median", "scale"))
    if not isinstance(kernel, str) or kernel in _WITHOUT_GAMMA:
        return None
    if not isinstance(gamma, str):
        return float(gamma)
    weights = np.ones(X.shape[0]) if weights is None else weights
    if gamma == "median" and kernel in _DISTANCES:
        rows = np.unique(np.linspace(0, X.shape[0] - 1, min(X.shape[0], _MEDIAN_ROWS)).astype(int))
        distances = _DISTANCES[kernel](_safe_indexing(X, rows))
        pairs = np.triu_indices_from(distances, k=1)
        values, mass = distances[pairs], np.multiply.outer(weights[rows], weights[rows])[pairs]
        return median_rate(kernel, values, mass)
    share = weights / (weights.sum() * X.shape[1])
    variance = float(
        (share @ X.multiply(X) if scipy.sparse.issparse(X) else share @ X**2).sum() - (share @ X).sum() ** 2
    )
    return 1.0 / (X.shape[1] * variance) if variance > 0 else 1.0


def median_rate(kernel, distances, mass):
    """The gamma that gives the median distance its exponent; 1 if no two samples differ."""
    apart = distances > 1e-10 * distances.max(initial=0.0)  # copies are not a pair; their distance is rounding
    return _AT_MEDIAN[kernel] / weighted_quantile(distances[apart], 0.5, mass[apart]) if apart.any() else 1.0


def gram(kernel, X, Z=None, *, gamma=None, params=None):
    """Kernel values (n, m) of X with Z, or of X with itself."""
    if isinstance(kernel, str):
        if kernel == PRECOMPUTED:
            return X
        if kernel == "rbf":
            return _rbf(X, Z, gamma)
        return pairwise_kernels(X, Z, metric=kernel, filter_params=True, gamma=gamma, **(params or {}))
    G = kernel(X, X if Z is None else Z)
    G = np.asarray(G.toarray() if scipy.sparse.issparse(G) else G, dtype=float)
    shape = (_length(X), _length(X if Z is None else Z))
    if G.shape != shape:
        raise ValueError(
            f"kernel must return a matrix of shape {shape} for that many samples, got {G.shape}; "
            "wrap a function of two single objects in kernels.Pairwise"
        )
    if not np.isfinite(G).all():
        raise ValueError("kernel returned NaN or infinity; check the samples it was given")
    return G


def diagonal(kernel, X, *, gamma=None):
    """``k(x, x)`` (n,), without the whole Gram matrix."""
    blocks = (X[i : i + _DIAGONAL_ROWS] for i in range(0, _length(X), _DIAGONAL_ROWS))
    return np.concatenate([np.diag(gram(kernel, block, gamma=gamma)) for block in blocks])


def training_gram(kernel, X, *, gamma=None, params=None):
    """Gram matrix (n, n) of the samples, checked to be PSD where the kernel does not guarantee it."""
    K = gram(kernel, X, gamma=gamma, params=params)
    if kernel != "rbf" and not np.isfinite(K.sum(axis=0)).all():  # one pass over the matrix; rbf checks its exponents
        raise ValueError(_OVERFLOW)
    if isinstance(kernel, str) and kernel in _POSITIVE and not params:  # parameters may undo it, as coef0 < 0 does
        return K
    remedy = "use a positive definite kernel, or add a multiple of the identity"
    return check_symmetric_psd(K, "X (kernel='precomputed')" if kernel == PRECOMPUTED else "kernel", remedy)


def _rbf(X, Z, gamma):
    """``exp(-gamma ||x - z||^2)``: one product gives the exponents, then blocks of rows that fit in the cache."""
    if scipy.sparse.issparse(X) or scipy.sparse.issparse(Z):
        return rbf_kernel(X, Z, gamma=gamma)
    origin = (X if Z is None else Z).mean(axis=0)  # near the data, so that squares lose few digits
    rows = _exponent_factor(X - origin, gamma)
    columns = rows if Z is None else _exponent_factor(Z - origin, gamma)
    columns = np.hstack(
        [columns[:, :-2], columns[:, :-3:-1]]
    )  # (.., 1, -gamma ||z||^2) against (.., -gamma ||x||^2, 1)
    G = rows @ columns.T
    block = max(1, _BLOCK_ENTRIES // max(G.shape[1], 1))
    for start in range(0, len(G), block):
        part = G[start : start + block]
        np.exp(np.minimum(part, 0.0, out=part), out=part)
    if Z is None:
        np.fill_diagonal(G, 1.0)
    return G


def _exponent_factor(X, gamma):
    """Rows ``(sqrt(2 gamma) x, -gamma ||x||^2, 1)``."""
    squares = -gamma * np.einsum("ij,ij->i", X, X)
    if not np.isfinite(squares).all():  # else all exponents are finite too
        raise ValueError(_OVERFLOW)
    return np.column_stack([np.sqrt(2 * gamma) * X, squares, np.ones(len(X))])


def _length(X):
    return X.shape[0] if hasattr(X, "shape") else len(X)
