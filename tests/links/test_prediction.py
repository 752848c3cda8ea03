"""Methods of a fitted link predictor: names, pairs of nodes, the nodes of fit."""

import numpy as np
import pandas as pd
import polars
import pytest
import scipy.sparse
from helpers.link_forms import KNOWN, NAMES, PAIRS, POINTS, A, L, N, edges_of, graph_of, model
from numpy.testing import assert_allclose, assert_array_equal

from hilbertlearn import kernels
from hilbertlearn.data.functions import IrregularFunctions
from hilbertlearn.graphs import Pairs


@pytest.fixture(scope="module")
def expected_without_features():
    return model().fit(None, KNOWN).pair_scores()


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
    for attribute in ("fitted_", "alpha_", "model_", "cv_score_", "gamma_"):
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
    "columns": (kernels.Columns([("rbf", ["x", "y"]), (kernels.CategoricalKernel(), ["kind"])]), table),
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
