"""Structured outputs as they come: rows of an array, labels, strings, sets, graphs, any objects."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .frames import is_framed, values_of, whole_dtype


@dataclass(frozen=True)
class Outputs:
    """Outputs as they were read: reading them again costs nothing."""

    items: Any  # an array of numbers, or a list
    known: np.ndarray  # (n,) booleans
    form: tuple  # in which predictions are given back, see ``form_of``
    whole: Any = None  # all known items that were read, of which these may be some: folds have the labels of all

    @classmethod
    def of(cls, y):
        if isinstance(y, Outputs):
            return y
        items, known = read_outputs(y)
        return cls(items, known, form_of(y), take(items, np.flatnonzero(known)))

    def __len__(self):
        return len(self.known)

    def __getitem__(self, rows):
        return Outputs(take(self.items, rows), self.known[rows], self.form, self.whole)


def read_outputs(y, like=None):
    """Outputs in canonical form, and which of them are known (n,).

    Numbers become a float array (n,) or (n, d), anything else a list. Unknown outputs are None, NaN, or rows of NaN.
    If ``like``, outputs read before, are a list, these are one too: some sequences of numbers may be of one length.
    """
    if isinstance(y, Outputs):
        return y.items, y.known
    y = plain(y)
    if isinstance(y, list):
        known = np.array([not is_missing(item) for item in y], dtype=bool)
        array = None if isinstance(like, list) else as_numbers([item for item in y if not is_missing(item)])
        if array is None:
            return y, known
        full = np.full((len(y), *array.shape[1:]), np.nan)
        full[known] = array
        y = full
    if y.dtype.kind in "biuf":
        y = y.astype(float)
        if np.isinf(y).any():
            raise ValueError("y contains infinity; give finite outputs, NaN for unknown ones")
        known = np.isfinite(y).reshape(len(y), -1).any(axis=1) if y.size else np.zeros(len(y), dtype=bool)
        return y, known
    y = list(y)
    return y, np.array([item is not None for item in y], dtype=bool)


def plain(y):
    """Outputs from any container as an array of numbers or strings, or a list."""
    if is_framed(y):
        y = values_of(y)
    elif hasattr(y, "to_numpy"):
        y = y.to_numpy()
    elif hasattr(y, "__array__"):
        y = np.asarray(y)
    if not isinstance(y, np.ndarray):
        return list(y)
    return y.tolist() if y.dtype == object else y


def take(outputs, rows):
    """Some of the outputs, in the same form."""
    return outputs[rows] if isinstance(outputs, np.ndarray) else [outputs[i] for i in rows]


def distinct(outputs):
    """Indices (c,) of the first of each distinct output, in order, and for each output its number among them (n,).

    Outputs that cannot be hashed are distinct unless they are the same object.
    """
    seen: dict = {}
    first: list[int] = []
    group = np.empty(len(outputs), dtype=int)
    for i, item in enumerate(outputs):
        number = seen.setdefault(_key(item), len(seen))
        if number == len(first):
            first.append(i)
        group[i] = number
    return np.array(first, dtype=int), group


def _key(item):
    if isinstance(item, np.ndarray) and item.dtype != object:
        return item.shape, (item + 0.0 if item.dtype.kind == "f" else item).tobytes()  # -0.0 equals 0.0
    if isinstance(item, (set, frozenset)):
        return frozenset(item)
    if isinstance(item, (list, tuple)):
        return tuple(map(_key, item))
    try:
        hash(item)
    except TypeError:
        return "id", id(item)
    return item


def is_missing(item):
    """Whether an item is None, NaN or pandas's NA."""
    if isinstance(item, (float, np.floating)):
        return bool(np.isnan(item))
    return item is None or type(item).__name__ == "NAType"


def nan_for_missing(y):
    """An array of objects, or what becomes one, with NaN for whatever is missing; anything else as it is."""
    array = np.asarray(y)
    if array.dtype != object or not array.ndim:
        return y
    return np.array([np.nan if is_missing(item) else item for item in array.flat], dtype=object).reshape(array.shape)


def form_of(y):
    """How predictions are given back: a kind and a dtype.

    ("list", None), ("objects", None) for an array of them, or ("array", dtype of integers, None for floats).
    """
    whole = whole_dtype(y) if is_framed(y) else None
    if whole is not None:
        return "array", whole
    given, items = hasattr(y, "__array__"), plain(y)
    array = items if isinstance(items, np.ndarray) else as_numbers([item for item in items if item is not None])
    if array is None:
        return "objects" if given else "list", None
    return "array", array.dtype if array.dtype.kind in "biu" else None


def in_form(outputs, form, discrete=True):
    """Outputs in the form of the training ones; integers stay integers where the decoder chose among outputs."""
    kind, dtype = form
    if kind == "list":
        return outputs if isinstance(outputs, list) else list(outputs)
    if kind == "objects":
        array = np.empty(len(outputs), dtype=object)
        for i, item in enumerate(outputs):
            array[i] = item
        return array
    outputs = np.asarray(outputs)
    if dtype is None or not discrete:
        return outputs
    whole = outputs.astype(dtype)
    return whole if np.array_equal(whole, outputs) else outputs  # candidates may be other numbers


def as_numbers(items):
    """Items as an array of numbers, None when they are something else (strings, sets, rows of different lengths)."""
    try:
        array = np.asarray(items)
    except ValueError:
        return None
    return array if array.dtype.kind in "biuf" and len(items) else None
