"""Hidden pairs of nodes have no influence: everything is learnt from the known pairs."""

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import scipy.linalg
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import average_precision_score, roc_auc_score
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV, KFold, cross_val_predict, cross_val_score

from hilbertlearn import LinkPredictor
from hilbertlearn.graphs import Pairs
from hilbertlearn.model_selection import EdgeSplit

N, GAMMA, ALPHA = 22, 4.0, 0.01
RNG = np.random.default_rng(1)
X, NEW = RNG.uniform(size=(N, 2)), RNG.uniform(size=(5, 2))
K, CROSS = rbf_kernel(X, gamma=GAMMA), rbf_kernel(NEW, X, gamma=GAMMA)
TRUTH = np.linalg.norm(X[:, None] - X, axis=2) < 0.25
A = (TRUTH & ~np.eye(N, dtype=bool)).astype(float)
MASK = np.triu(RNG.random((N, N)) < 0.25, 1)
MASK |= MASK.T
SEEN = np.where(MASK, 0.0, A)  # the links that are known
KNOWN = np.triu(~MASK, 1)  # the pairs that are
METRICS = {"roc_auc": roc_auc_score, "average_precision": average_precision_score}


def alone(**settings):
    """The scores of h, nothing else."""
    plain = {"gamma": GAMMA, "alpha": ALPHA, "similarities": None, "cosine": False}
    return LinkPredictor(**{**plain, **settings})


def diffusion_kernel(W):
    return scipy.linalg.expm(W - np.diag(W.sum(axis=1)))


def left_out(alpha, cosine=False, gram=K, W=SEEN):
    """Scores (n, n) of i < j from the ridge of all others; embeddings are those of the whole known graph."""
    n, outputs, scores = len(W), diffusion_kernel(W), np.zeros(W.shape)
    for i in range(n):
        for j in range(i + 1, n):
            rest = np.delete(np.arange(n), [i, j])
            inverse = np.linalg.inv(gram[np.ix_(rest, rest)] + alpha * n * np.eye(n - 2))
            B = gram[np.ix_([i, j], rest)] @ inverse
            products = B @ outputs[np.ix_(rest, rest)] @ B.T
            scores[i, j] = products[0, 1] / (np.sqrt(products[0, 0] * products[1, 1]) if cosine else 1.0)
    return scores


# ---------------------------------------------------------------- the dense problem


def test_embeddings_and_scores_are_those_of_the_links_that_are_known():
    model = alone().fit(X, A, hidden=MASK)
    outputs = diffusion_kernel(SEEN)
    assert_allclose(model.embedding_ @ model.embedding_.T, outputs, atol=1e-9)
    assert abs(outputs - diffusion_kernel(A)).max() > 0.1
    B = np.linalg.inv(K + ALPHA * N * np.eye(N))
    assert_allclose(model.pair_scores(), K @ B @ outputs @ B @ K, atol=1e-9)
    assert_allclose(model.pair_scores(NEW), CROSS @ B @ outputs @ B @ CROSS.T, atol=1e-9)


@pytest.mark.parametrize("scoring", METRICS)
@pytest.mark.parametrize("cosine", [False, True])
def test_the_cv_score_counts_known_pairs(scoring, cosine):
    model = alone(scoring=scoring, cosine=cosine).fit(X, A, hidden=MASK)
    scores = left_out(ALPHA, cosine)
    assert model.cv_score_ == pytest.approx(METRICS[scoring](A[KNOWN], scores[KNOWN]), abs=1e-12)
    upper = np.triu_indices(N, 1)
    assert abs(model.cv_score_ - METRICS[scoring](A[upper], scores[upper])) > 1e-5  # of all pairs it is another


@pytest.mark.parametrize("scoring", METRICS)
def test_alpha_is_chosen_by_known_pairs(scoring):
    model = alone(alpha="auto", scoring=scoring).fit(X, A, hidden=MASK)
    grid = np.geomspace(1e-11, 10, 49)[18::2]  # below, nothing is better
    found = np.array([METRICS[scoring](A[KNOWN], left_out(alpha)[KNOWN]) for alpha in grid])
    chosen = np.argmin(abs(np.log(grid / model.alpha_)))
    assert model.alpha_ == pytest.approx(grid[chosen]) and np.ptp(found) > 0.02
    assert found[chosen] >= found.max() - 1e-4 * (1 - found.max()) - 1e-9
    assert model.cv_score_ == pytest.approx(found[chosen], abs=1e-9)


def test_what_is_hidden_has_no_say_in_the_choice():
    """With other links in the hidden pairs the refits would choose another alpha."""
    chosen = [alone(alpha="auto").fit(X, W, hidden=MASK).alpha_ for W in (A, np.where(MASK, 1.0, A), SEEN)]
    assert len(set(chosen)) == 1


SETTINGS = [
    {},
    {"gamma": "auto", "alpha": "auto"},
    {"similarities": None},
    {"loss": "hinge", "alpha": 0.1},
    {"center": True, "score_with": "known"},
    {"criterion": "nodes", "scoring": "average_precision"},
]


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_flipping_what_is_hidden_changes_nothing(settings):
    flipped = np.where(MASK, 1 - A, A)
    np.fill_diagonal(flipped, 0.0)
    first, second = (LinkPredictor(**settings).fit(X, W, hidden=MASK) for W in (A, flipped))
    assert_array_equal(first.pair_scores(), second.pair_scores())
    assert_array_equal(first.decision_function(NEW), second.decision_function(NEW))
    assert first.thresholds_ == second.thresholds_ and first.weights_ == second.weights_
    assert first.cv_score_ == second.cv_score_ and first.alpha_ == second.alpha_
    assert first.predict_links(top_k=20) == second.predict_links(top_k=20)
    assert_array_equal(first.predict_links().toarray(), second.predict_links().toarray())


def test_flipping_what_is_hidden_changes_nothing_without_features():
    first, second = (LinkPredictor().fit(None, W, hidden=MASK) for W in (A, np.where(MASK, 1 - A, A) * (1 - np.eye(N))))
    assert_array_equal(first.pair_scores(), second.pair_scores())
    assert first.predict_links(top_k=20) == second.predict_links(top_k=20)
    hidden = {frozenset(pair) for pair in np.argwhere(MASK).tolist()}
    assert {frozenset((u, v)) for u, v, _ in first.predict_links(top_k=10**6)} == hidden


def test_hidden_links_are_found():
    model = LinkPredictor().fit(X, A, hidden=MASK)
    out = np.triu(MASK, 1)
    assert roc_auc_score(A[out], model.pair_scores()[out]) > 0.9
    found = model.predict_links().toarray()
    assert not found[~MASK].any() and found.any() and A[found].mean() > 0.5
    pairs = Pairs(np.where(MASK, A, np.nan))
    assert_array_equal(model.predict(pairs), found[pairs.first, pairs.second])


# ---------------------------------------------------------------- nodes of which nothing is known


@pytest.mark.parametrize(
    "settings",
    [{}, {"similarities": None, "alpha": 0.1}, {"manifold": 0.1, "gamma": 4.0}, {"loss": "huber", "alpha": 0.1}],
    ids=str,
)
def test_a_node_without_known_pairs_is_one_without_links(settings):
    gone = [3, 11]
    rest = np.delete(np.arange(N), gone)
    mask = MASK.copy()
    mask[gone] = mask[:, gone] = True
    np.fill_diagonal(mask, False)
    model = LinkPredictor(**settings).fit(X, A, hidden=mask)
    assert_array_equal(model.known_, rest)
    names = rest.tolist()
    frame = pd.DataFrame(np.where(MASK, np.nan, A)[np.ix_(rest, rest)], index=names, columns=names)
    given = LinkPredictor(**settings).fit(X, frame)
    assert_allclose(model.pair_scores(), given.pair_scores(), atol=1e-10)
    assert_allclose(model.decision_function(NEW), given.decision_function(NEW), atol=1e-10)
    assert model.decision_function(NEW).shape == (5, N - 2)
    assert_array_equal(model.predict_links().toarray(), given.predict_links().toarray())
    last = np.r_[rest, gone]  # the same nodes, the others last
    moved = LinkPredictor(**settings).fit(X[last], frame.to_numpy())
    if settings.get("similarities", 0) is None:  # folds are others
        assert_allclose(moved.pair_scores(), model.pair_scores()[np.ix_(last, last)], atol=1e-10)


def test_a_matrix_of_the_output_kernel_is_cut_with_the_nodes():
    gone = 4
    rest = np.delete(np.arange(N), gone)
    mask = np.zeros((N, N), dtype=bool)
    mask[gone] = mask[:, gone] = True
    outputs = np.linalg.inv(np.eye(N) + np.diag(np.arange(N)) / N)
    model = alone(output_kernel=outputs).fit(X, A, hidden=mask)
    assert_allclose(model.embedding_ @ model.embedding_.T, outputs[np.ix_(rest, rest)], atol=1e-10)
    for bad in (outputs[:-1, :-1], np.eye(N + 1)):
        with pytest.raises(ValueError, match=r"output_kernel has shape .* 22 nodes"):
            alone(output_kernel=bad).fit(X, A, hidden=mask)


def test_precomputed_kernels_with_hidden_pairs():
    mask = MASK.copy()
    mask[7] = mask[:, 7] = True
    for settings in ({}, {"similarities": None}):
        named = LinkPredictor(gamma=GAMMA, **settings).fit(X, A, hidden=mask)
        given = LinkPredictor("precomputed", **settings).fit(K, A, hidden=mask)
        assert given.alpha_ == pytest.approx(named.alpha_)
        assert_allclose(given.embedding_, named.embedding_, atol=1e-10)
        i, j = np.array([(i, j) for i in range(N) for j in range(i) if 7 not in (i, j)]).T
        assert_allclose(given.pair_scores()[i, j], named.pair_scores()[i, j], atol=1e-6)
        assert_allclose(given.decision_function(CROSS), named.decision_function(NEW), atol=1e-6)


# ---------------------------------------------------------------- scikit-learn


def by_hand(pairs, make, given=None, tie=0.0):
    """Fits to the pairs of each fold, as matrices with NaN, and areas of the others.

    tie : added to the scores of linked pairs
    """
    scores = []
    for train, test in EdgeSplit(3).split(pairs):
        W = np.full((len(pairs.nodes), len(pairs.nodes)), np.nan)
        np.fill_diagonal(W, 0.0)
        for k in train:
            i, j = pairs.first[k], pairs.second[k]
            W[i, j] = W[j, i] = pairs.linked[k]
        model = make().fit(given, W)
        out = model.pair_scores()[pairs.first[test], pairs.second[test]] + tie * pairs.linked[test]
        scores.append(roc_auc_score(pairs.linked[test], out))
    return scores


def test_cross_validation_without_features():
    graph = nx.karate_club_graph()
    unweighted = nx.Graph(graph.edges)
    pairs = Pairs(nx.to_numpy_array(graph, weight=None))
    # nodes with the same neighbours have equal scores up to rounding, which may break these ties either way
    least, most = (np.array(by_hand(pairs, LinkPredictor, tie=tie)) for tie in (-1e-12, 1e-12))
    for train, test in EdgeSplit(3).split(pairs):
        model = LinkPredictor().fit(pairs[train], pairs.linked[train])
        W = np.full((34, 34), np.nan)
        np.fill_diagonal(W, 0.0)
        W[pairs.first[train], pairs.second[train]] = W[pairs.second[train], pairs.first[train]] = pairs.linked[train]
        expected = LinkPredictor().fit(None, W).pair_scores()[pairs.first[test], pairs.second[test]]
        assert_allclose(model.decision_function(pairs[test]), expected, atol=1e-12)
    for one in (pairs, Pairs(unweighted), Pairs(list(graph.edges))):
        found = cross_val_score(LinkPredictor(), one, one.linked, cv=EdgeSplit(3))
        assert (found >= least - 1e-10).all() and (found <= most + 1e-10).all()
    assert np.mean(least) > 0.6


def test_cross_validation_with_features():
    pairs = Pairs(A, X)
    found = cross_val_score(LinkPredictor(), pairs, pairs.linked, cv=EdgeSplit(3), error_score="raise")
    assert_allclose(found, by_hand(pairs, LinkPredictor, X), rtol=1e-10)
    frame = pd.DataFrame(X, index=[f"{k:02d}" for k in range(N)])
    named = Pairs(A, frame)
    assert_allclose(cross_val_score(LinkPredictor(), named, named.linked, cv=EdgeSplit(3)), found, rtol=1e-9)
    predicted = cross_val_predict(LinkPredictor(), pairs, pairs.linked, cv=EdgeSplit(3))
    assert predicted.shape == pairs.linked.shape and (predicted == pairs.linked).mean() > 0.85


def test_cross_validation_with_a_gram_matrix():
    """scikit-learn cuts rows and columns of what a precomputed kernel is fitted to: pairs are samples, not nodes."""
    pairs = Pairs(A, K)
    assert pairs.shape == (len(pairs), len(pairs)) and Pairs(A, X).shape == (len(pairs), 2)
    make = lambda: LinkPredictor("precomputed", similarities=["adamic_adar", "attributes", "learnt"])  # noqa: E731
    found = cross_val_score(make(), pairs, pairs.linked, cv=EdgeSplit(3), error_score="raise")
    assert_allclose(found, by_hand(pairs, make, K), rtol=1e-10)
    search = GridSearchCV(make(), {"alpha": [1e-3, 10.0]}, cv=EdgeSplit(3), error_score="raise")
    search.fit(pairs, pairs.linked)
    assert 0.5 < search.best_score_ <= 1 and search.best_estimator_.nodes_.tolist() == list(range(N))
    groups = np.arange(N) % 3  # nodes are cut as before
    by_nodes = cross_val_score(make(), K, groups, cv=KFold(3), error_score="raise")
    assert by_nodes.shape == (3,)
