"""Edge lists: pairs of node names, with or without weights, in lists of tuples, arrays and data frames."""

from __future__ import annotations

import numpy as np
import scipy.sparse

from ..frames import column_values, columns_of, is_frame
from ..items import is_missing
from .adjacency import check_finite
from .names import abbreviate, as_names, find_positions, sort_names

_LENGTHS = (2, 3)  # lengths of (u, v) and (u, v, weight)


def edge_columns(graph, name):
    """Names (m,) of both ends and weights (m,), or None without weights, of an edge list; None for other graphs.

    Edge lists are lists and tuples of tuples, integer arrays (m, 2) with m other than 2, arrays (m, 2) of text, and
    data frames of 2 or 3 columns. A list of two lists of two numbers is a matrix.
    """
    if is_frame(graph):
        return _names_and_weights([column_values(column) for column in columns_of(graph)], name)
    if isinstance(graph, (list, tuple)) and graph and all(isinstance(edge, tuple) for edge in graph):
        lengths = sorted(set(map(len, graph)))
        if len(lengths) > 1 or lengths[0] not in _LENGTHS:
            raise ValueError(
                f"{name}: edges have {' or '.join(map(str, lengths))} entries; give (u, v) for all of them, or "
                "(u, v, weight)"
            )
        return _names_and_weights(list(zip(*graph, strict=True)), name)
    if isinstance(graph, np.ndarray) and graph.ndim == 2 and graph.shape[1] == 2 and _names_nodes(graph):
        return _names_and_weights(list(graph.T), name)
    return None


def edges_of(pairs):
    """Pairs in any form (lists of lists, networkx views, arrays) as a list of tuples."""
    if is_frame(pairs) or (isinstance(pairs, np.ndarray) and (pairs.ndim != 2 or pairs.dtype.kind == "f")):
        return pairs
    rows = pairs.tolist() if isinstance(pairs, np.ndarray) else list(pairs)
    return [tuple(row) if isinstance(row, list) else row for row in rows]


def _names_nodes(array):
    """Whether an array (m, 2) holds node names; an array (2, 2) holds weights unless it is text."""
    return array.dtype.kind in "US" or (array.dtype.kind in "iuO" and len(array) != 2)


def _names_and_weights(columns, name):
    """Names of both ends and weights, from two or three columns."""
    first, second, *weights = columns
    ends = as_names(first, name), as_names(second, name)
    missing = [item for end in ends if end.dtype == object for item in end if is_missing(item)]
    if missing:
        raise ValueError(f"{name} has an edge to {missing[0]!r}, which names no node; leave such edges out")
    if not weights:
        return *ends, None
    try:
        values = np.asarray(weights[0], dtype=float)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} has weights of edges that are no numbers: {error}; give (u, v, weight)") from error
    check_finite(values, name)
    return *ends, values


def edge_positions(first, second, nodes, name, owner, remedy):
    """Positions (m,) of both ends of edges among the nodes (l,) of the owner."""
    ends = find_positions(first, nodes), find_positions(second, nodes)
    unknown = [names[place < 0] for names, place in zip((first, second), ends, strict=True)]
    if any(map(len, unknown)):
        names = as_names([*unknown[0], *unknown[1]], name)
        raise ValueError(f"{name} has nodes that {owner} does not have: {abbreviate(names)}; {remedy}")
    return ends


def nodes_of(first, second):
    """The nodes of edges, sorted if they can be compared, otherwise in order of appearance."""
    return sort_names(as_names([*first, *second], "y") if first.dtype != second.dtype else np.r_[first, second])


def edge_weights(first, second, weights, nodes, name):
    """The sparse adjacency matrix (l, l) of edges between positions; (u, v) and (v, u) are the same edge."""
    weights, size = np.ones(len(first)) if weights is None else weights, len(nodes)
    low, high = np.minimum(first, second).astype(np.int64), np.maximum(first, second).astype(np.int64)
    codes, first_index, edge = np.unique(low * size + high, return_index=True, return_inverse=True)
    conflicts = np.flatnonzero(weights != weights[first_index][edge])
    if len(conflicts) and len(codes) < len(first):
        e = int(conflicts[0])
        u, v = nodes.item(low[e]), nodes.item(high[e])
        raise ValueError(
            f"{name} has the edge between {u!r} and {v!r} with different weights, "
            f"{weights[first_index][edge][e]:g} and {weights[e]:g}; give it once"
        )
    low, high, weights = low[first_index], high[first_index], weights[first_index]
    upper = scipy.sparse.coo_array((weights, (low, high)), shape=(size, size))
    is_link = low != high
    lower = scipy.sparse.coo_array((weights[is_link], (high[is_link], low[is_link])), shape=(size, size))
    return scipy.sparse.csr_array(upper.tocsr() + lower.tocsr())
