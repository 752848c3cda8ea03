"""Graphs of networkx in model files."""

import pytest
from helpers.model_files import roundtrip


def test_graphs_of_networkx(tmp_path):
    networkx = pytest.importorskip("networkx")
    for kind in (networkx.Graph, networkx.DiGraph, networkx.MultiGraph, networkx.MultiDiGraph):
        graph = kind(name="ring")
        graph.add_node("lonely", weight=2)
        graph.add_edge("b", ("a", 1), weight=0.5)
        graph.add_edge(3, "b")
        again = roundtrip(graph, tmp_path)
        assert type(again) is kind and again.graph == graph.graph
        assert list(again.nodes(data=True)) == list(graph.nodes(data=True))
        assert list(again.edges(data=True)) == list(graph.edges(data=True))
        assert [list(again.adj[node]) for node in again] == [list(graph.adj[node]) for node in graph]
        again.add_edge(3, "c", weight=1.0)
        if not graph.is_directed() and not graph.is_multigraph():
            again["b"][3]["weight"] = 4.0
            assert again[3]["b"]["weight"] == 4.0  # one edge, whichever way it is asked for
