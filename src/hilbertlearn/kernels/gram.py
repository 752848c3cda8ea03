"""Gram matrices from names, objects and callables, and the bandwidth heuristics."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse
from sklearn.metrics.pairwise import (
    KERNEL_PARAMS,
    PAIRWISE_KERNEL_FUNCTIONS,
    pairwise_kernels,
)
from sklearn.utils import _safe_indexing
from sklearn.utils.extmath import row_norms, safe_sparse_dot

from .._utils.fitting import snapshot
from .._utils.linalg import exact
from .._utils.statistics import weighted_quantile
from .._utils.validation import check_choice, check_number, check_symmetric_psd, warn
from .ranks import evenly_spread_rows
from .stationary import MATERN, OVERFLOW, BandwidthMixin, distances, profile
from .tiles import fill_tiles

PRECOMPUTED, TANIMOTO = "precomputed", "tanimoto"
NAMES = sorted({*PAIRWISE_KERNEL_FUNCTIONS, *MATERN, PRECOMPUTED, TANIMOTO})
CURVE_NAMES = ("l2", "integrated")  # ``L2`` and ``IntegratedKernel``, to estimators
_CALLED = {  # elsewhere
    "gaussian": "rbf",
    "squared_exponential": "rbf",
    "exponential": "matern12",
    "euclidean": "l2",
    "integral": "integrated",
    **{name: name for name in CURVE_NAMES},
}
_WITHOUT_GAMMA = (PRECOMPUTED, TANIMOTO, "linear", "cosine", "additive_chi2")
_OF_DIFFERENCES = ("rbf", *MATERN, "laplacian", TANIMOTO)  # 1 at each sample
_OF_PRODUCTS = ("linear", "poly", "polynomial")  # depend on where the origin is
# positive definite by construction
POSITIVE = {"rbf", *MATERN, "laplacian", "linear", "cosine", "chi2", "poly", "polynomial"}
# the exponent at the median distance; for rbf the median then is one bandwidth
_AT_MEDIAN = {"rbf": 0.5, **dict.fromkeys(MATERN, 0.5), "laplacian": 1.0, "chi2": 1.0}
_FEW_SAMPLES = 1000  # whose Gram matrix is not worth copying one half
_DIAGONAL_ROWS, _DIAGONAL_OBJECTS = 64, 8  # of the Gram matrices that k(x, x) is read from; values may be dear
_MEDIAN_ROWS = 1000  # rows the median is taken over


def check_kernel(kernel, name="kernel"):
    """Raise unless kernel is a known name or a callable ``(X, Z) -> Gram``."""
    if isinstance(kernel, str):
        others = f", for curves {', '.join(CURVE_NAMES)}, for strings ngrams, or a callable (X, Z) -> Gram"
        check_choice(kernel, name, NAMES, others, _CALLED)
    elif not callable(kernel):
        raise TypeError(
            f"kernel must be a name, a callable (X, Z) -> Gram or a list of (kernel, operator), got {kernel!r}"
        )


def is_precomputed(kernel):
    """Whether inputs are kernel values already."""
    return isinstance(kernel, str) and kernel == PRECOMPUTED


def is_operator_valued(kernel):
    """Whether values are matrices (d, d), of a kernel that brings its own operator for each pair of samples."""
    return getattr(kernel, "operator_valued", False)


def provides_operator(kernel):
    """Whether a kernel comes with operators of its own, so that the setting ``operator`` has no part in it."""
    return getattr(kernel, "provides_operator", False)


def scalar_kernel(kernel):
    """The kernel that inputs are read for: itself, or the one inside a kernel built from outputs."""
    return getattr(kernel, "scalar_kernel", kernel)


def has_gamma(kernel):
    """Whether a kernel is a name whose values depend on gamma."""
    return isinstance(kernel, str) and kernel not in _WITHOUT_GAMMA


def check_kernel_params(kernels, params):
    """Raise unless params is None or a dictionary of parameters that one of the kernels, by name, has.

    And warn of what a kernel has that counts for nothing.
    """
    if any(map(_has_noise, kernels)):
        warn(
            "kernel: a WhiteKernel counts for nothing here, where values are between samples; leave it out, the noise "
            "is what alpha is for"
        )
    if params is None:
        return
    names = [kernel for kernel in kernels if isinstance(kernel, str)]
    known = sorted(set().union(*(KERNEL_PARAMS.get(name, ()) for name in names)) - {"gamma"})
    if not isinstance(params, dict) or not set(params) <= set(known):
        raise ValueError(
            f"kernel_params must be a dictionary with keys among {known}, got {params!r}; gamma is an argument of the "
            "estimator, and objects have parameters of their own"
        )


def _has_noise(kernel):
    """Whether a WhiteKernel of scikit-learn is in a kernel."""
    white = getattr(sys.modules.get("sklearn.gaussian_process.kernels"), "WhiteKernel", ())  # not imported: not in it
    inside = kernel.get_params().values() if hasattr(kernel, "get_params") and not isinstance(kernel, type) else ()
    return any(isinstance(one, white) for one in (kernel, *inside))


def resolve_gamma(kernel, gamma, X, weights=None):
    """The number behind ``gamma``: itself, or from X by the median or by scikit-learn's scale rule.

    ``"median"`` is 1 / (2 median squared distance) for rbf and Matérn's kernels, 1 / median city-block distance for
    laplacian and 1 / median chi-squared distance for chi2, over pairs of distinct samples; kernels without a distance
    fall back on ``"scale"``, 1 / (number of features * variance). ``"auto"`` begins at the median. None for kernels
    without a gamma.
    """
    check_number(gamma, "gamma", choices=("auto", "median", "scale"))
    if not has_gamma(kernel):
        return None
    if not isinstance(gamma, str):
        return float(gamma)
    weights, X = np.ones(X.shape[0]) if weights is None else weights, exact(X)
    if gamma in ("auto", "median") and kernel in _AT_MEDIAN:
        rows = evenly_spread_rows(X, _MEDIAN_ROWS)
        between = distances(kernel, _safe_indexing(X, rows))
        pairs = np.triu_indices_from(between, k=1)
        values, mass = between[pairs], np.multiply.outer(weights[rows], weights[rows])[pairs]
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


def gram(kernel, X, Z=None, *, gamma=None, params=None, origin=None):
    """Kernel values (n, m) of X with Z, or of X with itself; linear and polynomial ones around an origin (p,).

    Of kernels by name, values of dense rows in single precision are single too.
    """
    if isinstance(kernel, str) and kernel == PRECOMPUTED:
        return X
    Z = _apart(X, Z)
    if isinstance(kernel, str):
        if is_float32(X) and (Z is None or is_float32(Z)):
            return _single(kernel, X, Z, gamma, params, origin)
        if kernel == "rbf" and not (scipy.sparse.issparse(X) or scipy.sparse.issparse(Z)):
            return _by_products(X, Z, gamma, lambda tile: np.exp(tile, out=tile))
        if kernel == TANIMOTO:
            return tanimoto(X, X if Z is None else Z)
        if kernel in MATERN:
            D = distances(kernel, X, Z)
            return profile(kernel, D, gamma, out=D, symmetric=Z is None)
        if origin is not None and kernel in _OF_PRODUCTS:
            return _around(origin, kernel, X, Z, gamma, **(params or {}))
        return pairwise_kernels(X, Z, metric=kernel, filter_params=True, gamma=gamma, **(params or {}))
    G = kernel(X, X if Z is None else Z)
    G = np.asarray(G.toarray() if scipy.sparse.issparse(G) else G, dtype=float)
    shape = (length(X), length(X if Z is None else Z))
    if is_operator_valued(kernel):  # a block (d, d) for each pair of samples
        shape += G.shape[2:]
    if G.shape != shape:
        raise ValueError(
            f"kernel must return a matrix of shape {shape} for that many samples, got {G.shape}; "
            "wrap a function of two single objects in kernels.PairwiseKernel"
        )
    if not np.isfinite(G).all():
        raise ValueError("kernel returned NaN or infinity; check the samples it was given")
    return G


def diagonal(kernel, X, *, gamma=None, params=None, origin=None):
    """``k(x, x)`` (n,), without the whole Gram matrix; kernel objects may have a method for it."""
    if hasattr(kernel, "diagonal"):
        return kernel.diagonal(X)
    if isinstance(kernel, str) and kernel in _OF_DIFFERENCES:
        return np.ones(length(X))
    if isinstance(kernel, str) and kernel == "linear" and origin is None:
        return row_norms(X, squared=True)
    size = _DIAGONAL_ROWS if hasattr(X, "shape") else _DIAGONAL_OBJECTS
    blocks = (X[i : i + size] for i in range(0, length(X), size))
    return np.concatenate([np.diag(gram(kernel, block, gamma=gamma, params=params, origin=origin)) for block in blocks])


def training_gram(kernel, X, *, gamma=None, params=None, origin=None):
    """Gram matrix (n, n) of the samples, checked to be PSD where the kernel does not guarantee it."""
    K = gram(kernel, X, gamma=gamma, params=params, origin=origin)
    named = isinstance(kernel, str)  # the values of others were checked, and rbf checks its exponents
    if named and kernel != "rbf" and not np.isfinite(K.sum(axis=0)).all():  # one pass over the matrix
        raise ValueError(OVERFLOW)
    if named and kernel in POSITIVE and not params:  # parameters may undo it, as coef0 < 0 does
        return K
    if getattr(kernel, "positive_definite", False):  # so says its class
        return K
    remedy = "use a positive definite kernel, or add a multiple of the identity"
    if is_operator_valued(kernel):
        n, d = K.shape[1:3]
        flat = check_symmetric_psd(K.swapaxes(1, 2).reshape(n * d, n * d), "kernel", remedy)
        return flat.reshape(n, d, n, d).swapaxes(1, 2)
    return check_symmetric_psd(K, "X (kernel='precomputed')" if kernel == PRECOMPUTED else "kernel", remedy)


@dataclass(frozen=True)
class InputKernel:
    """A kernel with numbers for all settings: what a fitted model keeps of ``kernel``, ``gamma`` and ``kernel_params``.

    Settings that are changed later do not reach it. Values of linear and polynomial kernels are those of ``x - origin``
    where there is an origin (p,).
    """

    kernel: Any
    gamma: float | None = None
    params: dict | None = None
    origin: np.ndarray | None = None
    on_features = False  # whether features stand in place of values

    @classmethod
    def from_settings(cls, kernel, gamma, params, X, weights=None, centred=False):
        """The kernel for training inputs X; what is left to the data comes from them, with weights (n,).

        centred : whether linear and polynomial kernels have their origin at the weighted mean of X
        """
        kernel = kernel.resolve(X, weights) if hasattr(kernel, "resolve") else snapshot(kernel)
        origin = _mean(X, weights) if centred and isinstance(kernel, str) and kernel in _OF_PRODUCTS else None
        return cls(kernel, resolve_gamma(kernel, gamma, X, weights), None if params is None else dict(params), origin)

    @property
    def precomputed(self) -> bool:
        """Whether inputs are kernel values already."""
        return is_precomputed(self.kernel)

    @property
    def rate(self):
        """What the estimator's gamma is for a name, and the setting in its place of an object; None without one."""
        value = (
            getattr(self.kernel, self.kernel.rate_setting[0]) if isinstance(self.kernel, BandwidthMixin) else self.gamma
        )
        return None if isinstance(value, str) else value  # a word is left where the kernel makes no use of it

    def with_rate(self, factor) -> InputKernel:
        """The same kernel with its rate multiplied by factor."""
        if isinstance(self.kernel, BandwidthMixin):
            return replace(self, kernel=self.kernel.with_rate(factor))
        return replace(self, gamma=None if self.gamma is None else self.gamma * float(factor))

    def value_size(self, n, d):
        """Numbers in one value of the kernel, for n samples and d outputs."""
        return self.kernel.value_size(n, d) if is_operator_valued(self.kernel) else 1

    def training_gram(self, X):
        """Gram matrix (n, n) of the samples, checked."""
        return training_gram(self.kernel, X, gamma=self.gamma, params=self.params, origin=self.origin)

    def diagonal(self, X):
        """``k(x, x)`` (n,); of a Gram matrix its diagonal."""
        if self.precomputed:
            return np.asarray(X).diagonal()
        return diagonal(self.kernel, X, gamma=self.gamma, params=self.params, origin=self.origin)

    def __call__(self, X, Z=None):
        """Kernel values (m, n) of X with Z, or with itself; X itself where it holds kernel values."""
        return gram(self.kernel, X, Z, gamma=self.gamma, params=self.params, origin=self.origin)


def _apart(X, Z):
    """Z, or a copy where it is X or a part of it.

    BLAS and kernel objects compute X with itself in another way, which differs by rounding: a model would predict its
    own training inputs otherwise than a copy of them, or than the model does after it was stored.
    """
    if isinstance(X, np.ndarray) and isinstance(Z, np.ndarray):
        return Z.copy() if np.may_share_memory(X, Z) else Z
    return Z[:] if Z is X and Z is not None else Z


def tanimoto(X, Z):
    """``<x, z> / (||x||^2 + ||z||^2 - <x, z>)`` (n, m) of rows of numbers, dense or sparse; 1 for two rows of zeros."""
    products = safe_sparse_dot(X, Z.T, dense_output=True)
    union = row_norms(X, squared=True)[:, None] + row_norms(Z, squared=True) - products
    return np.divide(products, union, out=np.ones_like(products), where=union > 0)


def centred_linear(X, Z, origin):
    """``<x - o, z - o>`` (n, m) of rows X and Z, None for X, dense or sparse, around an origin o (p,)."""
    Z = X if Z is None else Z
    with np.errstate(over="ignore", invalid="ignore"):  # whoever asks checks the values
        if not (scipy.sparse.issparse(X) or scipy.sparse.issparse(Z)):
            centred = X - origin
            return centred @ (centred if Z is X else Z - origin).T
        G = safe_sparse_dot(X, Z.T, dense_output=True) - (X @ origin)[:, None]  # rows stay sparse
        G += origin @ origin - Z @ origin
        return G


def _around(origin, kernel, X, Z, gamma, degree=3, coef0=1):
    """The linear kernel, or ``(gamma <x, z> + coef0)^degree`` with scikit-learn's defaults, around an origin (p,)."""
    G = centred_linear(X, Z, origin)
    if kernel == "linear":
        return G
    with np.errstate(over="ignore", invalid="ignore"):
        G *= gamma
        G += coef0
        return np.power(G, degree, out=G)


def _mean(X, weights):
    """Weighted mean (p,) of the rows of X, dense or sparse."""
    weights = np.ones(X.shape[0]) if weights is None else np.asarray(weights, dtype=float)
    return np.asarray((weights / weights.sum()) @ X).ravel()


def is_float32(X):
    """Whether inputs are dense numbers in single precision."""
    return isinstance(X, np.ndarray) and X.dtype == np.float32


def _single(kernel, X, Z, gamma, params, origin):
    """Kernel values (n, m) in single precision of rows in single precision.

    Products and distances are double, so that values have all digits wherever the inputs are and whatever gamma is;
    exponentials, which take longer, are single. Values too large for single precision are infinite, and refused.
    """
    X, Z = exact(X), None if Z is None else exact(Z)
    with np.errstate(over="ignore"):
        if kernel == "rbf":
            return _by_products(X, Z, gamma, _decay, np.float32)
        if kernel in MATERN:
            return _by_products(X, Z, gamma, lambda tile: profile(kernel, -tile, 1.0, out=tile), np.float32)
        others = X.copy() if Z is None else Z
        out = np.empty((len(X), len(others)), dtype=np.float32)

        def fill(i, j):
            out[i, j] = gram(kernel, X[i], others[j], gamma=gamma, params=params, origin=origin)

        fill_tiles(fill, out)
        return out


def _by_products(X, Z, gamma, finish, dtype=np.float64):
    """Kernel values (n, m) of dense rows from ``-gamma ||x - z||^2``, which are products in double precision.

    finish : function of a tile of these in `dtype` that turns them into values, in place
    """
    origin = (X if Z is None else Z).mean(axis=0)  # near the data, so that squares lose few digits
    rows = _exponent_factor(X - origin, gamma)
    columns = _reversed(rows if Z is None else _exponent_factor(Z - origin, gamma))
    out = np.empty((len(rows), len(columns)), dtype=dtype)

    def fill(i, j):
        tile = out[i, j]
        exponents = np.matmul(rows[i], columns[j].T, out=tile if dtype == np.float64 else None)
        np.minimum(exponents, 0.0, out=tile, casting="same_kind")
        finish(tile)

    fill_tiles(fill, out, symmetric=Z is None and len(out) > _FEW_SAMPLES)
    if Z is None:
        np.fill_diagonal(out, 1.0)
    return out


def _decay(exponents):
    """``exp`` in place, in single precision; zero where numbers would be so small that processors take their time."""
    smallest = np.finfo(exponents.dtype).tiny
    vanish = exponents.min(initial=0.0) < math.log(smallest)
    np.exp(exponents, out=exponents)
    if vanish:
        exponents[exponents < smallest] = 0.0


def _exponent_factor(X, gamma):
    """Rows ``(sqrt(2 gamma) x, -gamma ||x||^2, 1)``."""
    gamma = float(gamma)
    squares = -gamma * np.einsum("ij,ij->i", X, X)
    if not np.isfinite(squares).all():  # else all exponents are finite too
        raise ValueError(OVERFLOW)
    return np.column_stack([math.sqrt(2 * gamma) * X, squares, np.ones_like(squares)])  # in the precision of X


def _reversed(rows):
    """Rows ``(.., 1, -gamma ||z||^2)`` that go with those of ``_exponent_factor`` in products."""
    return np.hstack([rows[:, :-2], rows[:, :-3:-1]])


def length(X):
    return X.shape[0] if hasattr(X, "shape") else len(X)
