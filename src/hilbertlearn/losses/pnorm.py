"""Huber and epsilon-insensitive losses of the p-norm of a function (Lambert et al. 2022)."""

from __future__ import annotations

import numbers

import numpy as np

from .._utils.linalg import row_norms
from .._utils.validation import check_number
from .balls import dual_exponent, p_norms, point_sizes, project_ball
from .base import EPSILON_QUANTILE, KAPPA_QUANTILE, SATURATION, Loss, indicator, residual_quantile


class _PNormLoss(Loss):
    """Half the squared norm, convolved with a function of the p-norm; with one column all p give the same loss."""

    curvature = 1.0

    @property
    def pointwise(self):
        """Whether point values are needed: for every p other than 2."""
        return self.p != 2

    @property
    def by_row(self):
        return self.p == 2

    def _check_p(self):
        if not isinstance(self.p, numbers.Real) or not float(self.p) >= 1:
            raise ValueError(f"{type(self).__name__}: p must be a number in [1, inf], got {self.p!r}")


class Huber(_PNormLoss):
    """``||.||^2 / 2`` convolved with ``kappa ||.||_p``: quadratic near zero, linear for outliers.

    p = 2 limits the influence of whole rows, p = 1 of single entries; any p in [1, inf] is possible.

    Parameters
    ----------
    kappa : float or "auto", default="auto"
        Norm beyond which residuals count as outliers. "auto" takes a quantile of leave-one-out residuals of
        iteratively reweighted least squares. If kernel or alpha are selected too, outlier screening reduces the weight
        of suspect samples (``screening_weights_``); for p = 1 and complete curves it replaces suspect points.
    p : float, default=2
        Exponent of the norm, a number in [1, inf].

    References
    ----------
    - Lambert, Bouche, Szabó and d'Alché-Buc (2022). Functional output regression with infimal convolution: exploring
      the Huber and epsilon-insensitive losses. ICML, definition 3.1.

    Examples
    --------
    >>> from hilbertlearn import OperatorKernelRegressor, losses
    >>> X, y = [[0.0], [1.0], [2.0], [3.0], [4.0]], [1.0, 1.0, 1.0, 1.0, 50.0]
    >>> model = OperatorKernelRegressor(loss=losses.Huber(kappa=0.5), gamma=1.0, alpha=0.1).fit(X, y)
    >>> model.predict(X[:4]).round(1)
    array([1. , 1. , 1. , 1.2])
    """

    def __init__(self, kappa="auto", p=2):
        self.kappa, self.p = kappa, p

    def validate(self):
        if not (isinstance(self.kappa, numbers.Real) and self.kappa == np.inf):
            check_number(self.kappa, "Huber: kappa", choices=("auto",))
        self._check_p()

    def conjugate(self, r):
        return indicator(r, self.kappa)

    def conjugate_slope(self, r):
        return np.where(r < self.kappa, 0.0, np.inf)

    def prox_conjugate(self, r, step):
        return np.minimum(r, self.kappa)

    @property
    def by_entry(self):
        return self.p == 1

    @property
    def decreasing_weight(self):
        return self.p in (1, 2)

    @property
    def bound(self):
        return float(self.kappa)

    @property
    def quadratic(self):
        return self.kappa == np.inf

    def row_value(self, R, measure=None):
        inside = project_ball(R, self.kappa, dual_exponent(self.p), measure)  # proposition 3.2
        with np.errstate(invalid="ignore"):
            linear = self.kappa * p_norms(R - inside, self.p, measure) if np.isfinite(self.kappa) else 0.0
        return row_norms(inside) ** 2 / 2 + linear

    def row_conjugate(self, A, measure=None):
        return self.conjugate(p_norms(A, dual_exponent(self.p), measure) / (1 + 1e-10))

    def row_prox(self, A, step, measure=None):
        return project_ball(A, self.kappa, dual_exponent(self.p), measure)

    def saturated(self, A, measure=None):
        sizes = point_sizes(A, measure) if self.p == 1 else p_norms(A, dual_exponent(self.p), measure)
        return sizes >= self.kappa * (1 - SATURATION)

    def resolve(self, residuals, measure=None, weights=None):
        if self.kappa != "auto":
            return self
        return self._copy_with(
            kappa=residual_quantile(residuals, dual_exponent(self.p), KAPPA_QUANTILE, measure, weights)
        )


class EpsilonInsensitive(_PNormLoss):
    """``||.||^2 / 2`` convolved with the indicator of the ball ``||.||_p <= epsilon``: small residuals cost nothing.

    p = 2 gives sparse rows of dual variables, p = inf sparse entries; any p in [1, inf] is possible.

    Parameters
    ----------
    epsilon : float or "auto", default="auto"
        Radius of the ball; "auto" takes a quantile of the residuals of a squared-loss fit.
    p : float, default=2
        Exponent of the norm, a number in [1, inf].

    References
    ----------
    - Lambert, Bouche, Szabó and d'Alché-Buc (2022). Functional output regression with infimal convolution: exploring
      the Huber and epsilon-insensitive losses. ICML, definition 4.1.

    Examples
    --------
    >>> import numpy as np
    >>> from hilbertlearn import OperatorKernelRegressor, losses
    >>> X = np.linspace(0, 6, 30)[:, None]
    >>> loss = losses.EpsilonInsensitive(epsilon=0.2)
    >>> model = OperatorKernelRegressor(loss=loss, gamma=1.0, alpha=1e-3).fit(X, np.sin(X[:, 0]))
    >>> len(model.support_)  # number of the 30 samples on which the prediction depends
    14
    """

    def __init__(self, epsilon="auto", p=2):
        self.epsilon, self.p = epsilon, p

    def validate(self):
        check_number(self.epsilon, "EpsilonInsensitive: epsilon", strict=False, choices=("auto",))
        self._check_p()

    def conjugate(self, r):
        return self.epsilon * r

    def conjugate_slope(self, r):
        return np.full_like(r, self.epsilon)

    def prox_conjugate(self, r, step):
        return np.maximum(r - step * self.epsilon, 0.0)

    @property
    def by_entry(self):
        return np.isinf(self.p)

    @property
    def sparse(self):
        return self.epsilon > 0

    @property
    def quadratic(self):
        return self.epsilon == 0

    def row_value(self, R, measure=None):
        return row_norms(R - project_ball(R, self.epsilon, self.p, measure)) ** 2 / 2  # proposition 4.2

    def row_conjugate(self, A, measure=None):
        return self.epsilon * p_norms(A, dual_exponent(self.p), measure)

    def row_prox(self, A, step, measure=None):
        return A - project_ball(A, step * self.epsilon, self.p, measure)  # Moreau's identity, proposition 4.4

    def resolve(self, residuals, measure=None, weights=None):
        if self.epsilon != "auto":
            return self
        return self._copy_with(epsilon=residual_quantile(residuals, self.p, EPSILON_QUANTILE, measure, weights))
