"""Random draws of samples, the same draws whatever the order of the rows."""

from __future__ import annotations

import numpy as np
from sklearn.model_selection import KFold
from sklearn.utils import _safe_indexing

from .. import kernels
from ..graphs import combined_ranks
from ..training import Samples

FOLDS = 5  # where leave-one-out has no closed form


def drawn(samples: Samples, number):
    """Increasing positions of so many of the samples, drawn once and for all."""
    n = len(samples.rows)
    if number >= n:
        return np.arange(n)
    return np.sort(order_by_value(samples)[np.random.default_rng(0).permutation(n)[:number]])


def shuffled_folds(samples: Samples):
    """List of (train, test), positions of the samples."""
    n, order = len(samples.rows), order_by_value(samples)
    folds = KFold(min(FOLDS, n), shuffle=True, random_state=0).split(order)
    return [(np.sort(order[train]), np.sort(order[test])) for train, test in folds]


def order_by_value(samples: Samples):
    """Positions (n,) of the samples in an order by inputs, then by outputs.

    Random numbers are assigned to samples in this order, so that a permutation of the rows changes no draw. Only inputs
    that have no order, such as graphs or molecules, beside equal outputs keep the order of the rows.
    """
    n, own = len(samples.rows), samples.own
    precomputed = any(kernels.is_precomputed(kernels.scalar(kernel)) for kernel, _ in samples.recipe.pairs)
    ranks = kernels.input_ranks(_safe_indexing(samples.X, own), precomputed)
    for column in samples.encoded.coordinates.T:
        if ranks.max(initial=0) == n - 1:
            break
        ranks = combined_ranks(ranks, np.unique(column, return_inverse=True)[1])
    return np.argsort(ranks, kind="stable")
