"""What every loss is: three scalar functions of a residual's norm, lifted to rows."""

from __future__ import annotations

import numbers

import numpy as np
from sklearn.base import BaseEstimator, clone

from .._utils.linalg import row_norms
from .._utils.statistics import weighted_quantile
from .balls import p_norms, scale_rows

EPSILON_QUANTILE = 0.25  # of the residual norms: a quarter of the rows may drop out of the model
KAPPA_QUANTILE = 0.5  # half of the residuals count as ordinary


class Loss(BaseEstimator):
    """A convex loss of the residual whose conjugate is ``curvature/2 ||a||^2 + g*(a)``.

    Subclasses hold settings only and give three functions of a norm r >= 0: ``value`` (the loss itself),
    ``conjugate`` (g*, without the quadratic part) and ``prox_conjugate`` (prox of step * g*). They act on whole rows
    through the Euclidean norm; losses with another geometry override the ``row_*`` methods.

    References
    ----------
    - Laforgue, Lambert, Brogat-Motte and d'Alché-Buc (2020). Duality in RKHSs with infinite dimensional outputs:
      application to robust losses. ICML, proposition 1.

    Examples
    --------
    A loss of one's own, three times the squared one, whose conjugate is ``||a||^2 / 6``:

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

    on_margins = False  # True: a function of <z_i, h(x_i)> instead of the residual (the hinge)
    by_row, by_entry = True, False  # whether the three functions act on norms of rows, on single entries, or on both
    pointwise = False  # True: it acts on point values, so that the space must have them
    curvature = 0.0  # c of the conjugate's quadratic part
    quadratic = False  # True: the conjugate is half the squared norm and no more, so that the problem is linear
    sparse = False  # True: small residuals give dual rows that are exactly zero
    decreasing_weight = (
        False  # True: dual variable over residual falls as residuals grow, it grows no faster than a square
    )
    symmetric = True  # False: a residual and its negative cost differently, so that squared errors say less of a fit
    largest_residual = np.inf  # the loss is infinite beyond this norm
    bound = np.inf  # on the norm of a dual row; finite for losses that grow linearly, and these resist outliers

    def value(self, r):
        """Loss at residual norms r; by default from the conjugate, which needs curvature > 0."""
        a = self.prox_conjugate(r / self.curvature, 1 / self.curvature)
        return a * r - self.curvature / 2 * a**2 - self.conjugate(a)

    def conjugate(self, r):
        """g* at dual norms r."""
        return np.zeros_like(r)

    def conjugate_slope(self, r):
        """Right derivative of g* at r (infinite at the bound); only infimal convolutions need it."""
        return np.zeros_like(r)

    def prox_conjugate(self, r, step):
        """argmin over x >= 0 of ``(x - r)^2 / 2 + step g*(x)``."""
        return r

    def validate(self):
        """Raise a ValueError that names the setting which is out of range."""

    def check_columns(self, d):
        """Raise a ValueError where the loss does not go with outputs of d columns."""

    @property
    def is_constrained(self):
        """Whether some residuals cost infinitely much, see ``violation``."""
        return bool(np.isfinite(self.largest_residual))

    def violation(self, R):
        """By how much residuals R (n, d) violate the constraints of the loss, (n, k); at most 0 where they are met."""
        return row_norms(R)[:, None] - self.largest_residual

    def best_constant(self, Y, weights):
        """The constant (d,) of smallest loss for outputs (n, d), NaN where not observed; None without a formula."""
        return None

    def margin_targets(self, Y):
        """What margins are taken with, z_i (n, d), from coordinates Y (n, d); for losses of the margin."""
        return Y

    def row_value(self, R, measure=None):
        """Loss of each row of residuals R (n, d), shape (n,)."""
        return self.value(row_norms(R))

    def row_conjugate(self, A, measure=None):
        """g* of each row of A (n, d), shape (n,)."""
        return self.conjugate(row_norms(A))

    def row_prox(self, A, step, measure=None):
        """Prox of ``step g*`` of each row of A (n, d)."""
        return scale_rows(A, self.prox_conjugate(row_norms(A), step))

    def saturated(self, A, measure=None):
        """Rows (n,), or points (n, d) for pointwise losses, of A held at the bound: outliers are
        among them."""
        if np.isinf(self.bound):
            return np.zeros(len(A), dtype=bool)
        return row_norms(A) >= self.bound * (1 - 1e-6)

    def resolve(self, residuals, measure=None, weights=None):
        """A copy in which settings left to ``"auto"`` are numbers, from residuals (n, d), NaN where not
        observed, of a squared-loss fit."""
        return self

    def _with(self, **settings):
        """A copy with other settings."""
        return clone(self).set_params(**settings)

    @property
    def needs_residuals(self) -> bool:
        """True while a setting is ``"auto"``."""
        return any(value == "auto" for value in self.get_params(deep=False).values() if isinstance(value, str))


def indicator(r, radius):
    """0 up to the radius, infinite beyond; rounding is forgiven."""
    return np.where(r <= radius * (1 + 1e-12), 0.0, np.inf)


def residual_quantile(residuals, p, level, measure=None, weights=None):
    """Quantile of the p-norms of rows of residuals (n, d), or of absolute point values for p = inf.

    NaN entries do not count; when the quantile is zero there is no scale in the residuals, and 1 does as well.
    """
    weights = np.ones(len(residuals)) if weights is None else weights
    if np.isinf(p):
        sizes = np.abs(residuals) if measure is None else np.abs(residuals) / np.sqrt(measure)
        seen = np.isfinite(sizes)
        sizes, weights = sizes[seen], np.broadcast_to(weights[:, None], seen.shape)[seen]
    else:
        sizes = p_norms(np.nan_to_num(residuals), p, measure)
    return weighted_quantile(sizes, level, weights) or 1.0


def check_positive(loss, name, above=0, zero=False, finite=True, auto=False):
    """Raise unless the setting is a finite number > above (>= 0 with zero=True), or ``"auto"`` where allowed."""
    value = getattr(loss, name)
    if auto and isinstance(value, str) and value == "auto":
        return
    good = isinstance(value, numbers.Real) and (float(value) >= 0 if zero else float(value) > above)
    if not good or (finite and np.isinf(value)):
        wanted = "at least 0" if zero else f"greater than {above}"
        raise ValueError(f"{type(loss).__name__}: {name} must be a number {wanted}, got {value!r}")
