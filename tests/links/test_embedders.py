"""Prediction of embeddings: centred kernels, and any regressor."""

import numpy as np
import pytest
from helpers.link_tables import (
    ADJACENCY,
    CROSS,
    K_Y,
    KNOWN,
    NEW,
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
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.ensemble import ExtraTreesRegressor
from sklearn.metrics import f1_score
from sklearn.metrics.pairwise import cosine_similarity


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
