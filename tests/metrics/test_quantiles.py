"""Scores of quantiles against loops over samples, outputs and levels."""

import numpy as np
import pytest

from hilbertlearn.metrics import d2_pinball, pinball_loss

rng = np.random.default_rng(0)
LEVELS = [0.1, 0.5, 0.8]
Y = rng.normal(size=(12, 3))
Q = np.sort(rng.normal(size=(12, 3, 3)), axis=2)
GAPS = np.where(rng.random(Y.shape) < 0.3, np.nan, Y)
WEIGHTS = rng.integers(0, 4, 12).astype(float)


def pinball(residual, level):
    return level * residual if residual >= 0 else (level - 1) * residual


def mean_losses(y, q, weights):
    """Mean losses (outputs, levels) over observed entries."""
    out = np.zeros((3, 3))
    for j in range(3):
        seen = [i for i in range(12) if np.isfinite(y[i, j])]
        for k, level in enumerate(LEVELS):
            losses = [weights[i] * pinball(y[i, j] - q[i, j, k], level) for i in seen]
            out[j, k] = sum(losses) / sum(weights[i] for i in seen)
    return out


def constant_losses(y, weights):
    """The smallest mean loss that one constant has: it is at one of the values."""
    out = np.zeros((3, 3))
    for j in range(3):
        for k in range(3):
            candidates = y[np.isfinite(y[:, j]), j]
            out[j, k] = min(mean_losses(y, np.full((12, 3, 3), c), weights)[j, k] for c in candidates)
    return out


@pytest.mark.parametrize("y", [Y, GAPS], ids=["whole", "gaps"])
@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["equal", "weighted"])
def test_scores_are_those_of_loops(y, weights):
    own = np.ones(12) if weights is None else weights
    losses, constants = mean_losses(y, Q, own), constant_losses(y, own)
    assert pinball_loss(y, Q, LEVELS, weights) == pytest.approx(losses.mean())
    assert d2_pinball(y, Q, LEVELS, weights) == pytest.approx(np.mean(1 - losses / constants))
    pooled = 1 - losses.sum(axis=0) / constants.sum(axis=0)
    assert d2_pinball(y, Q, LEVELS, weights, pooled=True) == pytest.approx(pooled.mean())


def test_one_level_and_one_output():
    expected = np.mean([pinball(y - q, 0.3) for y, q in zip(Y[:, 0], Q[:, 0, 0])])
    assert pinball_loss(Y[:, 0], Q[:, 0, 0], 0.3) == pytest.approx(expected)


def test_constant_outputs_score_zero_or_one():
    y = np.ones(4)
    assert d2_pinball(y, np.ones((4, 1)), [0.5]) == 1 and d2_pinball(y, np.zeros((4, 1)), [0.5]) == 0


def test_refused():
    with pytest.raises(ValueError, match="a quantile for each of 2 levels"):
        pinball_loss(Y, Q, [0.1, 0.5])
    with pytest.raises(ValueError, match="no observed output"):
        pinball_loss(np.full(3, np.nan), np.zeros((3, 1)), [0.5])
