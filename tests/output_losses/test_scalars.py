"""Losses on numbers against their formulas."""

import numpy as np
import pytest
from helpers.refusals import assert_refused
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

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


# ------------------------------------------------------------------ losses


@pytest.mark.parametrize("loss, formula", BY_HAND, ids=IDS)
def test_formula(loss, formula):
    Y = outputs(loss, 30)
    Z = np.concatenate([Y[:5], rng.normal(size=40) * 3, [-1.0, 0.0, 1.0]])
    expected = [[formula(z, y) for y in Y] for z in Z]
    assert_allclose(loss(Z, Y), expected, atol=1e-12)
    assert_allclose(loss.value(Z[:, None], Y), expected, atol=1e-12)


@pytest.mark.parametrize("loss", LOSSES, ids=IDS)
def test_derivatives_are_limits_of_differences(loss):
    Y = outputs(loss, 20)
    z = rng.normal(size=(50, 1)) * 2
    slope, curvature = loss.derivatives(z, Y)
    assert_allclose(slope, (loss.value(z + 1e-7, Y) - loss.value(z, Y)) / 1e-7, atol=1e-5)
    assert_allclose(curvature, (loss.derivatives(z + 1e-7, Y)[0] - slope) / 1e-7, atol=1e-5)


def test_squared_loss_of_vectors():
    Z, Y = 1e4 + rng.normal(size=(6, 3)), 1e4 + rng.normal(size=(5, 3))
    assert_allclose(SquaredError()(Z, Y), ((Z[:, None] - Y) ** 2).sum(axis=2), rtol=1e-10)
    assert_array_equal(SquaredError().check(Y), Y)


def test_settings_are_searchable():
    assert clone(Cauchy(0.3)).set_params(c=2.0).get_params() == {"c": 2.0}


# ------------------------------------------------------------------ refusals


@pytest.mark.parametrize(
    "loss, y, words",
    [
        (Huber(0), [1.0], ["Huber: delta", "0"]),
        (Cauchy(-1), [1.0], ["Cauchy: c", "-1"]),
        (GemanMcClure("a"), [1.0], ["GemanMcClure: c", "'a'"]),
        (Fair(np.inf), [1.0], ["Fair: c", "inf"]),
        (Pinball(1.0), [1.0], ["Pinball: tau", "between 0 and 1", "1.0"]),
        (EpsilonAbsolute(-0.1), [1.0], ["EpsilonAbsolute: epsilon", "-0.1"]),
        (Absolute(), ["a", "b"], ["y", "Absolute", "numbers", "str"]),
        (Absolute(), [[1.0], [2.0]], ["y", "(2, 1)", "ravel"]),
        (Absolute(), [[1.0, 2.0]], ["y", "(1, 2)", "squared"]),
        (SquaredError(), np.zeros((2, 2, 2)), ["y", "(2, 2, 2)"]),
        (Cauchy(), [1.0, np.nan], ["y", "Cauchy", "NaN"]),
        (Hinge(), [0.0, 1.0], ["y", "Hinge", "-1 and 1", "0, 1"]),
        (Logistic(), [2.0], ["y", "Logistic", "got 2"]),
    ],
)
def test_refusals(loss, y, words):
    assert_refused(lambda: loss.check(y), words)
