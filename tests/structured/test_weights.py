"""Weights of the training samples against the linear system."""

import itertools

import numpy as np
import pytest
from helpers.structured_data import (
    LABELS,
    NEW,
    NUMBERS,
    OBJECTS,
    SETS,
    VECTORS,
    WEIGHTS,
    N,
    X,
    jaccard,
    predictor,
    ridge_weights,
)
from numpy.testing import assert_allclose, assert_array_equal

from hilbertlearn import kernels, losses


@pytest.mark.parametrize("y", [NUMBERS, LABELS, VECTORS, SETS], ids=["numbers", "labels", "vectors", "sets"])
@pytest.mark.parametrize("solver", ["auto", "spectral"])
def test_weights(y, solver):
    model = predictor(solver=solver).fit(X, y)
    assert_allclose(model.weights(NEW), ridge_weights(), atol=1e-9)


@pytest.mark.parametrize(
    ("y", "solver"), [(NUMBERS, "auto"), (LABELS, "auto"), (LABELS, "spectral")], ids=["quick", "auto", "spectral"]
)
def test_weights_with_sample_weights(y, solver):
    rows = np.flatnonzero(WEIGHTS)
    model = predictor(solver=solver).fit(X, y, WEIGHTS)
    found = model.weights(NEW)
    assert_allclose(found[:, rows], ridge_weights(rows=rows, weights=WEIGHTS), atol=1e-9)
    assert (found[:, WEIGHTS == 0] == 0).all()
    copies = np.repeat(np.arange(N), WEIGHTS.astype(int))
    repeated = predictor(solver=solver).fit(X[copies], y[copies])
    assert_allclose(model.predict(NEW), repeated.predict(NEW), atol=1e-8)


@pytest.mark.parametrize("y", [NUMBERS, LABELS], ids=["distinct", "repeated"])
@pytest.mark.parametrize("weights", [None, np.where(WEIGHTS == 0, 5, WEIGHTS)], ids=["plain", "weighted"])
def test_weights_around_the_mean(y, weights):
    # h(x) = mean + sum_i v_i(x) (psi_i - mean), the mean being sum_i s_i psi_i
    V = ridge_weights(weights=weights)
    s = np.ones(N) / N if weights is None else weights / weights.sum()
    expected = V + np.outer(1 - V.sum(axis=1), s)
    model = predictor(center=True).fit(X, y, weights)
    assert_allclose(model.weights(NEW), expected, atol=1e-9)
    assert_allclose(model.weights(NEW).sum(axis=1), 1)
    losses_ = model.output_loss_
    pool = np.unique(y)
    best = pool[np.argmin(expected @ losses_(pool, y).T, axis=1)]
    assert_array_equal(model.predict(NEW, candidates=pool), best)


@pytest.mark.parametrize("solver", ["auto", "spectral"])
@pytest.mark.parametrize("kind", ["NaN", "None", "rows", "objects"])
def test_unlabelled_samples_have_weight_zero(kind, solver):
    hidden = np.arange(N) % 4 == 1
    rows = np.flatnonzero(~hidden)
    y, loss = {"NaN": (NUMBERS, "squared"), "None": (NUMBERS, "squared"), "rows": (VECTORS, "squared")}.get(
        kind, (OBJECTS, jaccard)
    )
    full = [y[i] for i in rows] if isinstance(y, list) else y[rows]
    if kind in ("NaN", "rows"):
        partial = y.copy()
        partial[hidden] = np.nan
    else:
        partial = [None if hidden[i] else y[i] for i in range(N)]
    model = predictor(output_loss=loss, solver=solver).fit(X, partial)
    found = model.weights(NEW)
    assert_allclose(found[:, rows], ridge_weights(rows=rows), atol=1e-9)
    assert (found[:, hidden] == 0).all()
    alone = predictor(output_loss=loss, solver=solver).fit(X[rows], full)
    if isinstance(y, list):
        assert model.predict(NEW) == alone.predict(NEW)
    else:
        assert_allclose(model.predict(NEW), alone.predict(NEW), atol=1e-9)
    assert model.score(X, partial) == pytest.approx(alone.score(X[rows], full))


ROBUST = [losses.Huber(0.3), losses.EpsilonInsensitive(0.2), losses.EpsilonSVR(0.2), losses.Squared()]


@pytest.mark.parametrize("loss", ROBUST, ids=lambda loss: type(loss).__name__)
@pytest.mark.parametrize("kind", ["full rank", "low rank", "repeated", "unlabelled"])
def test_weights_reproduce_coordinates(loss, kind):
    y = {"low rank": VECTORS, "repeated": np.round(VECTORS[:, :1]) + 0.0}.get(kind, VECTORS).copy()
    name = "linear" if kind == "low rank" else "rbf"
    if kind == "unlabelled":
        y[::5] = np.nan
    known = np.isfinite(y[:, 0])
    model = predictor(output_kernel=name, output_loss="squared", loss=loss).fit(X, y)
    W = model.weights(NEW)
    assert_allclose(W[:, known] @ model.space_.encode(y[known]), model.machine_.coordinates(NEW), atol=1e-7)
    assert (W[:, ~known] == 0).all()
    if loss.quadratic:  # then they are those of ridge regression
        assert_allclose(W[:, known], ridge_weights(rows=known), atol=1e-9)
        return
    for i, j in [(i, j) for i, j in itertools.combinations(range(N), 2) if (y[i] == y[j]).all()]:
        assert_allclose(W[:, i], W[:, j])  # equal outputs share their weight


def test_ridge_with_both_has_the_weights_of_the_loss_trick():
    # its coordinates are V'w; where outputs are independent no other weights of the distinct ones have these
    group = np.unique(np.round(NUMBERS), return_inverse=True)[1]
    one_hot = np.eye(group.max() + 1)[group]
    both = predictor(output_kernel=kernels.NamedKernel("rbf", 1.0), output_loss="absolute").fit(X, group)
    assert_allclose(both.weights(NEW) @ one_hot, ridge_weights() @ one_hot, atol=1e-8)
