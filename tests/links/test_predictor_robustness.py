"""Link predictors: settings changed after fit, regressors, graphs without nodes."""

import numpy as np
import pandas as pd
import pytest
from helpers.graph_robustness import HALF, KNOWN, N, W, X
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import Ridge

from hilbertlearn import (
    FunctionalRegressor,
    LinkPredictor,
    StructuredPredictor,
)


def test_settings_changed_after_fit_change_nothing_of_links():
    model = LinkPredictor(gamma=0.5, alpha=0.1, cosine=True, center=True).fit(X, KNOWN)
    before = model.pair_scores(X[:4])
    model.set_params(cosine=False, center=False, kernel="precomputed")
    assert_array_equal(model.pair_scores(X[:4]), before)


def test_a_regressor_has_no_graph():
    for model, y in (
        (LinkPredictor(regressor=Ridge(), manifold=0.1), KNOWN),
        (FunctionalRegressor(regressor=Ridge(), manifold=0.1), HALF),
        (
            StructuredPredictor(regressor=Ridge(), output_kernel="linear", manifold=0.1),
            HALF,
        ),
    ):
        with pytest.raises(ValueError, match=r"regressor.*manifold=0"):
            model.fit(X, y)


@pytest.mark.parametrize("regressor", [Ridge, "ridge", object()], ids=["class", "name", "object"])
def test_regressor_of_links_is_one(regressor):
    with pytest.raises(TypeError, match="regressor must be"):
        LinkPredictor(regressor=regressor).fit(X, KNOWN)


def test_graphs_without_nodes_and_links_without_numbers():
    networkx = pytest.importorskip("networkx")
    for empty in (np.zeros((0, 0)), networkx.Graph()):
        with pytest.raises(ValueError, match="y has no nodes"):
            LinkPredictor().fit(X, empty)
    graph = networkx.Graph()
    graph.add_edge(0, 1, weight="strong")
    with pytest.raises(ValueError, match="y has weights of edges that are no numbers"):
        LinkPredictor().fit(X, graph)


def test_groups_of_pandas_may_be_missing():
    groups = pd.Series(["a", "b", None] * (N // 3), dtype="string")
    expected = LinkPredictor(alpha=0.1).fit(X, ["a", "b", None] * (N // 3))
    assert_allclose(LinkPredictor(alpha=0.1).fit(X, groups).embedding_, expected.embedding_)


def test_cross_validation_of_an_adjacency_is_explained():
    with pytest.raises(ValueError, match="rows only"):
        LinkPredictor().fit(X[:10], W[:10])


def test_lists_of_kernels_are_refused_in_words_that_are_true():
    with pytest.raises(TypeError, match="single kernel"):
        LinkPredictor([("rbf", None), ("linear", None)]).fit(X, KNOWN)
