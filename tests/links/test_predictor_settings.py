"""Settings of the link predictor against refits and formulas, and settings that are refused."""

import contextlib
import pickle
import warnings

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from helpers.link_settings import ALPHA, EVERY, GAMMA, K_Y, KNOWN, NEW, A, K, N, X, alone
from helpers.refusals import assert_refused
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import Ridge
from sklearn.metrics import average_precision_score, roc_auc_score
from sklearn.metrics.pairwise import cosine_similarity, rbf_kernel

from hilbertlearn import LinkPredictor
from hilbertlearn.graphs import Pairs

UPPER = np.triu_indices(KNOWN, 1)
METRICS = {"roc_auc": roc_auc_score, "average_precision": average_precision_score}


def one_left_out(alpha, center=False):
    """Predictions (l, d) for each node of the ridge that all others are fitted by."""
    V = np.linalg.cholesky(K_Y)
    gram = K
    if center:
        C = np.eye(KNOWN) - 1 / KNOWN
        gram, V = C @ K @ C, C @ V
    H = np.zeros(V.shape)
    for i in range(KNOWN):
        rest = np.delete(np.arange(KNOWN), i)
        targets = V[rest] - V[rest].mean(axis=0) if center else V[rest]
        H[i] = gram[i, rest] @ np.linalg.solve(gram[np.ix_(rest, rest)] + alpha * KNOWN * np.eye(KNOWN - 1), targets)
    return H


@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("cosine", [False, True])
@pytest.mark.parametrize("scoring", METRICS)
def test_nodes_left_out_one_by_one(scoring, cosine, center):
    model = alone(criterion="nodes", scoring=scoring, cosine=cosine, center=center).fit(X, A)
    H = one_left_out(ALPHA, center)
    scores = cosine_similarity(H) if cosine else H @ H.T
    assert model.cv_score_ == pytest.approx(METRICS[scoring](A[UPPER], scores[UPPER]), abs=1e-12)


def test_alpha_by_nodes_left_out():
    model = alone(criterion="nodes", alpha="auto").fit(X, A)
    grid = np.geomspace(1e-11, 10, 49)[18::2]
    found = []
    for alpha in grid:
        H = one_left_out(alpha)
        found.append(roc_auc_score(A[UPPER], (H @ H.T)[UPPER]))
    chosen = np.argmin(abs(np.log(grid / model.alpha_)))
    assert model.alpha_ == pytest.approx(grid[chosen]) and np.ptp(found) > 0.01
    assert found[chosen] >= max(found) - 1e-4 * (1 - max(found)) - 1e-9
    assert model.cv_score_ == pytest.approx(found[chosen], abs=1e-9)


def test_criteria_differ():
    by_pairs, by_nodes = (alone(criterion=name).fit(X, A).cv_score_ for name in ("pairs", "nodes"))
    assert by_nodes > by_pairs + 1e-4  # what is predicted for one has seen the other


SIDE = X[:KNOWN, 0] < 0.5
ONE_SIDED = A * np.outer(SIDE, SIDE)


@pytest.mark.parametrize("scoring", METRICS)
@pytest.mark.parametrize("graph, beta, better", [(A, 1.0, True), (A, 5.0, True), (ONE_SIDED, 0.2, False)])
def test_cosines_or_products(scoring, graph, beta, better):
    """Where links are among some nodes only, lengths say who these are."""
    found = {c: alone(scoring=scoring, beta=beta, cosine=c).fit(X, graph) for c in (False, True, "auto")}
    scores = {cosine: model.cv_score_ for cosine, model in found.items()}
    assert scores["auto"] == scores[better] > scores[not better]
    assert_array_equal(found["auto"].pair_scores(NEW), found[better].pair_scores(NEW))


def test_cosines_or_products_of_a_regressor():
    for beta in (0.2, 5.0):
        found = {c: alone(regressor=Ridge(), beta=beta, cosine=c).fit(X, A) for c in (False, True, "auto")}
        scores = {cosine: model.cv_score_ for cosine, model in found.items()}
        assert scores["auto"] == max(scores[False], scores[True]) > min(scores[False], scores[True])
        assert_array_equal(found["auto"].pair_scores(NEW), found[scores[True] > scores[False]].pair_scores(NEW))


@pytest.mark.parametrize("gamma, alpha, best", [(5.0, 0.05, 0.0), (30.0, 1e-4, 1e-4), (100.0, 1e-4, 1e-2)])
def test_weight_of_nodes_without_links(gamma, alpha, best):
    given = {"gamma": gamma, "similarities": None, "cosine": False, "alpha": alpha}
    auto = LinkPredictor(manifold="auto", **given).fit(X, A)
    found = {w: LinkPredictor(manifold=w, **given).fit(X, A) for w in (0.0, 1e-4, 1e-3, 1e-2)}
    scores = {w: model.cv_score_ for w, model in found.items()}
    assert best == max(scores, key=scores.get)
    assert auto.cv_score_ == pytest.approx(scores[best], abs=1e-12)
    assert_allclose(auto.pair_scores(NEW), found[best].pair_scores(NEW), atol=1e-10)
    same = LinkPredictor(manifold="auto", **given).fit(X[:KNOWN], A)  # no such nodes
    assert_allclose(same.pair_scores(NEW), found[0.0].pair_scores(NEW), atol=1e-10)


def test_gamma_and_cosine_together_have_the_best_score():
    auto = alone(gamma="auto", cosine="auto").fit(X[:KNOWN], A)
    median = alone(gamma="median").fit(X[:KNOWN], A).gamma_
    scores = {}
    for factor in 4.0 ** np.arange(-3, 4):
        for cosine in (False, True):
            model = alone(gamma=float(median * factor), cosine=cosine).fit(X[:KNOWN], A)
            scores[model.gamma_, cosine] = model.cv_score_
    assert auto.cv_score_ == pytest.approx(max(scores.values()), abs=1e-12)
    assert max(scores.values()) == pytest.approx(max(v for (g, _), v in scores.items() if np.isclose(g, auto.gamma_)))


@pytest.mark.parametrize("rank", [3, 8, 99])
def test_rank_of_the_output_kernel(rank):
    model = alone(rank=rank).fit(X, A)
    values, vectors = np.linalg.eigh(K_Y)
    kept = min(rank, KNOWN)
    assert model.embedding_.shape == (KNOWN, kept)
    components = nx.number_connected_components(nx.from_numpy_array(A))
    if rank >= KNOWN:
        assert_allclose(model.embedding_ @ model.embedding_.T, K_Y, atol=1e-9)
    elif components <= rank // 2:  # else isolated nodes are left out first
        best = (vectors[:, -kept:] * values[-kept:]) @ vectors[:, -kept:].T
        assert_allclose(model.embedding_ @ model.embedding_.T, best, atol=1e-9)
    assert np.isfinite(LinkPredictor(rank=rank).fit(X, A).pair_scores()).all()


@pytest.mark.parametrize("n", [3, 4, 5, 6, 8])
@pytest.mark.parametrize("form", ["complete", "path"])
def test_few_nodes(n, form):
    W = 1 - np.eye(n) if form == "complete" else nx.to_numpy_array(nx.path_graph(n))
    with pytest.warns(UserWarning, match="fewer than 10") if W.sum() / 2 < 10 else contextlib.nullcontext():
        model = LinkPredictor().fit(X[:n], W)
        without = LinkPredictor(similarities=["adamic_adar", "katz"]).fit(None, W)
    for scores in (model.pair_scores(), model.pair_scores(NEW), model.decision_function(NEW)):
        assert np.isfinite(scores).all()
    assert model.predict_links(NEW).shape == (4, 4) and set(model.predict(NEW)) <= set(range(n))
    assert np.isfinite(without.pair_scores()).all()


@pytest.mark.filterwarnings("ignore:y has")
@pytest.mark.parametrize("n", [1, 2, 3])
def test_one_node_and_two(n):
    model = LinkPredictor(similarities=None).fit(X[:n], 1 - np.eye(n))
    assert np.isnan(model.cv_score_)
    assert np.isfinite(model.pair_scores(NEW)).all() and model.predict_links(NEW).shape == (4, 4)
    assert set(model.thresholds_) <= {"known", "mixed", "new"}


def test_scores_that_say_nothing():
    same = LinkPredictor(similarities="attributes").fit(np.ones((KNOWN, 2)), A)
    assert np.ptp(same.pair_scores()) == 0 and np.isfinite(same.pair_scores(NEW)).all()
    matching = np.kron(np.eye(12), [[0, 1], [1, 0]])
    model = LinkPredictor(similarities="adamic_adar").fit(None, matching)
    assert np.ptp(model.pair_scores()) == 0
    assert model.pair_scores()[0, 1] == pytest.approx(np.log(12 / (24 * 23 / 2 - 12)), abs=0.1)


@pytest.mark.parametrize("distance", [5.0, 8.0, 9.0, 10.0, 11.0, 13.0])
def test_cosines_of_nodes_far_from_all_others(distance):
    """Predictions are as small as 1e-300, and of their squares nothing is left; at last they are 0."""
    far = NEW + np.array([distance, 0.0])
    model = alone(cosine=True).fit(X, A)
    weights = np.linalg.solve(K + ALPHA * KNOWN * np.eye(KNOWN), model.embedding_)
    H = rbf_kernel(far, X[:KNOWN], gamma=GAMMA).astype(np.longdouble) @ weights.astype(np.longdouble)
    lengths = np.sqrt((H**2).sum(axis=1))
    assert (lengths > 0).all() or distance == 13.0
    U = H / np.maximum(lengths, np.finfo(np.longdouble).tiny)[:, None]
    precise = 1e-9 if distance < 11 else 1e-2  # subnormal numbers have few digits
    assert_allclose(model.pair_scores(far), (U @ U.T).astype(float), atol=precise)
    combined = LinkPredictor(gamma=GAMMA).fit(X, A)
    assert combined.decision_function(far).max() < combined.decision_function(X[KNOWN:]).max()


def test_warnings_name_what_is_learnt():
    few = np.zeros((KNOWN, KNOWN))
    few[[0, 2, 4, 1, 3, 5], [1, 3, 5, 0, 2, 4]] = 1.0
    with pytest.warns(UserWarning, match="3 known links, fewer than 10.*alpha and similarities"):
        LinkPredictor().fit(X, few)
    with pytest.warns(UserWarning, match="learn similarities by"):
        LinkPredictor().fit(None, few)
    with pytest.warns(UserWarning, match="learn gamma and manifold by"):
        alone(gamma="auto", manifold="auto").fit(X, few)
    with pytest.warns(UserWarning, match="fewer than 10"):
        LinkPredictor().fit(X[:KNOWN], A, hidden=A * (np.arange(KNOWN)[:, None] + np.arange(KNOWN) > 9) > 0)


def test_no_warning_without_need():
    few = np.zeros((KNOWN, KNOWN))
    few[0, 1] = few[1, 0] = 1.0
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        alone().fit(X, few)  # nothing is chosen
        LinkPredictor().fit(X, A)
    assert not said


@pytest.mark.parametrize("name, value", [("beta", 0.0), ("beta", 1e12), ("gamma", 1e-12), ("gamma", 1e12)])
@pytest.mark.parametrize("alpha", [1e-15, 1e15, "auto"])
def test_settings_at_their_limits(name, value, alpha):
    model = LinkPredictor(alpha=alpha, **{name: value}).fit(X, A)
    for scores in (model.pair_scores(), model.pair_scores(NEW), model.decision_function(NEW)):
        assert np.isfinite(scores).all()


def test_units_of_features_do_not_count():
    model, scaled = LinkPredictor().fit(X, A), LinkPredictor().fit(1000 * X, A)
    assert_allclose(scaled.pair_scores(), model.pair_scores(), atol=1e-8)
    assert_allclose(scaled.decision_function(1000 * NEW), model.decision_function(NEW), atol=1e-8)


def test_a_node_that_is_there_twice_has_the_same_scores():
    twice = np.r_[np.arange(KNOWN), 0]
    scores = LinkPredictor().fit(X[twice], A[np.ix_(twice, twice)]).pair_scores()
    assert_allclose(scores[0, 1:KNOWN], scores[KNOWN, 1:KNOWN], atol=1e-8)


ONE = np.zeros((KNOWN, KNOWN))
ONE[0, 1] = ONE[1, 0] = 1.0
FRAME = pd.DataFrame(X, index=[f"v{k}" for k in range(N)])
REFUSED = {
    "no links": (lambda: LinkPredictor().fit(X, 0 * A), ["0 known links", "at least two", "similarities=None"]),
    "one link": (lambda: LinkPredictor().fit(None, ONE), ["1 known links", "at least two"]),
    "links hidden": (lambda: LinkPredictor().fit(X, A, hidden=A > 0), ["0 known links"]),
    "directed matrix": (lambda: LinkPredictor().fit(X, np.triu(A)), ["not symmetric", "np.maximum(A, A.T)"]),
    "directed graph": (lambda: LinkPredictor().fit(nx.DiGraph([(0, 1)])), ["directed", "to_undirected"]),
    "directed y": (lambda: LinkPredictor().fit(X, nx.DiGraph([(0, 1)])), ["y is a directed", "to_undirected"]),
    "names": (lambda: LinkPredictor().fit(X, [("a", "b")]), ["'a'", "X does not have", "pd.DataFrame"]),
    "numbers": (lambda: LinkPredictor().fit(FRAME, nx.path_graph(5)), ["X does not have", "0, 1, 2", "'v0'"]),
    "all hidden": (lambda: LinkPredictor().fit(X, A, hidden=np.ones(A.shape, dtype=bool)), ["210 pairs", "hidden"]),
    "hidden names": (lambda: LinkPredictor().fit(X, A, hidden=[(0, 99)]), ["hidden", "99"]),
    "hidden beside pairs": (lambda: LinkPredictor().fit(Pairs(A), hidden=[(0, 1)]), ["hidden", "graphs.Pairs"]),
    "no pairs": (lambda: alone().fit(Pairs(A, X[:KNOWN])[[]]), ["X has no pairs"]),
    "labels": (lambda: LinkPredictor().fit(Pairs(A), [0, 1]), ["210 pairs", "(2,)"]),
    "name": (lambda: LinkPredictor(similarities=["jaccard"]).fit(X, A), ["'jaccard'", "'adamic_adar'", "'learnt'"]),
    "no names": (lambda: LinkPredictor(similarities=[]).fit(X, A), ["similarities has no names"]),
    "type": (lambda: LinkPredictor(similarities=3).fit(X, A), ["similarities", "3", "None"]),
    "nothing to score by": (lambda: LinkPredictor(similarities="learnt").fit(None, A), ["similarities", "'auto'"]),
    "h without features": (lambda: LinkPredictor(similarities=None).fit(None, A), ["similarities", "without features"]),
    "nothing at all": (lambda: LinkPredictor().fit(None), ["requires y", "networkx"]),
    "score_with": (lambda: LinkPredictor(score_with="both").fit(X, A), ["score_with", "'both'", "'known'"]),
    "cosine": (lambda: LinkPredictor(cosine="yes").fit(X, A), ["cosine", "'yes'"]),
    "criterion": (lambda: LinkPredictor(criterion="edges").fit(X, A), ["criterion", "'edges'", "'pairs'"]),
    "manifold": (lambda: LinkPredictor(manifold=-1).fit(X, A), ["manifold", "-1"]),
    "rank": (lambda: LinkPredictor(rank=0).fit(X, A), ["rank", "0"]),
    "too large": (lambda: LinkPredictor(output_kernel=np.eye(N)).fit(X, A), ["output_kernel", "(28, 28)", "21 nodes"]),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case):
    action, words = REFUSED[case]
    assert_refused(action, words, (ValueError, TypeError))


def test_refused_after_fit():
    model = LinkPredictor().fit(X, A)
    assert_refused(lambda: model.decision_function([(0, 99)]), ["fit did not see", "99", "nodes_"])
    assert_refused(lambda: model.predict([("a", 0)]), ["fit did not see", "'a'"])
    assert_refused(lambda: model.decision_function(Pairs([("a", "b")])), ["fit did not see", "'a'"])
    assert_refused(lambda: model.predict_links(top_k=0), ["top_k", "0"])
    assert_refused(lambda: model.predict_links(NEW, "everyone"), ["Z", "'everyone'", "'known'"])
    assert_refused(lambda: model.pair_scores(None, NEW), ["X", "beside Z"])
    assert_refused(lambda: model.score(X, np.zeros((N, N))), ["no links"])
    for method in ("pair_scores", "predict_links"):
        with pytest.raises(NotFittedError):
            getattr(LinkPredictor(), method)()
    with pytest.raises(NotFittedError):
        LinkPredictor().decision_function([(0, 1)])


MODELS = {
    "all": lambda: LinkPredictor().fit(X, A),
    "alone": lambda: LinkPredictor(similarities=None, score_with="known").fit(X, A),
    "names": lambda: LinkPredictor(gamma="auto").fit(FRAME, A, hidden=[("v0", "v1")]),
    "no features": lambda: LinkPredictor().fit(nx.les_miserables_graph()),
    "hinge": lambda: LinkPredictor(loss="hinge", alpha=0.1, manifold=0.1, center=True).fit(X, A),
    "regressor": lambda: LinkPredictor(regressor=Ridge()).fit(X, A),
    "precomputed": lambda: LinkPredictor("precomputed").fit(EVERY, A),
}


def answers(model):
    pairs = [tuple(pair) for pair in model.nodes_[np.array([(0, 1), (3, 2), (5, 9)])].tolist()]
    out = [model.pair_scores(), model.decision_function(pairs), model.predict(pairs), model.predict_links().toarray()]
    out += [np.array([score for *_, score in model.predict_links(top_k=9)])]
    if model.link_state_.embedding is not None:
        new = rbf_kernel(NEW, X, gamma=GAMMA) if model.link_state_.kernel.precomputed else NEW
        out += [model.pair_scores(new), model.decision_function(new), np.array(model.cv_score_)]
    return [*out, np.array(list(model.thresholds_.values())), np.array(model.summary())]


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
@pytest.mark.parametrize("name", MODELS)
def test_nothing_changes_a_fitted_model(name):
    model = MODELS[name]()
    before = answers(model)
    copy = pickle.loads(pickle.dumps(model))
    changed = {"gamma": 1e3, "alpha": 1e3, "similarities": "katz", "cosine": True, "score_with": "predicted"}
    model.set_params(**changed, criterion="nodes", scoring="average_precision", beta=9.0, rank=2, center=True)
    for bad in (lambda: model.fit(X, -A), lambda: model.fit(X[:, :1], 0 * A), lambda: model.fit(None, np.ones((3, 2)))):
        assert_refused(bad, [])
    for one in (model, copy):
        for found, expected in zip(answers(one), before, strict=True):
            assert_array_equal(found, expected)
