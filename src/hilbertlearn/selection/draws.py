"""Random subsamples and folds that do not depend on the order of the rows."""

from __future__ import annotations

import numpy as np
from sklearn.model_selection import KFold
from sklearn.utils import _safe_indexing

from .. import kernels
from .._utils.linalg import row_norms
from ..training import Samples

FOLDS = 5  # number of folds where leave-one-out has no closed form
_DIGITS = 9  # digits of norms of outputs, relative to the largest, that rounding in a basis does not change


def draw_subsample(samples: Samples, number):
    """Increasing positions of a random subsample of so many samples; the same in every call."""
    n = len(samples.rows)
    if number >= n:
        return np.arange(n)
    return np.sort(order_by_value(samples)[np.random.default_rng(0).permutation(n)[:number]])


def shuffled_folds(samples: Samples, number=FOLDS):
    """List of (train, test), positions of the samples, of so many folds."""
    n, order = len(samples.rows), order_by_value(samples)
    folds = KFold(min(number, n), shuffle=True, random_state=0).split(order)
    return [(np.sort(order[train]), np.sort(order[test])) for train, test in folds]


def order_by_value(samples: Samples):
    """Positions (n,) of the samples in the order of the norms of outputs, then of inputs.

    Random numbers are assigned to samples in this order, so that a permutation of the rows changes no draw. Outputs
    come first, because they are the same where a kernel matrix replaces the inputs. Inputs without an order, such as
    graphs or molecules, with equal outputs keep the order of the rows.
    """
    precomputed = any(kernels.is_precomputed(kernels.scalar_kernel(kernel)) for kernel, _ in samples.recipe.pairs)
    sizes = row_norms(np.nan_to_num(samples.encoded.coordinates))  # the same in every basis
    largest = sizes.max(initial=0.0)
    keys = np.round(sizes / largest, _DIGITS) if largest > 0 else sizes
    inputs = kernels.input_ranks(_safe_indexing(samples.X, samples.labelled_indices), precomputed)
    return np.lexsort((inputs, keys))
