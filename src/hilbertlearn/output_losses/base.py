"""The base class of output losses, functions of two outputs applied to lists of outputs, and their sums."""

from __future__ import annotations

from numbers import Real

import numpy as np
from sklearn.base import BaseEstimator

from .._utils.naming import unnamed_in_errors
from .._utils.validation import check_number


def as_floats(outputs):
    """Outputs as an array of floats, None if they are other objects."""
    try:
        return np.asarray(outputs, dtype=float)
    except (TypeError, ValueError):
        return None


def as_matrix(outputs, expected):
    """Outputs as floats (n, d), or a ValueError that states what is expected."""
    matrix = as_floats(outputs)
    if matrix is None:
        kinds = sorted({type(item).__name__ for item in outputs})
        raise ValueError(f"y must be {expected}, got a list of {', '.join(kinds)}")
    if matrix.ndim != 2 or matrix.shape[1] == 0:
        raise ValueError(f"y must be {expected}, got shape {matrix.shape}")
    return matrix


class OutputLoss(BaseEstimator):
    """A loss ``Delta(z, y)`` of predicting z where y is true; subclasses hold settings only.

    Losses add up: ``Hamming() + 0.5 * F1()``.

    Attributes
    ----------
    decoder : str, default="candidates"
        Name of the decoder for ``decoder="auto"``; it minimises ``sum_i w_i Delta(z, y_i)``.
    discrete : bool, default=True
        Whether predictions of the decoder are values that outputs have, so that integers stay integers. A loss whose
        decoder averages sets it to False.

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
    __array_ufunc__ = None  # numpy numbers times a loss call ``__rmul__``

    def resolve(self, outputs) -> OutputLoss:
        """The loss with settings that depend on all outputs filled in, such as the list of labels.

        Parameters
        ----------
        outputs : list or array
            Outputs as users give them.

        Returns
        -------
        OutputLoss
            A copy, or the loss itself if nothing is missing.
        """
        return self

    def check(self, outputs):
        """Convert outputs to their canonical form; raise an error that states what outputs must be.

        Parameters
        ----------
        outputs : list or array
            Known outputs as users give them.

        Returns
        -------
        list or array
            Canonical outputs, the arguments of the loss.
        """
        return outputs

    def check_predictions(self, outputs):
        """Convert predictions to their canonical form. They may be of another kind than outputs, such as scores.

        Parameters
        ----------
        outputs : list or array
            Predictions.

        Returns
        -------
        list or array
            Canonical predictions.
        """
        return self.check(outputs)

    def restore(self, outputs, like):
        """Convert canonical outputs back to the form of the outputs of users.

        Parameters
        ----------
        outputs : list or array
            Canonical outputs.
        like : list or array
            Outputs of users, whose form the result has.

        Returns
        -------
        list or array
            The outputs.
        """
        return outputs

    def all_outputs(self, outputs):
        """All canonical outputs that are possible according to the loss.

        Parameters
        ----------
        outputs : list or array
            Canonical outputs.

        Returns
        -------
        list or array
            All possible outputs; `outputs` itself if the loss does not restrict them.
        """
        return outputs

    def classes(self, outputs):
        """The classes in their order.

        Parameters
        ----------
        outputs : list or array
            Distinct outputs as users give them.

        Returns
        -------
        list, array or None
            The classes as users give them; None if outputs are not classes.
        """
        return None

    def __call__(self, Z, Y):
        """Losses of predicting each of Z where each of Y is true.

        Parameters
        ----------
        Z : list or array
            Canonical predictions.
        Y : list or array
            Canonical outputs.

        Returns
        -------
        array of shape (len(Z), len(Y))
            The losses.
        """
        raise NotImplementedError

    def parts(self):
        """The summands of the loss.

        Returns
        -------
        list of (float, OutputLoss)
            Weights and losses that are not sums themselves.
        """
        return [(1.0, self)]

    def __add__(self, other):
        return LossSum(self, other) if isinstance(other, OutputLoss) else NotImplemented

    def __radd__(self, other):
        return self if isinstance(other, Real) and other == 0 else NotImplemented  # the start of ``sum``

    def __mul__(self, weight):
        return LossMultiple(self, _weight(weight)) if isinstance(weight, Real) else NotImplemented

    __rmul__ = __mul__


@unnamed_in_errors
class _LossCombination(OutputLoss):
    """A weighted sum of losses (Ciliberto et al. 2016, theorem 19). Each part checks outputs as users give them."""

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
        all_classes = (part.classes(outputs) for _, part in self.parts())
        return next((classes for classes in all_classes if classes is not None), None)

    def __call__(self, Z, Y):
        return sum(weight * part(part.check_predictions(Z), part.check(Y)) for weight, part in self.parts())


class LossSum(_LossCombination):
    """``f(z, y) + g(z, y)``; written ``f + g``.

    Parameters
    ----------
    f : OutputLoss
        The first loss.
    g : OutputLoss
        The second loss, of the same kind of outputs.

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


class LossMultiple(_LossCombination):
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
    """Return the weight; raise an error unless it is a number >= 0."""
    return check_number(weight, "the weight of an output loss", strict=False)
