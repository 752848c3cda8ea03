"""Spaces of structured outputs: errors under a loss, spaces of low-rank losses, and random combinations."""

from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from hilbertlearn import output_losses, spaces
from hilbertlearn.spaces import ProbeSpace, WeightSpace
from hilbertlearn.spaces.structured import expected_losses

VALUES = np.arange(12.0)
SPACE = WeightSpace(VALUES, output_losses.SquaredError())
Y = np.array([3.0, 0.0, 11.0, 5.0])


def softened(scores, losses):
    """Expected losses of a draw from exp(-score / t), t a fifth of the scores' standard deviation."""
    chances = np.exp(-(scores - scores.min()) / (0.2 * scores.std()))
    return chances @ losses / chances.sum()


def test_errors_are_expected_losses_of_the_decoded_output():
    coordinates = SPACE.encode(Y)
    residuals = np.random.default_rng(0).normal(scale=0.1, size=coordinates.shape)
    predicted = VALUES  # the outputs that are compared, as the loss has no others
    for error, weights, y in zip(SPACE.sample_errors(coordinates, residuals), coordinates - residuals, Y, strict=True):
        scores = np.array([sum(w * (z - v) ** 2 for w, v in zip(weights, VALUES)) for z in predicted])
        assert error == pytest.approx(softened(scores, (predicted - y) ** 2), rel=1e-9)


def test_the_best_decides_alone_when_no_other_comes_near():
    scores = np.array([[0.0, 1e9, 1e9, 1e9, 1e9, 1e9, 1e9, 1e9]])
    losses = np.arange(8.0)[None] + 3
    chances = np.exp(-scores[0] / (0.2 * scores[0].std()))
    assert_allclose(expected_losses(scores, losses), chances @ losses[0] / chances.sum())


def test_a_loss_of_low_rank_has_a_space_with_the_same_errors():
    """(z - y)^2 = z^2 - 2 z y + y^2 has rank 3."""
    small = SPACE.compress()
    assert small.encode(Y).shape == (4, 3)
    assert_allclose(small.left @ small.encode(VALUES).T, np.subtract.outer(VALUES, VALUES) ** 2, atol=1e-8)
    residuals = np.random.default_rng(1).normal(scale=0.1, size=(4, 12))
    errors = small.sample_errors(small.encode(Y), residuals @ small.right.T)
    assert_allclose(errors, SPACE.sample_errors(SPACE.encode(Y), residuals), rtol=1e-6)


def test_a_loss_of_full_rank_has_none():
    space = WeightSpace(VALUES, output_losses.ZeroOne())
    assert space.compress() is space


def test_outputs_that_are_not_known_have_no_number():
    assert_array_equal(SPACE.numbers(np.array([3.0, 99.0, np.nan])), [3, -1, -1])


def test_probes_are_the_same_combination_for_equal_outputs():
    groups = np.array([0, 2, 0, -1, 1])
    probes = ProbeSpace(VALUES[:3], output_losses.ZeroOne(), SimpleNamespace(groups=groups)).encode(None)
    assert_array_equal(probes[0], probes[2])
    assert np.isnan(probes[3]).all() and len(np.unique(probes[[0, 1, 4]], axis=0)) == 3
    assert not ProbeSpace.residuals_are_errors


def test_rank_limits_the_landmarks_of_an_output_kernel():
    outputs = np.random.default_rng(2).normal(size=(30, 10))
    space = spaces.OutputKernel("linear", rank=4).space(outputs, np.ones(30))
    assert space.factor.shape == (4, 4) and not space.is_complete
    assert_allclose(space.factor @ space.factor.T, space.pivots @ space.pivots.T, atol=1e-10)
    assert spaces.OutputKernel("linear", rank=40).space(outputs, np.ones(30)).is_complete
