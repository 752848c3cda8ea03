"""Kronecker products of operators: domain and curves, outputs and quantile levels."""

from __future__ import annotations

import math

import numpy as np

from .._utils.linalg import Kronecker, kronecker
from .._utils.validation import check_number
from .base import OutputOperator
from .matrices import as_learned, operator_matrix
from .settings import Integral


class AxisProduct(OutputOperator):
    """Kronecker product of an operator on the domain of functions and an operator between the curves of a sample.

    Parameters
    ----------
    domain : str, None, operator object or array of shape (m, m), default="auto"
        Operator on the axis of each variable; "auto" for the default of the space.
    curves : None, operator object or array of shape (p, p), default=None
        Operator between the p curves of outputs (n, m, p), such as ``Covariance()``; None for the identity, independent
        curves.

    References
    ----------
    - Álvarez, Rosasco and Lawrence (2012). Kernels for vector-valued functions: a review. Foundations and Trends in
      Machine Learning 4.

    Examples
    --------
    >>> import numpy as np
    >>> from hilbertlearn import FunctionalRegressor, operators
    >>> X, t = np.linspace(1, 2, 20)[:, None], np.linspace(0, 1, 15)
    >>> Y = np.stack([np.sin(X * t), np.sin(X * t) + t], axis=2)  # two curves a sample
    >>> product = operators.AxisProduct(curves=operators.Covariance())
    >>> FunctionalRegressor(operator=product, alpha=1e-3).fit(X, Y).predict([[1.5]]).shape
    (1, 15, 2)
    """

    def __init__(self, domain="auto", curves=None):
        self.domain, self.curves = domain, curves

    def matrix(self, Y, weights=None, space=None):
        if space is None:
            raise ValueError("operator=AxisProduct acts on functions of a variable; use FunctionalRegressor")
        factors = []
        for k, axis in enumerate([*space.axes, None]):
            n_rows = len(Y) and math.prod(space.sizes) // space.sizes[k]  # rows of a sample along this axis
            row_weights = np.repeat(np.ones(len(Y)) if weights is None else weights, n_rows)
            setting, axis_space = (self.curves, None) if axis is None else (self.domain, space.restrict_to_axis(k))
            if as_learned(setting) is not None:
                raise ValueError(
                    "AxisProduct: LearnedOperator is for all coordinates at once; use operator=LearnedOperator()"
                )
            if axis is None and isinstance(setting, (Integral, AxisProduct)):
                raise ValueError("AxisProduct: curves has no domain to integrate over; give a matrix or Covariance()")
            factors.append(operator_matrix(setting, space.unfold(Y, k), row_weights, axis_space))
        return Kronecker(size if f is None else f for f, size in zip(factors, space.sizes, strict=True))


class LevelCoupling(OutputOperator):
    """Kronecker product of an operator on the outputs and an operator between the levels of their quantiles.

    The operator between levels is ``exp(-coupling (tau_i - tau_j)^2)``. At coupling 0 the quantiles of all levels are
    the same function up to constants; at infinity the models of the levels are independent.

    Parameters
    ----------
    operator : None, str, operator object or array of shape (d, d)
        Operator on the outputs, as in estimators.
    levels : array of shape (L,)
        Levels of the quantiles, numbers in (0, 1).
    coupling : float, default=1.0
        Rate of the decay with the distance of two levels; a number >= 0, or infinity.

    References
    ----------
    - Sangnier, Fercoq and d'Alché-Buc (2016). Joint quantile regression in vector-valued RKHSs. NIPS 29.

    Examples
    --------
    >>> import numpy as np
    >>> from hilbertlearn import operators
    >>> coupling = operators.LevelCoupling(None, levels=[0.1, 0.5, 0.9], coupling=5.0)
    >>> M = coupling.matrix(np.zeros((4, 3)))  # one output at three levels
    >>> (M @ np.eye(3)).round(2)
    array([[1.  , 0.45, 0.04],
           [0.45, 1.  , 0.45],
           [0.04, 0.45, 1.  ]])
    """

    def __init__(self, operator, levels, coupling=1.0):
        self.operator, self.levels, self.coupling = operator, levels, coupling

    def matrix(self, Y, weights=None, space=None):
        if as_learned(self.operator) is not None:
            raise ValueError("operator: LearnedOperator cannot be used for quantiles; give another operator, or None")
        levels = np.atleast_1d(np.asarray(self.levels, dtype=float))
        outputs = Y[:, :: len(levels)]
        M = operator_matrix(self.operator, outputs, weights, None if space is None else space.base)
        parts = list(M.factors) if isinstance(M, Kronecker) else [outputs.shape[1] if M is None else M]
        sizes = [f if isinstance(f, int) else len(f) for f in parts]
        factors = [None if isinstance(f, int) else f for f in parts]
        return kronecker([*factors, self._level_matrix(levels)], [*sizes, len(levels)])

    def _level_matrix(self, levels):
        """Operator (L, L) between the levels, None for the identity."""
        if len(levels) == 1 or (isinstance(self.coupling, float) and self.coupling == np.inf):
            return None
        squares = np.subtract.outer(levels, levels) ** 2
        return np.exp(-check_number(self.coupling, "coupling", strict=False) * squares)
