"""Base class of output operators."""

from __future__ import annotations

from abc import ABC, abstractmethod

from sklearn.base import BaseEstimator


class OutputOperator(BaseEstimator, ABC):
    """Settings from which a positive semi-definite matrix of the outputs is computed.

    Attributes
    ----------
    depends_on_outputs : bool, default=False
        Whether the matrix is computed from the training outputs, so that it depends on their scales.
    """

    depends_on_outputs: bool = False

    @abstractmethod
    def matrix(self, Y, weights=None, space=None):
        """Compute the operator.

        Parameters
        ----------
        Y : array of shape (n, d)
            Training coordinates, NaN where not observed.
        weights : array of shape (n,), default=None
            Weights of the samples; None for ones.
        space : space of functions, default=None
            The space of the coordinates; None for vectors.

        Returns
        -------
        M : array of shape (d, d), Kronecker or None
            Positive semi-definite; None for the identity. In a space of functions it is a Kronecker product with a
            factor for each axis and one for the curves.
        """
