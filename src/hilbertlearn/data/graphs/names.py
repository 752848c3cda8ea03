"""Names of nodes: integers, text, anything that can be hashed; where some of them are among others."""

from __future__ import annotations

import contextlib
from collections import Counter

import numpy as np
from sklearn.utils.validation import _num_samples

_SHOWN = 3  # names in an error


def as_names(items, name):
    """Names (l,): an array of integers if all are, else of the objects themselves."""
    dtype = getattr(items, "dtype", None)
    if isinstance(items, range) or getattr(dtype, "kind", None) in ("i", "u"):
        return np.asarray(items, dtype=np.int64)
    items = list(items)
    if items and all(issubclass(kind, (int, np.integer)) and kind is not bool for kind in set(map(type, items))):
        return np.array(items, dtype=np.int64)
    names = np.empty(len(items), dtype=object)
    for i, item in enumerate(items):  # at once, numpy would look into tuples
        try:
            hash(item)
        except TypeError:
            raise ValueError(
                f"{name} has a node {item!r}, which cannot be hashed; give names that are numbers, text or tuples"
            ) from None
        names[i] = item
    return names


def row_names(X):
    """Names of the rows of features: the index of a data frame of pandas, else 0, 1, ...; None without features."""
    if X is None or hasattr(X, "iloc"):
        return None if X is None else X.index
    return range(_num_samples(X))


def sort_names(names):
    """Distinct names, sorted where they can be, else in the order in which they appear."""
    if names.dtype != object:
        return np.unique(names)
    distinct = list(dict.fromkeys(names))
    with contextlib.suppress(TypeError):  # text beside numbers, say
        distinct.sort()
    return as_names(distinct, "")


def check_distinct(names, what):
    """Raise if a name occurs twice; what : they are of."""
    if are_numbers(names):
        return
    counts = Counter(names.tolist())
    twice = [item for item, count in counts.items() if count > 1]
    if twice:
        raise ValueError(f"{what} has the name {twice[0]!r} more than once; give each node a name of its own")


def find_positions(wanted, names):
    """Positions (k,) of the wanted names among distinct ones, -1 where there is none."""
    if wanted.dtype == object or names.dtype == object:
        place = {item: i for i, item in enumerate(names.tolist())}
        return np.array([place.get(item, -1) for item in wanted.tolist()], dtype=np.intp)
    if not len(names):
        return np.full(len(wanted), -1, dtype=np.intp)
    if are_numbers(names):
        return np.where((wanted >= 0) & (wanted < len(names)), wanted, -1)
    order = np.argsort(names, kind="stable")
    place = np.minimum(np.searchsorted(names, wanted, sorter=order), len(names) - 1)
    return np.where(names[order[place]] == wanted, order[place], -1)


def are_numbers(names):
    """Whether names are 0, 1, ... in order."""
    return names.dtype != object and np.array_equal(names, np.arange(len(names)))


def abbreviate(names):
    """A few names for an error."""
    distinct = list(dict.fromkeys(names.tolist()))
    rest = len(distinct) - _SHOWN
    return ", ".join(map(repr, distinct[:_SHOWN])) + (f" and {rest} more" if rest > 0 else "")
