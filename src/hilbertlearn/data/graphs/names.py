"""Names of nodes: integers, text, or any hashable objects."""

from __future__ import annotations

import contextlib
from collections import Counter

import numpy as np
from sklearn.utils.validation import _num_samples

from ..items import object_array

_SHOWN = 3  # names in an error message


def as_names(items, name):
    """Names (l,): an array of integers if all are integers, otherwise an array of objects."""
    dtype = getattr(items, "dtype", None)
    if isinstance(items, range) or getattr(dtype, "kind", None) in ("i", "u"):
        return np.asarray(items, dtype=np.int64)
    items = list(items)
    if items and all(issubclass(kind, (int, np.integer)) and kind is not bool for kind in set(map(type, items))):
        return np.array(items, dtype=np.int64)
    for item in items:
        try:
            hash(item)
        except TypeError:
            raise ValueError(
                f"{name} has a node {item!r}, which cannot be hashed; give names that are numbers, text or tuples"
            ) from None
    return object_array(items)


def row_names(X):
    """Names of the rows of features: the index of a pandas data frame, otherwise 0, 1, ...; None without features."""
    if X is None or hasattr(X, "iloc"):
        return None if X is None else X.index
    return range(_num_samples(X))


def sort_names(names):
    """Distinct names, sorted if they can be compared, otherwise in order of appearance."""
    if names.dtype != object:
        return np.unique(names)
    distinct = list(dict.fromkeys(names))
    with contextlib.suppress(TypeError):  # such as text and numbers
        distinct.sort()
    return as_names(distinct, "")


def check_distinct(names, owner):
    """Raise if a name occurs twice; owner : of the names, in the message."""
    if are_numbers(names):
        return
    counts = Counter(names.tolist())
    repeated = [item for item, count in counts.items() if count > 1]
    if repeated:
        raise ValueError(f"{owner} has the name {repeated[0]!r} more than once; give each node a name of its own")


def find_positions(queries, names):
    """Positions (k,) of the wanted names among distinct names, -1 for names that are not there."""
    if queries.dtype == object or names.dtype == object:
        positions = {item: i for i, item in enumerate(names.tolist())}
        return np.array([positions.get(item, -1) for item in queries.tolist()], dtype=np.intp)
    if not len(names):
        return np.full(len(queries), -1, dtype=np.intp)
    if are_numbers(names):
        return np.where((queries >= 0) & (queries < len(names)), queries, -1)
    order = np.argsort(names, kind="stable")
    positions = np.minimum(np.searchsorted(names, queries, sorter=order), len(names) - 1)
    return np.where(names[order[positions]] == queries, order[positions], -1)


def are_numbers(names):
    """Whether names are 0, 1, ... in order."""
    return names.dtype != object and np.array_equal(names, np.arange(len(names)))


def abbreviate(names):
    """The first names as text for an error message."""
    distinct = list(dict.fromkeys(names.tolist()))
    rest = len(distinct) - _SHOWN
    return ", ".join(map(repr, distinct[:_SHOWN])) + (f" and {rest} more" if rest > 0 else "")
