"""Losses of the residual's Euclidean norm (Laforgue et al. 2020, proposition 1)."""

from __future__ import annotations

import numpy as np
from scipy.special import wrightomega

from .._utils.naming import unnamed_in_errors
from .._utils.validation import check_number
from .balls import power_prox
from .base import EPSILON_QUANTILE, Loss, indicator, residual_quantile


class Squared(Loss):
    """``||r||^2 / 2``: ridge regression.

    References
    ----------
    - Hoerl and Kennard (1970). Ridge regression: biased estimation for nonorthogonal problems. Technometrics 12.

    Examples
    --------
    >>> import numpy as np
    >>> from hilbertlearn import losses
    >>> losses.Squared().row_value(np.array([[3.0, 4.0], [0.0, 1.0]]))
    array([12.5,  0.5])
    """

    by_entry = quadratic = True
    curvature = 1.0

    def value(self, r):
        return r**2 / 2


@unnamed_in_errors
class _ScaledNormLoss(Loss):
    """A loss with a setting ``scale``."""

    def __init__(self, scale=1.0):
        self.scale = scale

    def validate(self):
        check_number(self.scale, f"{type(self).__name__}: scale")


class Norm(_ScaledNormLoss):
    """``scale ||r||``: only the direction of an outlier matters, not its size.

    Parameters
    ----------
    scale : float, default=1.0
        Factor of the loss, a number > 0.

    References
    ----------
    - Laforgue, Lambert, Brogat-Motte and d'Alché-Buc (2020). Duality in RKHSs with infinite dimensional outputs:
      application to robust losses. ICML, proposition 1.

    Examples
    --------
    >>> from hilbertlearn import OperatorKernelRegressor, losses
    >>> X, y = [[0.0], [1.0], [2.0], [3.0], [4.0]], [1.0, 1.0, 1.0, 1.0, 50.0]
    >>> model = OperatorKernelRegressor(loss=losses.Norm(), gamma=1.0, alpha=1.0).fit(X, y)
    >>> model.predict(X[:4]).round(1)
    array([1., 1., 1., 1.])
    """

    decreasing_weight = True

    def value(self, r):
        return self.scale * r

    def conjugate(self, r):
        return indicator(r, self.scale)

    def conjugate_slope(self, r):
        return np.where(r < self.scale, 0.0, np.inf)

    def prox_conjugate(self, r, step):
        return np.minimum(r, self.scale)

    @property
    def bound(self):
        return float(self.scale)


class PowerNorm(Loss):
    """``scale/eta ||r||^eta`` with eta > 1: between the norm and the square, or beyond.

    Parameters
    ----------
    eta : float, default=1.5
        The power, a number > 1; 2 is the squared loss.
    scale : float, default=1.0
        Factor of the loss, a number > 0.

    References
    ----------
    - Laforgue, Lambert, Brogat-Motte and d'Alché-Buc (2020). Duality in RKHSs with infinite dimensional outputs:
      application to robust losses. ICML, proposition 1.

    Examples
    --------
    >>> import numpy as np
    >>> from hilbertlearn import losses
    >>> losses.PowerNorm(eta=1.5).row_value(np.array([[0.0, 1.0], [0.0, 4.0]])).round(3)
    array([0.667, 5.333])
    """

    def __init__(self, eta=1.5, scale=1.0):
        self.eta, self.scale = eta, scale

    def validate(self):
        check_number(self.scale, "PowerNorm: scale")
        check_number(self.eta, "PowerNorm: eta", low=1.0)

    @property
    def decreasing_weight(self):
        return self.eta <= 2

    def value(self, r):
        return self.scale / self.eta * r**self.eta

    @property
    def _dual(self):
        """Exponent and weight of the conjugate ``weight/exponent a^exponent``."""
        exponent = self.eta / (self.eta - 1)
        return exponent, self.scale ** (1 - exponent)

    def conjugate(self, r):
        exponent, weight = self._dual
        return weight / exponent * r**exponent

    def conjugate_slope(self, r):
        exponent, weight = self._dual
        return weight * r ** (exponent - 1)

    def prox_conjugate(self, r, step):
        exponent, weight = self._dual
        return power_prox(r, step * weight, exponent)


class LogNorm(_ScaledNormLoss):
    """``scale ||r|| log ||r||``, made convex by its biconjugate: constant for norms below 1/e.

    Parameters
    ----------
    scale : float, default=1.0
        Factor of the loss, a number > 0.

    References
    ----------
    - Laforgue, Lambert, Brogat-Motte and d'Alché-Buc (2020). Duality in RKHSs with infinite dimensional outputs:
      application to robust losses. ICML, proposition 1.

    Examples
    --------
    >>> import numpy as np
    >>> from hilbertlearn import losses
    >>> losses.LogNorm().row_value(np.array([[0.0], [0.2], [1.0], [np.e]])).round(3)
    array([-0.368, -0.368,  0.   ,  2.718])
    """

    sparse = True

    def value(self, r):
        r = np.maximum(r, np.exp(-1))
        return self.scale * r * np.log(r)

    def conjugate(self, r):
        return self.scale * self.conjugate_slope(r)

    def conjugate_slope(self, r):
        with np.errstate(over="ignore"):  # far from the optimum
            return np.exp(r / self.scale - 1)

    def prox_conjugate(self, r, step):
        # x = r - scale z with z e^z = (step / scale) e^(r/scale - 1)
        z = wrightomega(r / self.scale - 1 + np.log(step / self.scale)).real
        return np.maximum(r - self.scale * z, 0.0)


class ExpNorm(_ScaledNormLoss):
    """``scale (exp ||r|| - 1)``: large residuals have an exponentially large loss.

    Parameters
    ----------
    scale : float, default=1.0
        Factor of the loss, a number > 0.

    References
    ----------
    - Laforgue, Lambert, Brogat-Motte and d'Alché-Buc (2020). Duality in RKHSs with infinite dimensional outputs:
      application to robust losses. ICML, proposition 1.

    Examples
    --------
    >>> import numpy as np
    >>> from hilbertlearn import losses
    >>> losses.ExpNorm().row_value(np.array([[0.0], [1.0], [3.0]])).round(2)
    array([ 0.  ,  1.72, 19.09])
    """

    def value(self, r):
        with np.errstate(over="ignore"):  # an infinite loss is the right answer far from the optimum
            return self.scale * np.expm1(r)

    def conjugate(self, r):
        r = np.maximum(r, self.scale)
        return r * np.log(r / self.scale) - r + self.scale

    def conjugate_slope(self, r):
        return np.log(np.maximum(r, self.scale) / self.scale)

    def prox_conjugate(self, r, step):
        # above scale: x + step log(x / scale) = r, solved by Wright's omega function
        x = step * wrightomega(r / step + np.log(self.scale / step)).real
        return np.where(r <= self.scale, r, x)


class Ball(_ScaledNormLoss):
    """Zero for ``||r|| <= scale``, infinite beyond: every sample is fitted up to scale.

    Parameters
    ----------
    scale : float, default=1.0
        Radius of the ball, a number > 0.

    References
    ----------
    - Laforgue, Lambert, Brogat-Motte and d'Alché-Buc (2020). Duality in RKHSs with infinite dimensional outputs:
      application to robust losses. ICML, proposition 1.

    Examples
    --------
    >>> import numpy as np
    >>> from hilbertlearn import OperatorKernelRegressor, losses
    >>> X, y = np.linspace(0, 1, 10)[:, None], np.arange(10.0)
    >>> model = OperatorKernelRegressor(loss=losses.Ball(0.5), gamma=5.0, alpha=1.0).fit(X, y)
    >>> round(float(np.abs(model.predict(X) - y).max()), 2)
    0.5
    """

    sparse = True

    @property
    def largest_residual(self):
        return self.scale

    def value(self, r):
        return indicator(r, self.scale)

    def conjugate(self, r):
        return self.scale * r

    def conjugate_slope(self, r):
        return np.full_like(r, self.scale)

    def prox_conjugate(self, r, step):
        return np.maximum(r - step * self.scale, 0.0)


class EpsilonSVR(Loss):
    """``max(||r|| - epsilon, 0)``: sparse and robust.

    Parameters
    ----------
    epsilon : float or "auto", default="auto"
        Norm up to which residuals have no loss; "auto" takes a quantile of cross-validated residuals, as in ``Huber``.

    References
    ----------
    - Laforgue, Lambert, Brogat-Motte and d'Alché-Buc (2020). Duality in RKHSs with infinite dimensional outputs:
      application to robust losses. ICML, definition 4.

    Examples
    --------
    >>> import numpy as np
    >>> from hilbertlearn import OperatorKernelRegressor, losses
    >>> losses.EpsilonSVR(0.5).row_value(np.array([[0.2, 0.1], [3.0, 4.0]]))
    array([0. , 4.5])
    >>> X = np.linspace(0, 6, 30)[:, None]
    >>> model = OperatorKernelRegressor(loss=losses.EpsilonSVR(0.2), gamma=1.0, alpha=1e-3).fit(X, np.sin(X[:, 0]))
    >>> len(model.support_)  # number of the 30 samples on which the prediction depends
    8
    """

    bound = 1.0

    def __init__(self, epsilon="auto"):
        self.epsilon = epsilon

    def validate(self):
        check_number(self.epsilon, "EpsilonSVR: epsilon", strict=False, choices=("auto",))

    def value(self, r):
        return np.maximum(r - self.epsilon, 0.0)

    def conjugate(self, r):
        return self.epsilon * r + indicator(r, 1.0)

    def conjugate_slope(self, r):
        return np.where(r < 1.0, self.epsilon, np.inf)

    def prox_conjugate(self, r, step):
        return np.clip(r - step * self.epsilon, 0.0, 1.0)

    @property
    def sparse(self):
        return self.epsilon > 0

    def resolve(self, residuals, measure=None, weights=None):
        if self.epsilon != "auto":
            return self
        return self._copy_with(epsilon=residual_quantile(residuals, 2, EPSILON_QUANTILE, measure, weights))
