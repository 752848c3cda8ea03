"""Sizes of blocks that fit in scikit-learn's working memory."""

from __future__ import annotations

import numpy as np
import sklearn
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples

_PREDICT_BYTES = 2**27  # of kernel values in memory at once during prediction; larger blocks are not faster
_COPIES = 4  # of a block of kernel values in memory while it is computed and summed


def working_memory() -> int:
    """Bytes of scikit-learn's setting ``working_memory``."""
    return int(sklearn.get_config()["working_memory"] * 2**20)


def numbers_at_once(copies=1, most=None) -> int:
    """Number of floats that fit in the working memory `copies` times, at most `most`."""
    fit = working_memory() // (8 * copies)
    return max(1, fit if most is None else min(fit, most))


def rows_at_once(width, copies=1, most=None) -> int:
    """Number of rows of `width` floats in a block: as many as fit in the working memory, and at least one.

    copies : number of copies of a block that exist at the same time
    most : number of floats in a block beyond which larger blocks save no time
    """
    return max(1, numbers_at_once(copies, most) // max(int(width), 1))


def slices(n, step) -> list[slice]:
    """Consecutive slices of `step` positions, at least one, that cover range(n)."""
    step = max(int(step), 1)
    return [slice(start, min(start + step, n)) for start in range(0, n, step)]


def row_blocks(n, width, copies=1, most=None) -> list[slice]:
    """Slices that cover n rows of `width` floats; copies, most : as for ``rows_at_once``.

    For n = 0 there is one empty block, so that concatenated results have the right shape.
    """
    return slices(n, rows_at_once(width, copies, most)) or [slice(0, 0)]


def blocks_of(X, width, copies=_COPIES, most=None):
    """Pairs (rows, X there) such that kernel values of `width` numbers a row fit in scikit-learn's working memory.

    copies, most : as for ``row_blocks``, by default those of kernel values
    """
    m, most = _num_samples(X), _PREDICT_BYTES // 8 if most is None else most
    features = int(np.prod(X.shape[1:])) if isinstance(X, np.ndarray) else 0
    for rows in row_blocks(m, width + features, copies, most):
        if rows == slice(0, m):
            yield rows, X
        else:
            yield rows, X[rows] if isinstance(X, np.ndarray) else _safe_indexing(X, np.arange(m)[rows])
