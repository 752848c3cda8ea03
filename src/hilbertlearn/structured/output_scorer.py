"""Scores and weights of outputs by a fitted state."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import scipy.linalg
from sklearn.utils.validation import _num_samples

from .._utils.blocks import working_memory
from ..machine.state import State, blocks_of
from ..spaces import WeightSpace
from .candidate_pools import CandidatePool, read_candidates
from .state import StructuredState
from .weights import sum_by_group

_COPIES = 6  # arrays of the size of the queries at one time, beside kernel values and candidates
_RANK = 1e-10  # singular values of coordinates, relative to the largest, below which weights ignore a direction


@dataclass(frozen=True)
class OutputScorer:
    """Scores of outputs for inputs: inner products of queries, computed from inputs, with features of outputs."""

    state: Any

    @property
    def rules(self):
        return self.state.space.rules

    @property
    def n_features(self):
        """Number of features of an output."""
        rules = self.rules
        return len(self.state.space.factor) if rules.loss is None else len(rules.outputs)

    def objective(self):
        """Two functions: inputs -> queries (m, r), and outputs -> features (b, r) and a bias (b,) or None.

        The scores ``queries @ features.T + bias`` are minus what the decoder minimises.
        """
        state, space = self.state, self.state.space
        if self.rules.loss is not None:
            weights = self.weight_function()
            return (lambda X: -weights(X)), self.rules.loss_features
        if isinstance(state, State) and state.loss.on_margins:
            return state.coordinates, lambda outputs: (space.coordinates(outputs), None)
        return (
            lambda X: 2 * state.coordinates(X),
            lambda outputs: (space.coordinates(outputs), -space.squared_norms(outputs)),
        )

    def weight_function(self):
        """The function of checked inputs that gives weights (m, c) of the distinct training outputs."""
        state, outputs = self.state, self.rules.outputs
        if isinstance(state.space, WeightSpace):
            return state.coordinates
        if isinstance(state, StructuredState) and state.ridge is not None:
            return partial(_ridge_weights, state, len(outputs))
        inverse = _pseudo_inverse(state.space.coordinates(outputs))
        return lambda X: state.coordinates(X) @ inverse

    def query_blocks(self, X):
        """List of (rows, X there): blocks of checked inputs whose queries fit in the working memory.

        Blocks are as large as possible: features of candidates are computed again for each.
        """
        rules = self.rules
        uses_weights = rules.loss is not None or rules.decoder != "candidates"
        n_coordinates = 0 if rules.kernel is None else len(self.state.space.factor)
        width = n_coordinates + (len(rules.outputs) if uses_weights else 0)
        return list(blocks_of(X, width, _COPIES, working_memory()))

    def pool(self, candidates):
        """Candidates as a pool; None for all classes, or for the distinct training outputs."""
        rules = self.rules
        if candidates is not None:
            return CandidatePool.from_candidates(read_candidates(candidates, rules.outputs, "candidates"))
        return CandidatePool(rules.default_candidates, np.arange(len(rules.default_candidates)))

    def scores(self, X, pool: CandidatePool):
        """Scores (m, N) of all candidates of a pool."""
        queries_of, features_of = self.objective()
        scores = np.empty((_num_samples(X), len(pool.distinct)))
        for rows, part in self.query_blocks(X):
            queries, start = queries_of(part), 0
            for features, bias in pool.blocks(features_of, self.n_features):
                columns = slice(start, start + len(features))
                scores[rows, columns] = queries @ features.T
                if bias is not None:
                    scores[rows, columns] += bias
                start = columns.stop
        return scores if len(pool.distinct) == len(pool.group) else scores[:, pool.group]


def _ridge_weights(state, number, X):
    """Weights (m, number) of distinct outputs: sums of the weights of their samples."""
    out = np.empty((_num_samples(X), number))
    for rows, part in blocks_of(X, len(state.columns) + number):
        out[rows] = sum_by_group(state.ridge(state.values(0, part)), state.groups, number)
    return out


def _pseudo_inverse(V):
    """Matrix (r, c) from coordinates (m, r) to the smallest weights (m, c) of outputs with coordinates V (c, r)."""
    U, values, W = scipy.linalg.svd(V, full_matrices=False)
    nonzero = values > _RANK * values.max(initial=0.0)
    return (W[nonzero].T / values[nonzero]) @ U[:, nonzero].T
