"""The demo: one table and a page."""

import json
import os

import pytest
from numpy.testing import assert_allclose

from hilbertlearn.app.cli import demo


def test_demo_writes_one_table_and_a_page(command, monkeypatch):
    monkeypatch.setattr(demo, "TASKS", (demo.hidden_links,))
    code, out, err = command("demo", "--quiet")
    assert code == 0, err
    assert "links of" in out and "Adamic-Adar" in out
    assert os.listdir(".") == ["hilbertlearn-report.html"]
    code, out, _ = command("demo", "--json", "--quiet")
    assert [one["name"] for one in json.loads(out)["tasks"][0]["scores"]] == ["ROC AUC", "average precision"]


def test_the_demo_knows_adamic_adar():
    networkx = pytest.importorskip("networkx")
    from hilbertlearn.graphs import Pairs

    graph = networkx.karate_club_graph()
    found = demo.adamic_adar(Pairs(graph))
    nodes = list(Pairs(graph).nodes)
    for u, v, score in networkx.adamic_adar_index(graph, [(0, 33), (5, 16), (2, 30)]):
        assert_allclose(found[nodes.index(u), nodes.index(v)], score)
