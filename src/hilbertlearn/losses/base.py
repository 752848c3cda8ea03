"""The base class of losses: three scalar functions of the norm of a residual, applied to rows."""

from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator, clone

from .._utils.linalg import row_norms
from .._utils.statistics import weighted_quantile
from .balls import p_norms, point_sizes, scale_rows

EPSILON_QUANTILE = 0.25  # quantile of the residual norms that is epsilon: about a quarter of the dual rows are zero
KAPPA_QUANTILE = 0.5  # quantile of the residual norms that is kappa: half of the residuals have the quadratic loss
SATURATION = 1e-6  # distance of a dual variable from its bound, relative to the bound, up to which it is at the bound


class Loss(BaseEstimator):
    """A convex loss of the residual whose conjugate is ``curvature/2 ||a||^2 + g*(a)``.

    Subclasses hold settings only. They define three functions of a norm r >= 0: ``value`` (the loss itself),
    ``conjugate`` (g*, without the quadratic part) and ``prox_conjugate`` (the prox of step * g*). These act on whole
    rows through the Euclidean norm. Losses with another geometry override the ``row_*`` methods.

    Attributes
    ----------
    curvature : float, default=0.0
        Coefficient of the quadratic part of the conjugate.
    bound : float, default=inf
        Largest norm of a dual row; finite for losses that grow linearly, which are robust.
    largest_residual : float, default=inf
        Norm beyond which the loss is infinite.
    quadratic : bool, default=False
        Whether the conjugate is half the squared norm, so that the problem is a linear system.
    sparse : bool, default=False
        Whether small residuals have dual rows that are exactly zero.
    by_row : bool, default=True
        Whether the three functions may act on norms of rows.
    by_entry : bool, default=False
        Whether the three functions may act on single entries.
    pointwise : bool, default=False
        Whether the loss needs point values, so that the output space must have them.
    on_margins : bool, default=False
        Whether the loss is a function of the margin ``<z_i, h(x_i)>`` instead of the residual.
    decreasing_weight : bool, default=False
        Whether dual variable over residual falls as residuals grow: the loss grows no faster than a square.
    symmetric : bool, default=True
        Whether a residual and its negative have the same loss. If not, squared errors describe the fit less well.

    References
    ----------
    - Laforgue, Lambert, Brogat-Motte and d'Alché-Buc (2020). Duality in RKHSs with infinite dimensional outputs:
      application to robust losses. ICML, proposition 1.

    Examples
    --------
    A new loss, three times the squared one, with the conjugate ``||a||^2 / 6``:

    >>> from hilbertlearn import OperatorKernelRegressor, losses
    >>> class Triple(losses.Loss):
    ...     curvature = 1 / 3
    ...     def value(self, r):
    ...         return 1.5 * r**2
    >>> X, y = [[0.0], [1.0], [2.0]], [0.0, 1.0, 4.0]
    >>> OperatorKernelRegressor(loss=Triple(), gamma=1.0, alpha=0.3).fit(X, y).predict(X).round(3)
    array([0.327, 1.234, 3.391])
    >>> OperatorKernelRegressor(gamma=1.0, alpha=0.1).fit(X, y).predict(X).round(3)
    array([0.327, 1.234, 3.391])
    """

    on_margins = pointwise = quadratic = sparse = decreasing_weight = by_entry = False
    by_row = symmetric = True
    curvature = 0.0
    bound = largest_residual = np.inf

    def value(self, r):
        """Loss at residual norms.

        The default computes it from the conjugate, which needs curvature > 0.

        Parameters
        ----------
        r : array
            Norms >= 0.

        Returns
        -------
        array
            Losses, of the shape of r.
        """
        a = self.prox_conjugate(r / self.curvature, 1 / self.curvature)
        return a * r - self.curvature / 2 * a**2 - self.conjugate(a)

    def conjugate(self, r):
        """The conjugate without its quadratic part, g*, at dual norms.

        Parameters
        ----------
        r : array
            Norms >= 0.

        Returns
        -------
        array
            Values of g*, of the shape of r.
        """
        return np.zeros_like(r)

    def conjugate_slope(self, r):
        """Right derivative of g* at r, infinite at the bound; only ``InfConv`` needs it.

        Parameters
        ----------
        r : array
            Norms >= 0.

        Returns
        -------
        array
            Slopes, of the shape of r.
        """
        return np.zeros_like(r)

    def prox_conjugate(self, r, step):
        """The prox of ``step g*``: argmin over x >= 0 of ``(x - r)^2 / 2 + step g*(x)``.

        Parameters
        ----------
        r : array
            Norms >= 0.
        step : float
            A number > 0.

        Returns
        -------
        array
            Norms, of the shape of r.
        """
        return r

    def validate(self):
        """Raise a ValueError that names a setting which is out of range."""

    def check_columns(self, d):
        """Raise a ValueError if the loss does not suit outputs with d columns.

        Parameters
        ----------
        d : int
            Number of columns.
        """

    @property
    def is_constrained(self):
        """Whether some residuals have an infinite loss, see ``violation``."""
        return bool(np.isfinite(self.largest_residual))

    def violation(self, R):
        """By how much residuals violate the constraints of the loss.

        Parameters
        ----------
        R : array of shape (n, d)
            Residuals.

        Returns
        -------
        array of shape (n, k)
            At most 0 where the constraints are met.
        """
        return row_norms(R)[:, None] - self.largest_residual

    def best_constant(self, Y, weights):
        """The constant of smallest weighted loss.

        Parameters
        ----------
        Y : array of shape (n, d)
            Outputs, NaN where missing.
        weights : array of shape (n,)
            Sample weights.

        Returns
        -------
        array of shape (d,) or None
            None if there is no formula.
        """
        return None

    def margin_targets(self, Y):
        """Targets z_i of the margins ``<z_i, h(x_i)>``, for losses of margins.

        Parameters
        ----------
        Y : array of shape (n, d)
            Coordinates of the outputs.

        Returns
        -------
        array of shape (n, d)
            The targets.
        """
        return Y

    def row_value(self, R, measure=None):
        """Loss of each row of residuals.

        Parameters
        ----------
        R : array of shape (n, d)
            Residuals.
        measure : array of shape (d,), default=None
            Quadrature weights of point values; None for ones.

        Returns
        -------
        array of shape (n,)
            The losses.
        """
        return self.value(row_norms(R))

    def row_conjugate(self, A, measure=None):
        """g* of each dual row.

        Parameters
        ----------
        A : array of shape (n, d)
            Dual variables.
        measure : array of shape (d,), default=None
            Quadrature weights of point values; None for ones.

        Returns
        -------
        array of shape (n,)
            The values.
        """
        return self.conjugate(row_norms(A))

    def row_prox(self, A, step, measure=None):
        """The prox of ``step g*`` at each row.

        Parameters
        ----------
        A : array of shape (n, d)
            Dual variables.
        step : float
            A number > 0.
        measure : array of shape (d,), default=None
            Quadrature weights of point values; None for ones.

        Returns
        -------
        array of shape (n, d)
            The minimisers of ``||x - a_i||^2 / 2 + step g*(x)``.
        """
        return scale_rows(A, self.prox_conjugate(row_norms(A), step))

    def saturated(self, A, measure=None):
        """Which dual variables are at the bound; outliers are among them.

        Parameters
        ----------
        A : array of shape (n, d)
            Dual variables.
        measure : array of shape (d,), default=None
            Quadrature weights of point values; None for ones.

        Returns
        -------
        array of shape (n,) or (n, d)
            Booleans for rows, or for entries under a pointwise loss.
        """
        if np.isinf(self.bound):
            return np.zeros(len(A), dtype=bool)
        return row_norms(A) >= self.bound * (1 - SATURATION)

    def resolve(self, residuals, measure=None, weights=None):
        """The loss with numbers in place of settings "auto".

        Parameters
        ----------
        residuals : array of shape (n, d)
            Leave-one-out residuals of a (reweighted) least-squares fit, NaN where missing.
        measure : array of shape (d,), default=None
            Quadrature weights of point values; None for ones.
        weights : array of shape (n,), default=None
            Sample weights; None for ones.

        Returns
        -------
        Loss
            A copy, or the loss itself if nothing is "auto".
        """
        return self

    def _copy_with(self, **settings):
        """A copy with other settings."""
        return clone(self).set_params(**settings)

    @property
    def needs_residuals(self) -> bool:
        """Whether a setting is "auto", so that ``resolve`` needs residuals."""
        return any(value == "auto" for value in self.get_params(deep=False).values() if isinstance(value, str))


def indicator(r, radius):
    """0 up to the radius, infinite beyond, with a tolerance for rounding."""
    return np.where(r <= radius * (1 + 1e-12), 0.0, np.inf)


def residual_quantile(residuals, p, level, measure=None, weights=None):
    """Quantile of the p-norms of rows of residuals (n, d), or of absolute point values for p = inf.

    NaN entries are ignored. A quantile of zero gives no scale, and 1 is returned instead.
    """
    weights = np.ones(len(residuals)) if weights is None else weights
    if np.isinf(p):
        sizes = point_sizes(residuals, measure)
        observed = np.isfinite(sizes)
        sizes, weights = sizes[observed], np.broadcast_to(weights[:, None], observed.shape)[observed]
    else:
        sizes = p_norms(np.nan_to_num(residuals), p, measure)
    return weighted_quantile(sizes, level, weights) or 1.0
