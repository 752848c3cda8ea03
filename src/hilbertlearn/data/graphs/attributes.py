"""Features of nodes from the node attributes of networkx."""

from __future__ import annotations

import numbers

import numpy as np

from ..items import is_missing
from ..objects import as_numbers


def node_attributes(graph, nodes):
    """Features (l, p) of nodes from the attributes of a networkx graph, and the names of the columns.

    Attributes are sorted by name. A number or boolean is one column, a vector one column for each entry (``name_0``,
    ...), and text one column of 0 and 1 for each value, sorted (``name_value``).

    nodes : names, in the order of the rows

    Returns
    -------
    X : array of shape (l, p) or None
        None if no node has attributes.
    columns : list of p str
        Names of the columns.
    """
    nodes = list(nodes)
    unknown = [node for node in nodes if node not in graph]
    if unknown:
        raise ValueError(f"nodes has {unknown[0]!r}, which the graph does not have; give names of its nodes")
    keys = {key for node in nodes for key in graph.nodes[node]}
    parts, columns = [], []
    for key in sorted(keys, key=str):
        part, names = _columns([_value(graph, node, key) for node in nodes], nodes, key)
        parts.append(part)
        columns += names
    return (np.hstack(parts) if parts else None), columns


def _value(graph, node, key):
    value = graph.nodes[node].get(key)
    if is_missing(value):
        raise ValueError(
            f"node {node!r} has no attribute {key!r}, which others have; give it to all nodes, or give features X"
        )
    return value


def _columns(values, nodes, key):
    """Columns (l, q) of one attribute, and their names."""
    if all(isinstance(value, (numbers.Real, np.bool_)) for value in values):
        return np.array(values, dtype=float)[:, None], [str(key)]
    if all(isinstance(value, str) for value in values):
        kinds = sorted(set(values))
        return (np.array(values)[:, None] == kinds).astype(float), [f"{key}_{kind}" for kind in kinds]
    rows = [_vector(value) for value in values]
    invalid = [i for i, row in enumerate(rows) if row.shape != rows[0].shape or not row.size]
    if invalid:
        raise ValueError(
            f"attribute {key!r} must be a number, text, or a vector of one length for all nodes, got "
            f"{values[invalid[0]]!r} for {nodes[invalid[0]]!r} beside {values[0]!r} for {nodes[0]!r}; remove it, "
            "or give features X"
        )
    return np.array(rows, dtype=float), [f"{key}_{j}" for j in range(len(rows[0]))]


def _vector(value):
    """A vector of numbers; empty for other values."""
    row = as_numbers(list(value)) if isinstance(value, (list, tuple, np.ndarray)) else None
    return row if row is not None and row.ndim == 1 else np.empty(0)
