"""A network in any form gives the same link predictor: links are matched by the names of nodes."""

import networkx as nx
import numpy as np
import pandas as pd
import polars
import pytest
import scipy.sparse
from helpers.link_forms import (
    HIDDEN,
    KNOWN,
    NAMES,
    POINTS,
    L,
    N,
    edges_of,
    graph_of,
    model,
    named,
)
from numpy.testing import assert_allclose, assert_array_equal

from hilbertlearn.data.graphs import read_known_graph
from hilbertlearn.graphs import Pairs


def larger(W, names, rng, X=None):
    """A graph of which the one wanted is a part."""
    graph = graph_of(W, names, rng, X)
    graph.add_edges_from([("stranger", names[0]), ("stranger", "another"), ("another", names[1])])
    return graph


@pytest.fixture(scope="module")
def expected():
    """Scores of all pairs, those of new nodes among them, from the array and the dense matrix."""
    return model().fit(POINTS, KNOWN).pair_scores()


@pytest.fixture(scope="module")
def expected_without_features():
    return model().fit(None, KNOWN).pair_scores()


@pytest.fixture(scope="module")
def expected_of_named():
    return model().fit(pd.DataFrame(POINTS, index=NAMES), KNOWN).pair_scores()


def assert_same(fitted, expected, names, number=N):
    """Scores by name, of all pairs of different nodes."""
    pairs = [(i, j) for i in range(number) for j in range(i)]
    i, j = np.array(pairs).T
    assert_allclose(fitted.decision_function(named(pairs, names)), expected[i, j], rtol=1e-10, atol=1e-10)
    assert set(fitted.nodes_) == set(names[:number])
    place = {name: k for k, name in enumerate(fitted.nodes_)}
    order = [place[name] for name in names[:number]]
    scores = fitted.pair_scores()[np.ix_(order, order)]
    assert_allclose(scores[i, j], expected[i, j], rtol=1e-10, atol=1e-10)
    assert_allclose(scores[j, i], expected[i, j], rtol=1e-10, atol=1e-10)


RANGE = list(range(N))
MATRICES = {
    "dense": lambda: KNOWN,
    "list": lambda: KNOWN.tolist(),
    "boolean": lambda: KNOWN > 0,
    "sparse": lambda: scipy.sparse.coo_matrix(KNOWN),
    "known": lambda: read_known_graph(KNOWN),
}
BY_NAME = {
    "networkx": lambda names, rng: graph_of(KNOWN, names, rng),
    "view": lambda names, rng: larger(KNOWN, names, rng).subgraph([names[i] for i in rng.permutation(L)]),
    "copy": lambda names, rng: larger(KNOWN, names, rng).subgraph(names[:L]).copy(),
    "frame": lambda names, rng: shuffled_frame(KNOWN, names, rng),
}


def shuffled_frame(W, names, rng):
    order = rng.permutation(len(W))
    index = [names[i] for i in order]
    return pd.DataFrame(W[np.ix_(order, order)], index=index, columns=index)


@pytest.mark.parametrize("form", MATRICES)
def test_matrices(form, expected):
    assert_same(model().fit(POINTS, MATRICES[form]()), expected, RANGE)


@pytest.mark.parametrize("form", BY_NAME)
def test_graphs_by_name(form, expected, expected_of_named):
    """Also with features in a frame whose rows are in any order."""
    rng = np.random.default_rng(0)
    assert_same(model().fit(POINTS, BY_NAME[form](RANGE, rng)), expected, RANGE)
    order = rng.permutation(N)
    for X in (pd.DataFrame(POINTS, index=NAMES), pd.DataFrame(POINTS[order], index=[NAMES[i] for i in order])):
        by_rows = model().fit(X, BY_NAME[form](NAMES, rng))
        assert_array_equal(by_rows.nodes_, X.index)
        assert_array_equal(sorted(by_rows.nodes_[by_rows.known_]), sorted(NAMES[:L]))
        assert_same(by_rows, expected_of_named, NAMES)


@pytest.mark.parametrize("form", ["tuples", "weighted", "array", "pandas", "polars", "Pairs"])
def test_edge_lists(form):
    """All rows are nodes of an edge list."""
    expected = model().fit(POINTS[:L], KNOWN).pair_scores()
    edges = edges_of(KNOWN, RANGE)[::-1]
    y = {
        "tuples": lambda: [(v, u) for u, v in edges],
        "weighted": lambda: [(u, v, 1.0) for u, v in edges],
        "array": lambda: np.array(edges),
        "pandas": lambda: pd.DataFrame(edges, columns=["from", "to"]),
        "polars": lambda: polars.DataFrame(edges, schema=["from", "to"], orient="row"),
        "Pairs": lambda: None,
    }[form]()
    if form != "Pairs":
        return assert_same(model().fit(POINTS[:L], y), expected, RANGE, L)
    pairs = Pairs(KNOWN, POINTS[:L])
    some = np.random.default_rng(0).permutation(len(pairs))
    for fitted in (
        model().fit(pairs),
        model().fit(POINTS[:L], pairs),
        model().fit(pairs[some], pairs.linked[some]),
    ):
        assert_same(fitted, expected, RANGE, L)
    frame = pd.DataFrame(POINTS[:L], index=NAMES[:L])
    renamed = model().fit(frame, KNOWN).pair_scores()
    assert_same(model().fit(Pairs(edges_of(KNOWN, NAMES), frame)), renamed, NAMES, L)


def test_attributes_are_features():
    rng = np.random.default_rng(0)
    expected = model().fit(pd.DataFrame(POINTS[:L], index=NAMES[:L]), KNOWN).pair_scores()
    whole = graph_of(KNOWN, NAMES, rng, POINTS)
    part = larger(KNOWN, NAMES, rng, POINTS).subgraph(NAMES[:L])
    for graph in (whole, part, part.copy()):
        assert_same(model().fit(graph), expected, NAMES, L)
    numbered = graph_of(KNOWN, RANGE, rng, POINTS)
    fitted = model().fit(numbered)
    assert_array_equal(fitted.nodes_, np.arange(L))
    assert_same(fitted, model().fit(POINTS[:L], KNOWN).pair_scores(), RANGE, L)
    assert fitted.pair_scores(POINTS[L:]).shape == (N - L, N - L)


def test_without_features(expected_without_features):
    rng, expected = np.random.default_rng(0), expected_without_features
    names = sorted(NAMES)
    for graph in (KNOWN, scipy.sparse.csr_array(KNOWN), shuffled_frame(KNOWN, RANGE, rng)):
        assert_same(model().fit(None, graph), expected, RANGE, L)
    for graph in (*(form(names, rng) for form in BY_NAME.values()), nx.Graph(graph_of(KNOWN, names, rng))):
        assert_same(model().fit(None, graph), expected, names, L)
    graph = larger(KNOWN, names, rng).subgraph(names[:L])
    for fitted in (model().fit(graph), model().fit(graph.copy()), model().fit(Pairs(graph))):
        assert_same(fitted, expected, names, L)


def test_names_of_any_kind():
    names = [("a", k) if k % 2 else k for k in range(L)]  # tuples beside numbers: not to be sorted
    graph = graph_of(KNOWN, names, np.random.default_rng(0))
    fitted = model(similarities=["adamic_adar", "katz"]).fit(graph)
    assert set(fitted.nodes_) == set(names)
    u, v, score = fitted.predict_links(top_k=1)[0]
    assert fitted.decision_function([(u, v)]) == pytest.approx(score)


def test_hidden_pairs_in_any_form():
    mask = np.zeros((L, L), dtype=bool)
    mask[tuple(np.array(HIDDEN).T)] = True
    mask |= mask.T
    dense = np.where(mask, np.nan, KNOWN)
    expected = model().fit(POINTS, dense).pair_scores()
    assert abs(expected - model().fit(POINTS, KNOWN).pair_scores()).max() > 0.01
    rng = np.random.default_rng(0)
    for fitted in (
        model().fit(POINTS, KNOWN, hidden=mask),
        model().fit(POINTS, KNOWN, hidden=scipy.sparse.csr_array(mask)),
        model().fit(POINTS, KNOWN, hidden=HIDDEN),
        model().fit(POINTS, graph_of(KNOWN, RANGE, rng), hidden=[(v, u) for u, v in HIDDEN]),
        model().fit(POINTS, shuffled_frame(dense, RANGE, rng)),
        model().fit(POINTS, read_known_graph(KNOWN, hidden=HIDDEN)),
    ):
        assert_same(fitted, expected, RANGE)
    frame = pd.DataFrame(POINTS[::-1], index=NAMES[::-1])
    expected = model().fit(pd.DataFrame(POINTS, index=NAMES), dense).pair_scores()
    assert_same(model().fit(frame, graph_of(KNOWN, NAMES, rng), hidden=named(HIDDEN, NAMES)), expected, NAMES)
    of_known = model().fit(POINTS[:L], dense)
    assert_same(model().fit(Pairs(KNOWN, POINTS[:L], hidden=HIDDEN)), of_known.pair_scores(), RANGE, L)
    asked = of_known.predict_links(top_k=len(HIDDEN))
    assert {frozenset((u, v)) for u, v, _ in asked} == {frozenset(pair) for pair in HIDDEN}
