"""Equality of settings by values: of arrays, of lists of them, and of objects with settings."""

from __future__ import annotations

from dataclasses import dataclass, fields
from numbers import Number

import numpy as np
import scipy.sparse


def are_equal(one, other) -> bool:
    """Whether two settings are equal: numbers, names, arrays, lists of them, and objects with settings."""
    if one is other:
        return True
    if isinstance(one, np.ndarray):
        return isinstance(other, np.ndarray) and np.array_equal(one, other)
    if type(one) is not type(other):
        return isinstance(one, Number) and isinstance(other, Number) and one == other
    if hasattr(one, "get_params") and not isinstance(one, type):
        one, other = one.get_params(deep=False), other.get_params(deep=False)
    if isinstance(one, dict):
        return list(one) == list(other) and are_equal(list(one.values()), list(other.values()))
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(map(are_equal, one, other))
    if scipy.sparse.issparse(one):
        return one.shape == other.shape and not (one != other).nnz
    return bool(np.all(one == other))


@dataclass(frozen=True, eq=False)
class EqualByValues:
    """Mixin for dataclasses that hold arrays or objects with settings; classes define a hash."""

    def __eq__(self, other):
        if type(self) is not type(other):
            return NotImplemented
        return all(are_equal(getattr(self, field.name), getattr(other, field.name)) for field in fields(self))
