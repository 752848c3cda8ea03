"""Weighted ranks of candidates' scores among those of the calibration samples."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

_ROUNDING = 1e-10  # of the largest score of a query: smaller differences are ties, which enlarges sets a little
_SLACK = 1e-9  # relative rounding error of level times a weight


@dataclass(frozen=True, eq=False)
class WeightedRanks:
    """Sorted scores of the calibration samples of each model, and cumulative sums of their weights."""

    scores: list  # for each model the scores of the samples that it leaves out, sorted
    sums: list  # for each model the cumulative weights of these samples, with a leading 0

    @classmethod
    def from_scores(cls, scores, model_index, n_models, weights=None):
        """Sort scores (n,) by model; weights : (n,), ones by default."""
        weights, ordered, sums = np.ones(len(scores)) if weights is None else weights, [], []
        by_model = np.argsort(model_index, kind="stable")
        ends = np.searchsorted(model_index[by_model], np.arange(1, n_models))
        for samples in np.split(by_model, ends):
            order = samples[np.argsort(scores[samples], kind="stable")]
            ordered.append(scores[order])
            sums.append(np.concatenate([[0.0], np.cumsum(weights[order])]))
        return cls(ordered, sums)

    @property
    def total(self):
        """Weight of all samples."""
        return sum(sums[-1] for sums in self.sums)

    def weight_below(self, scores):
        """Weight (b, c) of the samples with smaller scores, from scores (b, K, c) by every model."""
        scores = scores - _ROUNDING * np.abs(scores).max(axis=-1, keepdims=True)
        weight = np.zeros((scores.shape[0], scores.shape[2]))
        for k, (ordered, sums) in enumerate(zip(self.scores, self.sums, strict=True)):
            weight += sums[np.searchsorted(ordered, scores[:, k])]
        return weight

    def bounds(self, weight):
        """For each model the largest score such that its samples at or above it weigh more than its share of `weight`.

        Infinite if `weight` is not positive, minus infinity if the samples do not weigh enough.
        """
        out = []
        for ordered, sums in zip(self.scores, self.sums, strict=True):
            above = sums[-1] - sums[:-1]  # of this sample and those after it
            enough = np.flatnonzero(above > weight * sums[-1] / self.total * (1 - _SLACK))
            out.append(np.inf if weight <= 0 else ordered[enough[-1]] if len(enough) else -np.inf)
        return out

    def members(self, below, order, level, query_weight=1.0, allow_empty=False):
        """Positions of the candidates in a set, best first, and their p-values.

        below : (c,) weight of the samples with smaller scores than each candidate
        order : (c,) positions of the candidates, best first
        allow_empty : False puts the best candidate into the set in any case
        """
        total = self.total + query_weight
        inside = below < level * total * (1 - _SLACK)
        if not allow_empty:
            inside[order[0]] = True
        members = order[inside[order]]
        return members, 1 - below[members] / total
