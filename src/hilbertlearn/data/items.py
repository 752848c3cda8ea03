"""Single items of any kind: missing ones, and arrays of objects."""

from __future__ import annotations

import numpy as np


def is_missing(item):
    """Whether an item is None, NaN, pandas.NA or pandas.NaT."""
    is_nan = isinstance(item, (float, np.floating)) and np.isnan(item)
    return item is None or is_nan or type(item).__name__ in ("NAType", "NaTType")


def object_array(items):
    """An array (n,) of objects; ``np.array(items)`` would replace sequences by their entries."""
    array = np.empty(len(items), dtype=object)
    for i, item in enumerate(items):
        array[i] = item
    return array
