"""All rankings, or sets of labels, whose weighted loss is within a bound, where these are not too many.

For Kendall's loss a weighted loss is a constant plus a cost for each pair of items in the order that is not preferred;
for the Hamming loss, one for each label that differs from the best. Costs add up and are not negative, so that rankings
are built from their first item on, and sets label by label, and whatever exceeds the bound is dropped.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..output_losses import Hamming, Kendall

_ROUNDING = 1e-9  # of all costs together


def can_list(rules) -> bool:
    """Whether ``near_best`` knows the outputs that the decoder makes."""
    loss = rules.loss
    return isinstance(loss, (Kendall, Hamming)) and isinstance(rules.decoder, str) and rules.decoder == loss.decoder


@dataclass(frozen=True)
class WeightedLoss:
    """``sum_u w_u loss(z, y_u)`` as a function of canonical outputs z, of which costs add up."""

    least: float  # at or below the smallest value
    costs: np.ndarray  # (M, M) of having the row's item above the column's, or (M,) of having each label

    @classmethod
    def of(cls, loss, weights, references):
        """weights : (c,) of references (c, M), canonical"""
        if isinstance(loss, Hamming):
            labels = loss.n_labels or references.shape[1]
            costs = (1 - 2 * references).T @ weights / labels
            return cls(float(references.sum(axis=1) @ weights / labels + np.minimum(costs, 0.0).sum()), costs)
        G = loss.preferences(weights[None], references)[0]  # above zero where the row is to be above the column
        return cls(float(weights.sum() / 2 - np.abs(G).sum() / 4), np.maximum(G.T, 0.0))

    def __call__(self, outputs):
        """Values (b,) at outputs (b, M)."""
        if self.costs.ndim == 1:
            return self.least - np.minimum(self.costs, 0.0).sum() + outputs @ self.costs
        i, j = np.triu_indices(len(self.costs), k=1)
        above = outputs[:, i] > outputs[:, j]
        return self.least + self.costs[j, i].sum() + above @ (self.costs[i, j] - self.costs[j, i])

    def near(self, value, most):
        """Outputs (b, M) whose value is at most this; None where they are more than `most`."""
        return (_label_sets if self.costs.ndim == 1 else _rankings)(self.costs, value - self.least, most)


def _rankings(against, bound, most):
    """Ranks (b, M) of all orders whose pairs cost at most the bound, by first items that cost no more.

    against : (M, M) cost of having the row's item above the column's
    """
    M = len(against)
    bound += _ROUNDING * against.sum()
    ranks, free, spent = np.zeros((1, M)), np.ones((1, M)), np.zeros(1)
    for place in range(M, 0, -1):  # larger means preferred
        new = spent[:, None] + free @ against.T  # of each item above all that are free
        row, item = np.nonzero((free > 0) & (new <= bound))
        if len(row) > most:
            return None
        ranks, free, spent = ranks[row], free[row], new[row, item]
        ranks[np.arange(len(row)), item], free[np.arange(len(row)), item] = place, 0.0
    return ranks


def _label_sets(costs, bound, most):
    """Indicators (b, M) of all sets whose labels cost at most the bound, beyond the best one."""
    best, prices = (costs < 0).astype(float), np.abs(costs)
    bound += _ROUNDING * prices.sum()
    changed, spent = np.zeros((int(bound >= 0), len(costs))), np.zeros(int(bound >= 0))
    for label in np.argsort(prices):
        affordable = np.flatnonzero(spent + prices[label] <= bound)
        if len(changed) + len(affordable) > most:
            return None
        other = changed[affordable]
        other[:, label] = 1.0
        changed, spent = np.concatenate([changed, other]), np.append(spent, spent[affordable] + prices[label])
    return np.abs(best - changed)
