"""Losses of scores for labels -1 and 1 (Ciliberto et al. 2016, example 1)."""

from __future__ import annotations

import numpy as np
from scipy.special import expit

from .._utils.naming import unnamed_in_errors
from .scalars import ScalarLoss


@unnamed_in_errors
class _MarginLoss(ScalarLoss):
    """A loss of the product z y with labels y in {-1, 1}; predictions are scores whose signs are labels."""

    def check(self, outputs):
        Y = super().check(outputs)
        if not np.isin(Y, (-1, 1)).all():
            labels = ", ".join(f"{value:g}" for value in np.unique(Y)[:5])
            raise ValueError(
                f"y: {type(self).__name__} needs labels -1 and 1, got {labels}; recode y, or take "
                "output_loss='zero_one' for other labels"
            )
        return Y

    def check_predictions(self, outputs):
        return super().check(outputs)


class Hinge(_MarginLoss):
    """``max(0, 1 - z y)``, labels y in {-1, 1}; z in [-1, 1].

    References
    ----------
    - Cortes and Vapnik (1995). Support-vector networks. Machine Learning 20.
    - Ciliberto, Rosasco and Rudi (2016). A consistent regularization approach for structured prediction. NIPS 29,
      example 1.

    Examples
    --------
    >>> import numpy as np
    >>> from hilbertlearn import StructuredPredictor, output_losses
    >>> X, y = np.zeros((4, 1)), np.array([1, 1, 1, -1])
    >>> model = StructuredPredictor(output_loss=output_losses.Hinge(), gamma=1.0, alpha=1e-6)
    >>> model.fit(X, y).predict([[0.0]]).round(2)
    array([1.])
    """

    def value(self, z, y):
        return np.maximum(0.0, 1 - np.multiply(z, y, dtype=float))

    def derivatives(self, z, y):
        slope = (np.greater_equal(z, y) & np.less(y, 0)).astype(float) - (np.less(z, y) & np.greater(y, 0))
        return slope, np.zeros_like(slope)

    def kinks(self, y):
        return [(y, 1.0, 0.0)]

    def span(self, Y):
        return -1.0, 1.0


class Logistic(_MarginLoss):
    """``log(1 + exp(-z y))``, labels y in {-1, 1}; z, the log-odds of label 1, in [-10, 10].

    References
    ----------
    - Zhang (2004). Statistical behavior and consistency of classification methods based on convex risk minimization.
      Annals of Statistics 32.
    - Ciliberto, Rosasco and Rudi (2016). A consistent regularization approach for structured prediction. NIPS 29,
      example 1.

    Examples
    --------
    >>> import numpy as np
    >>> from hilbertlearn import StructuredPredictor, output_losses
    >>> X, y = np.zeros((4, 1)), np.array([1, 1, 1, -1])
    >>> model = StructuredPredictor(output_loss=output_losses.Logistic(), gamma=1.0, alpha=1e-6)
    >>> model.fit(X, y).predict([[0.0]]).round(2)
    array([1.1])
    """

    def value(self, z, y):
        return np.logaddexp(0.0, -np.multiply(z, y, dtype=float))

    def derivatives(self, z, y):
        p = expit(-np.multiply(z, y, dtype=float))  # probability of the other label
        return -y * p, p * (1 - p)

    def span(self, Y):
        return -10.0, 10.0  # probabilities 5e-5 and 1 - 5e-5
