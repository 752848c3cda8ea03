"""How much is worked on at once: blocks that stay within scikit-learn's working memory."""

from __future__ import annotations

import sklearn


def working_memory() -> int:
    """Bytes of scikit-learn's setting ``working_memory``."""
    return int(sklearn.get_config()["working_memory"] * 2**20)


def numbers_at_once(copies=1, most=None) -> int:
    """How many floats fit in the working memory, so many copies of each, or `most` if that is less."""
    fit = working_memory() // (8 * copies)
    return max(1, fit if most is None else min(fit, most))


def rows_at_once(width, copies=1, most=None) -> int:
    """How many rows of `width` floats are worked on at once, at least one: see ``numbers_at_once``.

    most : floats of a block, without copies, beyond which nothing is gained
    A single row may be more than the working memory.
    """
    return max(1, numbers_at_once(copies, most) // max(int(width), 1))


def slices(n, step) -> list[slice]:
    """Consecutive slices that cover range(n), each of at most `step` positions, and of at least one."""
    step = max(int(step), 1)
    return [slice(start, min(start + step, n)) for start in range(0, n, step)]


def row_blocks(n, width, copies=1, most=None) -> list[slice]:
    """Slices that cover n rows of `width` floats, of each of which there are so many copies while it is worked on.

    copies, most : as for ``rows_at_once``
    There is a block even of no rows, so that what is made of blocks has its shape.
    """
    return slices(n, rows_at_once(width, copies, most)) or [slice(0, 0)]
