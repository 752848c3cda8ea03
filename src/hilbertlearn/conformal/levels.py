"""Ranks and quantiles of conformal prediction, plain and weighted.

A query conforms if the calibration samples with smaller scores weigh less than ``level (total + query weight)`` (Vovk
et al. 2005; Tibshirani et al. 2019 with weights). With weights one these are fewer than ``level (n + 1)`` samples.
"""

from __future__ import annotations

import numpy as np

_SLACK = 1e-9  # rounding error of a level times a number of samples, which should be an integer


def check_level(level) -> float:
    """The level as a float; raise unless it is between 0 and 1."""
    number = isinstance(level, (int, float, np.floating)) and not isinstance(level, bool)
    if not number or not 0 < level < 1:
        raise ValueError(f"level must be a number between 0 and 1, such as 0.9, got {level!r}")
    return float(level)


def rank(level, n):
    """The k such that the k-th smallest of n scores is the bound; k > n where there is none. n may be (d,)."""
    return np.ceil(level * (np.asarray(n) + 1) - _SLACK).astype(int)


def samples_needed(level) -> int:
    """The smallest n for which ``rank(level, n) <= n``: with fewer samples every set is the whole space."""
    return int(np.ceil(level / (1 - level) - _SLACK))


def is_bounded(level, total, query_weight):
    """Whether samples of this total weight give a finite bound for a query."""
    return total >= level * (total + query_weight) * (1 - _SLACK)


def upper_ends(values, level, weights=None, query_weights=None):
    """Conformal quantiles (m, d) of values (m, n, d) over the samples; infinite where the samples are too few.

    values : NaN where a sample was not observed; may be overwritten
    weights, query_weights : (n,) of the samples and (m,) of the queries, None for ones
    """
    if weights is None:
        return _unweighted_upper_ends(values, level)
    order = np.argsort(values, axis=1)  # NaN come last
    values = np.take_along_axis(values, order, axis=1)
    mass = np.where(np.isnan(values), 0.0, weights[order]).cumsum(axis=1)
    bound = level * (mass[:, -1] + query_weights[:, None])  # (m, d)
    reached = mass >= (bound * (1 - _SLACK))[:, None]
    first = np.argmax(reached, axis=1)
    ends = np.take_along_axis(values, first[:, None], axis=1)[:, 0]
    return np.where(reached[:, -1], ends, np.inf)


def lower_ends(values, level, weights=None, query_weights=None):
    """Lower conformal quantiles (m, d), minus infinity where the samples are too few; see ``upper_ends``."""
    return -upper_ends(-values, level, weights, query_weights)


def conforms(query_scores, scores, level, weights=None, query_weights=None):
    """Which queries conform (m,).

    query_scores : (m, n) scores of the queries by the model without sample i
    scores : (n,) score of sample i by that model
    weights, query_weights : as in ``upper_ends``
    """
    smaller = scores < query_scores
    if weights is None:
        return smaller.sum(axis=1) < rank(level, len(scores))
    return smaller @ weights < level * (weights.sum() + query_weights) * (1 - _SLACK)


def _unweighted_upper_ends(values, level):
    missing = np.isnan(values[:1]).any(axis=0)  # (n, d), the same for all queries
    n_observed = len(missing) - missing.sum(axis=0)
    k = rank(level, n_observed)  # (d,)
    is_finite = k <= n_observed
    positions = np.where(is_finite, k - 1, 0)
    values.partition(np.unique(positions), axis=1)  # NaN come last
    ends = np.take_along_axis(values, positions[None, None], axis=1)[:, 0]
    return np.where(is_finite, ends, np.inf)
