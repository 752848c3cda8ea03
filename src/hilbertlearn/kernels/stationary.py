"""Stationary kernels as profiles of a distance: kernels and bandwidths of one metric share one matrix of distances.

    values = profile("matern32", distances("matern32", X, Z), gamma)

Names of one metric (``metric``) have the same distances, whatever gamma. Matérn's kernels (Matérn 1960; Rasmussen and
Williams 2006, eq. 4.14) have gamma = 1 / (2 l^2) for a length scale l, so that gamma and its median rule are those of
the Gaussian kernel, which is their limit for nu -> inf.
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

OVERFLOW = "X is too large, its kernel overflows; scale X, for example with StandardScaler"
MATERN = {"matern12": 0.5, "matern32": 1.5, "matern52": 2.5, "matern": 1.5}  # nu, by name
_METRICS = {
    "rbf": "sqeuclidean",
    **dict.fromkeys(MATERN, "sqeuclidean"),
    "laplacian": "cityblock",
    "chi2": "chi2",
}
STATIONARY = tuple(_METRICS)  # names of kernels that are a profile of a distance
_SLOPES = {
    "rbf": ("rbf", 1.0),
    "matern32": ("matern12", 3.0),
    "matern": ("matern12", 3.0),
    "matern52": ("matern32", 5 / 3),
}
DIFFERENTIABLE = tuple(_SLOPES)  # names of kernels that have derivatives everywhere
_TILE = 128  # rows and columns worked on at a time, 128 KB, of which there are three
_CLOSE = 4e-6  # squared distance over squared norm below which a difference of squares has too few digits
_FAR = 1500.0  # sqrt(2 nu) distance / length scale at which all of Matérn's kernels with nu <= 50 are below 1e-308
_MANY = 50.0  # nu from which Debye's expansion has all digits
_TINY = 1e-300


@unnamed_in_errors
class BandwidthMixin:
    """What a search over bandwidths asks of a kernel whose rate is one setting, a word until ``resolve``.

    ``rate`` is the name of the setting and its power of the rate: 1 for gamma, -1/2 for a bandwidth. ``start`` is the
    word or the number that "auto" resolves to; the search goes on from there.
    """

    rate_setting = ("gamma", 1.0)
    rate_start: str | float = "median"

    @property
    def rate_is_searched(self) -> bool:
        """Whether the rate is left to held-out errors."""
        value = getattr(self, self.rate_setting[0])
        return isinstance(value, str) and value == "auto"

    def initial_rate(self):
        """The rate's setting, the start in place of "auto"."""
        return self.rate_start if self.rate_is_searched else getattr(self, self.rate_setting[0])

    def with_rate(self, factor):
        """The same kernel with its rate multiplied by factor; its setting must be a number, or numbers, by now."""
        check_number(factor, "factor")
        name, power = self.rate_setting
        value = getattr(self, name)
        if isinstance(value, str):
            raise unresolved(f"{type(self).__name__}: {name}", value)
        if value is not None:  # a kernel without a rate
            scaled = np.multiply(value, factor**power)
            value = scaled if scaled.ndim else float(scaled)
        return clone(self).set_params(**{name: value})


def unresolved(name, value):
    """The error of a kernel that is called before the word in a setting became a number."""
    return ValueError(f"{name}={value!r} is not a number yet; call resolve(X) with training data, or give a number")


def metric_name(name):
    """The distance of a kernel by name: "sqeuclidean", "cityblock" or "chi2"; names of one metric can share it."""
    return _METRICS[check_choice(name, "kernel", tuple(_METRICS))]


def distances(name, X, Z=None):
    """Distances (n, m) of rows X (n, p) to rows Z (m, p), or to each other, in the metric of a kernel by name.

    Rows may be sparse, except for chi2. Squared Euclidean distances come from one product, those of rows that are
    close to each other from differences: what is left of a difference of squares has few digits, and the root that
    Matérn's kernels take would leave half of these.
    """
    kind = metric_name(name)
    if kind == "cityblock":
        return manhattan_distances(X, Z)
    if kind == "chi2":
        return -additive_chi2_kernel(X, Z)
    if scipy.sparse.issparse(X) or scipy.sparse.issparse(Z):
        X, Z = (None if A is None else scipy.sparse.csr_array(A, dtype=float) for A in (X, Z))
        squares = _squares(X)
        if Z is not None:
            _squares(Z)  # refuses what overflows
        return _refined(euclidean_distances(X, Z, squared=True), X, Z, squares)
    X, Z = (None if A is None else np.asarray(A, dtype=float) for A in (X, Z))
    if Z is not None and X.shape[1] != Z.shape[1]:
        raise ValueError(f"X and Z must have the same number of columns, got {X.shape[1]} and {Z.shape[1]}")
    origin = (X if Z is None else Z).mean(axis=0)  # near the data, so that squares lose few digits
    X, Z = X - origin, None if Z is None else Z - origin
    squares = _squares(X)
    others, of_others = (X, squares) if Z is None else (Z, _squares(Z))
    # (sqrt2 x, ||x||^2, 1) against (-sqrt2 z, 1, ||z||^2)
    rows = np.column_stack([math.sqrt(2) * X, squares, np.ones(len(X))])
    columns = np.column_stack([-math.sqrt(2) * others, np.ones(len(others)), of_others])
    return _refined(rows @ columns.T, X, Z, squares)


def profile(name, D, gamma, out=None, nu=None, symmetric=False):
    """Kernel values (n, m) at distances D (n, m), in out if given, which may be D; nu in place of the name's.

    Of symmetric D one half is read, and the values are exactly symmetric.
    """
    if metric_name(name) != "sqeuclidean" or name == "rbf":
        nu = math.inf
    else:
        nu = MATERN[name] if nu is None else check_nu(nu, "nu")
    gamma, out = float(gamma), np.empty(D.shape) if out is None else out

    def fill(rows, columns):
        out[rows, columns] = _matern(D[rows, columns], gamma, nu)

    with np.errstate(over="ignore"):  # of products whose kernel is 0
        fill_tiles(fill, out, symmetric, _TILE**2)
    return out


def profile_derivative(name, D, gamma, out=None):
    """Derivative (n, m) of the profile with respect to gamma D, for kernels in ``DIFFERENTIABLE``, in out if given."""
    other, ratio = _SLOPES[name]
    values = profile(other, D, ratio * gamma, out=out)
    values *= -ratio
    return values


def check_nu(nu, name):
    """nu as a float, if it is a number > 0 or infinity."""
    good = isinstance(nu, numbers.Real) and not isinstance(nu, bool) and float(nu) > 0
    if not good:
        raise ValueError(
            f"{name} must be a number > 0, or inf for the rbf kernel, got {nu!r}; 0.5, 1.5 and 2.5 are the usual ones, "
            "and the fastest"
        )
    return float(nu)


def _matern(D, gamma, nu):
    """Matérn's kernel at D: ``2^(1 - nu) / Gamma(nu) t^nu K_nu(t)`` of ``t = sqrt(4 nu gamma D)``.

    With nu = 1/2, 3/2 and 5/2 that is exp(-t) times 1, 1 + t and 1 + t + t^2 / 3, with nu = inf exp(-gamma D).
    """
    if nu == math.inf:
        values = -gamma * D
        return np.exp(values, out=values)
    if nu not in MATERN.values():
        return np.where(D > 0, (_by_bessel if nu < _MANY else _by_debye)(gamma * D, nu), 1.0)
    t = 4 * nu * gamma * D
    np.sqrt(t, out=t)
    np.minimum(t, _FAR, out=t)  # no product of infinity and 0
    decay = np.negative(t)
    np.exp(decay, out=decay)
    if nu > 0.5:
        if nu > 1.5:
            t *= t / 3 + 1
        t += 1
        decay *= t
    return decay


def _by_bessel(q, nu):
    """Matérn's kernel at q = gamma D by logarithms of the Bessel function, which neither over- nor underflow."""
    t = np.clip(np.sqrt(4 * nu * q), _TINY, _FAR)
    scaled = kve(nu, t)  # exp(t) K_nu(t), infinite where t is so small that the kernel is 1
    values = np.exp((1 - nu) * math.log(2) - gammaln(nu) + nu * np.log(t) + np.log(scaled) - t)
    return np.where(np.isfinite(scaled), np.minimum(values, 1.0), 1.0)


def _by_debye(q, nu):
    """Matérn's kernel at q = gamma D for large nu, where K_nu overflows: Debye's expansion (DLMF 10.41.4).

    With ``w = sqrt(1 + 4 q / nu)`` and divided by its limit at 0 it is
    ``((1 + w) / 2 exp(1 - w))^nu w^-1/2 S(1 / w) / S(1)``, in which S is the sum of ``(-1 / nu)^k u_k``.
    """
    square = np.minimum(4 * q / nu, 1e6)
    w = np.sqrt(1 + square)
    above = square / (1 + w)  # w - 1, of which no digits are lost
    total, u = Polynomial([1.0]), Polynomial([1.0])
    for k in range(1, 9):
        u = _next_debye(u)
        total = total + (-1 / nu) ** k * u
    return np.exp(nu * (np.log1p(above / 2) - above)) / np.sqrt(w) * (total(1 / w) / total(1.0))


def _next_debye(u):
    """The polynomial u_{k+1} from u_k (DLMF 10.41.9)."""
    p = Polynomial([0.0, 1.0])
    return p**2 * (1 - p**2) * u.deriv() / 2 + ((1 - 5 * p**2) * u).integ() / 8


def _squares(X):
    """Squared norms (n,) of the rows, dense or sparse."""
    with np.errstate(over="ignore", invalid="ignore"):
        sparse = scipy.sparse.issparse(X)
        squares = np.asarray(X.multiply(X).sum(axis=1)).ravel() if sparse else np.einsum("ij,ij->i", X, X)
    if not np.isfinite(squares).all():  # else all distances are finite too
        raise ValueError("X contains NaN; leave these samples out" if np.isnan(squares).any() else OVERFLOW)
    return squares


def _refined(D, X, Z, squares):
    """Squared distances D (n, m), small ones anew, so that none is negative; squares (n,) are norms of X."""
    if Z is None:
        np.fill_diagonal(D, np.inf)  # not a pair
    close = _CLOSE * squares
    for i in np.flatnonzero(D.min(axis=1, initial=np.inf) < close):
        near = np.flatnonzero(D[i] < close[i])
        D[i, near] = _differences(X, i, X if Z is None else Z, near)
    if Z is None:
        np.fill_diagonal(D, 0.0)
    return D


def _differences(X, i, Z, near):
    """Squared distances of row i of X to some rows of Z, from differences."""
    if scipy.sparse.issparse(X):
        return np.asarray((Z[near] - X[np.full(len(near), i)]).power(2).sum(axis=1)).ravel()
    return cdist(X[i : i + 1], Z[near], "sqeuclidean")[0]
