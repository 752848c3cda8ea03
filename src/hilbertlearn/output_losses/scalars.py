"""Piecewise quadratic or linear losses on real numbers (Ciliberto et al. 2016, example 1)."""

from __future__ import annotations

import numpy as np

from .._utils.naming import unnamed_in_errors
from .._utils.validation import check_number
from .base import OutputLoss, as_floats


@unnamed_in_errors
class ScalarLoss(OutputLoss):
    """A loss ``value(z, y)`` of numbers, with the derivatives in z that its decoder uses.

    A loss has either ``kinks``, if it is quadratic or linear between them, or a ``width``, the distance over which its
    slope changes. The decoder's grid has several points on this distance.
    """

    decoder = "scalar"
    discrete = False
    width = 1.0

    def check(self, outputs):
        self.validate()
        return _as_numbers(outputs, type(self).__name__)

    def validate(self):
        """Raise an error if a setting is out of range; by default all settings must be numbers > 0."""
        for name, value in self.get_params().items():
            check_number(value, f"{type(self).__name__}: {name}")

    def __call__(self, Z, Y):
        return self.value(np.asarray(Z, dtype=float)[:, None], np.asarray(Y, dtype=float)[None, :])

    def value(self, z, y):
        """Compute the loss of predicting z where y is true, elementwise.

        Parameters
        ----------
        z : array
            Predictions.
        y : array
            True outputs, of a shape that broadcasts with z.

        Returns
        -------
        array
            The losses.
        """
        raise NotImplementedError

    def derivatives(self, z, y):
        """Compute derivatives of the loss in z, elementwise.

        Parameters
        ----------
        z : array
            Predictions.
        y : array
            True outputs, of a shape that broadcasts with z.

        Returns
        -------
        slope, curvature : array
            First and second derivatives; right derivatives at kinks.
        """
        raise NotImplementedError

    def kinks(self, y):
        """List the points at which the loss changes its quadratic or linear piece.

        Parameters
        ----------
        y : array of shape (n,)
            True outputs.

        Returns
        -------
        list of (array of shape (n,), float, float) or None
            Positions, jump of the slope and jump of the second derivative; None for smooth losses.
        """
        return None

    def span(self, Y):
        """Compute the interval of predictions: the range of the outputs, which only negative weights could exceed.

        Parameters
        ----------
        Y : array of shape (n,)
            Training outputs.

        Returns
        -------
        low, high : float
            Ends of the interval.
        """
        return Y.min(), Y.max()


@unnamed_in_errors
class ResidualLoss(ScalarLoss):
    """A loss of the residual r = z - y."""

    def value(self, z, y):
        return self.residual_value(np.subtract(z, y, dtype=float))

    def derivatives(self, z, y):
        return self.residual_derivatives(np.subtract(z, y, dtype=float))

    def residual_value(self, r):
        """Compute the loss of residuals, elementwise.

        Parameters
        ----------
        r : array
            Residuals.

        Returns
        -------
        array
            The losses.
        """
        raise NotImplementedError

    def residual_derivatives(self, r):
        """Compute derivatives of the loss at residuals, elementwise.

        Parameters
        ----------
        r : array
            Residuals.

        Returns
        -------
        slope, curvature : array
            First and second derivatives; right derivatives at kinks.
        """
        raise NotImplementedError


class SquaredError(ResidualLoss):
    """``||z - y||^2``, on numbers (n,) or vectors (n, d); ``losses.Squared`` is half of it.

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
    >>> model = StructuredPredictor(output_loss=output_losses.SquaredError(), gamma=1.0, alpha=1e-6)
    >>> model.fit(X, y).predict([[0.0]]).round(2)
    array([1.94])
    """

    decoder = "mean"

    def check(self, outputs):
        return _as_numbers(outputs, "SquaredError", vectors=True)

    def __call__(self, Z, Y):
        Z, Y = np.asarray(Z, dtype=float), np.asarray(Y, dtype=float)
        if Y.ndim == 1:
            return super().__call__(Z, Y)
        center = Y.mean(axis=0)  # distances stay the same, and rounding is smaller
        Z, Y = Z - center, Y - center
        squares = np.einsum("ij,ij->i", Z, Z)[:, None] + np.einsum("ij,ij->i", Y, Y)
        return np.maximum(squares - 2 * Z @ Y.T, 0.0)

    def residual_value(self, r):
        return r**2

    def residual_derivatives(self, r):
        return 2 * r, np.full_like(r, 2.0)

    def kinks(self, y):
        return []


class Absolute(ResidualLoss):
    """``|z - y|``: predictions are weighted medians.

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
    >>> model = StructuredPredictor(output_loss=output_losses.Absolute(), gamma=1.0, alpha=1e-6)
    >>> model.fit(X, y).predict([[0.0]]).round(2)
    array([0.2])
    """

    def residual_value(self, r):
        return np.abs(r)

    def residual_derivatives(self, r):
        return np.where(r >= 0, 1.0, -1.0), np.zeros_like(r)

    def kinks(self, y):
        return [(y, 2.0, 0.0)]


class Huber(ResidualLoss):
    """``r^2 / 2`` up to ``|r| = delta``, ``delta (|r| - delta / 2)`` beyond.

    Parameters
    ----------
    delta : float, default=1.0
        Size beyond which residuals count as outliers, a number > 0.

    References
    ----------
    - Huber (1964). Robust estimation of a location parameter. Annals of Mathematical Statistics 35.
    - Ciliberto, Rosasco and Rudi (2016). A consistent regularization approach for structured prediction. NIPS 29,
      example 1.

    Examples
    --------
    At one input, the prediction for several outputs with an outlier:

    >>> import numpy as np
    >>> from hilbertlearn import StructuredPredictor, output_losses
    >>> X, y = np.zeros((5, 1)), np.array([0.0, 0.1, 0.2, 0.4, 9.0])
    >>> model = StructuredPredictor(output_loss=output_losses.Huber(delta=1.0), gamma=1.0, alpha=1e-6)
    >>> model.fit(X, y).predict([[0.0]]).round(2)
    array([0.43])
    """

    def __init__(self, delta=1.0):
        self.delta = delta

    def residual_value(self, r):
        inner = np.minimum(np.abs(r), self.delta)
        return inner * (np.abs(r) - inner / 2)

    def residual_derivatives(self, r):
        inside = (r >= -self.delta) & (r < self.delta)
        return np.clip(r, -self.delta, self.delta), inside.astype(float)

    def kinks(self, y):
        return [(y - self.delta, 0.0, 1.0), (y + self.delta, 0.0, -1.0)]


class Pinball(ResidualLoss):
    """``tau (y - z)`` for predictions below y, ``(1 - tau) (z - y)`` above: its minimiser is the tau-quantile.

    Parameters
    ----------
    tau : float, default=0.5
        Level of the quantile, in (0, 1).

    References
    ----------
    - Koenker and Bassett (1978). Regression quantiles. Econometrica 46.

    Examples
    --------
    >>> import numpy as np
    >>> from hilbertlearn import StructuredPredictor, output_losses
    >>> X, y = np.zeros((11, 1)), np.arange(11.0)
    >>> model = StructuredPredictor(output_loss=output_losses.Pinball(tau=0.85), gamma=1.0, alpha=1e-6)
    >>> model.fit(X, y).predict([[0.0]])
    array([9.])
    """

    def __init__(self, tau=0.5):
        self.tau = tau

    def validate(self):
        super().validate()
        if self.tau >= 1:
            raise ValueError(f"Pinball: tau must be between 0 and 1, got {self.tau!r}")

    def residual_value(self, r):
        return np.maximum((1 - self.tau) * r, -self.tau * r)

    def residual_derivatives(self, r):
        return np.where(r >= 0, 1 - self.tau, -self.tau), np.zeros_like(r)

    def kinks(self, y):
        return [(y, 1.0, 0.0)]


class EpsilonAbsolute(ResidualLoss):
    """``max(|r| - epsilon, 0)``; ``losses.EpsilonInsensitive`` is half its square.

    Parameters
    ----------
    epsilon : float, default=0.1
        Size up to which residuals have no loss, a number >= 0.

    References
    ----------
    - Vapnik (1995). The Nature of Statistical Learning Theory. Springer.
    - Ciliberto, Rosasco and Rudi (2016). A consistent regularization approach for structured prediction. NIPS 29,
      example 1.

    Examples
    --------
    At one input, the prediction for several outputs with an outlier:

    >>> import numpy as np
    >>> from hilbertlearn import StructuredPredictor, output_losses
    >>> X, y = np.zeros((5, 1)), np.array([0.0, 0.1, 0.2, 0.4, 9.0])
    >>> model = StructuredPredictor(output_loss=output_losses.EpsilonAbsolute(epsilon=0.1), gamma=1.0, alpha=1e-6)
    >>> model.fit(X, y).predict([[0.0]]).round(2)
    array([0.3])
    """

    def __init__(self, epsilon=0.1):
        self.epsilon = epsilon

    def validate(self):
        check_number(self.epsilon, "EpsilonAbsolute: epsilon", strict=False)

    def residual_value(self, r):
        return np.maximum(np.abs(r) - self.epsilon, 0.0)

    def residual_derivatives(self, r):
        return (r >= self.epsilon).astype(float) - (r < -self.epsilon), np.zeros_like(r)

    def kinks(self, y):
        return [(y - self.epsilon, 1.0, 0.0), (y + self.epsilon, 1.0, 0.0)]


def _as_numbers(outputs, name, vectors=False):
    """Outputs as finite floats (n,), or also (n, d)."""
    shapes = "numbers (n,) or vectors (n, d)" if vectors else "numbers (n,)"
    Y = as_floats(outputs)
    if Y is None:
        raise ValueError(
            f"y: {name} needs {shapes}, got {type(outputs[0]).__name__}; take an output_loss for such outputs"
        )
    if Y.ndim != 1 and not (vectors and Y.ndim == 2):
        remedy = "use y.ravel()" if Y.ndim == 2 and Y.shape[1] == 1 else "take output_loss='squared' for vectors"
        raise ValueError(f"y: {name} needs {shapes}, got shape {Y.shape}; {remedy}")
    if not np.isfinite(Y).all():
        raise ValueError(f"y: {name} needs finite {shapes}, got NaN or infinity in a known output; remove it")
    return Y
