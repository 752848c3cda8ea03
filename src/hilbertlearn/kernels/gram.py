"""Gram matrices of named kernels, kernel objects and callables; rules for ``gamma``."""

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

from .._utils.equality import EqualByValues
from .._utils.fitting import snapshot
from .._utils.linalg import to_float64
from .._utils.statistics import weighted_quantile
from .._utils.validation import check_choice, check_number, check_symmetric_psd, warn
from .ranks import evenly_spread_rows
from .scaling import InputScaling
from .stationary import MATERN, OVERFLOW, distances, profile
from .tiles import fill_tiles

PRECOMPUTED, TANIMOTO = "precomputed", "tanimoto"
NAMES = sorted({*PAIRWISE_KERNEL_FUNCTIONS, *MATERN, PRECOMPUTED, TANIMOTO})
CURVE_NAMES = ("l2", "integrated")  # names of ``L2`` and ``IntegratedKernel`` in estimators
_SYNONYMS = {  # names that other libraries use; an error suggests ours
    "gaussian": "rbf",
    "squared_exponential": "rbf",
    "exponential": "matern12",
    "euclidean": "l2",
    "integral": "integrated",
    **{name: name for name in CURVE_NAMES},
}
_WITHOUT_GAMMA = (PRECOMPUTED, TANIMOTO, "linear", "cosine", "additive_chi2")
_UNIT_DIAGONAL = ("rbf", *MATERN, "laplacian", TANIMOTO)  # k(x, x) = 1
_INNER_PRODUCT = ("linear", "poly", "polynomial")  # functions of <x, z>: they depend on the origin
# positive semi-definite for every input, so that the Gram matrix is not checked
POSITIVE = {"rbf", *MATERN, "laplacian", "linear", "cosine", "chi2", "poly", "polynomial"}
# gamma times the median distance under gamma="median"; for rbf the median distance is one bandwidth
_EXPONENT_AT_MEDIAN = {"rbf": 0.5, **dict.fromkeys(MATERN, 0.5), "laplacian": 1.0, "chi2": 1.0}
_FEW_SAMPLES = 1000  # up to this size, computing both halves of a Gram matrix is faster than copying one
# Sizes of the small Gram matrices whose diagonals give k(x, x). Twice the size costs twice as many kernel values. The
# values of objects are slow, so their matrices are smaller.
_DIAGONAL_ROWS, _DIAGONAL_OBJECTS = 64, 8
_MEDIAN_ROWS = 1000  # rows that the median distance is computed from; time and memory grow with the square


def check_kernel(kernel, name="kernel"):
    """Raise an error unless the kernel is a known name or a callable ``(X, Z) -> Gram``."""
    if isinstance(kernel, str):
        others = f", for curves {', '.join(CURVE_NAMES)}, for strings ngrams, or a callable (X, Z) -> Gram"
        check_choice(kernel, name, NAMES, others, _SYNONYMS)
    elif not callable(kernel):
        raise TypeError(
            f"kernel must be a name, a callable (X, Z) -> Gram or a list of (kernel, operator), got {kernel!r}"
        )


def is_precomputed(kernel):
    """Whether the inputs are kernel values."""
    return isinstance(kernel, str) and kernel == PRECOMPUTED


def is_operator_valued(kernel):
    """Whether each value of the kernel is a matrix (d, d) and not a number."""
    return getattr(kernel, "operator_valued", False)


def provides_operator(kernel):
    """Whether the kernel contains its own output operator, so that the setting ``operator`` is not used."""
    return getattr(kernel, "provides_operator", False)


def is_average(kernel):
    """Whether the kernel is a weighted sum of the kernels ``parts``, see ``AverageKernel``."""
    return getattr(kernel, "is_average", False)


def is_positive(kernel, params=None):
    """Whether the kernel is positive semi-definite by construction."""
    if isinstance(kernel, str):
        return kernel in POSITIVE and not params  # a parameter such as coef0 < 0 can make it indefinite
    return bool(getattr(kernel, "positive_definite", False))


def scalar_kernel(kernel):
    """The kernel that is evaluated on inputs: itself, or the scalar kernel inside an ``OutputTensorKernel``."""
    return getattr(kernel, "scalar_kernel", kernel)


def has_gamma(kernel):
    """Whether the kernel is a name and its values depend on gamma."""
    return isinstance(kernel, str) and kernel not in _WITHOUT_GAMMA


def check_kernel_params(kernels, params):
    """Raise an error unless each key of params is a parameter of one of the named kernels.

    Warn if a kernel contains a ``WhiteKernel``, which has no effect here.
    """
    if any(map(_has_noise, kernels)):
        warn(
            "kernel: a WhiteKernel has no effect, because kernel values are between samples; leave it out, alpha "
            "accounts for the noise"
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
    """Whether a kernel of scikit-learn contains a ``WhiteKernel``."""
    module = sys.modules.get("sklearn.gaussian_process.kernels")  # None: no kernel can contain its classes
    if module is None or isinstance(kernel, type) or not hasattr(kernel, "get_params"):
        return False
    return any(isinstance(part, module.WhiteKernel) for part in (kernel, *kernel.get_params().values()))


def resolve_gamma(kernel, gamma, X, weights=None):
    """Compute gamma as a number from training inputs X with weights (n,).

    ``"median"`` is 1 / (2 median squared distance) for rbf and Matérn kernels, 1 / median city-block distance for
    laplacian and 1 / median chi-squared distance for chi2, over pairs of distinct samples. Kernels without a distance
    use ``"scale"``, 1 / (number of features * variance). ``"auto"`` is the median, from which a search starts. The
    result is None for kernels without gamma.
    """
    check_number(gamma, "gamma", choices=("auto", "median", "scale"))
    if not has_gamma(kernel):
        return None
    if not isinstance(gamma, str):
        return float(gamma)
    weights, X = np.ones(X.shape[0]) if weights is None else weights, to_float64(X)
    if gamma in ("auto", "median") and kernel in _EXPONENT_AT_MEDIAN:
        rows = evenly_spread_rows(X, _MEDIAN_ROWS)
        D = distances(kernel, _safe_indexing(X, rows))
        pairs = np.triu_indices_from(D, k=1)
        return median_rate(kernel, D[pairs], np.multiply.outer(weights[rows], weights[rows])[pairs])
    share = weights / (weights.sum() * X.shape[1])
    variance = float(
        (share @ X.multiply(X) if scipy.sparse.issparse(X) else share @ X**2).sum() - (share @ X).sum() ** 2
    )
    return 1.0 / (X.shape[1] * variance) if variance > 0 else 1.0


def median_rate(kernel, distances, weights):
    """Compute gamma of a named kernel from the weighted median of distances; 1 if all samples are equal."""
    distinct = distances > 1e-10 * distances.max(initial=0.0)  # distances of equal samples are rounding errors
    if not distinct.any():
        return 1.0
    return _EXPONENT_AT_MEDIAN[kernel] / weighted_quantile(distances[distinct], 0.5, weights[distinct])


def gram(kernel, X, Z=None, *, gamma=None, params=None, origin=None):
    """Compute kernel values (n, m) of X with Z, or of X with itself.

    Linear and polynomial kernels are evaluated at ``x - origin``. Named kernels return single precision for dense rows
    in single precision.
    """
    if is_precomputed(kernel):
        return X
    Z = _copy_if_shared(X, Z)
    if isinstance(kernel, str):
        is_single = is_float32(X) and (Z is None or is_float32(Z))
        return (_gram_float32 if is_single else _gram_float64)(kernel, X, Z, gamma, params, origin)
    others = X if Z is None else Z
    return _check_values(kernel, kernel(X, others), (length(X), length(others)))


def _gram_float64(kernel, X, Z, gamma, params, origin):
    """Values (n, m) of a named kernel in double precision; Z is None for X."""
    if kernel == "rbf" and not (scipy.sparse.issparse(X) or scipy.sparse.issparse(Z)):
        return _gram_from_exponents(X, Z, gamma, lambda tile: np.exp(tile, out=tile))
    if kernel == TANIMOTO:
        return tanimoto(X, X if Z is None else Z)
    if kernel in MATERN:
        D = distances(kernel, X, Z)
        return profile(kernel, D, gamma, out=D, symmetric=Z is None)
    if origin is not None and kernel in _INNER_PRODUCT:
        return _centred_gram(origin, kernel, X, Z, gamma, **(params or {}))
    return pairwise_kernels(X, Z, metric=kernel, filter_params=True, gamma=gamma, **(params or {}))


def _check_values(kernel, G, shape):
    """Values of a kernel object as a finite array (n, m), or (n, m, d, d) of an operator-valued kernel."""
    G = np.asarray(G.toarray() if scipy.sparse.issparse(G) else G, dtype=float)
    if is_operator_valued(kernel):
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
    """Compute ``k(x, x)`` (n,) without the Gram matrix; kernel objects may have a method for it."""
    if callable(getattr(kernel, "diagonal", None)):  # ``MetricKernel`` has a setting of this name
        return kernel.diagonal(X)
    if isinstance(kernel, str) and kernel in _UNIT_DIAGONAL:
        return np.ones(length(X))
    if isinstance(kernel, str) and kernel == "linear" and origin is None:
        return row_norms(X, squared=True)
    size = _DIAGONAL_ROWS if hasattr(X, "shape") else _DIAGONAL_OBJECTS
    blocks = (X[i : i + size] for i in range(0, length(X), size))
    return np.concatenate([np.diag(gram(kernel, block, gamma=gamma, params=params, origin=origin)) for block in blocks])


def training_gram(kernel, X, *, gamma=None, params=None, origin=None):
    """Compute the Gram matrix (n, n), checked to be positive semi-definite unless the kernel guarantees it."""
    K = gram(kernel, X, gamma=gamma, params=params, origin=origin)
    # ``gram`` checks the values of kernel objects and the exponents of rbf; a sum is one pass over K
    if isinstance(kernel, str) and kernel != "rbf" and not np.isfinite(K.sum(axis=0)).all():
        raise ValueError(OVERFLOW)
    if is_positive(kernel, params):
        return K
    remedy = "use a positive definite kernel, or add a multiple of the identity"
    if is_operator_valued(kernel):
        n, d = K.shape[1:3]
        flat = check_symmetric_psd(K.swapaxes(1, 2).reshape(n * d, n * d), "kernel", remedy)
        return flat.reshape(n, d, n, d).swapaxes(1, 2)
    return check_symmetric_psd(K, "X (kernel='precomputed')" if kernel == PRECOMPUTED else "kernel", remedy)


@dataclass(frozen=True, eq=False)
class InputKernel(EqualByValues):
    """A kernel with numbers for all settings, as a fitted model keeps it.

    It is a copy: later changes of the estimator's settings do not affect it. Rows of numbers are scaled first if there
    is a scaling. Linear and polynomial kernels are then evaluated at ``x - origin`` if there is an origin (p,).
    """

    kernel: Any
    gamma: float | None = None
    params: dict | None = None
    origin: np.ndarray | None = None
    scaling: InputScaling | None = None
    on_features = False  # whether features replace kernel values, as in ``FeatureKernel``

    def __hash__(self):
        return hash((type(self.kernel), self.gamma, self.scaling))

    @classmethod
    def from_settings(cls, kernel, gamma, params, X, weights=None, centred=False, scaling=None):
        """Resolve settings with training inputs X and their weights (n,).

        centred : whether linear and polynomial kernels have their origin at the weighted mean of X
        scaling : of rows X, or None
        """
        X = X if scaling is None else scaling(X)
        kernel = kernel.resolve(X, weights) if hasattr(kernel, "resolve") else snapshot(kernel)
        has_origin = centred and isinstance(kernel, str) and kernel in _INNER_PRODUCT
        origin = _weighted_mean(X, weights) if has_origin else None
        if has_origin and scaling is not None and not scipy.sparse.issparse(X):
            X = X - origin  # scaled columns have means of any size, which "scale" would count as variance
        rate = resolve_gamma(kernel, gamma, X, weights)
        return cls(kernel, rate, None if params is None else dict(params), origin, scaling)

    @property
    def precomputed(self) -> bool:
        """Whether the inputs are kernel values."""
        return is_precomputed(self.kernel)

    @property
    def is_scaled(self) -> bool:
        """Whether columns of the inputs are divided by numbers."""
        scaling = getattr(self.kernel, "scaling", self.scaling)  # a learnt metric is of scaled inputs
        return scaling is not None and not scaling.keeps_units

    @property
    def parts(self) -> tuple[InputKernel, ...]:
        """The single kernels of an average; the kernel itself if it is one."""
        return tuple(one for part in self.kernel.parts for one in part.parts) if is_average(self.kernel) else (self,)

    @property
    def scaled_share(self) -> float:
        """The share of an average that has scaled inputs; 0 or 1 for a single kernel."""
        if not is_average(self.kernel):
            return float(self.is_scaled)
        return sum(share * part.scaled_share for share, part in zip(self.kernel.shares, self.kernel.parts, strict=True))

    @property
    def rate(self):
        """The gamma of a named kernel, or the corresponding setting of a kernel object; None if there is none."""
        kernel = self.kernel
        value = getattr(kernel, kernel.rate_setting[0]) if hasattr(kernel, "rate_setting") else self.gamma
        return None if isinstance(value, str) else value  # a name such as "auto" remains where the kernel ignores gamma

    def with_rate(self, factor) -> InputKernel:
        """Return the kernel with its rate multiplied by factor."""
        if hasattr(self.kernel, "with_rate"):
            return replace(self, kernel=self.kernel.with_rate(factor))
        return replace(self, gamma=None if self.gamma is None else self.gamma * float(factor))

    def value_size(self, n, d):
        """Number of entries of one kernel value, for n samples and d outputs."""
        return self.kernel.value_size(n, d) if is_operator_valued(self.kernel) else 1

    def scale(self, X):
        """The inputs that the kernel is evaluated at."""
        return X if self.scaling is None else self.scaling(X)

    def without_bounds(self) -> InputKernel:
        """The same kernel for inputs however far from the training samples, see ``InputScaling``."""
        kernel = self.kernel.without_bounds() if hasattr(self.kernel, "without_bounds") else self.kernel
        scaling = None if self.scaling is None else self.scaling.without_bounds()
        return replace(self, kernel=kernel, scaling=scaling)

    def training_gram(self, X):
        """Compute the checked Gram matrix (n, n)."""
        X = self.scale(X)
        return training_gram(self.kernel, X, gamma=self.gamma, params=self.params, origin=self.origin)

    def diagonal(self, X):
        """Compute ``k(x, x)`` (n,), for precomputed values the diagonal of X."""
        if self.precomputed:
            return np.asarray(X).diagonal()
        return diagonal(self.kernel, self.scale(X), gamma=self.gamma, params=self.params, origin=self.origin)

    def __call__(self, X, Z=None):
        """Compute kernel values (m, n) of X with Z, or with itself; X if it holds kernel values."""
        X, Z = self.scale(X), None if Z is None else self.scale(Z)
        return gram(self.kernel, X, Z, gamma=self.gamma, params=self.params, origin=self.origin)


def _copy_if_shared(X, Z):
    """Return Z, copied if it shares memory with X.

    BLAS and kernel objects compute X with itself by another algorithm, with other rounding errors. Without the copy,
    predictions at the training inputs would differ from predictions at a copy of them, or after loading the model.
    """
    if isinstance(X, np.ndarray) and isinstance(Z, np.ndarray):
        return Z.copy() if np.may_share_memory(X, Z) else Z
    return Z[:] if Z is X and Z is not None else Z


def tanimoto(X, Z):
    """Compute ``<x, z> / (||x||^2 + ||z||^2 - <x, z>)`` (n, m) for dense or sparse rows; 1 for two rows of zeros."""
    products = safe_sparse_dot(X, Z.T, dense_output=True)
    union = row_norms(X, squared=True)[:, None] + row_norms(Z, squared=True) - products
    return np.divide(products, union, out=np.ones_like(products), where=union > 0)


def centred_linear(X, Z, origin):
    """Compute ``<x - o, z - o>`` (n, m) for dense or sparse rows and an origin o (p,); Z is None for X."""
    Z = X if Z is None else Z
    with np.errstate(over="ignore", invalid="ignore"):  # the caller checks the values
        if not (scipy.sparse.issparse(X) or scipy.sparse.issparse(Z)):
            centred = X - origin
            return centred @ (centred if Z is X else Z - origin).T
        G = safe_sparse_dot(X, Z.T, dense_output=True) - (X @ origin)[:, None]  # keeps sparse rows sparse
        G += origin @ origin - Z @ origin
        return G


def _centred_gram(origin, kernel, X, Z, gamma, degree=3, coef0=1):
    """Values of the linear or polynomial kernel, with scikit-learn's defaults, at ``x - origin``."""
    G = centred_linear(X, Z, origin)
    if kernel == "linear":
        return G
    with np.errstate(over="ignore", invalid="ignore"):
        G *= gamma
        G += coef0
        return np.power(G, degree, out=G)


def _weighted_mean(X, weights):
    """Weighted mean (p,) of the rows of X, dense or sparse."""
    weights = np.ones(X.shape[0]) if weights is None else np.asarray(weights, dtype=float)
    return np.asarray((weights / weights.sum()) @ X).ravel()


def is_float32(X):
    """Whether the inputs are a dense array in single precision."""
    return isinstance(X, np.ndarray) and X.dtype == np.float32


def _gram_float32(kernel, X, Z, gamma, params, origin):
    """Values (n, m) of a named kernel in single precision, for rows in single precision.

    Products and distances are computed in double precision, so that values are accurate for every origin and gamma.
    Exponentials take longer and are computed in single precision. Values that overflow are infinite, and the caller
    raises an error.
    """
    X, Z = to_float64(X), None if Z is None else to_float64(Z)
    with np.errstate(over="ignore"):
        if kernel == "rbf":
            return _gram_from_exponents(X, Z, gamma, _exp_float32, np.float32)
        if kernel in MATERN:
            return _gram_from_exponents(X, Z, gamma, lambda tile: profile(kernel, -tile, 1.0, out=tile), np.float32)
        others = X.copy() if Z is None else Z
        out = np.empty((len(X), len(others)), dtype=np.float32)

        def fill(i, j):
            out[i, j] = gram(kernel, X[i], others[j], gamma=gamma, params=params, origin=origin)

        fill_tiles(fill, out)
        return out


def _gram_from_exponents(X, Z, gamma, finish, dtype=np.float64):
    """Kernel values (n, m) of dense rows, as a function of ``-gamma ||x - z||^2``.

    These exponents are one matrix product in double precision.

    finish : computes kernel values from a tile of exponents of type `dtype`, in place
    """
    origin = (X if Z is None else Z).mean(axis=0)  # an origin near the data keeps cancellation small
    rows = _exponent_factor(X - origin, gamma)
    columns = _swap_last_two(rows if Z is None else _exponent_factor(Z - origin, gamma))
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


def _exp_float32(exponents):
    """``exp`` in place, in single precision, with 0 in place of subnormal numbers, which are slow to compute with."""
    smallest = np.finfo(exponents.dtype).tiny
    underflows = exponents.min(initial=0.0) < math.log(smallest)
    np.exp(exponents, out=exponents)
    if underflows:
        exponents[exponents < smallest] = 0.0


def _exponent_factor(X, gamma):
    """Rows ``(sqrt(2 gamma) x, -gamma ||x||^2, 1)``, in the precision of X."""
    gamma = float(gamma)
    squares = -gamma * np.einsum("ij,ij->i", X, X)
    if not np.isfinite(squares).all():  # finite squares make all exponents finite
        raise ValueError(OVERFLOW)
    return np.column_stack([math.sqrt(2 * gamma) * X, squares, np.ones_like(squares)])


def _swap_last_two(rows):
    """Rows ``(.., 1, -gamma ||z||^2)``: their products with rows of ``_exponent_factor`` are the exponents."""
    return np.hstack([rows[:, :-2], rows[:, :-3:-1]])


def length(X):
    """Number of samples of an array, a sparse matrix or a list."""
    return X.shape[0] if hasattr(X, "shape") else len(X)
