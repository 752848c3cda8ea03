"""Minimisers of weighted losses of numbers against a very fine grid."""

import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize_scalar

from hilbertlearn import decoders
from hilbertlearn.decoders import scalar
from hilbertlearn.output_losses import (
    L2L1,
    Absolute,
    Cauchy,
    EpsilonAbsolute,
    Fair,
    GemanMcClure,
    Hinge,
    Huber,
    Logistic,
    Pinball,
    SquaredError,
)
from hilbertlearn.output_losses.scalars import ResidualLoss

# loss: its formula as a function of the prediction and the truth
BY_HAND = [
    (SquaredError(), lambda z, y: (z - y) ** 2),
    (Absolute(), lambda z, y: abs(z - y)),
    (Huber(0.6), lambda z, y: (z - y) ** 2 / 2 if abs(z - y) < 0.6 else 0.6 * abs(z - y) - 0.18),
    (Cauchy(0.5), lambda z, y: 0.25 * np.log(1 + (z - y) ** 2 / 0.25)),
    (GemanMcClure(1.0), lambda z, y: (z - y) ** 2 / (1 + (z - y) ** 2)),
    (GemanMcClure(0.5), lambda z, y: (z - y) ** 2 / (1 + 4 * (z - y) ** 2)),
    (Fair(0.7), lambda z, y: 0.7 * abs(z - y) - 0.49 * np.log(1 + abs(z - y) / 0.7)),
    (L2L1(), lambda z, y: np.sqrt(1 + (z - y) ** 2) - 1),
    (Pinball(0.2), lambda z, y: 0.2 * (y - z) if y > z else 0.8 * (z - y)),
    (EpsilonAbsolute(0.3), lambda z, y: max(abs(z - y) - 0.3, 0)),
    (EpsilonAbsolute(0), lambda z, y: abs(z - y)),
    (Hinge(), lambda z, y: max(1 - z * y, 0)),
    (Logistic(), lambda z, y: np.log(1 + np.exp(-z * y))),
]
LOSSES = [loss for loss, _ in BY_HAND]
IDS = [repr(loss) for loss in LOSSES]
rng = np.random.default_rng(0)


def on_labels(loss):
    return isinstance(loss, (Hinge, Logistic))


def outputs(loss, n):
    """Random outputs with a few far away, or labels."""
    if on_labels(loss):
        return np.where(rng.random(n) < 0.5, -1.0, 1.0)
    return rng.normal(size=n) * np.where(rng.random(n) < 0.1, 5, 1)


def ends(loss, Y):
    """The interval of predictions that each loss documents."""
    if on_labels(loss):
        return (-1, 1) if isinstance(loss, Hinge) else (-10, 10)
    return Y.min(), Y.max()


def least_on_fine_grid(loss, W, Y, points=40_001):
    grid = np.union1d(np.linspace(*ends(loss, Y), points), np.clip(Y, *ends(loss, Y)))
    return (W @ loss(grid, Y).T).min(axis=1)


def objectives(loss, W, Y, z):
    return np.array([w @ loss(np.array([prediction]), Y)[0] for w, prediction in zip(W, z)])


@pytest.fixture(params=["numpy", "numba"])
def loops(request, monkeypatch):
    """The decoder's loops: those in numpy, then those compiled by numba, however few weights there are."""
    if request.param == "numba":
        pytest.importorskip("numba")
    monkeypatch.setattr(scalar, "_COMPILED_FROM", 0 if request.param == "numba" else np.inf)


class TruncatedSquare(ResidualLoss):
    """min(r^2, 0.25): slope and second derivative jump at the same place."""

    def residual_value(self, r):
        return np.minimum(r**2, 0.25)

    def residual_derivatives(self, r):
        inside = (r >= -0.5) & (r < 0.5)
        return 2 * r * inside, 2.0 * inside

    def kinks(self, y):
        return [(y - 0.5, -1.0, 2.0), (y + 0.5, -1.0, -2.0)]


@pytest.mark.parametrize("kind", ["positive", "signed", "sparse", "ridge"])
@pytest.mark.parametrize("loss", [*LOSSES, TruncatedSquare()], ids=[*IDS, "TruncatedSquare()"])
@pytest.mark.usefixtures("loops")
def test_global_minimum(loss, kind):
    n, m = 40, 150  # enough queries for a polynomial shared by some, few enough for Newton's method in other basins
    Y = loss.check(outputs(loss, n))
    W = {
        "positive": lambda: rng.random((m, n)),
        "signed": lambda: rng.normal(size=(m, n)),
        "sparse": lambda: rng.random((m, n)) * (rng.random((m, n)) < 0.08) + 1e-9 * rng.random((m, n)),
        "ridge": lambda: ridge_weights(n, m),
    }[kind]()
    z = scalar.decode_scalar(W, Y, loss)
    assert z.shape == (m,)
    low, high = ends(loss, Y)
    assert (z >= low).all() and (z <= high).all()
    excess = objectives(loss, W, Y, z) - least_on_fine_grid(loss, W, Y)
    assert (excess <= 1e-12 * np.abs(W).sum(axis=1) * loss(np.array([low, high]), Y).max()).all()


def ridge_weights(n, m):
    """Weights (m, n) of kernel ridge regression, of which some are negative."""
    x, new = rng.uniform(-1, 1, n), rng.uniform(-1, 1, m)
    K = np.exp(-50 * (x[:, None] - x) ** 2)
    return np.linalg.solve(K + 0.01 * np.eye(n), np.exp(-50 * (x[:, None] - new) ** 2)).T


@pytest.mark.parametrize("loss", [Cauchy(1.0), Cauchy(0.2), GemanMcClure(0.5), Fair(0.3), L2L1(), Logistic()], ids=repr)
@pytest.mark.usefixtures("loops")
def test_minimiser_is_accurate(loss):
    """Many queries share basins: their polynomials must give the minimisers that scipy finds from there."""
    Y = outputs(loss, 60)
    W = rng.random((800, 60))
    z = scalar.decode_scalar(W, Y, loss)
    for w, prediction in zip(W[::40], z[::40]):
        near = (prediction - 1e-3, prediction, prediction + 1e-3)
        found = minimize_scalar(lambda v, w=w: w @ loss.value(v, Y), near)
        assert abs(found.x - prediction) < 1e-6
    slope, curvature = (np.einsum("ij,ij->i", W, part) for part in loss.derivatives(z[:, None], Y))
    assert (np.abs(slope / curvature) < 1e-7).all()


@pytest.mark.usefixtures("loops")
def test_closed_forms():
    Y = rng.normal(size=31)
    W = rng.random((20, 31))
    assert_allclose(scalar.decode_scalar(W, Y, SquaredError()), W @ Y / W.sum(axis=1))
    assert_allclose(scalar.decode_scalar(np.ones((1, 31)), Y, Absolute()), np.median(Y))
    assert_allclose(scalar.decode_scalar(np.ones((1, 31)), Y, Pinball(0.25)), np.sort(Y)[7])
    labels = np.array([1.0, -1.0, 1.0])
    w = np.array([[2.0, 1.0, 3.0], [0.1, 4.0, 0.2]])
    assert_allclose(scalar.decode_scalar(w, labels, Logistic()), np.log([5.0, 0.3 / 4]))
    assert_array_equal(scalar.decode_scalar(w, labels, Hinge()), [1, -1])


@pytest.mark.usefixtures("loops")
def test_outlier_does_not_spoil_the_grid():
    Y = np.concatenate([rng.normal(size=50), [1e7]])
    W = rng.random((30, 51))
    z = scalar.decode_scalar(W, Y, Cauchy(1.0))
    without = scalar.decode_scalar(W[:, :-1], Y[:-1], Cauchy(1.0))
    assert_allclose(z, without, atol=1e-4)


@pytest.mark.parametrize(
    "Y, w",
    [
        ([0.5, 5.9, 6.5, 8.7, 8.8], [0.65, 0.8, 0.48, 0.74, 0.45]),
        ([1.4, 1.6, 6.8, 7.6, 8.8], [0.35, 0.79, 0.45, 0.57, 0.7]),
        ([0.3, 3.4, 6.8, 7.7, 8.6], [0.47, 0.23, 0.78, 0.04, 0.81]),
        ([0.3, 2.0, 2.8, 6.3, 8.0], [0.21, 0.31, 0.1, 0.94, 0.97]),
    ],
)
@pytest.mark.usefixtures("loops")
def test_two_minima_of_nearly_the_same_depth(Y, w):
    """The one that is less deep is lower on the grid."""
    Y, W, loss = np.array(Y), np.array([w]), GemanMcClure()
    assert objectives(loss, W, Y, scalar.decode_scalar(W, Y, loss)) <= least_on_fine_grid(loss, W, Y)


@pytest.mark.parametrize("loss", [Cauchy(1e-4), GemanMcClure(1e-4)], ids=repr)
@pytest.mark.usefixtures("loops")
def test_narrow_loss(loss):
    """Every output has a basin of its own."""
    Y = rng.random(300)
    W = rng.random((20, 300))
    at_outputs = (W @ loss(Y, Y).T).min(axis=1)
    assert (objectives(loss, W, Y, scalar.decode_scalar(W, Y, loss)) <= at_outputs + 1e-15).all()


@pytest.mark.parametrize("loss", [Cauchy(1e-6), Fair(1e-6)], ids=repr)
@pytest.mark.usefixtures("loops")
def test_grid_that_does_not_fit_is_coarser(loss, monkeypatch):
    monkeypatch.setattr(scalar, "_GRID_LOSSES", 2**14)
    Y = rng.random(200)
    W = rng.random((10, 200))
    z = scalar.decode_scalar(W, Y, loss)
    quantiles = np.quantile((W @ loss(np.linspace(0, 1, 5001), Y).T), 0.1, axis=1)
    assert (objectives(loss, W, Y, z) < quantiles).all()


@pytest.mark.parametrize("loss", LOSSES, ids=IDS)
@pytest.mark.usefixtures("loops")
def test_odd_shapes(loss):
    label = np.array([1.0])
    assert scalar.decode_scalar(np.empty((0, 1)), label, loss).shape == (0,)
    if not on_labels(loss):
        assert_array_equal(scalar.decode_scalar(np.array([[2.0], [-1.0]]), label, loss), [1, 1])
        assert_array_equal(scalar.decode_scalar(np.ones((2, 3)), np.full(3, 0.5), loss), [0.5, 0.5])
    assert np.isfinite(scalar.decode_scalar(np.zeros((2, 2)), np.array([-1.0, 1.0]), loss)).all()


@pytest.mark.parametrize("loss", [Cauchy(0.5), Huber(0.5), Absolute(), EpsilonAbsolute(0.2)], ids=repr)
@pytest.mark.usefixtures("loops")
def test_repeated_outputs_add_their_weights(loss):
    Y, W = rng.normal(size=20), rng.normal(size=(30, 20))
    twice = scalar.decode_scalar(np.c_[W / 3, 2 * W / 3], np.r_[Y, Y], loss)
    assert_allclose(objectives(loss, W, Y, twice), objectives(loss, W, Y, scalar.decode_scalar(W, Y, loss)), atol=1e-10)


@pytest.mark.parametrize("loss", [Absolute(), Huber(0.4), Cauchy(0.4), GemanMcClure(0.6), Fair(0.4), L2L1()], ids=repr)
@pytest.mark.usefixtures("loops")
def test_more_than_a_block_of_everything(loss, monkeypatch):
    monkeypatch.setattr(scalar, "_ROWS", 50)
    Y, W = outputs(loss, 1100), ridge_weights(1100, 61)
    excess = objectives(loss, W, Y, scalar.decode_scalar(W, Y, loss)) - least_on_fine_grid(loss, W, Y, 10_001)
    assert (excess <= 1e-12 * np.abs(W).sum(axis=1)).all()
    assert_array_equal(scalar.decode_scalar(np.asfortranarray(W), Y, loss), scalar.decode_scalar(W, Y, loss))


def test_without_numba(monkeypatch):
    monkeypatch.setattr(scalar, "_COMPILED_FROM", 0)
    monkeypatch.setitem(sys.modules, "numba", None)
    monkeypatch.delitem(sys.modules, "hilbertlearn.decoders.scalar_compiled", raising=False)
    monkeypatch.delattr(decoders, "scalar_compiled", raising=False)
    assert_allclose(scalar.decode_scalar(np.ones((1, 3)), np.array([0.0, 1.0, 5.0]), Absolute()), [1.0])
