"""Properties of losses."""

import numpy as np
import pytest
from helpers.by_hand import (
    LOSSES,
)

from hilbertlearn.losses import (
    Ball,
    EpsilonInsensitive,
    EpsilonSVR,
    ExpNorm,
    Huber,
    InfConv,
    LogNorm,
    Norm,
    PowerNorm,
    Squared,
)

INF = np.inf
RESIDUALS = np.random.default_rng(3).normal(size=(7, 4)) * np.array([0.2, 0.7, 1.5, 3.0])[np.arange(7) % 4, None]


# ---------------------------------------------------------------- bounds

SETTLED = [hand.loss for hand in LOSSES.values()]
LEFT_OPEN = [
    Huber(),
    Huber(p=1),
    Huber(p=INF),
    EpsilonInsensitive(),
    EpsilonInsensitive(p=INF),
    EpsilonSVR(),
    InfConv(Squared(), EpsilonSVR()),
    InfConv(Huber(p=1), EpsilonInsensitive(p=INF)),
]
INTEGERS = [
    Huber(1),
    Norm(2),
    EpsilonSVR(1),
    Ball(1),
    PowerNorm(2, 1),
    LogNorm(1),
    ExpNorm(1),
    InfConv(Huber(1), Norm(2)),
]


@pytest.mark.parametrize("loss", [*SETTLED, *LEFT_OPEN, *INTEGERS], ids=lambda loss: type(loss).__name__)
def test_bounds_are_floats(loss):
    loss = loss.resolve(RESIDUALS)
    assert not loss.needs_residuals
    assert isinstance(loss.bound, float) and loss.bound > 0
    assert isinstance(loss.curvature, float)
