"""The pinball loss of quantiles, with a level for each column, and the same for quantiles that do not cross."""

from __future__ import annotations

import numbers

import numpy as np

from .._utils.statistics import weighted_quantile
from .base import SATURATION, Loss

_TOLERANCE = 1e-10  # relative violation of the box, or of the order of levels, that counts as rounding
_TIED = 1e-12  # relative difference at which neighbouring residuals count as equal
_ROUNDING = 1e-13  # increase along the levels, relative to the residuals, that counts as rounding


class Pinball(Loss):
    """``sum_j max(tau_j r_j, (tau_j - 1) r_j)``: its expectation is minimised by the quantiles of levels tau_j.

    Column j of the residuals has level ``levels[j % len(levels)]``. With L levels, d outputs take d L columns: the
    levels of an output are adjacent, and each output is repeated for each level. A single level applies to all columns.
    Each dual variable is in the box [tau_j - 1, tau_j]. Level 1/2 is half the absolute loss. ``QuantileRegressor``
    arranges outputs and levels.

    Parameters
    ----------
    levels : float or array of shape (L,), default=0.5
        A number in (0, 1), or increasing numbers there.

    References
    ----------
    - Koenker and Bassett (1978). Regression quantiles. Econometrica 46.

    Examples
    --------
    >>> import numpy as np
    >>> from hilbertlearn import losses
    >>> R = np.array([[2.0], [-2.0]])  # outputs above and below the prediction
    >>> losses.Pinball(0.9).row_value(R)
    array([1.8, 0.2])
    """

    by_row, symmetric, pointwise = False, False, True

    def __init__(self, levels=0.5):
        self.levels = levels

    def validate(self):
        check_levels(self.levels, "Pinball: levels")

    @property
    def taus(self):
        """Levels (L,) as numbers."""
        return np.atleast_1d(np.asarray(self.levels, dtype=float))

    def _columns(self, d):
        """The levels (d,) of the columns."""
        return np.tile(self.taus, d // len(self.taus))

    def check_columns(self, d):
        number = len(self.taus)
        if d % number:
            raise ValueError(
                f"loss={self!r} has {number} levels, and the outputs {d} columns, which is no multiple of it; give "
                "each output once for each level, or use QuantileRegressor"
            )

    @property
    def bound(self):
        """Largest absolute value of a dual variable."""
        return float(np.maximum(self.taus, 1 - self.taus).max())

    def value(self, r):
        """Losses of single residuals.

        Parameters
        ----------
        r : array of shape (..., d)
            Residuals of both signs.

        Returns
        -------
        array of shape (..., d)
            The losses.
        """
        taus = self._columns(r.shape[-1])
        return np.maximum(taus * r, (taus - 1) * r)

    def row_value(self, R, measure=None):
        # coordinates of point values are sqrt(m) v, and the loss integrates m pinball(v)
        return (self.value(R) * _root_measure(measure, R)).sum(axis=1)

    def row_conjugate(self, A, measure=None):
        low, high = self._box(A, measure)
        slack = _TOLERANCE * (high - low)
        return np.where(((low - slack <= A) & (high + slack >= A)).all(axis=1), 0.0, np.inf)

    def row_prox(self, A, step, measure=None):
        return np.clip(A, *self._box(A, measure))

    def face(self, A, measure=None, mask=None):
        """The face of the dual box that contains the projection of A.

        Parameters
        ----------
        A : array of shape (n, d)
            Arguments of the prox.
        measure : array of shape (d,), default=None
            Quadrature weights of point values; None for ones.
        mask : array of shape (n, d), default=None
            True where observed; None for all.

        Returns
        -------
        fixed : array of shape (n, d)
            Dual variables that are at a bound, zero where they are free.
        rows : array of shape (k,)
            Rows of the k free variables.
        directions : array of shape (k, d)
            Their directions, along which residuals vanish.
        """
        low, high = self._box(A, measure)
        free = (low < A) & (high > A)
        free = free if mask is None else free & mask
        rows, columns = np.nonzero(free)
        return np.where(free, 0.0, np.clip(A, low, high)), rows, np.eye(A.shape[1])[columns]

    def _box(self, A, measure):
        """Bounds (d,) of dual variables."""
        taus, root = self._columns(A.shape[1]), _root_measure(measure, A)
        return (taus - 1) * root, taus * root

    def saturated(self, A, measure=None):
        # entries at an end of their box belong to outputs that are not on their quantile
        low, high = self._box(A, measure)
        slack = SATURATION * (high - low)
        return ((low + slack >= A) | (high - slack <= A)) & (A != 0)

    def best_constant(self, Y, weights):
        # weighted quantiles of the observed entries; 0 for a column without any
        out = np.zeros(Y.shape[1])
        for j, (column, tau) in enumerate(zip(Y.T, self._columns(Y.shape[1]), strict=True)):
            observed = np.isfinite(column)
            if observed.any():
                out[j] = weighted_quantile(column[observed], tau, weights[observed])
        return out


class NonCrossingPinball(Pinball):
    """The pinball loss of the samples of one problem, infinite where quantiles of an output cross.

    Residuals ``r_j = y - q_j`` of an output decrease along its levels where the quantiles q_j increase. These residuals
    form a cone with the polar ``{D'u : u >= 0}``, D the differences of neighbours. The conjugate is the indicator of
    the dual box plus this polar cone. For missing outputs the box is the point zero, and only the order counts.

    Parameters
    ----------
    levels : array of shape (L,)
        As in ``Pinball``.
    observed : array of shape (n, d)
        Which outputs of the samples were observed; one column for all levels of an output.

    References
    ----------
    - Takeuchi, Le, Sears and Smola (2006). Nonparametric quantile estimation. Journal of Machine Learning Research 7.

    Examples
    --------
    >>> import numpy as np
    >>> from hilbertlearn import losses
    >>> loss = losses.NonCrossingPinball([0.1, 0.9], observed=np.ones((2, 1), dtype=bool))
    >>> loss.row_value(np.array([[1.0, -1.0], [-1.0, 1.0]]))  # the second sample's quantiles cross
    array([0.2, inf])
    """

    is_constrained = True

    def __init__(self, levels, observed):
        super().__init__(levels)
        self.observed = observed

    def without_order(self) -> Pinball:
        """Return the pinball loss without the constraint.

        Returns
        -------
        loss : Pinball
            The loss with the same levels.
        """
        return Pinball(self.levels)

    def _by_level(self, A):
        """A (n, d L) as (n, d, L)."""
        return A.reshape(len(A), -1, len(self.taus))

    def row_value(self, R, measure=None):
        residuals = np.where(np.repeat(self.observed, len(self.taus), axis=1), R, 0.0)
        crosses = self.violation(R).max(axis=1, initial=0.0) > _TOLERANCE * max(1.0, float(np.abs(R).max(initial=0.0)))
        return np.where(crosses, np.inf, super().row_value(residuals, measure))

    def row_conjugate(self, A, measure=None):
        outside = np.abs(A - self.row_prox(A, 1.0, measure)).max(axis=1, initial=0.0)
        return np.where(outside <= _TOLERANCE * np.maximum(1.0, np.abs(A).max(axis=1, initial=0.0)), 0.0, np.inf)

    def row_prox(self, A, step, measure=None):
        # Projection on box plus polar cone: by Moreau's identity, the argument minus the prox of the loss itself. The
        # loss is |x|/2 + (tau - 1/2) x. The linear part shifts the argument. The rest is the same function of all
        # entries, so that soft thresholding follows the projection on the cone (Barlow and Brunk 1972).
        root = self._by_level(np.broadcast_to(_root_measure(measure, A), A.shape)) * self.observed[:, :, None]
        blocks = self._by_level(A)
        decreasing = antitonic_regression(blocks - root * (self.taus - 0.5))
        prox = np.sign(decreasing) * np.maximum(np.abs(decreasing) - root / 2, 0.0)
        return (blocks - prox).reshape(A.shape)

    def face(self, A, measure=None, mask=None):
        # for a run of equal quantiles only the sum of the dual variables is fixed
        root = self._by_level(np.broadcast_to(_root_measure(measure, A), A.shape)) * self.observed[:, :, None]
        blocks = self._by_level(A)
        linear = root * (self.taus - 0.5)
        decreasing = antitonic_regression(blocks - linear)
        is_zero = (np.abs(decreasing) <= root / 2) & self.observed[:, :, None]  # residuals are zero
        # a run of tied residuals begins where they fall
        tied = np.zeros(is_zero.shape, dtype=bool)
        tied[:, :, 1:] = (np.diff(decreasing, axis=2) >= -_TIED * np.abs(decreasing).max(initial=0.0)) & ~is_zero[
            :, :, 1:
        ]
        tied[:, :, 1:] &= ~is_zero[:, :, :-1]
        fixed = np.where(is_zero, 0.0, linear + root / 2 * np.sign(decreasing)).reshape(A.shape)
        unit = np.eye(A.shape[1])
        zero_rows, zero_columns = np.nonzero(is_zero.reshape(A.shape))
        tied_rows, tied_columns = np.nonzero(tied.reshape(A.shape))
        directions = np.vstack([unit[zero_columns], unit[tied_columns] - unit[tied_columns - 1]])
        return fixed, np.concatenate([zero_rows, tied_rows]), directions

    def violation(self, R):
        # increases (n, d (L - 1)) of residuals (n, d L) between neighbouring levels: by so much quantiles cross
        increases = np.diff(self._by_level(R), axis=2).reshape(len(R), -1)
        return increases - _ROUNDING * np.abs(R).max(initial=0.0)

    def saturated(self, A, measure=None):
        return super().saturated(A, measure) & np.repeat(self.observed, len(self.taus), axis=1)

    def increasing_row(self, d):
        """Compute values that increase from level to level.

        Parameters
        ----------
        d : int
            Number of columns.

        Returns
        -------
        row : array of shape (d,)
            Values from -1 to 1 for each output.
        """
        number = len(self.taus)
        return np.tile(np.linspace(-1.0, 1.0, number) if number > 1 else np.zeros(1), d // number)


def antitonic_regression(A):
    """The nearest array (..., L) that does not increase along the last axis, by maxima of minima of means."""
    number = A.shape[-1]
    sums = np.concatenate([np.zeros((*A.shape[:-1], 1)), np.cumsum(-A, axis=-1)], axis=-1)
    lengths = np.arange(1, number + 1) - np.arange(number)[:, None]  # lengths of runs from i to k, positive for k >= i
    inside = lengths > 0
    means = (sums[..., None, 1:] - sums[..., :-1, None]) / np.where(inside, lengths, 1)
    # the smallest mean over ends k >= j, and of these the largest over starts i <= j
    smallest = np.minimum.accumulate(np.where(inside, means, np.inf)[..., ::-1], axis=-1)[..., ::-1]
    return -np.where(inside, smallest, -np.inf).max(axis=-2)


def check_levels(levels, name="levels"):
    """The levels (L,) as increasing numbers in (0, 1), or a ValueError."""
    if isinstance(levels, numbers.Real):
        levels = [levels]
    try:
        taus = np.asarray(levels, dtype=float)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must be numbers in (0, 1), got {levels!r}") from error
    if taus.ndim != 1 or not len(taus):
        raise ValueError(f"{name} must be a number or a list of at least one, got {levels!r}; for example (0.1, 0.9)")
    if not ((taus > 0) & (taus < 1)).all():
        raise ValueError(f"{name} must be strictly between 0 and 1, got {levels!r}; the median is 0.5")
    if not (np.diff(taus) > 0).all():
        raise ValueError(f"{name} must be increasing, each once, got {levels!r}; give sorted(set(levels))")
    return taus


def _root_measure(measure, A):
    """Square roots (d,) of quadrature weights; ones if there are none."""
    return np.ones(A.shape[1]) if measure is None else np.sqrt(measure)
