"""How much is worked on at once: blocks that stay within scikit-learn's working memory."""

from __future__ import annotations

import sklearn
from sklearn.utils import gen_batches


def working_memory() -> int:
    """Bytes of scikit-learn's setting ``working_memory``."""
    return int(sklearn.get_config()["working_memory"] * 2**20)


def numbers_at_once(copies=1, most=None) -> int:
    """How many floats fit in the working memory, so many copies of each, or `most` if that is less."""
    fit = working_memory() // (8 * copies)
    return max(1, fit if most is None else min(fit, most))


def row_blocks(n, width, copies=1, most=None):
    """Slices that cover n rows of `width` floats, of each of which there are so many copies while it is worked on.

    most : floats of a block, without copies, beyond which nothing is gained
    A row is the least: a single one may be more than the working memory. There is a block even of no rows.
    """
    if n == 0:
        return [slice(0, 0)]
    return list(gen_batches(n, max(1, numbers_at_once(copies, most) // max(int(width), 1))))
