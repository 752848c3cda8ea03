"""Infimal convolutions of losses."""

from __future__ import annotations

import numpy as np

from .balls import point_sizes
from .base import SATURATION, Loss

_BISECTIONS = 80  # halvings of an interval; 53 reach double precision from a bracket of the right size


class InfConv(Loss):
    """Infimal convolution ``inf_s first(s) + second(r - s)`` of two losses of the same kind.

    ``InfConv(Squared(), Norm(kappa))`` is the Huber loss, ``InfConv(Squared(), Ball(epsilon))`` the
    epsilon-insensitive loss. Conjugates add up, so that any two losses can be combined. Both must act on norms of rows,
    or both on single entries: ``Huber(p=1)``, ``EpsilonInsensitive(p=inf)``, ``Squared``.

    Parameters
    ----------
    first : Loss
        The first loss.
    second : Loss
        The second loss; their order does not matter.

    References
    ----------
    - Laforgue, Lambert, Brogat-Motte and d'Alché-Buc (2020). Duality in RKHSs with infinite dimensional outputs:
      application to robust losses. ICML, proposition 1.

    Examples
    --------
    >>> import numpy as np
    >>> from hilbertlearn import losses
    >>> R = np.array([[0.1, 0.2], [3.0, 4.0]])
    >>> losses.InfConv(losses.Squared(), losses.Norm(1.0)).row_value(R).round(3)
    array([0.025, 4.5  ])
    >>> losses.Huber(kappa=1.0).row_value(R).round(3)
    array([0.025, 4.5  ])
    """

    def __init__(self, first, second):
        self.first, self.second = first, second

    def validate(self):
        for name, part in (("first", self.first), ("second", self.second)):
            if not isinstance(part, Loss) or part.on_margins or not (part.by_row or part.by_entry):
                raise ValueError(
                    f"InfConv: {name} must be a loss of the Euclidean norm (p=2) or of single entries (Huber(p=1), "
                    f"EpsilonInsensitive(p=inf)), got {part!r}"
                )
            part.validate()
        if not (self.by_row or self.by_entry):
            wrong, other = ("second", "first") if self.first.by_row else ("first", "second")
            raise ValueError(
                f"InfConv: {wrong} must act on rows (p=2), as {other} does, not on single entries, got {self.first!r} "
                f"and {self.second!r}"
            )

    @property
    def by_row(self):
        return self.first.by_row and self.second.by_row

    @property
    def by_entry(self):
        return self.first.by_entry and self.second.by_entry

    @property
    def pointwise(self):
        return not self.by_row

    def row_value(self, R, measure=None):
        return self._integral(self.value, R, measure) if self.pointwise else super().row_value(R, measure)

    def row_conjugate(self, A, measure=None):
        if self.pointwise:
            return self._integral(self.conjugate, A, measure)
        return super().row_conjugate(A, measure)

    def _integral(self, function, A, measure):
        """Integral (n,) of a function of absolute point values."""
        return function(point_sizes(A, measure)) @ (np.ones(A.shape[1]) if measure is None else measure)

    def row_prox(self, A, step, measure=None):
        if not self.pointwise:
            return super().row_prox(A, step, measure)
        root = 1.0 if measure is None else np.sqrt(measure)
        return np.copysign(self.prox_conjugate(np.abs(A) / root, step) * root, A)

    def saturated(self, A, measure=None):
        if not self.pointwise or np.isinf(self.bound):
            return super().saturated(A, measure)
        return point_sizes(A, measure) >= self.bound * (1 - SATURATION)

    @property
    def curvature(self):
        return self.first.curvature + self.second.curvature

    def value(self, r):
        if self.curvature > 0:
            return super().value(r)
        r = np.asarray(r, dtype=float)
        high = np.minimum(self.bound, np.ones_like(r))
        while True:  # the maximiser a of a r - g*(a) has slope r; its upper bound is doubled until the slope exceeds r
            grow = (self.conjugate_slope(high) < r) & (high < self.bound) & (high < 1e150)
            if not grow.any():
                break
            high = np.where(grow, np.minimum(2 * high, self.bound), high)
        a = _bisect(lambda x: self.conjugate_slope(x) - r, high)
        with np.errstate(invalid="ignore"):
            out = a * r - self.conjugate(np.minimum(a, self.bound))
        return np.where(r > self.largest_residual * (1 + 1e-12), np.inf, out)

    def conjugate(self, r):
        return self.first.conjugate(r) + self.second.conjugate(r)

    def conjugate_slope(self, r):
        return self.first.conjugate_slope(r) + self.second.conjugate_slope(r)

    def prox_conjugate(self, r, step):
        r = np.asarray(r, dtype=float)
        high = np.minimum(r, self.bound)
        return _bisect(lambda x: x - r + step * self.conjugate_slope(x), high)

    @property
    def bound(self):
        return min(self.first.bound, self.second.bound)

    @property
    def sparse(self):
        return self.first.sparse or self.second.sparse

    @property
    def largest_residual(self):
        if self.curvature > 0:
            return np.inf
        return self.first.largest_residual + self.second.largest_residual

    def resolve(self, residuals, measure=None, weights=None):
        first, second = (part.resolve(residuals, measure, weights) for part in (self.first, self.second))
        return self._copy_with(first=first, second=second)

    @property
    def needs_residuals(self):
        return self.first.needs_residuals or self.second.needs_residuals


def _bisect(increasing, high):
    """Smallest x in [0, high] where the increasing function is >= 0 (high when there is none)."""
    low = np.zeros_like(high)
    high = np.where(increasing(low) >= 0, 0.0, high)
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        right = increasing(middle) >= 0
        low, high = np.where(right, low, middle), np.where(right, middle, high)
    return high
