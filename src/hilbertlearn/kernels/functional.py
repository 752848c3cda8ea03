"""Kernels of curves.

X and Z are arrays (n, m) or (n, m, channels), scikit-fda's ``FDataGrid`` and ``FDataIrregular``, or
``IrregularFunctions``. Integrals are computed by the trapezoid rule with weights that sum to 1: the domain, from the
first to the last point of the grid, is mapped to [0, 1].

Unobserved points (NaN) are interpolated linearly from the observed points of the same curve and channel, and constant
beyond the first and last, as in Bouche et al. 2021 and Lambert et al. 2022. Each curve is completed by itself, which
keeps all kernels positive semi-definite. Distances over the common points of two curves would not: they are not
distances in one space.
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
from .stationary import MATERN, RATE_RULES, BandwidthMixin, unresolved_error

_METRICS = {"laplacian": "cityblock", "rbf": "sqeuclidean"}  # names of the distances d in exp(-gamma d) in scipy
_SHAPES = ("rbf", *MATERN, "linear")  # functions of the L2 distance, or of the inner product
_BLOCK_ENTRIES = 2**18  # kernel values computed at once, 2 MB, so that they are summed while in the cache


@unnamed_in_errors
class CurveKernel(BandwidthMixin, BaseEstimator):
    """Base class of kernels of curves, which reads the curves.

    A subclass defines ``_gram(x, z, points)`` for curves (n, m, channels) at points (m,), where x is z for a Gram
    matrix, and ``_resolved_settings(x, points, weights)``, a dictionary of settings computed from training curves x
    with weights (n,).
    """

    accepts_missing = True

    def resolve(self, X, sample_weight=None):
        """Return the kernel with numbers for settings that depend on the training curves.

        Parameters
        ----------
        X : array of shape (n, m) or (n, m, channels), or container of n curves
            Training curves.
        sample_weight : array of shape (n,), default=None
            Weights of the curves; None for ones.

        Returns
        -------
        kernel : object of the same class
            The same settings, with numbers.
        """
        x, points = _read(X, self.grid, "X")
        weights = np.ones(len(x)) if sample_weight is None else np.asarray(sample_weight, dtype=float)
        return clone(self).set_params(**self._resolved_settings(x, points, weights))

    def __call__(self, X, Z):
        return self._gram(*_read_both(X, Z, self.grid))


class L2(CurveKernel):
    """Kernel of the L2 distance of curves, ``exp(-gamma ||x - z||^2)`` by default.

    Squared distances are summed over channels.

    Parameters
    ----------
    gamma : float or {"median", "auto"}, default="auto"
        Rate. "median" is 1 / (2 median squared distance) over pairs of distinct training curves. "auto" starts at the
        median, and estimators search from there.
    grid : array of shape (m,), default=None
        Points of curves given as arrays; None for evenly spaced points. Curves without common points are interpolated
        there.
    shape : {"rbf", "matern12", "matern32", "matern", "matern52", "linear"}, default="rbf"
        Function of the distance: Gaussian, or ``Matern`` with nu = 1/2, 3/2 ("matern" too) and 5/2. "linear" is the
        inner product ``∫ <x(t), z(t)> dt``, which does not use gamma.

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
        """Whether gamma is selected by leave-one-out errors."""
        return super().rate_is_searched and self.shape != "linear"

    def with_rate(self, factor):
        """Return the kernel with gamma multiplied by a factor; the linear kernel has no gamma.

        Parameters
        ----------
        factor : float
            A number > 0.

        Returns
        -------
        kernel : L2
            gamma must be a number: call ``resolve`` first.
        """
        return clone(self) if self.shape == "linear" else super().with_rate(factor)

    def _resolved_settings(self, x, points, weights):
        if check_choice(self.shape, "L2: shape", _SHAPES) == "linear":
            return {}
        check_number(self.gamma, "L2: gamma", choices=RATE_RULES)
        return {"gamma": resolve_gamma("rbf", self.initial_rate(), _vectors(x, points), weights)}

    def _gram(self, x, z, points):
        shape = check_choice(self.shape, "L2: shape", _SHAPES)
        gamma = None if shape == "linear" else _number(self.gamma, "L2: gamma")
        return _distance_kernel(shape, x, z, points, gamma)


class IntegratedKernel(CurveKernel):
    """Integral over the points of a kernel of the values: ``k(x, z) = ∫ exp(-gamma d(x(t), z(t))) dt``.

    `name` selects the distance d of two values, which are vectors if there are several channels. Laforgue et al.
    2020 use the Laplacian one with gamma = 7 for electromyograms, Lambert et al. 2022 the Gaussian one for the 13
    standardised channels of speech, with equal weights of all points.

    Parameters
    ----------
    name : {"laplacian", "rbf"}, default="laplacian"
        "laplacian" for the city-block distance, "rbf" for the squared Euclidean one.
    gamma : float or {"median", "auto"}, default="auto"
        Rate. "median" is 1 / median distance ("laplacian") or 1 / (2 median distance) ("rbf"). The median is over
        pairs of training curves and over points at which they differ, from at most 200 curves and 50 points at even
        steps. "auto" starts at the median, and estimators search from there.
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

    def _resolved_settings(self, x, points, weights):
        check_choice(self.name, "IntegratedKernel: name", tuple(_METRICS))
        gamma = check_number(self.gamma, "IntegratedKernel: gamma", choices=RATE_RULES)
        return {"gamma": _median_rate(self.name, x, points, weights) if isinstance(gamma, str) else float(gamma)}

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
            np.fill_diagonal(G, 1.0)  # the weights sum to 1 only up to rounding
        return G


class ChannelSum(CurveKernel):
    """Sum of Gaussian kernels, one for each channel: ``sum_l exp(-||x^l - z^l||^2 / (bandwidth^2 scale_l))``.

    Bouche et al. 2021 use it for 13 channels of speech with bandwidth 1. scale_l is the sum of ``||x_i^l||^2`` over the
    training curves. It is a sum and not a mean: it grows with their number, and the kernel flattens.

    Parameters
    ----------
    bandwidth : float, array of shape (channels,) or "auto", default=1.0
        One number, or one for each channel. "auto" starts at 1, and estimators search from there.
    scales : array of shape (channels,) or "training", default="training"
        Positive numbers, or "training" for the (weighted) sums over the training curves. A channel in which all
        training curves are zero gets 1.
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

    def _resolved_settings(self, x, points, weights):
        scales = self.scales
        if isinstance(scales, str):
            check_choice(scales, "ChannelSum: scales", ("training",))
            sums = np.einsum("i,t,itl->l", weights, quadrature(points), x**2)
            scales = np.where(sums > 0, sums, 1.0)
        bandwidth = self.initial_rate()
        self._widths(bandwidth, scales, x.shape[2])  # raises errors at fit
        return {"bandwidth": bandwidth, "scales": scales}

    def _gram(self, x, z, points):
        if isinstance(self.scales, str):
            check_choice(self.scales, "ChannelSum: scales", ("training",))
            raise unresolved_error("ChannelSum: scales", self.scales)
        if self.rate_is_searched:  # other text is an error of `_widths`
            raise unresolved_error("ChannelSum: bandwidth", self.bandwidth)
        G = np.zeros((len(x), len(z)))
        for l, width in enumerate(self._widths(self.bandwidth, self.scales, x.shape[2])):
            channel = x[:, :, l : l + 1]
            G += _distance_kernel("rbf", channel, channel if z is x else z[:, :, l : l + 1], points, 1.0 / width)
        return G

    def _widths(self, bandwidth, scales, channels):
        """Divisors (channels,) of the squared distances."""
        bandwidths = _positive(bandwidth, "ChannelSum: bandwidth", channels)
        return bandwidths**2 * _positive(scales, "ChannelSum: scales", channels)


class AdditiveKernel(CurveKernel):
    """Kernel of the kernel additive model, a double integral over the points of two curves.

    ``k(x, z) = ∫∫ exp(-(s - t)^2 / bandwidth_points^2) exp(-||x(s) - z(t)||^2 / bandwidth_values^2) ds dt``. Its
    functions are integrals over s of a smooth function of (s, x(s)). The kernel is the inner product of the mean
    embeddings of two graphs {(s, x(s))} under a Gaussian kernel, so that ``k(x, x)`` is not 1.

    Parameters
    ----------
    bandwidth_points : float, default=0.1
        Bandwidth of the points; the domain is mapped to [0, 1].
    bandwidth_values : float or {"median", "auto"}, default="auto"
        Bandwidth of the values. "median" is the root of twice the median squared distance between values of two
        training curves at the same point, computed as in ``IntegratedKernel``. "auto" starts at the median, and
        estimators search from there.
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

    def _resolved_settings(self, x, points, weights):
        check_number(self.bandwidth_points, "AdditiveKernel: bandwidth_points")
        bandwidth = check_number(self.bandwidth_values, "AdditiveKernel: bandwidth_values", choices=RATE_RULES)
        if isinstance(bandwidth, str):
            bandwidth = _median_rate("rbf", x, points, weights) ** -0.5
        return {"bandwidth_values": float(bandwidth)}

    def _gram(self, x, z, points):
        bandwidth_points = check_number(self.bandwidth_points, "AdditiveKernel: bandwidth_points")
        bandwidth_values = _number(self.bandwidth_values, "AdditiveKernel: bandwidth_values")
        q = quadrature(points)
        span = (points - points[0]) / (np.ptp(points) or 1.0) / bandwidth_points
        graphs = _graphs(x / bandwidth_values, span)
        others = graphs if z is x else _graphs(z / bandwidth_values, span)
        G = np.zeros((len(x), len(z)))
        step = max(1, _BLOCK_ENTRIES // len(points) ** 2)
        for i, graph in enumerate(graphs):
            for start in range(i if z is x else 0, len(z), step):  # one half of a symmetric matrix
                block = others[start : start + step]
                values = _exponential("rbf", 1.0, graph, block.reshape(-1, block.shape[2]))
                G[i, start : start + step] = (q @ values).reshape(len(block), -1) @ q
        return np.triu(G) + np.triu(G, 1).T if z is x else G


def _exponential(name, rate, u, v):
    """Compute ``exp(-rate d(u_i, v_j))`` (n, m) for values u (n, channels) and v (m, channels)."""
    values = cdist(u, v, _METRICS[name])
    values *= -rate
    return np.exp(values, out=values)


def _vectors(x, points):
    """Curves x (n, m, channels) as rows (n, m channels) whose Euclidean distances are the L2 distances."""
    return (np.sqrt(quadrature(points))[:, None] * x).reshape(len(x), -1)


def _distance_kernel(shape, x, z, points, gamma):
    """Values of a named kernel of the curves as vectors, such as ``exp(-gamma ||x_i - z_j||^2)`` with the L2 norm."""
    return gram(shape, _vectors(x, points), None if z is x else _vectors(z, points), gamma=gamma)


def _graphs(x, span):
    """Points (s, x(s)), shape (n, m, 1 + channels), of curves x (n, m, channels)."""
    return np.concatenate([np.broadcast_to(span[:, None], (*x.shape[:2], 1)), x], axis=2)


def _median_rate(name, x, points, weights):
    """Rate at which the kernel of two values is 1/e (laplacian) or 1/sqrt(e) (rbf) at the median distance.

    The median is over pairs of curves, weighted by the product of their weights, and over points at which they differ,
    weighted by the quadrature. The rate is 1 if all curves are equal.
    """
    rows, columns = _even_steps(len(x), 200), _even_steps(len(points), 50)  # at most a million distances
    pairs = np.triu_indices(len(rows), k=1)
    pair_weights = np.multiply.outer(weights[rows], weights[rows])[pairs]
    distances = np.array([cdist(x[rows, t], x[rows, t], _METRICS[name])[pairs] for t in columns])
    return median_rate(name, distances, np.multiply.outer(quadrature(points[columns]), pair_weights))


def _even_steps(n, max_number):
    """At most `max_number` of n indices, at even steps."""
    return np.unique(np.linspace(0, n - 1, min(n, max_number)).astype(int))


def _read_both(X, Z, grid):
    """Values (n, m, channels) of X and Z, and their common points (m,); the same array twice if X is Z."""
    x, points = _read(X, grid, "X")
    if Z is X:
        return x, x, points
    z, others = _read(Z, grid, "Z")
    if not same_points(points, others):
        raise ValueError(
            f"X and Z must be on the same grid, got {_describe_grid(points)} and {_describe_grid(others)}, which "
            "differ; sample both at the same points, or build IrregularFunctions with the same domain or give the "
            "kernel a grid"
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


def _describe_grid(points):
    """Description of a grid for error messages."""
    return f"{len(points)} points on [{points[0]:g}, {points[-1]:g}]"


def _number(value, name):
    """A positive number; an error if the setting is not resolved yet."""
    if isinstance(check_number(value, name, choices=RATE_RULES), str):
        raise unresolved_error(name, value)
    return float(value)


def _positive(value, name, channels):
    """Positive numbers (channels,) from one number or one for each channel."""
    try:
        numbers = np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        numbers = np.empty((0, 0))  # a shape for which the error below is raised
    if numbers.shape not in ((), (channels,)) or not (np.isfinite(numbers) & (numbers > 0)).all():
        raise ValueError(
            f"{name} must be finite numbers > 0, one or {channels} (one for each channel), got {value!r}; "
            "the bandwidth may be 'auto'"
        )
    return np.broadcast_to(numbers, (channels,))
