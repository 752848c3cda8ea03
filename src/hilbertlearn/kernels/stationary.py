"""Stationary kernels: functions ("profiles") of gamma times a distance.

    values = profile("matern32", distances("matern32", X, Z), gamma)

Kernels with the same metric (``metric_name``) share one matrix of distances, whatever gamma is. Matérn kernels (Matérn
1960; Rasmussen and Williams 2006, eq. 4.14) have gamma = 1 / (2 l^2) for a length scale l. The Gaussian kernel is their
limit for nu -> inf, with the same gamma and the same median rule.
"""

from __future__ import annotations

import math
import numbers

import numpy as np
import scipy.sparse
from numpy.polynomial import Polynomial
from scipy.spatial.distance import cdist
from scipy.special import gammaln, kve
from sklearn.base import clone
from sklearn.metrics.pairwise import additive_chi2_kernel, euclidean_distances, manhattan_distances

from .._utils.naming import unnamed_in_errors
from .._utils.validation import check_choice, check_number
from .tiles import fill_tiles

GAMMA_RULES = ("median", "scale", "auto")  # rules for the gamma of kernels of rows of numbers
RATE_RULES = ("median", "auto")  # rules for the rate of kernels of other inputs
OVERFLOW = "X is too large, its kernel overflows; scale X, for example with StandardScaler"
MATERN = {"matern12": 0.5, "matern32": 1.5, "matern52": 2.5, "matern": 1.5}  # name: nu
_METRICS = {
    "rbf": "sqeuclidean",
    **dict.fromkeys(MATERN, "sqeuclidean"),
    "laplacian": "cityblock",
    "chi2": "chi2",
}
STATIONARY = tuple(_METRICS)
# The derivative of the profile of the key with respect to gamma D is -r times the profile of the given name at r gamma.
_DERIVATIVES = {
    "rbf": ("rbf", 1.0),
    "matern32": ("matern12", 3.0),
    "matern": ("matern12", 3.0),
    "matern52": ("matern32", 5 / 3),
}
DIFFERENTIABLE = tuple(_DERIVATIVES)  # names of kernels that are differentiable everywhere
_TILE = 128  # rows and columns of a tile: 128 KB, three of which fit in the cache; larger tiles are slower
# Squared distance over squared norm below which distances are computed from differences: a difference of squares loses
# more than ten digits there. Twice the value costs time and gains digits.
_CLOSE = 4e-6
_FAR = 1500.0  # bound of t = sqrt(4 nu gamma D): all Matérn kernels with nu <= 50 are below 1e-308 there
_LARGE_NU = 50.0  # nu from which eight terms of Debye's expansion are exact to rounding
_TINY = 1e-300  # smallest t, which keeps its logarithm finite


@unnamed_in_errors
class BandwidthMixin:
    """Mixin for kernels whose rate is one setting, so that it can be searched.

    Attributes
    ----------
    rate_setting : tuple of (str, float), default=("gamma", 1.0)
        Name of the setting, and the power p such that the setting is proportional to ``rate^p``: 1 for gamma, -1/2 for
        a bandwidth.
    rate_start : str or float, default="median"
        The rule or number that "auto" resolves to. The search starts there.
    """

    rate_setting = ("gamma", 1.0)
    rate_start: str | float = "median"

    @property
    def rate_is_searched(self) -> bool:
        """Whether the rate is selected by leave-one-out errors."""
        value = getattr(self, self.rate_setting[0])
        return isinstance(value, str) and value == "auto"

    def initial_rate(self):
        """Return the value with which a search starts.

        Returns
        -------
        rate : float or str
            The setting, or ``rate_start`` if it is "auto".
        """
        return self.rate_start if self.rate_is_searched else getattr(self, self.rate_setting[0])

    def resolve(self, X, sample_weight=None):
        """Return the kernel with a number for its rate.

        Parameters
        ----------
        X : inputs of the kernel
            Training inputs, of n samples.
        sample_weight : array of shape (n,), default=None
            Weights of the samples; None for ones.

        Returns
        -------
        kernel : object of the same class
            The same settings, with a number for the rate.
        """
        return clone(self).set_params(**{self.rate_setting[0]: self._resolved_rate(X, sample_weight)})

    def _resolved_rate(self, X, sample_weight):
        """Compute the setting as a number from training inputs X and their weights (n,) or None."""
        raise NotImplementedError

    def check_resolved(self):
        """Raise an error if the setting is a rule and not a number yet."""
        value = getattr(self, self.rate_setting[0])
        if isinstance(value, str):
            raise unresolved_error(f"{type(self).__name__}: {self.rate_setting[0]}", value)

    def with_rate(self, factor):
        """Return the kernel with its rate multiplied by a factor.

        Parameters
        ----------
        factor : float
            A number > 0.

        Returns
        -------
        kernel : object of the same class
            The setting must be a number, or numbers: call ``resolve`` first.
        """
        check_number(factor, "factor")
        self.check_resolved()
        name, power = self.rate_setting
        value = getattr(self, name)
        if value is not None:  # a kernel without a rate
            scaled = np.multiply(value, factor**power)
            value = scaled if scaled.ndim else float(scaled)
        return clone(self).set_params(**{name: value})


def unresolved_error(name, value):
    """The error for a kernel that is called before ``resolve``."""
    return ValueError(f"{name}={value!r} is not a number yet; call resolve(X) with training data, or give a number")


def metric_name(name):
    """The distance of a named kernel: "sqeuclidean", "cityblock" or "chi2"."""
    return _METRICS[check_choice(name, "kernel", tuple(_METRICS))]


def distances(name, X, Z=None):
    """Compute distances (n, m) of rows X (n, p) to rows Z (m, p), or to each other, in the metric of a named kernel.

    Rows may be sparse, except for chi2.
    """
    metric = metric_name(name)
    if metric == "cityblock":
        return manhattan_distances(X, Z)
    if metric == "chi2":
        return -additive_chi2_kernel(X, Z)
    if scipy.sparse.issparse(X) or scipy.sparse.issparse(Z):
        return _sparse_squared_distances(X, Z)
    return _dense_squared_distances(X, Z)


def _sparse_squared_distances(X, Z):
    X, Z = (None if A is None else scipy.sparse.csr_array(A, dtype=float) for A in (X, Z))
    squares = _squared_norms(X)
    if Z is not None:
        _squared_norms(Z)  # raises an error if it overflows
    return _recompute_small(euclidean_distances(X, Z, squared=True), X, Z, squares)


def _dense_squared_distances(X, Z):
    """Squared Euclidean distances from one matrix product, of (sqrt2 x, |x|^2, 1) and (-sqrt2 z, 1, |z|^2)."""
    X, Z = (None if A is None else np.asarray(A, dtype=float) for A in (X, Z))
    if Z is not None and X.shape[1] != Z.shape[1]:
        raise ValueError(f"X and Z must have the same number of columns, got {X.shape[1]} and {Z.shape[1]}")
    origin = (X if Z is None else Z).mean(axis=0)  # an origin near the data keeps cancellation small
    X, Z = X - origin, None if Z is None else Z - origin
    squares = _squared_norms(X)
    others, other_squares = (X, squares) if Z is None else (Z, _squared_norms(Z))
    rows = np.column_stack([math.sqrt(2) * X, squares, np.ones(len(X))])
    columns = np.column_stack([-math.sqrt(2) * others, np.ones(len(others)), other_squares])
    return _recompute_small(rows @ columns.T, X, Z, squares)


def profile(name, D, gamma, out=None, nu=None, symmetric=False):
    """Compute kernel values (n, m) at distances D (n, m).

    out : array for the values, may be D; None for a new one
    nu : smoothness of a Matérn kernel in place of the name's
    symmetric : whether D is; one half is then computed, and the values are exactly symmetric
    """
    if metric_name(name) != "sqeuclidean" or name == "rbf":
        nu = math.inf
    else:
        nu = MATERN[name] if nu is None else check_nu(nu, "nu")
    gamma, out = float(gamma), np.empty(D.shape) if out is None else out

    def fill(rows, columns):
        out[rows, columns] = _matern(D[rows, columns], gamma, nu)

    with np.errstate(over="ignore"):  # gamma D may overflow where the kernel is 0
        fill_tiles(fill, out, symmetric, _TILE**2)
    return out


def profile_derivative(name, D, gamma, out=None):
    """Derivative (n, m) of the profile with respect to gamma D, for kernels in ``DIFFERENTIABLE``, in out if given."""
    other, ratio = _DERIVATIVES[name]
    values = profile(other, D, ratio * gamma, out=out)
    values *= -ratio
    return values


def check_nu(nu, name):
    """Return nu as a float; raise an error unless it is a number > 0 or infinity."""
    if isinstance(nu, bool) or not isinstance(nu, numbers.Real) or not float(nu) > 0:
        raise ValueError(
            f"{name} must be a number > 0, or inf for the rbf kernel, got {nu!r}; 0.5, 1.5 and 2.5 are the usual ones, "
            "and the fastest"
        )
    return float(nu)


def _matern(D, gamma, nu):
    """Matérn kernel at D: ``2^(1 - nu) / Gamma(nu) t^nu K_nu(t)`` of ``t = sqrt(4 nu gamma D)``.

    For nu = 1/2, 3/2 and 5/2 this is exp(-t) times 1, 1 + t and 1 + t + t^2 / 3; for nu = inf it is exp(-gamma D).
    """
    if nu == math.inf:
        values = -gamma * D
        return np.exp(values, out=values)
    if nu not in MATERN.values():
        return np.where(D > 0, (_by_bessel if nu < _LARGE_NU else _by_debye)(gamma * D, nu), 1.0)
    t = 4 * nu * gamma * D
    np.sqrt(t, out=t)
    np.minimum(t, _FAR, out=t)  # avoids infinity times 0
    decay = np.negative(t)
    np.exp(decay, out=decay)
    if nu > 0.5:
        if nu > 1.5:
            t *= t / 3 + 1
        t += 1
        decay *= t
    return decay


def _by_bessel(q, nu):
    """Matérn kernel at q = gamma D from the logarithm of the Bessel function, which neither over- nor underflows."""
    t = np.clip(np.sqrt(4 * nu * q), _TINY, _FAR)
    scaled = kve(nu, t)  # exp(t) K_nu(t), infinite where t is so small that the kernel is 1
    values = np.exp((1 - nu) * math.log(2) - gammaln(nu) + nu * np.log(t) + np.log(scaled) - t)
    return np.where(np.isfinite(scaled), np.minimum(values, 1.0), 1.0)


def _by_debye(q, nu):
    """Matérn kernel at q = gamma D for large nu, where K_nu overflows: Debye's expansion (DLMF 10.41.4).

    Divided by its limit at 0, with ``w = sqrt(1 + 4 q / nu)``, it is ``((1 + w) / 2 exp(1 - w))^nu w^-1/2 S(1 / w) /
    S(1)``. S is the sum of ``(-1 / nu)^k u_k``.
    """
    square = np.minimum(4 * q / nu, 1e6)
    w = np.sqrt(1 + square)
    above = square / (1 + w)  # w - 1 without cancellation
    total, u = Polynomial([1.0]), Polynomial([1.0])
    for k in range(1, 9):
        u = _next_debye(u)
        total = total + (-1 / nu) ** k * u
    return np.exp(nu * (np.log1p(above / 2) - above)) / np.sqrt(w) * (total(1 / w) / total(1.0))


def _next_debye(u):
    """The polynomial u_{k+1} from u_k (DLMF 10.41.9)."""
    p = Polynomial([0.0, 1.0])
    return p**2 * (1 - p**2) * u.deriv() / 2 + ((1 - 5 * p**2) * u).integ() / 8


def _squared_norms(X):
    """Squared norms (n,) of the rows, dense or sparse."""
    with np.errstate(over="ignore", invalid="ignore"):
        sparse = scipy.sparse.issparse(X)
        squares = np.asarray(X.multiply(X).sum(axis=1)).ravel() if sparse else np.einsum("ij,ij->i", X, X)
    if not np.isfinite(squares).all():  # finite norms make all distances finite
        raise ValueError("X contains NaN; leave these samples out" if np.isnan(squares).any() else OVERFLOW)
    return squares


def _recompute_small(D, X, Z, squares):
    """Recompute small squared distances in D (n, m) from differences, so that none is negative.

    Differences of squares lose digits, and the root in Matérn kernels would halve the remaining ones.

    squares : (n,) squared norms of X
    """
    if Z is None:
        np.fill_diagonal(D, np.inf)  # pairs of a row with itself are exact
    close = _CLOSE * squares
    for i in np.flatnonzero(D.min(axis=1, initial=np.inf) < close):
        columns = np.flatnonzero(D[i] < close[i])
        D[i, columns] = _distances_to_rows(X, i, X if Z is None else Z, columns)
    if Z is None:
        np.fill_diagonal(D, 0.0)
    return D


def _distances_to_rows(X, i, Z, rows):
    """Squared distances of row i of X to the given rows of Z, from differences."""
    if scipy.sparse.issparse(X):
        return np.asarray((Z[rows] - X[np.full(len(rows), i)]).power(2).sum(axis=1)).ravel()
    return cdist(X[i : i + 1], Z[rows], "sqeuclidean")[0]
