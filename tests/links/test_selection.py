"""Selection of settings on subsamples of the nodes: it does not depend on their order."""

import numpy as np
import pytest
from helpers.link_order import KNOWN, ORDER, L, X, assert_same

from hilbertlearn import LinkPredictor


@pytest.fixture
def low_limits(monkeypatch):
    """Numbers of nodes and pairs beyond which some are drawn."""
    monkeypatch.setattr("hilbertlearn.links.selection._ALL", 20)
    monkeypatch.setattr("hilbertlearn.links.selection._MOST_IN_FOLDS", 20)
    monkeypatch.setattr("hilbertlearn.links.folds._MANY_NODES", 20)
    monkeypatch.setattr("hilbertlearn.links.folds._MOST_UNLINKED", 50)
    monkeypatch.setattr("hilbertlearn.links.folds._ENOUGH_LINKS", {"known": 10, "new": 5})
    monkeypatch.setattr("hilbertlearn.links.rate_search._STAGES", ((15, None), (25, ((0, -1), (0, 1)))))
    monkeypatch.setattr("hilbertlearn.links.rate_search._LINKS", 5)


@pytest.mark.parametrize("settings", [{"gamma": "auto"}, {"loss": "huber"}, {"manifold": 0.1}], ids=str)
def test_permuted_nodes_of_which_some_are_drawn(settings, low_limits):
    model = LinkPredictor(**settings).fit(X, KNOWN)
    known = ORDER[:L]
    assert_same(model, LinkPredictor(**settings).fit(X[ORDER], KNOWN[np.ix_(known, known)]), ORDER)


def test_permuted_graphs_of_which_some_pairs_are_drawn(low_limits):
    order = np.random.default_rng(1).permutation(L)
    again = LinkPredictor().fit(None, KNOWN[np.ix_(order, order)])
    assert_same(LinkPredictor().fit(None, KNOWN), again, order)
