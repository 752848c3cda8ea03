"""Smooth robust losses on real numbers (Ciliberto et al. 2016, example 1)."""

from __future__ import annotations

import numpy as np

from .._utils.naming import unnamed_in_errors
from .scalars import ResidualLoss


@unnamed_in_errors
class _WidthLoss(ResidualLoss):
    """A smooth loss that changes from quadratic to slower growth at residuals of about c."""

    def __init__(self, c=1.0):
        self.c = c

    @property
    def width(self):
        return self.c


class Cauchy(_WidthLoss):
    """``c^2 log(1 + r^2 / c^2)``: very robust, not convex.

    It is the loss of the paper with gamma = c^2, so that c is in the unit of residuals.

    Parameters
    ----------
    c : float, default=1.0
        Size of residuals beyond which the loss grows more slowly than the square, a number > 0.

    References
    ----------
    - Ciliberto, Rosasco and Rudi (2016). A consistent regularization approach for structured prediction. NIPS 29,
      example 1 and figure 1.

    Examples
    --------
    At one input, the prediction for several outputs with an outlier:

    >>> import numpy as np
    >>> from hilbertlearn import StructuredPredictor, output_losses
    >>> X, y = np.zeros((5, 1)), np.array([0.0, 0.1, 0.2, 0.4, 9.0])
    >>> model = StructuredPredictor(output_loss=output_losses.Cauchy(c=1.0), gamma=1.0, alpha=1e-6)
    >>> model.fit(X, y).predict([[0.0]]).round(2)
    array([0.2])
    """

    def residual_value(self, r):
        return self.c**2 * np.log1p((r / self.c) ** 2)

    def residual_derivatives(self, r):
        u = _shrinkage(r, self.c)
        slope = r * u
        slope *= 2
        curvature = 2 * u
        curvature -= 1
        curvature *= u
        curvature *= 2
        return slope, curvature


class GemanMcClure(_WidthLoss):
    """``r^2 / (1 + r^2 / c^2)``, at most c^2; not convex.

    Parameters
    ----------
    c : float, default=1.0
        Size of residuals beyond which the loss grows more slowly than the square, a number > 0.

    References
    ----------
    - Geman and McClure (1987). Statistical methods for tomographic image reconstruction. Bulletin of the International
      Statistical Institute 52.
    - Ciliberto, Rosasco and Rudi (2016). A consistent regularization approach for structured prediction. NIPS 29,
      example 1 (with c = 1).

    Examples
    --------
    At one input, the prediction for several outputs with an outlier:

    >>> import numpy as np
    >>> from hilbertlearn import StructuredPredictor, output_losses
    >>> X, y = np.zeros((5, 1)), np.array([0.0, 0.1, 0.2, 0.4, 9.0])
    >>> model = StructuredPredictor(output_loss=output_losses.GemanMcClure(c=1.0), gamma=1.0, alpha=1e-6)
    >>> model.fit(X, y).predict([[0.0]]).round(2)
    array([0.17])
    """

    def residual_value(self, r):
        return r**2 * _shrinkage(r, self.c)

    def residual_derivatives(self, r):
        u = _shrinkage(r, self.c)
        square = u * u
        curvature = 8 * u
        curvature -= 6
        curvature *= square
        square *= r
        square *= 2
        return square, curvature


class Fair(_WidthLoss):
    """``c |r| - c^2 log(1 + |r| / c)``: convex, linear for large residuals.

    Parameters
    ----------
    c : float, default=1.0
        Size of residuals beyond which the loss grows more slowly than the square, a number > 0.

    References
    ----------
    - Fair (1974). On the robust estimation of econometric models. Annals of Economic and Social Measurement 3.
    - Ciliberto, Rosasco and Rudi (2016). A consistent regularization approach for structured prediction. NIPS 29,
      example 1.

    Examples
    --------
    At one input, the prediction for several outputs with an outlier:

    >>> import numpy as np
    >>> from hilbertlearn import StructuredPredictor, output_losses
    >>> X, y = np.zeros((5, 1)), np.array([0.0, 0.1, 0.2, 0.4, 9.0])
    >>> model = StructuredPredictor(output_loss=output_losses.Fair(c=1.0), gamma=1.0, alpha=1e-6)
    >>> model.fit(X, y).predict([[0.0]]).round(2)
    array([0.48])
    """

    def residual_value(self, r):
        size = np.abs(r) / self.c
        return self.c**2 * (size - np.log1p(size))

    def residual_derivatives(self, r):
        u = self.c / (np.abs(r) + self.c)
        return r * u, u * u


class L2L1(ResidualLoss):
    """``sqrt(1 + r^2) - 1``: convex, linear for large residuals.

    References
    ----------
    - Ciliberto, Rosasco and Rudi (2016). A consistent regularization approach for structured prediction. NIPS 29,
      example 1.

    Examples
    --------
    At one input, the prediction for several outputs with an outlier:

    >>> import numpy as np
    >>> from hilbertlearn import StructuredPredictor, output_losses
    >>> X, y = np.zeros((5, 1)), np.array([0.0, 0.1, 0.2, 0.4, 9.0])
    >>> model = StructuredPredictor(output_loss=output_losses.L2L1(), gamma=1.0, alpha=1e-6)
    >>> model.fit(X, y).predict([[0.0]]).round(2)
    array([0.44])
    """

    def residual_value(self, r):
        square = r * r
        return square / (1 + np.sqrt(1 + square))  # without cancellation at small r

    def residual_derivatives(self, r):
        inverse = 1 / np.sqrt(1 + r * r)
        return r * inverse, inverse**3


def _shrinkage(r, c):
    """``1 / (1 + r^2 / c^2)`` with few temporary arrays."""
    u = r * r
    u *= 1 / c**2
    u += 1
    return np.reciprocal(u, out=u) if isinstance(u, np.ndarray) else 1 / u
