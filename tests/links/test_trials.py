"""Cross-validation of nodes: alpha and thresholds against refits."""

import numpy as np
import pytest
from helpers.link_tables import (
    ADJACENCY,
    ALPHA,
    GAMMA,
    K_Y,
    KNOWN,
    SEMI,
    TRUTH,
    UPPER,
    K,
    N,
    X,
    best_f1,
    drawn_from,
    held_out_by_folds,
    links,
    table_2,
)
from sklearn.metrics import average_precision_score, f1_score, roc_auc_score
from sklearn.metrics.pairwise import rbf_kernel

from hilbertlearn import OperatorKernelRegressor

GRID = np.geomspace(1e-11, 10, 49)  # of alpha, relative to the mean of k(x, x), which is 1


def held_out(alpha=ALPHA, semi=False, gram=K, cosine=False):
    """Scores (l, l) of pairs of known nodes, i < j, by models that were not told the embeddings of these two."""
    scores = np.zeros((KNOWN, KNOWN))
    for i, j in zip(*UPPER):
        others = np.delete(np.arange(KNOWN), [i, j])
        H = gram[[i, j]] @ table_2("squared", semi, gram, known=others, s=alpha * KNOWN).T
        products = H @ K_Y[np.ix_(others, others)] @ H.T
        scores[i, j] = products[0, 1] / (np.sqrt(products[0, 0] * products[1, 1]) if cosine else 1.0)
    return scores


@pytest.mark.parametrize("semi", [False, True], ids=["supervised", "semi-supervised"])
@pytest.mark.parametrize("cosine", [False, True], ids=["", "cosine"])
def test_threshold_is_the_best_on_pairs_left_out(semi, cosine):
    scores = held_out(semi=semi, cosine=cosine)
    model = links(cosine=cosine, **(SEMI if semi else {})).fit(X, ADJACENCY)
    found = scores[UPPER] >= model.thresholds_["new"]
    assert f1_score(TRUTH, found) == best_f1(scores) and 0 < found.sum() < found.size
    between = np.sort(scores[UPPER])[[-found.sum() - 1, -found.sum()]]
    assert model.thresholds_["new"] == pytest.approx(between.mean())


def held_out_machine(model, loss, alpha):
    V = model.embedding_
    machine = OperatorKernelRegressor(gamma=GAMMA, alpha=alpha, loss=loss, center=False, tol=1e-10, **SEMI)

    def predict(train, test):
        Y = np.full((N, V.shape[1]), np.nan)
        Y[train] = V[train]
        return machine.fit(X, Y).predict(X[test])

    return held_out_by_folds(drawn_from(model), predict, lambda H: H @ H.T)


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
