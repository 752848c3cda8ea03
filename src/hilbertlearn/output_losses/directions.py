"""Losses on directions: angles on the circle, unit vectors on the sphere."""

from __future__ import annotations

from math import comb

import numpy as np
from numpy.polynomial import chebyshev

from .._utils.validation import check_number
from .base import OutputLoss, as_floats

_SHORTEST = 1e-5  # smallest diffusion time t; the series of the kernel has about sqrt(37 / t) terms, here 2000


class Diffusion(OutputLoss):
    """Squared diffusion distance ``k(z, z) + k(y, y) - 2 k(z, y)``, k the heat kernel at time t.

    Outputs are angles (n,) in radians on the unit circle, or unit vectors (n, d), d >= 2. The kernel is scaled to
    ``k(z, z) = 1``, so that the loss is between 0 and 2 and twice the paper's ``1 - k(z, y)``. It is the series::

        circle    k(z, y) ~ 1 + 2 sum_l exp(-l^2 t) cos(l (z - y))
        sphere    k(z, y) ~ sum_l N(d, l) exp(-l (l + d - 2) t) P_l(<z, y>)

    up to terms below rounding, with N(d, l) the number of spherical harmonics of degree l and P_l their Legendre
    polynomial, 1 at 1. The loss of directions closer than about sqrt(t) radians is small.

    Parameters
    ----------
    t : float, default=0.1
        The diffusion time, a number of at least 1e-5.

    References
    ----------
    - Ciliberto, Rosasco and Rudi (2016). A consistent regularization approach for structured prediction. NIPS 29,
      example 1.

    Examples
    --------
    >>> import numpy as np
    >>> from hilbertlearn import StructuredPredictor, output_losses
    >>> X, angles = np.array([[0.0], [1.0]]), np.array([0.1, 2 * np.pi - 0.1])  # on both sides of 0
    >>> model = StructuredPredictor(output_loss=output_losses.Diffusion(), gamma=0.1, alpha=1e-3).fit(X, angles)
    >>> (np.cos(model.predict([[0.5]])) > 0.99).tolist()
    [True]
    """

    decoder = "directions"
    discrete = False

    def __init__(self, t=0.1):
        self.t = t

    def check(self, outputs):
        if check_number(self.t, "Diffusion: t") < _SHORTEST:
            raise ValueError(f"Diffusion: t must be at least {_SHORTEST:g}, got {self.t!r}; scale it up")
        Y = as_floats(outputs)
        if Y is None or Y.ndim not in (1, 2) or (Y.ndim == 2 and Y.shape[1] < 2):
            raise ValueError(
                f"y: Diffusion needs angles (n,) in radians or unit vectors (n, d) with d >= 2, got "
                f"{type(outputs).__name__} of shape {'unknown' if Y is None else Y.shape}; convert y to one of them"
            )
        if not np.isfinite(Y).all():
            raise ValueError("y: Diffusion needs finite directions, got NaN or infinity in a known output; remove it")
        if Y.ndim == 1:
            return Y
        norms = np.linalg.norm(Y, axis=1)
        invalid = np.flatnonzero(np.abs(norms - 1) > 1e-6)  # more than rounding
        if len(invalid):
            raise ValueError(
                f"y: Diffusion needs vectors of norm 1, but row {invalid[0]} has norm {norms[invalid[0]]:.6g} "
                f"({len(invalid)} such rows); divide each row by its norm"
            )
        return Y / norms[:, None]

    def __call__(self, Z, Y):
        Z, Y = np.asarray(Z, dtype=float), np.asarray(Y, dtype=float)
        if Y.ndim == 1:
            roots = np.sqrt(self.fourier())
            degrees = np.arange(len(roots))
            kernel = sum(
                (roots * f(np.outer(Z, degrees))) @ (roots * f(np.outer(Y, degrees))).T for f in (np.cos, np.sin)
            )
        else:
            kernel = chebyshev.chebval(np.clip(Z @ Y.T, -1, 1), self.zonal(Y.shape[1]))
        return np.maximum(2 - 2 * kernel, 0.0)

    def fourier(self):
        """Compute the coefficients of the kernel on the circle, ``k(z, y) = sum_l a_l cos(l (z - y))``.

        Returns
        -------
        a : array of shape (l,)
            Numbers >= 0 of sum one.
        """
        return _spectrum(2, self.t)

    def zonal(self, d):
        """Compute the kernel on the sphere as a polynomial of the inner product.

        Parameters
        ----------
        d : int
            Dimension of the vectors.

        Returns
        -------
        coefficients : array of shape (l,)
            Chebyshev coefficients of the polynomial.
        """
        weights = _spectrum(d, self.t)
        return chebyshev.chebinterpolate(lambda s: _legendre_series(weights, s, d), len(weights) - 1)


def _spectrum(d, t):
    """Weights of the degrees 0, 1, ... in the heat kernel of the sphere in R^d at time t, of sum one."""
    weights: list[float] = []
    degree = 0
    while not weights or weights[-1] > np.finfo(float).eps / 10 * sum(weights):
        count = comb(degree + d - 1, d - 1) - (comb(degree + d - 3, d - 1) if degree >= 2 else 0)
        weights.append(count * np.exp(-degree * (degree + d - 2) * t))
        degree += 1
    return np.array(weights) / sum(weights)


def _legendre_series(weights, s, d):
    """``sum_l weights_l P_l(s)``, P_l by its three-term recurrence."""
    previous, current = np.ones_like(s), s
    total = weights[0] * previous
    for l, weight in enumerate(weights[1:], start=1):
        total = total + weight * current
        previous, current = current, ((2 * l + d - 2) * s * current - l * previous) / (l + d - 2)
    return total
