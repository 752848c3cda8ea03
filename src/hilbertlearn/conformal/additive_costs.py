"""Weighted losses that are sums of costs, and all rankings or sets of labels within a bound of them.

For Kendall's loss a weighted loss is a constant plus a cost for each pair of items in the order that is not preferred;
for the Hamming loss, a constant plus a cost for each label that differs from the best one. Costs are not negative, so
rankings are built item by item, sets label by label, and partial ones that exceed the bound are dropped.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..output_losses import Hamming, Kendall

_ROUNDING = 1e-9  # of the sum of all costs, added to the bound


def has_additive_costs(rules) -> bool:
    """Whether the decoder minimises a ``WeightedLoss``."""
    loss = rules.loss
    return isinstance(loss, (Kendall, Hamming)) and isinstance(rules.decoder, str) and rules.decoder == loss.decoder


@dataclass(frozen=True)
class WeightedLoss:
    """``sum_u w_u loss(z, y_u)`` as a function of canonical outputs z: a constant plus a sum of costs."""

    constant: float  # a lower bound of all values
    costs: np.ndarray  # (M, M) of ranking the row's item above the column's, or (M,) of having each label

    @classmethod
    def from_weights(cls, loss, weights, references):
        """Build from weights (c,) of canonical references (c, M)."""
        if isinstance(loss, Hamming):
            labels = loss.n_labels or references.shape[1]
            costs = (1 - 2 * references).T @ weights / labels
            return cls(float(references.sum(axis=1) @ weights / labels + np.minimum(costs, 0.0).sum()), costs)
        G = loss.preferences(weights[None], references)[0]  # above zero where the row is to be above the column
        return cls(float(weights.sum() / 2 - np.abs(G).sum() / 4), np.maximum(G.T, 0.0))

    def __call__(self, outputs):
        """Values (b,) at outputs (b, M)."""
        if self.costs.ndim == 1:
            return self.constant - np.minimum(self.costs, 0.0).sum() + outputs @ self.costs
        i, j = np.triu_indices(len(self.costs), k=1)
        above = outputs[:, i] > outputs[:, j]
        return self.constant + self.costs[j, i].sum() + above @ (self.costs[i, j] - self.costs[j, i])

    def outputs_within(self, bound, limit):
        """Outputs (b, M) whose value is at most the bound; None where they are more than `limit`."""
        list_outputs = _label_sets if self.costs.ndim == 1 else _rankings
        return list_outputs(self.costs, bound - self.constant, limit)


def _rankings(costs, bound, limit):
    """Ranks (b, M) of all orders whose pairs cost at most the bound.

    costs : (M, M) of ranking the row's item above the column's
    """
    M = len(costs)
    bound += _ROUNDING * costs.sum()
    ranks, free, cost = np.zeros((1, M)), np.ones((1, M)), np.zeros(1)
    for rank in range(M, 0, -1):  # larger means preferred
        new = cost[:, None] + free @ costs.T  # with each item above all free ones
        row, item = np.nonzero((free > 0) & (new <= bound))
        if len(row) > limit:
            return None
        ranks, free, cost = ranks[row], free[row], new[row, item]
        ranks[np.arange(len(row)), item], free[np.arange(len(row)), item] = rank, 0.0
    return ranks


def _label_sets(costs, bound, limit):
    """Indicators (b, M) of all sets whose cost exceeds that of the best set by at most the bound."""
    best, increases = (costs < 0).astype(float), np.abs(costs)  # cost of changing a label of the best set
    bound += _ROUNDING * increases.sum()
    changed, cost = np.zeros((int(bound >= 0), len(costs))), np.zeros(int(bound >= 0))
    for label in np.argsort(increases):
        within = np.flatnonzero(cost + increases[label] <= bound)
        if len(changed) + len(within) > limit:
            return None
        new = changed[within]
        new[:, label] = 1.0
        changed, cost = np.concatenate([changed, new]), np.append(cost, cost[within] + increases[label])
    return np.abs(best - changed)
