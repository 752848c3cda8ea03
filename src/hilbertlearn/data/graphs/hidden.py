"""Hidden pairs of nodes: pairs of which it is unknown whether they are linked."""

from __future__ import annotations

import reprlib

import numpy as np
import scipy.sparse

from ..frames import is_frame, values_of
from .edges import edge_columns, edge_positions
from .names import abbreviate, as_names, check_distinct, find_positions


def read_hidden(hidden, names, size, name):
    """The sparse mask (l, l) of pairs that the user hides; None for none."""
    if hidden is None or (isinstance(hidden, (list, tuple)) and not hidden):
        return None
    if is_frame(hidden) and square_frame_names(hidden, name) is not None and values_of(hidden).dtype == bool:
        return _mask_by_name(hidden, names, name)
    mask = _mask(hidden)
    if mask is not None:
        if mask.shape != (size, size):
            raise ValueError(f"{name} must be a mask {(size, size)} or a list of pairs, got a mask {mask.shape}")
        return check_mask(scipy.sparse.csr_array(mask), name)
    pairs = _pairs(hidden, name)
    if pairs is None:
        raise ValueError(
            f"{name} must be a mask {(size, size)} of booleans or a list of pairs of names, got {reprlib.repr(hidden)}"
        )
    check_distinct(names, "the index of X")
    first, second, _ = pairs
    i, j = edge_positions(first, second, names, name, "the graph", f"hide pairs of its nodes {abbreviate(names)}")
    return pair_mask(i, j, size)


def _mask(hidden):
    """A mask, dense or sparse; None for pairs of names."""
    if scipy.sparse.issparse(hidden) or isinstance(hidden, np.ndarray):
        return hidden if hidden.dtype.kind == "b" else None
    rows = hidden if isinstance(hidden, (list, tuple)) else []
    lists = len(rows) and all(isinstance(row, (list, np.ndarray)) for row in rows)
    return np.array(rows) if lists and all(isinstance(item, (bool, np.bool_)) for item in rows[0]) else None


def _pairs(hidden, name):
    """Edge columns of a list of pairs, an array (k, 2) or a data frame of two columns; None for other data."""
    if is_frame(hidden):
        return edge_columns(hidden, name) if hidden.shape[1] == 2 else None
    if isinstance(hidden, np.ndarray):
        hidden = list(hidden) if hidden.ndim == 2 else None
    if not isinstance(hidden, (list, tuple)) or not all(_is_pair(pair) for pair in hidden):
        return None
    return edge_columns([tuple(pair) for pair in hidden], name)


def _is_pair(pair):
    return isinstance(pair, (tuple, list, np.ndarray)) and len(pair) == 2


def _mask_by_name(frame, names, name):
    """The mask of a square data frame of booleans, with rows and columns matched by name."""
    frame_names, values = as_names(frame.index, name), values_of(frame)
    positions = find_positions(names, frame_names)
    if len(frame_names) != len(names) or (positions < 0).any():
        raise ValueError(
            f"{name} must be a mask of booleans whose index and columns are the graph's nodes, {abbreviate(names)}, "
            f"got a data frame of shape {frame.shape} with {abbreviate(frame_names)}"
        )
    return check_mask(scipy.sparse.csr_array(values[np.ix_(positions, positions)]), name)


def check_mask(mask, name):
    """A mask (l, l) without its diagonal, checked to be symmetric."""
    asymmetric = mask != mask.T
    if asymmetric.nnz:
        i, j = (int(places[0]) for places in asymmetric.nonzero())
        raise ValueError(
            f"{name}: the pair of nodes {i} and {j} is hidden on one side of the diagonal only; give NaN, or True in a "
            "mask, at both, for example mask | mask.T"
        )
    entries = mask.tocoo()
    is_hidden = entries.data & (entries.row != entries.col)
    rows, columns = entries.row[is_hidden], entries.col[is_hidden]
    return scipy.sparse.csr_array((entries.data[is_hidden], (rows, columns)), shape=mask.shape)


def pair_mask(first, second, size):
    """The symmetric sparse mask (l, l) of pairs of positions; pairs of a node with itself are dropped."""
    is_pair = first != second
    i, j = np.r_[first[is_pair], second[is_pair]], np.r_[second[is_pair], first[is_pair]]
    mask = scipy.sparse.csr_array((np.ones(len(i), dtype=bool), (i, j)), shape=(size, size))
    mask.sum_duplicates()
    return mask


def mask_of_rows(rows):
    """The sparse mask (l, l) from the columns of each row; indices have 32 bits, which halves the memory."""
    indices = np.concatenate(rows).astype(np.int32)
    starts = np.cumsum([0, *map(len, rows)])
    return scipy.sparse.csr_array((np.ones(len(indices), dtype=bool), indices, starts), shape=(len(rows), len(rows)))


def union_masks(first, second, size):
    """Union of two masks, None for an empty one."""
    masks = [mask for mask in (first, second) if mask is not None]
    return sum(masks[1:], masks[0]) if masks else scipy.sparse.csr_array((size, size), dtype=bool)


def check_any_known(mask, size, name):
    """Raise if all pairs are hidden."""
    if size > 1 and mask.nnz == size * (size - 1):
        raise ValueError(f"{name}: all {mask.nnz // 2} pairs of its {size} nodes are hidden; leave some to learn from")


def square_frame_names(frame, name):
    """Names of the rows of a square data frame with equal index and columns; None for other frames."""
    index = getattr(frame, "index", None)
    if index is None or frame.shape[0] != frame.shape[1] or list(index) != list(frame.columns):
        return None
    return as_names(index, name)
