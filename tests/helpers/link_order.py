"""Nodes in two orders, and what must agree."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

L, N = 34, 40  # nodes of which links are known, and all
RNG = np.random.default_rng(5)
X = RNG.normal(size=(N, 2))
A = (np.linalg.norm(X[:, None] - X, axis=2) < 0.8).astype(float)
np.fill_diagonal(A, 0.0)
A[3], A[:, 3], A[8], A[:, 8] = 0.0, 0.0, 0.0, 0.0  # two nodes alone
KNOWN = A[:L, :L]
ORDER = np.r_[RNG.permutation(L), L + RNG.permutation(N - L)]
NEW = RNG.normal(size=(5, 2))


def assert_same(model, again, order, new=NEW, new_again=NEW):
    """Scores, links and settings of a model and of another whose node k is node order[k] of the first."""
    known = order[order < L] if len(order) > L else order
    every = np.ix_(order, order)
    off = ~np.eye(len(order), dtype=bool)
    assert_allclose(again.pair_scores()[off], model.pair_scores()[every][off], atol=1e-8)
    assert_array_equal(again.predict_links().toarray(), model.predict_links().toarray()[every])
    assert {key: pytest.approx(value, abs=1e-8) for key, value in again.thresholds_.items()} == model.thresholds_
    if model.link_state_.has_features:
        assert again.cv_score_ == pytest.approx(model.cv_score_, abs=1e-12)
        assert_allclose(again.decision_function(new_again), model.decision_function(new)[:, known], atol=1e-8)
        assert_array_equal(again.known_, model.known_)
        V, again_V = model.embedding_[known], again.embedding_
        assert_allclose(again_V @ again_V.T, V @ V.T, atol=1e-8)
