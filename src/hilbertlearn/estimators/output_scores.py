"""Scores and weights of all classes or candidates, beside the best one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..outputs import as_numbers, distinct, in_form
from .pools import Pool, read_candidates


class OutputScores:
    """What a predictor of objects says of every output that it chooses from."""

    space_: Any
    _check_X: Callable  # inputs as the predictor takes them
    _scoring: Callable  # inputs -> queries, and the features of outputs
    _output_weights: Callable  # inputs -> weights of the distinct training outputs

    @property
    def classes_(self):
        """The classes as an array, where outputs are such: in the order of the loss, sorted for the zero-one loss."""
        rules = self.space_.rules
        if rules.classes is None:
            raise AttributeError("classes_: outputs are no classes, but objects with a kernel or another loss")
        return _as_array(rules.classes, rules.form)

    def predict_scores(self, X, candidates=None):
        """Scores (m, c) of outputs for each of X, the larger the better; they are those of ``predict_topk``.

        With an output loss ``-sum_i w_i(x) Delta(z, y_i)``, minus an estimate of the expected loss of predicting z;
        else as ``predict_topk`` says. Where candidates are searched, ``predict`` takes the largest.

        Parameters
        ----------
        X : inputs
        candidates : the outputs z to score, in the order of the columns; None for those of the
            estimator, else ``classes_`` where outputs are classes, else ``outputs_``
        """
        X = self._check_X(X)
        rules = self.space_.rules
        candidates = rules.candidates if candidates is None else candidates
        if candidates is not None:
            pool = Pool.of(read_candidates(candidates, rules.outputs, "candidates"))
        else:
            pool = Pool(rules.pool, np.arange(len(rules.pool)))
        queries, features = self._scoring(X)
        values, bias = features(pool.distinct)
        scores = queries @ values.T
        return (scores if bias is None else scores + bias)[:, pool.group]

    def predict_weights(self, X):
        """Weights (m, c) of the classes in the order of ``classes_``, or of the distinct outputs, that of ``outputs_``.

        The sum of the weights of the samples of each: an estimate of the probability that the output is this one, which
        may be below 0 or above 1 and need not sum to one. Classes that training has not seen have weight 0.
        """
        weights = self._output_weights(self._check_X(X))
        rules = self.space_.rules
        if rules.classes is None:
            return weights
        number = distinct([*rules.classes, *rules.outputs])[1]
        out = np.zeros((len(weights), len(rules.classes)))
        out[:, number[len(rules.classes) :]] = weights
        return out


def _as_array(classes, form):
    """Classes as an array of numbers or strings, with the type of the outputs, or else of objects."""
    if all(isinstance(item, str) for item in classes):
        return np.array(classes)
    numbers = as_numbers(classes)
    return in_form(classes, ("objects", None)) if numbers is None else in_form(numbers, ("array", form[1]))
