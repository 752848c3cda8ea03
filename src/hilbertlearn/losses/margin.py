"""The hinge: a convex function of the margin ``<y_i, h(x_i)>`` (Brouard et al. 2016, eq. 4)."""

from __future__ import annotations

import numpy as np

from .base import Loss


class Hinge(Loss):
    """``max(0, 1 - t)`` of the margin t, or any convex decreasing function of it.

    The dual rows are ``a_i = b_i y_i``. The problem in b is the usual one with a single column, the kernel
    ``k(x_i, x_j) <y_i, M y_j>``, zero targets, and this loss.

    Parameters
    ----------
    margin : object, default=None
        Another convex function f of the margin: an object with ``value(t)``, ``conjugate(b)`` = f*(-b) and
        ``prox_conjugate(b, step)`` = argmin over x of ``(x - b)^2 / 2 + step f*(-x)``, all elementwise.
    targets : callable, default=None
        Function from the coordinates of the outputs (n, d) to the targets z (n, d) of the margins ``<z_i, h(x_i)>``;
        None for the outputs themselves (Laforgue et al. 2020, proposition 1, allows any z_i).

    References
    ----------
    - Brouard, Szafranski and d'Alché-Buc (2016). Input output kernel regression. Journal of Machine Learning Research
      17.
    - Laforgue, Lambert, Brogat-Motte and d'Alché-Buc (2020). Duality in RKHSs with infinite dimensional outputs:
      application to robust losses. ICML, proposition 1.

    Examples
    --------
    >>> import numpy as np
    >>> from hilbertlearn import OperatorKernelRegressor, losses
    >>> X = np.linspace(-1, 1, 20)[:, None]
    >>> model = OperatorKernelRegressor(loss=losses.Hinge(), gamma=1.0, alpha=0.01).fit(X, np.sign(X[:, 0]))
    >>> np.sign(model.predict([[-0.8], [0.8]]))
    array([-1.,  1.])
    """

    on_margins = True

    def __init__(self, margin=None, targets=None):
        self.margin, self.targets = margin, targets

    def validate(self):
        missing = [n for n in ("value", "conjugate", "prox_conjugate") if not hasattr(self.margin, n)]
        if self.margin is not None and missing:
            raise ValueError(f"Hinge: margin must have the methods {', '.join(missing)}; got {self.margin!r}")
        if self.targets is not None and not callable(self.targets):
            raise TypeError(f"Hinge: targets must be a function of coordinates (n, d) or None, got {self.targets!r}")

    def margin_targets(self, Y):
        if self.targets is None:
            return Y
        Z = np.asarray(self.targets(Y), dtype=float)
        if Z.shape != Y.shape or not np.isfinite(Z).all():
            raise ValueError(f"Hinge: targets must return finite numbers of shape {Y.shape}, got shape {Z.shape}")
        return Z

    @property
    def bound(self):
        return 1.0 if self.margin is None else np.inf

    @property
    def _function(self):
        return _HingeMargin() if self.margin is None else self.margin

    def row_value(self, R, measure=None):
        return self._function.value(-R[:, 0])

    def row_conjugate(self, A, measure=None):
        return self._function.conjugate(A[:, 0])

    def row_prox(self, A, step, measure=None):
        return self._function.prox_conjugate(A, step)


class _HingeMargin:
    """max(0, 1 - t) and its conjugate: -b on [0, 1]."""

    def value(self, t):
        return np.maximum(0.0, 1 - t)

    def conjugate(self, b):
        return np.where((b >= -1e-12) & (b <= 1 + 1e-12), -b, np.inf)

    def prox_conjugate(self, b, step):
        return np.clip(b + step, 0.0, 1.0)
