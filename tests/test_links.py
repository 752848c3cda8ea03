"""Links of a graph: table 2 of Brouard et al. 2016 and refits, written out densely."""

import itertools
import pickle

import cvxpy as cp
import numpy as np
import pytest
import scipy.linalg
import scipy.sparse
from helpers.by_hand import solve
from helpers.estimator_checks import assert_checks_pass, in_one_line
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.ensemble import ExtraTreesRegressor
from sklearn.linear_model import Ridge
from sklearn.metrics import average_precision_score, f1_score, roc_auc_score
from sklearn.metrics.pairwise import cosine_similarity, rbf_kernel
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.utils import get_tags

from hilbertlearn import LinkPredictor, OperatorKernelRegressor

N, KNOWN, ALPHA, BETA, GAMMA = 22, 15, 0.02, 0.1, 0.8
RNG = np.random.default_rng(2)
X, NEW = RNG.normal(size=(N, 2)), RNG.normal(size=(6, 2))
K, CROSS = rbf_kernel(X, gamma=GAMMA), rbf_kernel(NEW, X, gamma=GAMMA)
LINKS = ((K > 0.45) & ~np.eye(N, dtype=bool)).astype(float)
LINKS[4], LINKS[:, 4] = 0.0, 0.0
ADJACENCY = LINKS[:KNOWN, :KNOWN]
GRAPH = np.where(K > 0.3, K, 0.0) * ~np.eye(N, dtype=bool)
L = np.diag(GRAPH.sum(axis=1)) - GRAPH
K_Y = scipy.linalg.expm(-(np.diag(ADJACENCY.sum(axis=1)) - ADJACENCY))
EVERY = np.arange(KNOWN)
UPPER = np.triu_indices(KNOWN, 1)
TRUTH = ADJACENCY[UPPER]
GRID = np.geomspace(1e-11, 10, 49)  # of alpha, relative to the mean of k(x, x), which is 1


def links(**settings):
    """Scores of h alone, as in the paper."""
    plain = {"gamma": GAMMA, "alpha": ALPHA, "tol": 1e-10, "similarities": None, "cosine": False}
    return LinkPredictor(**{**plain, **settings})


SEMI = {"manifold": BETA, "graph": GRAPH}


@pytest.mark.parametrize(
    "estimator",
    [
        LinkPredictor(),
        LinkPredictor(alpha=0.1, loss="hinge", similarities=None),  # nothing to choose
        LinkPredictor(center=True, cosine=True, similarities=None),
        LinkPredictor(regressor=Ridge(fit_intercept=False, solver="cholesky"), similarities=None),
    ],
    ids=in_one_line,
)
def test_estimator_checks(estimator):
    assert_checks_pass(estimator)


# ---------------------------------------------------------------- table 2


def table_2(loss, manifold, gram=K, K_Y=K_Y, known=EVERY, s=ALPHA * KNOWN, b=BETA * KNOWN):
    """B (l, N) of the nodes whose embeddings are known; s = alpha l and b = beta l."""
    J = np.eye(len(gram))[known]
    b = b if manifold else 0.0
    if loss == "squared":
        return J @ np.linalg.inv(s * np.eye(len(gram)) + gram @ (J.T @ J + b * L[: len(gram), : len(gram)]))
    lambda_1, lambda_2 = s / 2, b / 4
    inverse = np.linalg.inv(lambda_1 * np.eye(len(gram)) + 2 * lambda_2 * gram @ L[: len(gram), : len(gram)])
    quadratic = K_Y * (J @ inverse @ gram @ J.T)
    alpha = cp.Variable(len(known))
    objective = cp.quad_form(alpha, cp.psd_wrap((quadratic + quadratic.T) / 2)) / 4 - cp.sum(alpha)
    solve(objective, [alpha >= 0, alpha <= 1])
    assert alpha.value.max() > 0.999  # some are at the bound
    return np.diag(alpha.value) @ J @ inverse / 2


@pytest.mark.parametrize("loss", ["squared", "hinge"])
@pytest.mark.parametrize("semi", [False, True], ids=["supervised", "semi-supervised"])
@pytest.mark.parametrize("cosine", [False, True], ids=["", "cosine"])
def test_scores_are_those_of_table_2(loss, semi, cosine):
    H = CROSS @ table_2(loss, semi).T  # weights of the known nodes
    expected = H @ K_Y @ H.T
    if cosine:
        length = np.sqrt(np.diag(expected))
        expected = expected / np.outer(length, length)
    model = links(loss=loss, cosine=cosine, **(SEMI if semi else {})).fit(X, ADJACENCY)
    assert_allclose(model.pair_scores(NEW), expected, atol=2e-6)
    assert_allclose(model.embedding_ @ model.embedding_.T, K_Y, atol=1e-8)


@pytest.mark.parametrize("output_kernel", ["normalized_laplacian", "given"])
def test_other_output_kernels(output_kernel):
    degrees = ADJACENCY.sum(axis=1)
    root = np.where(degrees > 0, 1 / np.sqrt(np.maximum(degrees, 1)), 0)
    gram = np.linalg.inv(np.eye(KNOWN) + 0.4 * (np.diag(degrees > 0) - np.outer(root, root) * ADJACENCY))
    given = gram if output_kernel == "given" else output_kernel
    model = links(output_kernel=given, beta=0.4).fit(X, ADJACENCY)
    H = CROSS @ table_2("squared", False).T
    assert_allclose(model.pair_scores(NEW), H @ gram @ H.T, atol=1e-8)


def test_beta_is_the_time_of_diffusion():
    model = links(beta=0.3).fit(X, ADJACENCY)
    expected = np.real(scipy.linalg.fractional_matrix_power(K_Y, 0.3))
    assert_allclose(model.embedding_ @ model.embedding_.T, expected, atol=1e-9)


def centred(gram, rows):
    """Centred in feature space by the mean of the samples of ``gram``, and rows (m, n) of values with them."""
    n = len(gram)
    C = np.eye(n) - 1 / n
    return C @ gram @ C, (rows - gram.mean(axis=0)) @ C


@pytest.mark.parametrize("loss", ["squared", "hinge"])
@pytest.mark.parametrize("semi", [False, True], ids=["supervised", "semi-supervised"])
def test_centring_both_kernels(loss, semi):
    rows = N if semi else KNOWN
    gram, cross = centred(K[:rows, :rows], CROSS[:, :rows])
    outputs = centred(K_Y, K_Y)[0]
    H = cross @ table_2(loss, semi, gram, outputs).T
    model = links(loss=loss, center=True, **(SEMI if semi else {})).fit(X[:rows], ADJACENCY)
    assert_allclose(model.pair_scores(NEW), H @ outputs @ H.T, atol=2e-6)
    given = links(kernel="precomputed", output_kernel=outputs, loss=loss, **(SEMI if semi else {}))
    assert_allclose(given.fit(gram, ADJACENCY).pair_scores(cross), model.pair_scores(NEW), atol=2e-6)


# ---------------------------------------------------------------- held out: alpha, gamma, threshold


def held_out(alpha=ALPHA, semi=False, gram=K, cosine=False):
    """Scores (l, l) of pairs of known nodes, i < j, by models that were not told the embeddings of these two."""
    scores = np.zeros((KNOWN, KNOWN))
    for i, j in zip(*UPPER):
        others = np.delete(np.arange(KNOWN), [i, j])
        H = gram[[i, j]] @ table_2("squared", semi, gram, known=others, s=alpha * KNOWN).T
        products = H @ K_Y[np.ix_(others, others)] @ H.T
        scores[i, j] = products[0, 1] / (np.sqrt(products[0, 0] * products[1, 1]) if cosine else 1.0)
    return scores


def best_f1(scores):
    return max(f1_score(TRUTH, scores[UPPER] >= t) for t in scores[UPPER])


@pytest.mark.parametrize("semi", [False, True], ids=["supervised", "semi-supervised"])
@pytest.mark.parametrize("cosine", [False, True], ids=["", "cosine"])
def test_threshold_is_the_best_on_pairs_left_out(semi, cosine):
    scores = held_out(semi=semi, cosine=cosine)
    model = links(cosine=cosine, **(SEMI if semi else {})).fit(X, ADJACENCY)
    found = scores[UPPER] >= model.thresholds_["new"]
    assert f1_score(TRUTH, found) == best_f1(scores) and 0 < found.sum() < found.size
    between = np.sort(scores[UPPER])[[-found.sum() - 1, -found.sum()]]
    assert model.thresholds_["new"] == pytest.approx(between.mean())


def held_out_by_folds(order, predict, compare):
    """Scores (l, l) of pairs by models that were told of neither's fold; two of one fold are left out with another.

    order : of the nodes, that folds are drawn from
    """
    folds = [order[test] for _, test in KFold(5, shuffle=True, random_state=0).split(np.arange(KNOWN))]
    scores = np.zeros((KNOWN, KNOWN))
    for a, b in itertools.combinations_with_replacement(range(5), 2):
        other = (4 if a < 4 else 3) if a == b else b
        out = np.concatenate([folds[a], folds[other]])
        H = np.zeros((KNOWN, KNOWN))
        H[out] = predict(np.setdiff1d(np.arange(KNOWN), out), out)
        for pairs in (np.ix_(folds[a], folds[b]), np.ix_(folds[b], folds[a])):
            scores[pairs] = compare(H)[pairs]
    return scores


def held_out_machine(model, loss, alpha):
    V = model.embedding_
    machine = OperatorKernelRegressor(gamma=GAMMA, alpha=alpha, loss=loss, center=False, tol=1e-10, **SEMI)

    def predict(train, test):
        Y = np.full((N, V.shape[1]), np.nan)
        Y[train] = V[train]
        return machine.fit(X, Y).predict(X[test])

    return held_out_by_folds(drawn_from(model), predict, lambda H: H @ H.T)


def drawn_from(model):
    """The order of the known nodes that does not depend on that of the rows."""
    return model._state_.nodes.order[:KNOWN]


@pytest.mark.parametrize("loss", ["hinge", "huber"])
def test_threshold_of_other_losses_is_by_folds(loss):
    model = links(loss=loss, **SEMI).fit(X, ADJACENCY)
    scores = held_out_machine(model, model.loss_, ALPHA)
    assert f1_score(TRUTH, scores[UPPER] >= model.thresholds_["new"]) == best_f1(scores)


def test_alpha_of_the_margin_is_the_best_by_folds():
    model = links(loss="hinge", alpha="auto", **SEMI).fit(X, ADJACENCY)
    grid = GRID[::4][5:]  # below, rounding decides
    found = [roc_auc_score(TRUTH, held_out_machine(model, "hinge", alpha)[UPPER]) for alpha in grid]
    chosen = np.argmin(abs(grid - model.alpha_))
    assert model.alpha_ == pytest.approx(grid[chosen]) and np.ptp(found) > 0.02
    assert found[chosen] >= max(found) - 0.005


METRICS = {"roc_auc": roc_auc_score, "average_precision": average_precision_score}


@pytest.mark.parametrize("scoring", METRICS)
@pytest.mark.parametrize("semi", [False, True], ids=["supervised", "semi-supervised"])
def test_alpha_is_the_best_by_pairs_left_out(scoring, semi):
    model = links(alpha="auto", scoring=scoring, **(SEMI if semi else {})).fit(X, ADJACENCY)
    grid = GRID[18::2]  # below, rounding decides
    score = np.array([METRICS[scoring](TRUTH, held_out(alpha, semi)[UPPER]) for alpha in grid])
    chosen = np.argmin(abs(grid - model.alpha_))
    assert model.alpha_ == pytest.approx(grid[chosen]) and np.ptp(score) > 0.02
    assert score[chosen] >= score.max() - 1e-4 * (1 - score.max()) - 1e-9
    assert (score[chosen + 1 :] < score.max() - 1e-6).all()  # of equals the largest


def test_gamma_is_the_best_by_pairs_left_out():
    model = links(alpha="auto", gamma="auto").fit(X[:KNOWN], ADJACENCY)
    squares = ((X[:KNOWN, None] - X[:KNOWN]) ** 2).sum(axis=-1)[UPPER]
    gammas = 4.0 ** np.arange(-3, 4) / (2 * np.median(squares))
    best = []
    for gamma in gammas:
        gram = rbf_kernel(X[:KNOWN], gamma=gamma)
        best.append(max(roc_auc_score(TRUTH, held_out(a, gram=gram)[UPPER]) for a in GRID[18::4]))
    chosen = np.argmin(abs(gammas - model.gamma_))
    assert model.gamma_ == pytest.approx(gammas[chosen], rel=1e-6) and np.ptp(best) > 0.02
    assert best[chosen] >= max(best) - 0.01
    scores = held_out(model.alpha_, gram=rbf_kernel(X[:KNOWN], gamma=model.gamma_))
    assert roc_auc_score(TRUTH, scores[UPPER]) >= max(best) - 1e-9


# ---------------------------------------------------------------- graphs and nodes as they come


def test_graphs_in_other_forms():
    expected = links(alpha="auto").fit(X[:KNOWN], ADJACENCY).pair_scores(NEW)
    for graph in (ADJACENCY.astype(bool), ADJACENCY.astype(int), ADJACENCY.tolist(), scipy.sparse.coo_array(ADJACENCY)):
        assert_allclose(links(alpha="auto").fit(X[:KNOWN], graph).pair_scores(NEW), expected, atol=1e-9)
    networkx = pytest.importorskip("networkx")
    graph = networkx.from_numpy_array(ADJACENCY)
    model = links(alpha="auto").fit(X[:KNOWN], graph)
    assert_allclose(model.pair_scores(NEW), expected, atol=1e-9)
    assert model.score(X[:KNOWN], graph) == model.score(X[:KNOWN], ADJACENCY)


@pytest.mark.parametrize("loss", ["squared", "hinge"])
def test_a_graph_is_any_object_with_a_penalty_of_the_gram_matrix(loss):
    class Threshold:
        def penalty(self, gram):
            W = np.where(gram > 0.3, gram, 0.0) * ~np.eye(len(gram), dtype=bool)
            return np.diag(W.sum(axis=1)) - W

    found, expected = (
        links(loss=loss, manifold=BETA, graph=graph).fit(X, ADJACENCY).pair_scores(NEW)
        for graph in (Threshold(), GRAPH)
    )
    assert_allclose(found, expected, atol=1e-7)


@pytest.mark.parametrize("settings", [{}, {"manifold": BETA}, {"loss": "hinge"}], ids=str)
def test_groups_link_their_members(settings):
    names = np.array(["a", "b", "c"])[np.arange(N) % 3]
    member = names[:, None] == names
    np.fill_diagonal(member, False)
    expected = links(**settings).fit(X, member).pair_scores(NEW)
    for y in (names, names.tolist(), np.arange(N) % 3, names.astype(object)):
        assert_allclose(links(**settings).fit(X, y).pair_scores(NEW), expected, atol=1e-9)


def test_nodes_in_no_group_are_known_to_be_alone():
    y = np.where(np.arange(N) < 4, np.nan, np.arange(N) % 3)
    member = (y[:, None] == y) & ~np.eye(N, dtype=bool)
    assert_allclose(links().fit(X, y).pair_scores(NEW), links().fit(X, member).pair_scores(NEW), atol=1e-9)


def test_without_penalty_further_nodes_are_ignored():
    assert_array_equal(
        links(alpha="auto").fit(X, ADJACENCY).pair_scores(NEW),
        links(alpha="auto").fit(X[:KNOWN], ADJACENCY).pair_scores(NEW),
    )


AUTO = {"alpha": "auto"}


@pytest.mark.parametrize(
    "settings", [AUTO, {**AUTO, **SEMI}, {**AUTO, "loss": "hinge"}, {"center": True, **SEMI}], ids=["", "s", "h", "c"]
)
def test_precomputed_equals_named(settings):
    path = np.eye(KNOWN, k=1) + np.eye(KNOWN, k=-1)  # with it links tell all nodes apart, and folds are the same
    graph = np.maximum(ADJACENCY, path)
    named = links(**settings).fit(X, graph)
    given = links(kernel="precomputed", **settings).fit(K, graph)
    assert given.alpha_ == pytest.approx(named.alpha_) and get_tags(given).input_tags.pairwise
    assert_allclose(given.pair_scores(CROSS), named.pair_scores(NEW), atol=1e-6)
    assert_allclose(given.decision_function(CROSS), named.decision_function(NEW), atol=1e-6)
    assert given.thresholds_["new"] == pytest.approx(named.thresholds_["new"], rel=1e-4)


# ---------------------------------------------------------------- scores, links, use


@pytest.mark.parametrize(
    "settings", [{}, SEMI, {"cosine": True}, {"center": True}], ids=["", "semi", "cosine", "centred"]
)
def test_scores_agree_with_each_other(settings):
    model = links(**settings).fit(X, ADJACENCY)
    assert_allclose(model.decision_function(NEW), model.pair_scores(NEW, X[:KNOWN]), atol=1e-10)
    assert_allclose(model.pair_scores(NEW, X), model.pair_scores(np.r_[NEW, X])[:6, 6:], atol=1e-10)
    H = model.fitted_
    expected = cosine_similarity(H) if "cosine" in settings else H @ H.T
    assert_allclose(model.pair_scores(X[:KNOWN]), expected, atol=1e-10)
    every = np.triu_indices(N, 1)
    assert model.score(X, LINKS) == pytest.approx(roc_auc_score(LINKS[every], model.pair_scores(X)[every]))


def test_predicted_links_are_scores_above_the_threshold():
    model = links().fit(X[:KNOWN], ADJACENCY)
    threshold = model.thresholds_["new"]
    expected = model.pair_scores(NEW) >= threshold
    np.fill_diagonal(expected, False)
    found = model.predict_links(NEW)
    assert scipy.sparse.issparse(found) and found.dtype == bool
    assert_array_equal(found.toarray(), expected)
    between = model.predict_links(NEW, X[KNOWN:])
    assert_array_equal(between.toarray(), model.pair_scores(NEW, X[KNOWN:]) >= threshold)
    assert 0 < between.nnz < 6 * (N - KNOWN)
    mixed = model.predict_links(NEW, "known")
    assert_array_equal(mixed.toarray(), model.decision_function(NEW) >= model.thresholds_["mixed"])


def test_any_regressor_predicts_the_embedding():
    trees = ExtraTreesRegressor(20, random_state=0)
    model = links(regressor=trees, cosine=True).fit(X, ADJACENCY)
    V = model.embedding_
    assert_allclose(V @ V.T, K_Y, atol=1e-8)
    order = drawn_from(model)
    H = clone(trees).fit(X[order], V[order]).predict(NEW)
    assert_allclose(model.pair_scores(NEW), cosine_similarity(H), atol=1e-10)

    def predict(train, test):
        train = order[np.isin(order, train)]  # trees depend on the order of their samples
        return clone(trees).fit(X[train], V[train]).predict(X[test])

    scores = held_out_by_folds(order, predict, cosine_similarity)
    assert f1_score(TRUTH, scores[UPPER] >= model.thresholds_["new"]) == best_f1(scores)


def test_grid_search_over_groups():
    y = (X[:, 0] > 0).astype(int) + 2 * (X[:, 1] > 0)
    folds = KFold(3, shuffle=True, random_state=0)
    search = GridSearchCV(links(), {"alpha": [1e-3, 10.0], "gamma": [0.01, 1.0]}, cv=folds, error_score="raise").fit(
        X, y
    )
    for params, mean in zip(search.cv_results_["params"], search.cv_results_["mean_test_score"]):
        scores = []
        for train, test in folds.split(X):
            model = links(**params).fit(X[train], y[train])
            pairs = np.triu_indices(len(test), 1)
            same = y[test][:, None] == y[test]
            scores.append(roc_auc_score(same[pairs], model.pair_scores(X[test])[pairs]))
        assert mean == pytest.approx(np.mean(scores))


def test_unknown_links_are_predicted_from_features():
    rng = np.random.default_rng(0)
    points = rng.uniform(size=(150, 2))
    near = (np.linalg.norm(points[:, None] - points, axis=2) < 0.2) & ~np.eye(150, dtype=bool)
    rest = np.triu(np.ones((150, 150), dtype=bool), 1)
    rest[:60, :60] = False
    model = LinkPredictor().fit(points[:60], near[:60, :60])
    assert roc_auc_score(near[rest], model.pair_scores(points)[rest]) > 0.95
    assert f1_score(near[rest], model.predict_links(points).toarray()[rest]) > 0.5


@pytest.mark.parametrize("settings", [{}, SEMI, {"center": True}, {"regressor": Ridge()}], ids=["", "semi", "c", "r"])
def test_pickle_and_clone(settings):
    model = links(**settings).fit(X, ADJACENCY)
    copy = pickle.loads(pickle.dumps(model))
    assert_array_equal(copy.pair_scores(NEW), model.pair_scores(NEW))
    assert copy.thresholds_["new"] == model.thresholds_["new"]
    fresh = clone(model)
    assert not hasattr(fresh, "embedding_") and fresh.get_params().keys() == model.get_params().keys()
    assert_array_equal(fresh.fit(X, ADJACENCY).pair_scores(NEW), model.pair_scores(NEW))
