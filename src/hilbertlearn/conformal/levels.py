"""How many scores decide: ranks and quantiles of conformal prediction, plain and weighted.

A query conforms when the samples whose scores are below the query's weigh less than ``level (total + own)``: all
samples count, and the query counts itself (Vovk et al. 2005; Tibshirani et al. 2019 with weights). With weights one
these are fewer than ``level (n + 1)`` samples.
"""

from __future__ import annotations

import numpy as np

_SLACK = 1e-9  # by which a level times a number of samples may miss an integer and meet it


def check_level(level) -> float:
    """A level as a number between 0 and 1."""
    number = isinstance(level, (int, float, np.floating)) and not isinstance(level, bool)
    if not number or not 0 < level < 1:
        raise ValueError(f"level must be a number between 0 and 1, such as 0.9, got {level!r}")
    return float(level)


def rank(level, n):
    """The k for which the k-th smallest of n scores is the bound, n + 1 or more where there is none; n may be (d,)."""
    return np.ceil(level * (np.asarray(n) + 1) - _SLACK).astype(int)


def samples_needed(level) -> int:
    """The smallest n for which ``rank(level, n) <= n``: with fewer every set is everything."""
    return int(np.ceil(level / (1 - level) - _SLACK))


def enough(level, mass, own):
    """Whether samples of a total weight `mass` have a bound for a query of weight `own`."""
    return mass >= level * (mass + own) * (1 - _SLACK)


def upper_ends(values, level, weights=None, own=None):
    """For each query the smallest of its values at or below which enough samples are, (m, d); infinite if none is.

    values : (m, n, d), NaN where a sample says nothing; may be overwritten
    weights, own : (n,) of the samples and (m,) of the queries, None for ones
    """
    if weights is None:
        return _plain(values, level)
    order = np.argsort(values, axis=1)  # NaN come last
    values = np.take_along_axis(values, order, axis=1)
    mass = np.where(np.isnan(values), 0.0, weights[order]).cumsum(axis=1)
    bound = level * (mass[:, -1] + own[:, None])  # (m, d)
    reached = mass >= (bound * (1 - _SLACK))[:, None]
    first = np.argmax(reached, axis=1)
    found = np.take_along_axis(values, first[:, None], axis=1)[:, 0]
    return np.where(reached[:, -1], found, np.inf)


def lower_ends(values, level, weights=None, own=None):
    """For each query the largest of its values at or above which enough samples are, see ``upper_ends``."""
    return -upper_ends(-values, level, weights, own)


def conforms(sizes, held_out, level, weights=None, own=None):
    """Which queries conform (m,): the samples with smaller scores are few enough.

    sizes : (m, n) scores of the queries by the model without sample i
    held_out : (n,) score of sample i by that model
    weights, own : as in ``upper_ends``
    """
    smaller = held_out < sizes
    if weights is None:
        return smaller.sum(axis=1) < rank(level, len(held_out))
    return smaller @ weights < level * (weights.sum() + own) * (1 - _SLACK)


def _plain(values, level):
    """``upper_ends`` with weights one."""
    gone = np.isnan(values[:1]).any(axis=0)  # what a sample does not say it says of no query
    k = rank(level, len(gone) - gone.sum(axis=0))  # (d,)
    there = k <= len(gone) - gone.sum(axis=0)
    places = np.where(there, k - 1, 0)
    values.partition(np.unique(places), axis=1)  # NaN come last
    found = np.take_along_axis(values, places[None, None], axis=1)[:, 0]
    return np.where(there, found, np.inf)
