"""Kernels on curves: settings with ``get_params``, called as ``kernel(X, Z) -> Gram``.

X and Z are arrays (n, m) or (n, m, channels), scikit-fda's ``FDataGrid`` and ``FDataIrregular``, or
``IrregularFunctions``. Integrals are quadratures by the trapezoid rule whose weights sum to 1: the interval from the
first to the last point of the grid counts as [0, 1].

Points that were not observed (NaN) are interpolated linearly from the observed points of the same curve and channel,
constant before the first and after the last, as Bouche et al. 2021 and Lambert et al. 2022 do with input curves. Each
curve is completed on its own, so that all kernels stay positive semi-definite. (Distances over the points that two
curves have in common would lose that: they are not distances in one space.)

A setting that depends on the training data is a word until ``resolve(X, sample_weight)`` returns the same kernel with
the numbers behind it. "auto" leaves a bandwidth to held-out errors and is the median where nothing searches.
"""

from __future__ import annotations

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.base import BaseEstimator, clone
from sklearn.utils import gen_batches

from .._utils.naming import unnamed_in_errors
from .._utils.validation import check_choice, check_number
from ..data.functions import curves_on_grid, fill_gaps, quadrature, same_points
from .gram import gram, median_rate, resolve_gamma
from .stationary import MATERN, BandwidthMixin

_METRICS = {"laplacian": "cityblock", "rbf": "sqeuclidean"}  # the distances d in exp(-gamma d), by scipy's names
_SHAPES = ("rbf", *MATERN, "linear")  # of kernels of the L2 distance, or of the inner product
_RULES = ("median", "auto")
_BLOCK_ENTRIES = 2**18  # kernel values computed at once, 2 MB: they are summed while still in the cache


@unnamed_in_errors
class CurveKernel(BandwidthMixin, BaseEstimator):
    """What kernels on curves share: how these are read, and settings that wait for the training curves.

    A kernel defines ``_gram(x, z, points)`` for curves (n, m, channels) at points (m,), x is z where they are the same,
    and ``_numbers(x, points, mass)``, the settings that follow from training curves x with weights mass (n,).
    """

    accepts_missing = True

    def resolve(self, X, sample_weight=None):
        """The kernel with numbers for what depends on the training curves."""
        x, points = _read(X, self.grid, "X")
        mass = np.ones(len(x)) if sample_weight is None else np.asarray(sample_weight, dtype=float)
        return clone(self).set_params(**self._numbers(x, points, mass))

    def __call__(self, X, Z):
        return self._gram(*_pair(X, Z, self.grid))


class L2(CurveKernel):
    """Kernel of the L2 distance of curves, ``exp(-gamma ||x - z||^2)`` by default.

    Squared distances are summed over the channels.

    Parameters
    ----------
    gamma : float or {"median", "auto"}, default="auto"
        Rate; "median" and "auto" are 1 / (2 median squared distance) over pairs of distinct training curves.
    grid : array of shape (m,), default=None
        Points of curves given as arrays, by default evenly spaced; curves that have no points in common are
        interpolated there.
    shape : {"rbf", "matern12", "matern32", "matern", "matern52", "linear"}, default="rbf"
        As ``Matern`` with nu = 1/2, 3/2 ("matern" too) and 5/2; "linear" is the inner product ``∫ <x(t), z(t)> dt``, in
        which gamma has no part.

    References
    ----------
    - Bouche, Clausel, Roueff and d'Alché-Buc (2021). Nonlinear functional output regression: a dictionary approach.
      AISTATS, supplementary section C.2.

    Examples
    --------
    >>> import numpy as np
    >>> from hilbertlearn import kernels
    >>> t = np.linspace(0, 1, 50)
    >>> X = np.array([np.sin(6 * t), np.cos(6 * t), np.sin(6 * t) + 0.1])
    >>> kernels.L2(gamma=1.0)(X, X).round(2)
    array([[1.  , 0.37, 0.99],
           [0.37, 1.  , 0.37],
           [0.99, 0.37, 1.  ]])
    """

    def __init__(self, gamma="auto", grid=None, shape="rbf"):
        self.gamma, self.grid, self.shape = gamma, grid, shape

    @property
    def rate_is_searched(self):
        """Whether gamma is left to held-out errors."""
        return super().rate_is_searched and self.shape != "linear"

    def with_rate(self, factor):
        """The same kernel with gamma multiplied by factor; the linear one has no rate."""
        return clone(self) if self.shape == "linear" else super().with_rate(factor)

    def _numbers(self, x, points, mass):
        if check_choice(self.shape, "L2: shape", _SHAPES) == "linear":
            return {}
        check_number(self.gamma, "L2: gamma", choices=_RULES)
        return {"gamma": resolve_gamma("rbf", self.initial_rate(), _vectors(x, points), mass)}

    def _gram(self, x, z, points):
        shape = check_choice(self.shape, "L2: shape", _SHAPES)
        gamma = None if shape == "linear" else _number(self.gamma, "L2: gamma")
        return _of_distance(shape, x, z, points, gamma)


class IntegratedKernel(CurveKernel):
    """Kernel of the values, integrated over the points: ``k(x, z) = ∫ exp(-gamma d(x(t), z(t))) dt``.

    The distance d of two values is that of the kernel's name; with several channels they are vectors. Laforgue et al.
    2020 use the Laplacian one with gamma = 7 for electromyograms, Lambert et al. 2022 the Gaussian one for the 13
    standardised channels of speech (where they average over the points, with equal weights).

    Parameters
    ----------
    name : {"laplacian", "rbf"}, default="laplacian"
        "laplacian" for the city-block distance, "rbf" for the squared Euclidean one.
    gamma : float or {"median", "auto"}, default="auto"
        Rate; "median" and "auto" are 1 / median distance ("laplacian") or 1 / (2 median distance) ("rbf"), the median
        over pairs of training curves and over points at which they differ; of many, 200 curves and 50 points are taken
        at even steps.
    grid : array of shape (m,), default=None
        As in ``L2``.

    References
    ----------
    - Laforgue, Lambert, Brogat-Motte and d'Alché-Buc (2020). Duality in RKHSs with infinite dimensional outputs:
      application to robust losses. ICML.

    Examples
    --------
    >>> import numpy as np
    >>> from hilbertlearn import kernels
    >>> X = np.array([[0.0, 0.0, 0.0], [0.0, 0.0, 2.0]])  # two curves that part at the end
    >>> kernels.IntegratedKernel("laplacian", gamma=7.0)(X, X).round(2)
    array([[1.  , 0.75],
           [0.75, 1.  ]])
    """

    def __init__(self, name="laplacian", gamma="auto", grid=None):
        self.name, self.gamma, self.grid = name, gamma, grid

    def _numbers(self, x, points, mass):
        check_choice(self.name, "IntegratedKernel: name", tuple(_METRICS))
        gamma = check_number(self.gamma, "IntegratedKernel: gamma", choices=_RULES)
        return {"gamma": _median_rate(self.name, x, points, mass) if isinstance(gamma, str) else float(gamma)}

    def _gram(self, x, z, points):
        check_choice(self.name, "IntegratedKernel: name", tuple(_METRICS))
        gamma = _number(self.gamma, "IntegratedKernel: gamma")
        at_points = [np.ascontiguousarray(a.transpose(1, 0, 2)) for a in (x, z)]
        G = np.zeros((len(x), len(z)))
        for block in gen_batches(len(x), max(1, _BLOCK_ENTRIES // len(z))):
            for u, v, weight in zip(*at_points, quadrature(points), strict=True):
                values = _exponential(self.name, gamma, u[block], v)
                values *= weight
                G[block] += values
        if z is x:
            np.fill_diagonal(G, 1.0)  # the weights sum to 1, their sum does to rounding only
        return G


class ChannelSum(CurveKernel):
    """Sum of one Gaussian kernel for each channel: ``sum_l exp(-||x^l - z^l||^2 / (bandwidth^2 scale_l))``.

    Bouche et al. 2021 have it with 13 channels of speech and bandwidth 1: scale_l is the sum of ``||x_i^l||^2`` over
    the training curves. As a sum, not a mean, it grows with their number, and the kernel flattens.

    Parameters
    ----------
    bandwidth : float, array of shape (channels,) or "auto", default=1.0
        One number, or one for each channel; "auto" is 1 where nothing searches for a better one.
    scales : array of shape (channels,) or "training", default="training"
        Positive numbers, or "training" for the sums over the training curves (with sample weights, weighted sums); a
        channel in which all training curves are zero gets 1.
    grid : array of shape (m,), default=None
        As in ``L2``.

    References
    ----------
    - Bouche, Clausel, Roueff and d'Alché-Buc (2021). Nonlinear functional output regression: a dictionary approach.
      AISTATS, supplementary section C.3.

    Examples
    --------
    >>> import numpy as np
    >>> from hilbertlearn import kernels
    >>> X = np.random.default_rng(0).normal(size=(3, 20, 2))  # three curves of two channels
    >>> kernel = kernels.ChannelSum().resolve(X)
    >>> kernel(X, X).round(2)
    array([[2.  , 0.94, 1.23],
           [0.94, 2.  , 0.95],
           [1.23, 0.95, 2.  ]])
    """

    rate_setting = ("bandwidth", -0.5)
    rate_start = 1.0

    def __init__(self, bandwidth=1.0, scales="training", grid=None):
        self.bandwidth, self.scales, self.grid = bandwidth, scales, grid

    def _numbers(self, x, points, mass):
        scales = self.scales
        if isinstance(scales, str):
            check_choice(scales, "ChannelSum: scales", ("training",))
            sums = np.einsum("i,t,itl->l", mass, quadrature(points), x**2)
            scales = np.where(sums > 0, sums, 1.0)
        bandwidth = self.initial_rate()
        self._widths(bandwidth, scales, x.shape[2])  # refuses bad numbers at fit already
        return {"bandwidth": bandwidth, "scales": scales}

    def _gram(self, x, z, points):
        if isinstance(self.scales, str):
            check_choice(self.scales, "ChannelSum: scales", ("training",))
            raise _unresolved("ChannelSum: scales", self.scales)
        if self.rate_is_searched:
            raise _unresolved("ChannelSum: bandwidth", self.bandwidth)
        G = np.zeros((len(x), len(z)))
        for l, width in enumerate(self._widths(self.bandwidth, self.scales, x.shape[2])):
            own = x[:, :, l : l + 1]
            G += _of_distance("rbf", own, own if z is x else z[:, :, l : l + 1], points, 1.0 / width)
        return G

    def _widths(self, bandwidth, scales, channels):
        """What the squared distances of each channel are divided by, shape (channels,)."""
        bandwidths = _positive(bandwidth, "ChannelSum: bandwidth", channels)
        return bandwidths**2 * _positive(scales, "ChannelSum: scales", channels)


class AdditiveKernel(CurveKernel):
    """Input kernel of the kernel additive model, a double integral over the points of two curves.

    ``k(x, z) = ∫∫ exp(-(s - t)^2 / bandwidth_points^2) exp(-||x(s) - z(t)||^2 / bandwidth_values^2) ds dt``, whose
    functions are integrals over s of a smooth function of (s, x(s)). It is the inner product of the mean embeddings of
    two graphs {(s, x(s))} under a Gaussian kernel, so it is not 1 on the diagonal.

    Parameters
    ----------
    bandwidth_points : float, default=0.1
        The grid counts as [0, 1].
    bandwidth_values : float or {"median", "auto"}, default="auto"
        "median" and "auto" are the root of twice the median squared distance between values of two training curves at
        the same point, taken as in ``IntegratedKernel``.
    grid : array of shape (m,), default=None
        As in ``L2``.

    References
    ----------
    - Reimherr and Sriperumbudur (2017). Optimal prediction for additive function on function regression. Electronic
      Journal of Statistics 12.
    - Bouche, Clausel, Roueff and d'Alché-Buc (2021). Nonlinear functional output regression: a dictionary approach.
      AISTATS, supplementary section C.2.

    Examples
    --------
    >>> import numpy as np
    >>> from hilbertlearn import kernels
    >>> X = np.sin(np.linspace(0, 6, 30) + np.array([[0.0], [0.1], [3.0]]))  # a curve, nearly the same, its negative
    >>> kernels.AdditiveKernel(bandwidth_values=1.0)(X, X).round(3)
    array([[0.157, 0.156, 0.045],
           [0.156, 0.157, 0.045],
           [0.045, 0.045, 0.157]])
    """

    rate_setting = ("bandwidth_values", -0.5)

    def __init__(self, bandwidth_points=0.1, bandwidth_values="auto", grid=None):
        self.bandwidth_points, self.bandwidth_values, self.grid = bandwidth_points, bandwidth_values, grid

    def _numbers(self, x, points, mass):
        check_number(self.bandwidth_points, "AdditiveKernel: bandwidth_points")
        bandwidth = check_number(self.bandwidth_values, "AdditiveKernel: bandwidth_values", choices=_RULES)
        if isinstance(bandwidth, str):
            bandwidth = _median_rate("rbf", x, points, mass) ** -0.5
        return {"bandwidth_values": float(bandwidth)}

    def _gram(self, x, z, points):
        along = check_number(self.bandwidth_points, "AdditiveKernel: bandwidth_points")
        across = _number(self.bandwidth_values, "AdditiveKernel: bandwidth_values")
        q = quadrature(points)
        span = (points - points[0]) / (np.ptp(points) or 1.0) / along
        graphs = _graphs(x / across, span)
        others = graphs if z is x else _graphs(z / across, span)
        G = np.zeros((len(x), len(z)))
        step = max(1, _BLOCK_ENTRIES // len(points) ** 2)
        for i, graph in enumerate(graphs):
            for start in range(i if z is x else 0, len(z), step):  # of a symmetric matrix one half
                block = others[start : start + step]
                values = _exponential("rbf", 1.0, graph, block.reshape(-1, block.shape[2]))
                G[i, start : start + step] = (q @ values).reshape(len(block), -1) @ q
        return np.triu(G) + np.triu(G, 1).T if z is x else G


def _exponential(name, rate, u, v):
    """``exp(-rate d(u_i, v_j))``, shape (n, m), for values u (n, channels) and v (m, channels)."""
    values = cdist(u, v, _METRICS[name])
    values *= -rate
    return np.exp(values, out=values)


def _vectors(x, points):
    """Curves x (n, m, channels) as rows (n, m channels) whose Euclidean distances are the L2 distances."""
    return (np.sqrt(quadrature(points))[:, None] * x).reshape(len(x), -1)


def _of_distance(shape, x, z, points, gamma):
    """A kernel by name of the curves as vectors, such as ``exp(-gamma ||x_i - z_j||^2)``; the norm that of L2."""
    return gram(shape, _vectors(x, points), None if z is x else _vectors(z, points), gamma=gamma)


def _graphs(x, span):
    """Points (s, x(s)), shape (n, m, 1 + channels), of curves x (n, m, channels)."""
    return np.concatenate([np.broadcast_to(span[:, None], (*x.shape[:2], 1)), x], axis=2)


def _median_rate(name, x, points, mass):
    """The rate at which the kernel of two values is 1/e (laplacian) or 1/sqrt(e) (rbf) at their median distance.

    The median is over pairs of curves, each with the product of their weights, and over points, each with its
    quadrature weight, at which they differ: copies of a curve are no pair. 1 if none differ.
    """
    rows, columns = _evenly(len(x), 200), _evenly(len(points), 50)  # at most a million distances
    pairs = np.triu_indices(len(rows), k=1)
    pair_mass = np.multiply.outer(mass[rows], mass[rows])[pairs]
    distances = np.array([cdist(x[rows, t], x[rows, t], _METRICS[name])[pairs] for t in columns])
    total = np.multiply.outer(quadrature(points[columns]), pair_mass)
    return median_rate(name, distances, total)


def _evenly(n, most):
    """At most so many of n indices, at even steps."""
    return np.unique(np.linspace(0, n - 1, min(n, most)).astype(int))


def _pair(X, Z, grid):
    """Values (n, m, channels) of X and of Z and their common points (m,); the same array twice when X is Z."""
    x, points = _read(X, grid, "X")
    if Z is X:
        return x, x, points
    z, others = _read(Z, grid, "Z")
    if not same_points(points, others):
        raise ValueError(
            f"X and Z must be on the same grid, got {_described(points)} and {_described(others)}, which differ; "
            "sample both at the same points, or build IrregularFunctions with the same domain or give the kernel a grid"
        )
    if x.shape[2] != z.shape[2]:
        raise ValueError(f"X and Z must have the same number of channels, got {x.shape[2]} and {z.shape[2]}")
    return x, z, points


def _read(X, grid, name):
    """Values (n, m, channels) with gaps filled, and points (m,), of curves in any container."""
    curves = curves_on_grid(X, grid, name)
    empty = np.argwhere(np.isnan(curves.values).all(axis=1))
    if len(empty):
        i, l = empty[0]
        raise ValueError(f"{name}: curve {i} has no observed point in channel {l}; leave the curve out")
    return fill_gaps(curves.values, curves.axes), curves.axes[0]


def _described(points):
    return f"{len(points)} points on [{points[0]:g}, {points[-1]:g}]"


def _number(value, name):
    """A positive number; a setting that still waits for the training curves is an error."""
    if isinstance(check_number(value, name, choices=_RULES), str):
        raise _unresolved(name, value)
    return float(value)


def _unresolved(name, value):
    return ValueError(
        f"{name}={value!r} depends on the training curves: call kernel.resolve(X_train) first and use the kernel it "
        "returns, or give numbers"
    )


def _positive(value, name, channels):
    """Positive numbers (channels,) from one number or one for each channel."""
    try:
        numbers = np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        numbers = np.empty((0, 0))  # refused below
    if numbers.shape not in ((), (channels,)) or not (np.isfinite(numbers) & (numbers > 0)).all():
        raise ValueError(
            f"{name} must be finite numbers > 0, one or {channels} (one for each channel), got {value!r}; "
            "the bandwidth may be 'auto'"
        )
    return np.broadcast_to(numbers, (channels,))
