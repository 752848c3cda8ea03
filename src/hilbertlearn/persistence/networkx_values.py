"""Graphs of networkx as parts: see ``kinds``."""

from __future__ import annotations

import networkx

from .kinds import Kind, require

_GRAPHS = ("Graph", "DiGraph", "MultiGraph", "MultiDiGraph")
_ADJACENCY = ("_adj", "_succ", "_pred")  # attributes: dictionaries by node of dictionaries by neighbour


def _parts(graph):
    """The dictionaries of the graph as they are, because sums over neighbours depend on their order."""
    attributes = vars(graph)
    adjacency = [attributes[name] for name in _ADJACENCY if name in attributes]
    return [type(graph).__name__, graph.graph, attributes["_node"], *adjacency]


def _build(name, about, nodes, *adjacency):
    require(name in _GRAPHS and all(isinstance(part, dict) for part in (about, nodes, *adjacency)), "no graph")
    graph = getattr(networkx, name)()
    names = [name for name in _ADJACENCY if name in vars(graph)]
    vars(graph).update({"graph": about, "_node": nodes, **dict(zip(names, adjacency, strict=True))})
    return graph


KINDS = (Kind("networkx", tuple(f"networkx.{name}" for name in _GRAPHS), _parts, _build),)
