"""Scores of outputs and of margin losses."""

import numpy as np
import pytest
from helpers.structured_edges import NEW, NUMBERS, VECTORS, X, predictor, ridge_weights
from numpy.testing import assert_allclose, assert_array_equal

from hilbertlearn import kernels, losses
from hilbertlearn.spaces import OutputKernel


@pytest.mark.parametrize("rank", [None, 4])
def test_norms_of_candidates_outside_the_span_of_the_training_outputs(rank):
    # k(z, z) = 1 for all z, though its part in the span is small for candidates far away
    kernel = OutputKernel(kernels.NamedKernel("rbf", 1.0), rank=rank)
    model = predictor(output_kernel=kernel).fit(X, VECTORS)
    pool = np.r_[VECTORS[::4] + 0.3, VECTORS[::8] + 100.0]
    V = model.space_.encode(VECTORS)
    inner = ridge_weights() @ V @ model.space_.encode(pool).T
    assert_array_equal(model.predict(NEW, pool), pool[inner.argmax(axis=1)])
    _, scores = model.predict_topk(NEW, len(pool), pool)
    assert_allclose(scores, np.sort(2 * inner - 1, axis=1)[:, ::-1], atol=1e-8)


@pytest.mark.parametrize("loss", ["hinge", "logistic"])
def test_scores_of_margin_losses(loss):
    y = np.where(NUMBERS > 0, 1.0, -1.0)
    model = predictor(output_loss=loss, alpha=0.5).fit(X, y)
    z = model.predict(X)
    value = np.maximum(0, 1 - z * y) if loss == "hinge" else np.log1p(np.exp(-z * y))
    assert model.score(X, y) == pytest.approx(-value.mean())
    assert set(model.predict(NEW, candidates=[-0.5, 0.5])) <= {-0.5, 0.5}


def test_weights_when_outputs_are_the_same_to_the_loss_only():
    model = predictor(output_kernel="linear", output_loss="kendall", loss=losses.Huber(0.3)).fit(X, VECTORS)
    V = model.space_.encode(VECTORS)
    assert_allclose(model.weights(NEW) @ V, model.machine_.coordinates(NEW), atol=1e-8)
