"""The pinball loss of quantiles, a level for each column, and the same for quantiles that do not cross."""

from __future__ import annotations

import numbers

import numpy as np

from .._utils.statistics import weighted_quantile
from .base import Loss

_FORGIVEN = 1e-10  # rounding of dual variables, and of the order of levels where the loss is asked for, relative
_TIED = 1e-12  # differences of neighbours that are none, relative
_ROUNDING = 1e-13  # rises that count as none, relative to the residuals


class Pinball(Loss):
    """``sum_j max(tau_j r_j, (tau_j - 1) r_j)``: what the quantiles of levels tau_j minimise in the mean.

    Column j of the residuals has level ``levels[j % len(levels)]``: with L levels, d outputs take d L columns, the
    levels of an output beside each other, and outputs are given once for each level; a single level is for all
    columns. In the dual each variable is in the box [tau_j - 1, tau_j]. The loss is half the absolute value plus a
    linear part: level 1/2 is half the absolute loss. ``QuantileRegressor`` puts outputs and levels together.

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
        """The level of each of d columns."""
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
        """On the absolute value of a dual variable."""
        return float(np.maximum(self.taus, 1 - self.taus).max())

    def value(self, r):
        """At residuals r (..., d)."""
        taus = self._columns(r.shape[-1])
        return np.maximum(taus * r, (taus - 1) * r)

    def row_value(self, R, measure=None):
        # coordinates of point values are sqrt(m) v, and the loss integrates m pinball(v)
        return (self.value(R) * _root(measure, R)).sum(axis=1)

    def row_conjugate(self, A, measure=None):
        low, high = self._box(A, measure)
        slack = _FORGIVEN * (high - low)
        return np.where(((low - slack <= A) & (high + slack >= A)).all(axis=1), 0.0, np.inf)

    def row_prox(self, A, step, measure=None):
        return np.clip(A, *self._box(A, measure))

    def face(self, A, measure=None, mask=None):
        """The face of the dual box that the projection of A (n, d) is on.

        Returns known dual variables (n, d), zero where they are free, and for each free one its row and its direction
        (k, d): residuals vanish along it.
        """
        low, high = self._box(A, measure)
        free = (low < A) & (high > A)
        free = free if mask is None else free & mask
        rows, columns = np.nonzero(free)
        return np.where(free, 0.0, np.clip(A, low, high)), rows, np.eye(A.shape[1])[columns]

    def _box(self, A, measure):
        """Bounds (d,) of dual variables."""
        taus, root = self._columns(A.shape[1]), _root(measure, A)
        return (taus - 1) * root, taus * root

    def saturated(self, A, measure=None):
        """Entries (n, d) at an end of their box: outputs that are beside their quantile, not on it."""
        low, high = self._box(A, measure)
        slack = 1e-6 * (high - low)
        return ((low + slack >= A) | (high - slack <= A)) & (A != 0)

    def best_constant(self, Y, weights):
        """The constant (d,) of smallest loss: weighted quantiles of the observed entries of Y (n, d), 0 of none."""
        out = np.zeros(Y.shape[1])
        for j, (column, tau) in enumerate(zip(Y.T, self._columns(Y.shape[1]), strict=True)):
            seen = np.isfinite(column)
            if seen.any():
                out[j] = weighted_quantile(column[seen], tau, weights[seen])
        return out


class NonCrossingPinball(Pinball):
    """The pinball loss of the samples of one problem, infinite where quantiles of an output cross.

    Residuals ``r_j = y - q_j`` of an output fall along its levels where quantiles q_j rise. That cone C has the
    polar ``{D'u : u >= 0}``, D the differences of neighbours; the conjugate is the indicator of the box plus this
    polar cone. Where no output was seen the box is the point zero, and the order of quantiles is held all the same.

    Parameters
    ----------
    levels : array of shape (L,)
        As in ``Pinball``.
    seen : array of shape (n, d)
        Which outputs of the samples were observed, one for all levels.

    References
    ----------
    - Takeuchi, Le, Sears and Smola (2006). Nonparametric quantile estimation. Journal of Machine Learning Research 7.

    Examples
    --------
    >>> import numpy as np
    >>> from hilbertlearn import losses
    >>> loss = losses.NonCrossingPinball([0.1, 0.9], seen=np.ones((2, 1), dtype=bool))
    >>> loss.row_value(np.array([[1.0, -1.0], [-1.0, 1.0]]))  # the second sample's quantiles cross
    array([0.2, inf])
    """

    is_constrained = True

    def __init__(self, levels, seen):
        super().__init__(levels)
        self.seen = seen

    def plain(self) -> Pinball:
        """The loss without the order."""
        return Pinball(self.levels)

    def _by_level(self, A):
        """A (n, d L) as (n, d, L)."""
        return A.reshape(len(A), -1, len(self.taus))

    def row_value(self, R, measure=None):
        whole = np.where(np.repeat(self.seen, len(self.taus), axis=1), R, 0.0)
        beyond = self.violation(R).max(axis=1, initial=0.0) > _FORGIVEN * max(1.0, float(np.abs(R).max(initial=0.0)))
        return np.where(beyond, np.inf, super().row_value(whole, measure))

    def row_conjugate(self, A, measure=None):
        outside = np.abs(A - self.row_prox(A, 1.0, measure)).max(axis=1, initial=0.0)
        return np.where(outside <= _FORGIVEN * np.maximum(1.0, np.abs(A).max(axis=1, initial=0.0)), 0.0, np.inf)

    def row_prox(self, A, step, measure=None):
        """Projection on box plus polar cone: by Moreau what the prox of the loss itself leaves.

        That is ``|x|/2 + (tau - 1/2) x``: the linear part shifts its argument, and with one function of all entries
        left, soft thresholding follows the projection on the cone (Barlow and Brunk 1972).
        """
        root = self._by_level(np.broadcast_to(_root(measure, A), A.shape)) * self.seen[:, :, None]
        blocks = self._by_level(A)
        fallen = antitonic_regression(blocks - root * (self.taus - 0.5))
        kept = np.sign(fallen) * np.maximum(np.abs(fallen) - root / 2, 0.0)
        return (blocks - kept).reshape(A.shape)

    def face(self, A, measure=None, mask=None):
        """As for the box; where quantiles are tied in a run, the sum of their dual variables is known, not each."""
        root = self._by_level(np.broadcast_to(_root(measure, A), A.shape)) * self.seen[:, :, None]
        blocks = self._by_level(A)
        linear = root * (self.taus - 0.5)
        fallen = antitonic_regression(blocks - linear)
        on = (np.abs(fallen) <= root / 2) & self.seen[:, :, None]  # residuals are zero
        # a run of tied residuals begins where they fall
        tied = np.zeros(on.shape, dtype=bool)
        tied[:, :, 1:] = (np.diff(fallen, axis=2) >= -_TIED * np.abs(fallen).max(initial=0.0)) & ~on[:, :, 1:]
        tied[:, :, 1:] &= ~on[:, :, :-1]
        known = np.where(on, 0.0, linear + root / 2 * np.sign(fallen)).reshape(A.shape)
        unit = np.eye(A.shape[1])
        (rows, columns), (more, later) = np.nonzero(on.reshape(A.shape)), np.nonzero(tied.reshape(A.shape))
        directions = np.vstack([unit[columns], unit[later] - unit[later - 1]])
        return known, np.concatenate([rows, more]), directions

    def violation(self, R):
        """How much residuals (n, d L) rise between neighbouring levels, (n, d (L - 1)): by so much quantiles cross."""
        rises = np.diff(self._by_level(R), axis=2).reshape(len(R), -1)
        return rises - _ROUNDING * np.abs(R).max(initial=0.0)

    def saturated(self, A, measure=None):
        return super().saturated(A, measure) & np.repeat(self.seen, len(self.taus), axis=1)

    def increasing_row(self, d):
        """Row (d,) of values that rise from level to level, those of the ends of a mean zero."""
        number = len(self.taus)
        return np.tile(np.linspace(-1.0, 1.0, number) if number > 1 else np.zeros(1), d // number)


def antitonic_regression(A):
    """The nearest A (..., L) whose last axis does not rise: isotonic regression, by maxima of minima of means."""
    number = A.shape[-1]
    sums = np.concatenate([np.zeros((*A.shape[:-1], 1)), np.cumsum(-A, axis=-1)], axis=-1)
    lengths = np.arange(1, number + 1) - np.arange(number)[:, None]  # of runs from i to k, positive from k = i on
    inside = lengths > 0
    means = (sums[..., None, 1:] - sums[..., :-1, None]) / np.where(inside, lengths, 1)
    # over ends k >= j the least, over beginnings i <= j the largest of these
    least = np.minimum.accumulate(np.where(inside, means, np.inf)[..., ::-1], axis=-1)[..., ::-1]
    return -np.where(inside, least, -np.inf).max(axis=-2)


def check_levels(levels, name="levels"):
    """The levels (L,) as numbers, increasing in (0, 1); an error that names them otherwise."""
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


def _root(measure, A):
    """Square roots (d,) of quadrature weights, ones without."""
    return np.ones(A.shape[1]) if measure is None else np.sqrt(measure)
