"""The scores of pairs that are combined, and their formulas."""

import numpy as np
import pytest
from helpers.link_settings import ALPHA, CROSS, EVERY, GAMMA, K_Y, KNOWN, NEW, A, K, N, X, alone
from helpers.refusals import assert_refused
from numpy.testing import assert_allclose
from sklearn.metrics.pairwise import cosine_similarity

from hilbertlearn import LinkPredictor
from hilbertlearn.data.graphs import STRUCTURE


@pytest.mark.parametrize("cosine", [False, True])
def test_scores_with_known_embeddings(cosine):
    model = alone(score_with="known", cosine=cosine).fit(X, A)
    V = model.embedding_
    assert_allclose(V @ V.T, K_Y, atol=1e-10)
    weights = np.linalg.solve(K + ALPHA * KNOWN * np.eye(KNOWN), V)
    H, new, last = K @ weights, CROSS @ weights, EVERY[KNOWN:, :KNOWN] @ weights
    compare = cosine_similarity if cosine else (lambda U, W: U @ W.T)
    assert_allclose(model.decision_function(NEW), compare(new, V), atol=1e-9)
    expected = np.zeros((N, N))
    expected[:KNOWN, :KNOWN] = (compare(H, V) + compare(V, H)) / 2
    expected[KNOWN:, :KNOWN] = compare(last, V)
    expected[:KNOWN, KNOWN:] = compare(last, V).T
    expected[KNOWN:, KNOWN:] = compare(last, last)
    assert_allclose(model.pair_scores(), expected, atol=1e-9)
    assert_allclose(model.pair_scores(X), expected, atol=1e-9)
    assert_allclose(model.pair_scores(NEW), compare(new, new), atol=1e-9)
    i, j = np.nonzero(~np.eye(N, dtype=bool))
    pairs = list(zip(i.tolist(), j.tolist(), strict=True))
    assert_allclose(model.decision_function(pairs), expected[i, j], atol=1e-9)


def test_which_scores_are_combined():
    names = {
        ("auto", "auto"): {"predicted", "predicted, cosine", "known", "known, cosine"},
        ("auto", True): {"predicted, cosine", "known, cosine"},
        ("predicted", "auto"): {"predicted", "predicted, cosine"},
        ("known", False): {"known"},
    }
    for (score_with, cosine), expected in names.items():
        model = LinkPredictor(similarities="learnt", score_with=score_with, cosine=cosine).fit(X, A)
        assert set(model.weights_["known"]) == set(model.weights_["mixed"]) == expected
        own = {name.replace("known", "predicted") for name in expected}
        assert set(model.weights_["new"]) == own


@pytest.mark.parametrize(
    "names",
    [*STRUCTURE, "attributes", "learnt", ["adamic_adar", "attributes"], ("katz", "learnt"), ["attributes", "learnt"]],
    ids=str,
)
def test_some_similarities(names):
    model = LinkPredictor(similarities=names).fit(X[:KNOWN], A)
    wanted = {names} if isinstance(names, str) else set(names)
    own = {name.split(",")[0] for name in model.weights_["known"]}
    learnt = {"predicted", "known"} if "learnt" in wanted else set()
    assert own == (wanted - {"learnt"}) | learnt
    assert np.isfinite(model.pair_scores()).all()
    if wanted <= set(STRUCTURE):
        assert set(model.weights_) == set(model.thresholds_) == {"known"}
        for ask in (lambda: model.pair_scores(NEW), lambda: model.decision_function(NEW), lambda: model.predict(NEW)):
            assert_refused(ask, ["without known links", "features", "similarities", "'learnt'"])
        assert_refused(lambda: LinkPredictor(similarities=names).fit(X, A).pair_scores(), ["without known links"])
    else:
        assert set(model.weights_) == {"known", "mixed", "new"}
        assert not set(STRUCTURE) & (set(model.weights_["mixed"]) | set(model.weights_["new"]))
        assert np.isfinite(model.pair_scores(NEW)).all() and np.isfinite(model.decision_function(NEW)).all()


def test_of_a_gram_matrix_pairs_of_new_nodes_have_no_attributes():
    model = LinkPredictor("precomputed", similarities="attributes").fit(K, A)
    named = LinkPredictor(gamma=GAMMA, similarities="attributes").fit(X[:KNOWN], A)
    assert_allclose(model.decision_function(CROSS), named.decision_function(NEW), atol=1e-6)
    assert set(model.weights_) == {"known", "mixed"}
    assert_refused(lambda: model.pair_scores(CROSS), ["precomputed kernel", "'learnt'"])
