"""How many samples left out have smaller scores than candidates, by the models without them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

_ROUNDING = 1e-10  # of the largest score of a query: such differences count as none, so that sets are a little larger
_SLACK = 1e-9  # by which a level times a number of samples may miss an integer and meet it


@dataclass(frozen=True, eq=False)
class Masses:
    """Scores of the samples left out in order, for each model: how many samples have smaller ones."""

    sizes: list  # for each model the scores of the samples that it leaves out, in order
    sums: list  # and what those up to each weigh, from 0 on

    @classmethod
    def of(cls, sizes, model_of, n_models, weights=None):
        weights, ordered, sums = np.ones(len(sizes)) if weights is None else weights, [], []
        by_model = np.argsort(model_of, kind="stable")
        ends = np.searchsorted(model_of[by_model], np.arange(1, n_models))
        for own in np.split(by_model, ends):
            order = own[np.argsort(sizes[own], kind="stable")]
            ordered.append(sizes[order])
            sums.append(np.concatenate([[0.0], np.cumsum(weights[order])]))
        return cls(ordered, sums)

    @property
    def total(self):
        return sum(sums[-1] for sums in self.sums)

    def smaller(self, scores):
        """What the samples with smaller scores weigh (b, c), from scores (b, K, c) by every model."""
        scores = scores - _ROUNDING * np.abs(scores).max(axis=-1, keepdims=True)
        mass = np.zeros((scores.shape[0], scores.shape[2]))
        for k, (sizes, sums) in enumerate(zip(self.sizes, self.sums, strict=True)):
            mass += sums[np.searchsorted(sizes, scores[:, k])]
        return mass

    def bounds(self, left):
        """For each model the largest score at or above which its samples weigh more than its share of `left`.

        Infinite where nothing has to be left; minus infinity where no sample is.
        """
        out = []
        for sizes, sums in zip(self.sizes, self.sums, strict=True):
            above = sums[-1] - sums[:-1]  # of this sample and those after it
            enough = np.flatnonzero(above > left * sums[-1] / self.total * (1 - _SLACK))
            out.append(np.inf if left <= 0 else sizes[enough[-1]] if len(enough) else -np.inf)
        return out

    def members(self, mass, order, level, own=1.0, allow_empty=False):
        """Numbers of the candidates in a set, best first, and the share of samples that fit no better, the query's too.

        mass : (c,) what the samples with smaller scores than each candidate weigh
        order : (c,) numbers of the candidates, best first
        own : weight of the query
        allow_empty : whether the best candidate may be left out
        """
        total = self.total + own
        inside = mass < level * total * (1 - _SLACK)
        if not allow_empty:
            inside[order[0]] = True
        chosen = order[inside[order]]
        return chosen, 1 - mass[chosen] / total
