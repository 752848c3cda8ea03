"""Edge cases of link predictors."""

import pytest
from helpers.graph_edges import ADJACENCY, KNOWN, NEW, X
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics.pairwise import rbf_kernel

from hilbertlearn import LinkPredictor


def test_networkx_graph_of_the_first_nodes():
    networkx = pytest.importorskip("networkx")
    model = LinkPredictor(alpha=0.1).fit(X, networkx.from_numpy_array(ADJACENCY))
    assert_allclose(model.pair_scores(NEW), LinkPredictor(alpha=0.1).fit(X, ADJACENCY).pair_scores(NEW))


@pytest.mark.parametrize("alpha", ["best", None, True])
def test_alpha_of_links(alpha):
    with pytest.raises(ValueError, match="alpha must be"):
        LinkPredictor(alpha=alpha).fit(X, ADJACENCY)


@pytest.mark.parametrize("settings", [{}, {"gamma": 0.5, "center": True}, {"gamma": "auto", "alpha": "auto"}], ids=str)
def test_without_penalty_further_nodes_are_ignored(settings):
    """The median of distances, and the centre, are of known nodes as in OperatorKernelRegressor."""
    settings = {"alpha": 0.1, **settings}
    with_all = LinkPredictor(**settings).fit(X, ADJACENCY)
    assert_array_equal(with_all.pair_scores(NEW), LinkPredictor(**settings).fit(X[:KNOWN], ADJACENCY).pair_scores(NEW))
    K, CROSS = rbf_kernel(X, gamma=0.5), rbf_kernel(NEW, X, gamma=0.5)
    plain = {"alpha": 0.1, "center": True, "similarities": None}
    given = LinkPredictor("precomputed", **plain).fit(K, ADJACENCY)
    named = LinkPredictor(gamma=0.5, **plain).fit(X[:KNOWN], ADJACENCY)
    assert_allclose(given.pair_scores(CROSS), named.pair_scores(NEW))
