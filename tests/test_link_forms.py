"""A network in any form gives the same link predictor: what counts is who is linked with whom, by name."""

import networkx as nx
import numpy as np
import pandas as pd
import polars
import pytest
import scipy.sparse
from numpy.testing import assert_allclose, assert_array_equal

from hilbertlearn import LinkPredictor, kernels
from hilbertlearn.data.functions import IrregularFunctions
from hilbertlearn.data.graphs import read_known_graph
from hilbertlearn.graphs import Pairs

L, N = 34, 40  # known nodes, and all
RNG = np.random.default_rng(3)
POINTS = RNG.uniform(size=(N, 2))
NEAR = np.linalg.norm(POINTS[:, None] - POINTS, axis=2) < 0.25
A = (NEAR & ~np.eye(N, dtype=bool)).astype(float)
A[5], A[:, 5] = 0.0, 0.0  # a node alone
KNOWN = A[:L, :L]
NAMES = [f"v{k:02d}" for k in RNG.permutation(100)[:N]]  # not in order
PAIRS = [(i, j) for i in range(L) for j in range(i)]
HIDDEN = [pair for pair in PAIRS if RNG.random() < 0.15]


def named(pairs, names):
    return [(names[i], names[j]) for i, j in pairs]


def graph_of(W, names, rng, X=None):
    """A networkx graph whose nodes and edges come in any order."""
    graph = nx.Graph()
    graph.add_nodes_from(names[i] for i in rng.permutation(len(W)))
    graph.add_edges_from((names[j], names[i]) for i, j in rng.permutation(np.argwhere(np.triu(W))))
    if X is not None:
        nx.set_node_attributes(graph, {names[i]: {"x": X[i, 0], "y": X[i, 1]} for i in range(len(W))})
    return graph


def larger(W, names, rng, X=None):
    """A graph of which the one wanted is a part."""
    graph = graph_of(W, names, rng, X)
    graph.add_edges_from([("stranger", names[0]), ("stranger", "another"), ("another", names[1])])
    return graph


def model(**settings):
    return LinkPredictor(**settings)


@pytest.fixture(scope="module")
def expected():
    """Scores of all pairs, those of new nodes among them, from the array and the dense matrix."""
    return model().fit(POINTS, KNOWN).pair_scores()


@pytest.fixture(scope="module")
def expected_of_named():
    return model().fit(pd.DataFrame(POINTS, index=NAMES), KNOWN).pair_scores()


@pytest.fixture(scope="module")
def expected_without_features():
    return model().fit(None, KNOWN).pair_scores()


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


def edges_of(W, names):
    return named(np.argwhere(np.triu(W)).tolist(), names)


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


# ---------------------------------------------------------------- networkx in place of features


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


def test_what_is_asked_without_features(expected_without_features):
    rng, expected, names = np.random.default_rng(0), expected_without_features, sorted(NAMES)
    graph = graph_of(KNOWN, names, rng)
    fitted = model().fit(graph)
    threshold = fitted.thresholds_
    assert set(threshold) == {"known"} == set(fitted.weights_)
    pairs = Pairs(graph)
    scores = fitted.decision_function(pairs)
    assert_array_equal(fitted.predict(pairs), scores >= threshold["known"])
    place = [names.index(name) for name in fitted.nodes_]
    own = expected[np.ix_(place, place)]
    linked = KNOWN[np.ix_(place, place)] > 0
    wanted = (own >= threshold["known"]) & ~linked & ~np.eye(L, dtype=bool)
    assert_array_equal(fitted.predict_links().toarray(), wanted)
    best = fitted.predict_links(top_k=7)
    open_pairs = sorted((expected[i, j] for i, j in PAIRS if not KNOWN[i, j]), reverse=True)
    assert_allclose([score for _, _, score in best], open_pairs[:7], rtol=1e-9)
    for u, v, score in best:
        assert isinstance(u, str) and not graph.has_edge(u, v) and u != v
        assert score == pytest.approx(expected[names.index(u), names.index(v)], rel=1e-9)
    for attribute in ("fitted_", "alpha_", "model_", "left_out_score_", "gamma_"):
        with pytest.raises(AttributeError, match="without features"):
            getattr(fitted, attribute)
    for method in (fitted.decision_function, fitted.predict, fitted.pair_scores, fitted.predict_links):
        with pytest.raises(ValueError, match="without features"):
            method(POINTS)
    assert "learnt" not in fitted.summary()


def test_the_score_without_features_is_by_name():
    rng, names = np.random.default_rng(0), sorted(NAMES)
    fitted = model().fit(graph_of(KNOWN, names, rng))
    pairs = Pairs(graph_of(KNOWN, names, rng))
    first = fitted.score(None, graph_of(KNOWN, names, rng))
    assert first == pytest.approx(fitted.score(pairs, pairs.linked))
    assert first == pytest.approx(fitted.score(None, edges_of(KNOWN, names)))
    assert first > 0.9


# ---------------------------------------------------------------- names


def test_names_come_back():
    frame = pd.DataFrame(POINTS, index=NAMES)
    fitted = model().fit(frame, graph_of(KNOWN, NAMES, np.random.default_rng(0)))
    assert fitted.nodes_.tolist() == NAMES
    assert_array_equal(fitted.known_, np.arange(L))
    scores = fitted.pair_scores()
    for u, v, score in fitted.predict_links(top_k=12):  # pairs of the nodes without links, as none is hidden
        i, j = NAMES.index(u), NAMES.index(v)
        assert max(i, j) >= L and score == pytest.approx(scores[i, j])
    new = pd.DataFrame(POINTS[:4] + 0.01, index=["p", "q", "r", "s"])
    found = fitted.predict_links(new, "known", top_k=5)
    values = fitted.decision_function(new)
    assert [score for *_, score in found] == pytest.approx(np.sort(values.ravel())[::-1][:5])
    assert all(values["pqrs".index(u), NAMES.index(v)] == pytest.approx(score) for u, v, score in found)
    assert {u for u, _, _ in fitted.predict_links(new, top_k=3)} <= set("pqrs")
    assert fitted.predict(new).tolist() == [NAMES[k] for k in values.argmax(axis=1)]


def test_names_of_any_kind():
    names = [("a", k) if k % 2 else k for k in range(L)]  # tuples beside numbers: not to be sorted
    graph = graph_of(KNOWN, names, np.random.default_rng(0))
    fitted = model(similarities=["adamic_adar", "katz"]).fit(graph)
    assert set(fitted.nodes_) == set(names)
    u, v, score = fitted.predict_links(top_k=1)[0]
    assert fitted.decision_function([(u, v)]) == pytest.approx(score)


# ---------------------------------------------------------------- hidden pairs


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


# ---------------------------------------------------------------- features of any kind


def letters(X, Z):
    return np.array([[len(set(x) & set(z)) / 3 for z in Z] for x in X])


def table():
    kind = np.where(POINTS[:, 0] > 0.5, "east", "west").astype(object)
    kind[3] = None
    return pd.DataFrame({"kind": kind, "x": POINTS[:, 0], "y": POINTS[:, 1]}, index=NAMES)


def curves():
    grid = [np.linspace(0, 1, 5 + i % 3) for i in range(N)]
    return IrregularFunctions(grid, [np.sin(4 * t * x) for t, (x, _) in zip(grid, POINTS, strict=True)], (0, 1))


FEATURES = {
    "array": ("rbf", lambda: POINTS.copy()),
    "frame": ("rbf", lambda: pd.DataFrame(POINTS, index=NAMES)),
    "sparse": ("rbf", lambda: scipy.sparse.csr_array(POINTS)),
    "polars": ("rbf", lambda: polars.DataFrame(POINTS, schema=["x", "y"])),
    "precomputed": ("precomputed", lambda: np.exp(-abs(POINTS[:, :1] - POINTS[:, 0]))),
    "columns": (kernels.Columns([("rbf", ["x", "y"]), (kernels.Categorical(), ["kind"])]), table),
    "curves": (kernels.L2(), curves),
    "texts": (letters, lambda: ["abcde"[int(5 * x) :] + "fgh"[: int(3 * y)] for x, y in POINTS]),
}


@pytest.mark.parametrize("form", FEATURES)
def test_the_features_of_fit_are_its_nodes(form):
    """In whatever they come, also if known nodes are not the first: those given again are not new nodes."""
    kernel, make = FEATURES[form]
    matrix = np.where(np.isin(np.arange(N), [2, 9])[:, None] | np.isin(np.arange(N), [2, 9]), np.nan, A)
    np.fill_diagonal(matrix, 0.0)  # of two nodes nothing is known
    fitted = model(kernel=kernel, similarities=["adamic_adar", "attributes", "learnt"]).fit(make(), matrix)
    assert len(fitted.known_) == N - 2
    expected = fitted.pair_scores()
    assert_array_equal(fitted.pair_scores(make()), expected)
    assert fitted.score(make(), A) == fitted.score(None, A)
    i, j = np.triu_indices(N, 1)
    names = list(fitted.nodes_)
    scores = fitted.decision_function([(names[a], names[b]) for a, b in zip(i, j, strict=True)])
    assert_allclose(scores, expected[i, j], rtol=1e-9, atol=1e-9)
    assert_array_equal(fitted.predict_links(make()).toarray(), fitted.predict_links().toarray())
