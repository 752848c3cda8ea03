"""Decoded outputs against an enumeration of all outputs."""

import itertools

import numpy as np
import pytest
from helpers.structured_data import (
    NEW,
    NUMBERS,
    OBJECTS,
    SETS,
    STRINGS,
    VECTORS,
    M,
    X,
    jaccard,
    predictor,
    ridge_weights,
)
from numpy.testing import assert_allclose
from sklearn.metrics.pairwise import rbf_kernel

from hilbertlearn import kernels
from hilbertlearn import output_losses as ol

HISTOGRAMS = np.abs(VECTORS) / np.abs(VECTORS).sum(axis=1, keepdims=True)
ANGLES = np.arctan2(VECTORS[:, 1], VECTORS[:, 0])
UNIT = VECTORS / np.linalg.norm(VECTORS, axis=1, keepdims=True)
GRID = np.linspace(-4, 4, 2001)
SIMPLEX = np.array([(a, b, 60 - a - b) for a in range(61) for b in range(61 - a)]) / 60
CIRCLE = np.linspace(-np.pi, np.pi, 2000, endpoint=False)
BALL = np.random.default_rng(2).normal(size=(4000, 3))
BALL /= np.linalg.norm(BALL, axis=1, keepdims=True)
POWER = np.array(list(itertools.product([0.0, 1.0], repeat=3)))
ORDERS = np.array(list(itertools.permutations([1.0, 2.0, 3.0])))
ENUMERATED = [
    ("hamming", SETS, POWER, "threshold"),
    ("f1", SETS, POWER, "sets"),
    ("jaccard", SETS, POWER, "jaccard_sets"),
    ("kendall", VECTORS, ORDERS, "ranking"),
    ("rank", np.round(VECTORS), ORDERS, "ranking"),
    ("spearman", VECTORS, ORDERS, "assignment"),
    ("hellinger", HISTOGRAMS, SIMPLEX, "sqrt_mean"),
    ("chi2", HISTOGRAMS, SIMPLEX, "chi2_mean"),
    ("wasserstein1d", HISTOGRAMS, SIMPLEX, "distribution_median"),
    ("squared", NUMBERS, GRID, "mean"),
    ("absolute", NUMBERS, GRID, "scalar"),
    ("huber", NUMBERS, GRID, "scalar"),
    ("cauchy", NUMBERS, GRID, "scalar"),
    ("geman_mcclure", NUMBERS, GRID, "scalar"),
    ("fair", NUMBERS, GRID, "scalar"),
    ("l2_l1", NUMBERS, GRID, "scalar"),
    ("epsilon_absolute", NUMBERS, GRID, "scalar"),
    (ol.Pinball(0.8), NUMBERS, GRID, "scalar"),
    ("hinge", np.where(NUMBERS > 0, 1.0, -1.0), np.linspace(-1, 1, 401), "scalar"),
    ("logistic", np.where(NUMBERS > 0, 1.0, -1.0), np.linspace(-10, 10, 2001), "scalar"),
    ("diffusion", ANGLES, CIRCLE, "directions"),
    ("diffusion", UNIT, BALL, "directions"),
    ("edit", STRINGS, None, "candidates"),
    ("zero_one", STRINGS, None, "classes"),
    (jaccard, OBJECTS, None, "candidates"),
]


@pytest.mark.parametrize(("loss", "y", "outputs", "decoder"), ENUMERATED, ids=lambda value: str(value)[:12])
def test_predictions_are_no_worse_than_any_enumerated_output(loss, y, outputs, decoder):
    model = predictor(output_loss=loss).fit(X, y)
    assert model.decoder_ == decoder
    near = X[:M] + 0.1  # where weights sum to about one
    W, Z = ridge_weights(near), model.predict(near)
    delta = model.output_loss_
    true = delta.check(y)
    outputs = y if outputs is None else outputs
    if np.ndim(outputs) == 1 and not isinstance(outputs, list) and not isinstance(loss, ol.OutputLoss):
        low, high = (-np.inf, np.inf) if loss == "diffusion" else (min(y.min(), -1), max(y.max(), 1))
        low, high = (-10, 10) if loss == "logistic" else (low, high)
        outputs = outputs[(outputs >= low) & (outputs <= high)]
    found = np.einsum("qi,qi->q", W, delta(Z, true))
    enumerated = (W @ delta(outputs, true).T).min(axis=1)
    assert (found <= enumerated + 1e-9).all()
    if outputs is y or decoder in ("threshold", "sets", "jaccard_sets", "ranking", "assignment"):
        assert_allclose(found, enumerated, atol=1e-9)


def test_gaussian_preimage_is_no_worse_than_training_outputs():
    model = predictor(output_kernel=kernels.NamedKernel("rbf", 0.5), decoder="gaussian").fit(X, VECTORS)
    Z = model.predict(NEW)
    W = ridge_weights()
    gained = np.einsum("qi,qi->q", W, rbf_kernel(Z, VECTORS, gamma=0.5)) - (
        W @ rbf_kernel(VECTORS, VECTORS, gamma=0.5)
    ).max(axis=1)
    assert (gained >= -1e-9).all() and gained.max() > 1e-4
    step = 1e-5
    for direction in np.eye(3) * step:  # a stationary point
        up, down = (np.einsum("qi,qi->q", W, rbf_kernel(Z + s * direction, VECTORS, gamma=0.5)) for s in (1, -1))
        assert np.abs(up - down).max() / (2 * step) < 1e-4
