"""What an output loss is: a function of two outputs, on lists of them."""

from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator


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
    loss whose decoder averages sets it to False.
    """

    decoder = "candidates"
    discrete = True

    def check(self, outputs):
        """Canonical outputs (an array, or a list) from known ones, or a ValueError that says what they must be."""
        return outputs

    def check_predictions(self, outputs):
        """The same of predictions, where they may be more than the outputs, as scores are for labels."""
        return self.check(outputs)

    def as_given(self, predictions, outputs):
        """What the decoder found, in the terms of known outputs as they were given: rankings keep their lowest rank."""
        return predictions

    def __call__(self, Z, Y):
        """Losses (len(Z), len(Y)) of predicting each of Z where each of Y is true; both canonical."""
        raise NotImplementedError
