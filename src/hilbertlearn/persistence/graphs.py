"""Graphs of networkx as parts: see ``kinds``."""

from __future__ import annotations

from .kinds import Kind, require

_GRAPHS = ("Graph", "DiGraph", "MultiGraph", "MultiDiGraph")
_BY_EDGE = ("_adj", "_succ", "_pred")  # dictionaries by node of dictionaries by neighbour


def _parts(graph):
    """The graph's own dictionaries: the order of neighbours is part of it, and of what is summed over them."""
    kept = vars(graph)
    return [type(graph).__name__, graph.graph, kept["_node"], *(kept[name] for name in _BY_EDGE if name in kept)]


def _build(name, about, nodes, *edges):
    import networkx

    require(name in _GRAPHS and all(isinstance(part, dict) for part in (about, nodes, *edges)), "no graph")
    graph = getattr(networkx, name)()
    names = [name for name in _BY_EDGE if name in vars(graph)]
    vars(graph).update({"graph": about, "_node": nodes, **dict(zip(names, edges, strict=True))})
    return graph


GRAPHS = (Kind("networkx", tuple(f"networkx.{name}" for name in _GRAPHS), _parts, _build),)
