"""What an output loss is: a function of two outputs, on lists of them; and sums of such."""

from __future__ import annotations

from numbers import Real

import numpy as np
from sklearn.base import BaseEstimator

from .._utils.naming import unnamed_in_errors
from .._utils.validation import check_number


def as_floats(outputs):
    """Outputs as an array of floats, None when they are something else."""
    try:
        return np.asarray(outputs, dtype=float)
    except (TypeError, ValueError):
        return None


class OutputLoss(BaseEstimator):
    """A loss ``Delta(z, y)`` of predicting z where y is true; subclasses hold settings only.

    ``decoder`` names the decoder that ``decoder="auto"`` takes: the prediction minimises ``sum_i w_i Delta(z, y_i)``.
    ``discrete`` says that predictions of its decoder are values that outputs have, so that integers stay integers; a
    loss whose decoder averages sets it to False. Losses add up: ``Hamming() + 0.5 * F1()``.

    References
    ----------
    - Ciliberto, Rosasco and Rudi (2016). A consistent regularization approach for structured prediction. NIPS 29.

    Examples
    --------
    >>> import numpy as np
    >>> from hilbertlearn import StructuredPredictor, output_losses
    >>> class Steps(output_losses.OutputLoss):
    ...     def __call__(self, Z, Y):
    ...         return np.abs(np.subtract.outer(Z, Y))
    >>> X, y = [[0.0], [1.0], [2.0]], np.array([1, 2, 5])
    >>> StructuredPredictor(output_loss=Steps(), gamma=1.0, alpha=0.01).fit(X, y).predict(X)
    array([1, 2, 5])
    """

    decoder = "candidates"
    discrete = True
    __array_ufunc__ = None  # so that a number of numpy leaves its product with a loss to the loss

    def resolve(self, outputs) -> OutputLoss:
        """This loss with what it must know of all outputs, as they come, filled in: their labels for instance."""
        return self

    def check(self, outputs):
        """Canonical outputs (an array, or a list) from known ones, or a ValueError that says what they must be."""
        return outputs

    def check_predictions(self, outputs):
        """The same of predictions, where they may be more than the outputs, as scores are for labels."""
        return self.check(outputs)

    def restore(self, outputs, like):
        """Outputs from canonical ones, in the form of others, ``like``, as they came."""
        return outputs

    def all_outputs(self, outputs):
        """All canonical outputs that the loss knows of; where it knows of none, those given."""
        return outputs

    def classes(self, outputs):
        """The classes in their order, as they come; None where outputs are none. outputs : distinct, as they come"""
        return None

    def __call__(self, Z, Y):
        """Losses (len(Z), len(Y)) of predicting each of Z where each of Y is true; both canonical."""
        raise NotImplementedError

    def parts(self):
        """Pairs (weight, loss) of which the loss is the sum, none of them a sum."""
        return [(1.0, self)]

    def __add__(self, other):
        return LossSum(self, other) if isinstance(other, OutputLoss) else NotImplemented

    def __radd__(self, other):
        return self if isinstance(other, Real) and other == 0 else NotImplemented  # where ``sum`` starts

    def __mul__(self, weight):
        return LossMultiple(self, _weight(weight)) if isinstance(weight, Real) else NotImplemented

    __rmul__ = __mul__


@unnamed_in_errors
class _Combined(OutputLoss):
    """A weighted sum of losses (Ciliberto et al. 2016, theorem 19). Outputs stay as they come: each part reads them."""

    decoder = "sum"

    @property
    def discrete(self):
        return all(part.discrete for _, part in self.parts())

    def check(self, outputs):
        for _, part in self.parts():
            part.check(outputs)
        return outputs

    def check_predictions(self, outputs):
        for _, part in self.parts():
            part.check_predictions(outputs)
        return outputs

    def all_outputs(self, outputs):
        for _, part in self.parts():
            if part.classes(outputs) is not None:
                return part.restore(part.all_outputs(part.check(outputs)), outputs)
        return outputs

    def classes(self, outputs):
        found = (part.classes(outputs) for _, part in self.parts())
        return next((classes for classes in found if classes is not None), None)

    def __call__(self, Z, Y):
        return sum(weight * part(part.check_predictions(Z), part.check(Y)) for weight, part in self.parts())


class LossSum(_Combined):
    """``f(z, y) + g(z, y)``; written ``f + g``.

    Parameters
    ----------
    f : OutputLoss
        One of the two.
    g : OutputLoss
        The other, of the same kind of outputs.

    References
    ----------
    - Ciliberto, Rosasco and Rudi (2016). A consistent regularization approach for structured prediction. NIPS 29,
      theorem 19.

    Examples
    --------
    >>> import numpy as np
    >>> from hilbertlearn import output_losses
    >>> both = output_losses.Hamming() + output_losses.F1()
    >>> both(np.array([[1.0, 1.0, 0.0, 0.0]]), np.array([[1.0, 0.0, 0.0, 0.0]])).round(3)
    array([[0.583]])
    """

    def __init__(self, f, g):
        self.f, self.g = f, g

    def resolve(self, outputs):
        return LossSum(self.f.resolve(outputs), self.g.resolve(outputs))

    def parts(self):
        return [*self.f.parts(), *self.g.parts()]


class LossMultiple(_Combined):
    """``weight f(z, y)``; written ``weight * f``.

    Parameters
    ----------
    f : OutputLoss
        The loss.
    weight : float, default=1.0
        A number >= 0.

    References
    ----------
    - Ciliberto, Rosasco and Rudi (2016). A consistent regularization approach for structured prediction. NIPS 29,
      theorem 19.

    Examples
    --------
    >>> import numpy as np
    >>> from hilbertlearn import output_losses
    >>> half = 0.5 * output_losses.Hamming()
    >>> half(np.array([[1, 1, 0, 0]]), np.array([[1, 0, 0, 0]]))
    array([[0.125]])
    """

    def __init__(self, f, weight=1.0):
        self.f, self.weight = f, weight

    def resolve(self, outputs):
        return LossMultiple(self.f.resolve(outputs), _weight(self.weight))

    def parts(self):
        weight = _weight(self.weight)
        return [(weight * w, part) for w, part in self.f.parts()]


def _weight(weight):
    check_number(weight, "the weight of an output loss", strict=False)
    return weight
