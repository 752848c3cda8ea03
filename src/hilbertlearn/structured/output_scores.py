"""Scores and weights of all classes or candidates, beside the best one."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import scipy.linalg
from sklearn.utils.validation import _num_samples

from .._utils.blocks import working_memory
from .._utils.naming import unnamed_in_errors
from ..data.objects import as_numbers, distinct, restore_form
from ..machine.state import State, blocks_of
from ..spaces import WeightSpace
from .candidate_pools import CandidatePool, read_candidates
from .state import StructuredState
from .weights import sum_by_group

_COPIES = 6  # of the numbers of queries, beside kernel values and candidates
_RANK = 1e-10  # singular values of coordinates, relative, that weights do not divide by


@unnamed_in_errors
class OutputScores:
    """What a predictor of objects says of every output that it chooses from."""

    space_: Any
    state_: Any
    machine_: Any  # of the predictor

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
        X = self.machine_.check_inputs(X)
        rules = self.space_.rules
        pool = self._pool(rules.candidates if candidates is None else candidates)
        ask, features = self.scoring()
        scores = np.empty((_num_samples(X), len(pool.distinct)))
        for rows, part in self._queries(X):
            queries, seen = ask(part), 0
            for values, bias in pool.blocks(features, self._width):
                here = slice(seen, seen + len(values))
                scores[rows, here] = queries @ values.T
                if bias is not None:
                    scores[rows, here] += bias
                seen = here.stop
        return scores if len(pool.distinct) == len(pool.group) else scores[:, pool.group]

    def predict_weights(self, X):
        """Weights (m, c) of the classes in the order of ``classes_``, or of the distinct outputs, that of ``outputs_``.

        The sum of the weights of the samples of each: an estimate of the probability that the output is this one, which
        may be below 0 or above 1 and need not sum to one. Classes that training has not seen have weight 0.
        """
        X, weights, rules = self.machine_.check_inputs(X), self._weighing(), self.space_.rules
        number = np.arange(len(rules.outputs))
        if rules.classes is not None:
            number = distinct([*rules.classes, *rules.outputs])[1][len(rules.classes) :]
        out = np.zeros((_num_samples(X), len(rules.outputs if rules.classes is None else rules.classes)))
        for rows, part in self._queries(X):
            out[rows, number] = weights(part)
        return out

    # ---------------------------------------------------------------- what they are made of

    def _weighing(self):
        """The function of checked inputs that gives weights (m, c) of the distinct training outputs."""
        state, rules = self.state_, self.space_.rules
        if isinstance(state.space, WeightSpace):
            return state.coordinates
        if isinstance(state, StructuredState) and state.ridge is not None:
            return partial(_ridge_weights, state, len(rules.outputs))
        inverse = _pseudo_inverse(state.space.coordinates(rules.outputs))
        return lambda X: state.coordinates(X) @ inverse

    def _queries(self, X):
        """List of (rows, X there): blocks of checked inputs whose coordinates, or weights of outputs, fit in memory.

        They are as large as can be, since what candidates or decoders need of the outputs is computed for each.
        """
        rules = self.space_.rules
        weighed = rules.loss is not None or rules.decoder != "candidates"
        coordinates = 0 if rules.kernel is None else len(self.space_.factor)
        width = coordinates + (len(rules.outputs) if weighed else 0)
        return list(blocks_of(X, width, _COPIES, working_memory()))

    def _pool(self, candidates):
        """Candidates that are held as a whole, None for those that are searched where nothing is said."""
        rules = self.space_.rules
        if candidates is not None:
            return CandidatePool.of(read_candidates(candidates, rules.outputs, "candidates"))
        return CandidatePool(rules.pool, np.arange(len(rules.pool)))

    @property
    def _width(self):
        """Numbers that an output is scored by."""
        rules = self.space_.rules
        return len(self.space_.factor) if rules.loss is None else len(rules.outputs)

    def scoring(self):
        """Functions of checked inputs and of outputs: queries (m, r), and features (b, r) with a bias (b,) or None."""
        state = self.state_
        space = state.space
        rules = space.rules
        if rules.loss is not None:
            weights = self._weighing()
            return (lambda X: -weights(X)), rules.losses_of
        if isinstance(state, State) and state.loss.on_margins:
            return state.coordinates, lambda outputs: (space.coordinates(outputs), None)
        return (
            lambda X: 2 * state.coordinates(X),
            lambda outputs: (space.coordinates(outputs), -space.squared_norms(outputs)),
        )


def _ridge_weights(state, number, X):
    """Weights (m, number) of distinct outputs, those of their samples summed up."""
    out = np.empty((_num_samples(X), number))
    for rows, part in blocks_of(X, len(state.columns) + number):
        out[rows] = sum_by_group(state.ridge(state.values(0, part)), state.groups, number)
    return out


def _as_array(classes, form):
    """Classes as an array of numbers or strings, with the type of the outputs, or else of objects."""
    if all(isinstance(item, str) for item in classes):
        return np.array(classes)
    numbers = as_numbers(classes)
    return restore_form(classes, ("objects", None)) if numbers is None else restore_form(numbers, ("array", form[1]))


def _pseudo_inverse(V):
    """(r, c) that gives from coordinates (m, r) the smallest weights (m, c) of outputs with coordinates V (c, r)."""
    U, values, W = scipy.linalg.svd(V, full_matrices=False)
    kept = values > _RANK * values.max(initial=0.0)
    return (W[kept].T / values[kept]) @ U[:, kept].T
