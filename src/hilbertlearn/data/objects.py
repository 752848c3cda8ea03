"""Structured outputs: rows of an array, labels, strings, sets, graphs, any objects.

Types, never lengths, decide what is a row of numbers: numbers, numpy arrays of numbers, and lists of these. Anything
else, also a tuple, is an object and stays unchanged.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse

from .frames import integer_dtype, is_framed, values_of
from .items import is_missing, object_array

_ROWS = 4096  # rows that are compared at a time: memory is linear in it
NO_LABEL = -1  # label of unlabelled samples in scikit-learn's semi-supervised estimators
_NUMBERS = (bool, int, float, np.bool_, np.integer, np.floating)


class ObjectList(list):
    """A list that numpy converts to an array of objects: scikit-learn concatenates predictions of folds this way."""

    def __array__(self, dtype=None, copy=None):
        return object_array(self)


@dataclass(frozen=True)
class StructuredOutputs:
    """Structured outputs that are already read; reading them again returns them unchanged."""

    items: Any  # an array of numbers, or a list
    known: np.ndarray  # (n,) mask of known outputs
    form: tuple  # form of predictions, see ``form_of``
    all_known: Any = None  # known items of the whole data set: a fold has the labels of all folds
    no_label: Any = None  # the label of unlabelled samples, if there is one

    @classmethod
    def from_y(cls, y):
        """Outputs y in any form."""
        if isinstance(y, StructuredOutputs):
            return y
        items, known = read_outputs(y)
        return cls(items, known, form_of(y), take(items, np.flatnonzero(known)))

    def __len__(self):
        return len(self.known)

    def __getitem__(self, rows):
        return replace(self, items=take(self.items, rows), known=self.known[rows])


def read_outputs(y, like=None):
    """Outputs in canonical form, and a mask (n,) of the known ones.

    Numbers become a float array (n,) or (n, d), other outputs a list. Unknown outputs are None, NaN, or rows of NaN.
    ``like`` are outputs read before: if they are a list, the result is a list; if they are rows, tuples of numbers are
    rows too.
    """
    if isinstance(y, StructuredOutputs):
        return y.items, y.known
    y = to_array_or_list(y)
    if isinstance(y, list):
        known = np.array([not is_missing(item) for item in y], dtype=bool)
        rows = (list, tuple) if isinstance(like, np.ndarray) else (list,)
        array = None if isinstance(like, list) else as_numbers([item for item in y if not is_missing(item)], rows)
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


def to_array_or_list(y):
    """Outputs of any container as an array of numbers or strings, or as a list."""
    if isinstance(y, list):
        return list(y)
    if scipy.sparse.issparse(y):
        return y.toarray()
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
    """The outputs at the given rows, in the same form."""
    return outputs[rows] if isinstance(outputs, np.ndarray) else [outputs[i] for i in rows]


def concatenate_outputs(parts):
    """Concatenate outputs, arrays or lists."""
    if len(parts) == 1:
        return parts[0]
    if all(isinstance(part, np.ndarray) for part in parts):
        return np.concatenate(parts)
    return [item for part in parts for item in part]


def distinct(outputs):
    """Indices (c,) of the first occurrence of each distinct output, in order, and the group (n,) of each output.

    Outputs that cannot be hashed are equal only if they are the same object.
    """
    if isinstance(outputs, np.ndarray) and outputs.ndim > 1 and outputs.dtype.kind in "biuf" and outputs.size:
        result = _distinct_rows(outputs.reshape(len(outputs), -1))
        if result is not None:
            return result
    groups: dict = {}
    first: list[int] = []
    group = np.empty(len(outputs), dtype=int)
    for i, item in enumerate(outputs):
        number = groups.setdefault(_key(item), len(groups))
        if number == len(first):
            first.append(i)
        group[i] = number
    return np.array(first, dtype=int), group


def _distinct_rows(rows):
    """``distinct`` for rows (n, d) of numbers, by hashes of their bits; None if different rows have equal hashes."""
    parts = [slice(start, start + _ROWS) for start in range(0, len(rows), _ROWS)]
    factors = np.random.default_rng(0).integers(2**63, size=_bits(rows[:1]).shape[1], dtype=np.uint64)
    # exact integers modulo 2^64; floats with few digits differ in their leading bits, hence the shift
    codes = [np.einsum("ij,j->i", b ^ (b >> np.uint64(52)), factors) for b in (_bits(rows[part]) for part in parts)]
    _, first, group = np.unique(np.concatenate(codes), return_index=True, return_inverse=True)
    if not all(np.array_equal(_bits(rows[part]), _bits(rows[first[group[part]]])) for part in parts):
        return None
    order = np.argsort(first)
    return first[order], np.argsort(order)[group]


def _bits(rows):
    """Rows of numbers as 64-bit integers, equal for equal rows."""
    rows = np.ascontiguousarray(rows + 0.0 if rows.dtype.kind == "f" else rows)  # -0.0 equals 0.0
    octets = rows.view(np.uint8)
    return np.pad(octets, ((0, 0), (0, -octets.shape[1] % 8))).view(np.uint64)


def kind_of(item):
    """Kind of an output by its type: a word, or None for other classes."""
    kinds = (("number", _NUMBERS), ("string", str), ("bytes", bytes), ("set", (set, frozenset)), ("mapping", dict))
    sequences = ("sequence", (list, tuple, np.ndarray))
    return next((name for name, types in (*kinds, sequences) if isinstance(item, types)), None)


def _key(item):
    """A hashable key, equal for equal items."""
    if isinstance(item, np.ndarray) and item.dtype != object:
        return item.shape, (item + 0.0 if item.dtype.kind == "f" else item).tobytes()  # -0.0 equals 0.0
    if isinstance(item, (set, frozenset)):
        return frozenset(item)
    if type(item) in (list, tuple):  # subclasses may hold more than their entries
        return tuple(map(_key, item))
    try:
        hash(item)
    except TypeError:
        return "id", id(item)
    return item


def nan_for_missing(y):
    """An array of objects with NaN for missing items; other data unchanged."""
    array = np.asarray(y)
    if array.dtype != object or not array.ndim:
        return y
    return np.array([np.nan if is_missing(item) else item for item in array.flat], dtype=object).reshape(array.shape)


def unlabelled_mask(labels):
    """Mask (n,) of integer labels equal to NO_LABEL, where there are at least two other labels, none negative.

    This is the convention of scikit-learn's semi-supervised estimators. In binary labels -1 and 1, both are classes.
    """
    labels = np.asarray(labels)
    mask = np.zeros(labels.shape, dtype=bool)
    if labels.ndim != 1 or labels.dtype.kind not in "ifO":
        return mask
    known = np.array([not is_missing(label) for label in labels.tolist()], dtype=bool)
    if labels.dtype == object and not all(isinstance(label, (int, np.integer)) for label in labels[known]):
        return mask
    if labels.dtype.kind == "f" and (known.all() or not np.array_equal(labels[known], np.round(labels[known]))):
        return mask
    others = np.unique(labels[known & (np.where(known, labels, 0) != NO_LABEL)])
    if len(others) < 2 or others[0] < 0:
        return mask
    mask[known] = labels[known] == NO_LABEL
    return mask


def form_of(y):
    """Form of predictions for training outputs y: a kind and a dtype.

    ("list", None); ("objects", None) for an array of objects; ("array", dtype), where dtype is None for floats; and the
    same with "tuples" for tuples of numbers, "csr_array" or "csr_matrix".
    """
    integers = integer_dtype(y) if is_framed(y) else None
    if integers is not None:
        return "array", integers
    if scipy.sparse.issparse(y):
        return "csr_array" if isinstance(y, scipy.sparse.sparray) else "csr_matrix", _integer_dtype(y)
    is_array, items = hasattr(y, "__array__") and not isinstance(y, list), to_array_or_list(y)
    if isinstance(items, list):
        items = [item for item in items if item is not None]
    array = items if isinstance(items, np.ndarray) else as_numbers(items)
    if array is not None:
        return "array", _integer_dtype(array)
    if is_array:
        return "objects", None
    rows = as_numbers(items, (tuple,))
    return ("list", None) if rows is None else ("tuples", _integer_dtype(rows))


def restore_form(outputs, form, discrete=True):
    """Outputs in the form of the training outputs; integers stay integers if the decoder selects among outputs."""
    kind, dtype = form
    if kind == "tuples" and isinstance(outputs, np.ndarray):
        outputs = map(tuple, _as_integers(outputs, dtype if discrete else None).tolist())
    if kind in ("list", "tuples"):
        outputs = list(outputs)
        return ObjectList(outputs) if any(map(_is_sequence_to_numpy, outputs)) else outputs
    if kind == "objects":
        return np.asarray(ObjectList(outputs))
    rows = _as_integers(np.asarray(outputs), dtype if discrete else None)
    return rows if kind == "array" else getattr(scipy.sparse, kind)(rows)


def _is_sequence_to_numpy(item):
    """Whether numpy may replace such an item by its entries when it creates an array."""
    kind = type(item)
    return not issubclass(kind, (str, dict)) and (hasattr(kind, "__getitem__") or hasattr(kind, "__array__"))


def _integer_dtype(array):
    """The dtype of integers and booleans, None for others."""
    return array.dtype if array.dtype.kind in "biu" else None


def _as_integers(outputs, dtype):
    """Outputs as integers if that changes no value: candidates may be other numbers."""
    if dtype is None:
        return outputs
    integers = outputs.astype(dtype)
    return integers if np.array_equal(integers, outputs) else outputs


def as_numbers(items, rows=(list,)):
    """Items as an array of numbers; None for other items (strings, sets, rows of different lengths).

    rows : sequence types that are rows of numbers; arrays always are
    """
    if not len(items) or not _are_numeric(items, rows):
        return None
    try:
        array = np.asarray(items)
    except ValueError:
        return None
    return array if array.dtype.kind in "biuf" else None


def _are_numeric(items, rows):
    """Whether all items are numbers, or arrays or sequences of numbers, by type."""
    if all(issubclass(kind, _NUMBERS) for kind in set(map(type, items))):
        return True
    return all(_is_numeric(item, rows) for item in items)


def _is_numeric(item, rows):
    if isinstance(item, np.ndarray):
        return item.dtype.kind in "biuf"
    # a subclass of list or tuple is an object
    return _are_numeric(item, rows) if type(item) in rows else isinstance(item, _NUMBERS)
