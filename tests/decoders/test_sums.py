"""Sums of output losses are decoded over all outputs that their parts know."""

from itertools import product

import numpy as np
import pytest
from helpers.structured_data import LABELS, NEW, SETS, X, predictor, ridge_weights
from numpy.testing import assert_allclose, assert_array_equal

from hilbertlearn.output_losses import (
    F1,
    CostMatrix,
    Hamming,
    Jaccard,
    ZeroOne,
)

POWER = np.array(list(product([0.0, 1.0], repeat=3)))


def weighted(W, Z, Y, loss):
    return np.einsum("qi,qi->q", W, loss(Z, Y))


@pytest.mark.parametrize("loss", [Hamming() + 0.5 * F1(), 2 * F1(), 0.1 * Hamming() + Jaccard() + F1()])
def test_sets_of_a_sum_against_all_subsets(loss):
    model = predictor(output_loss=loss).fit(X, SETS)
    Z, W = model.predict(NEW), ridge_weights()
    assert Z.dtype == SETS.dtype and model.decoder_ == "sum"
    values = W @ loss(POWER, SETS).T
    found = weighted(W, Z, SETS, loss)
    assert (found <= (W @ loss(SETS, SETS).T).min(axis=1) + 1e-9).all()
    assert_allclose(found, values.min(axis=1), atol=1e-9)  # all eight sets are training outputs


def test_a_sum_is_not_worse_than_what_its_parts_propose():
    rng = np.random.default_rng(0)
    y = (rng.random((len(X), 9)) < 0.4).astype(int)  # few of 512 sets are training outputs
    loss = Hamming() + 0.5 * F1()
    Z, W = predictor(output_loss=loss).fit(X, y).predict(NEW), ridge_weights()
    found = weighted(W, Z, y, loss)
    best = (W @ loss(y, y).T).min(axis=1)
    for part in ("hamming", "f1"):
        best = np.minimum(best, weighted(W, predictor(output_loss=part).fit(X, y).predict(NEW), y, loss))
    assert_allclose(found, best, atol=1e-9)
    assert (found < (W @ loss(y, y).T).min(axis=1) - 1e-3).any()


def test_sums_of_costs_search_all_labels():
    C = np.random.default_rng(1).uniform(size=(7, 7))
    loss = CostMatrix(C) + 0.3 * ZeroOne()
    model = predictor(output_loss=loss).fit(X, LABELS)
    total = C + 0.3 * (1 - np.eye(7))
    scores = -ridge_weights() @ total[:, LABELS].T
    assert_array_equal(model.predict(NEW), scores.argmax(axis=1))
    assert_array_equal(model.classes_, np.arange(7))
    assert_allclose(model.predict_scores(NEW), scores, atol=1e-9)
