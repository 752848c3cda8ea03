"""Robust losses of numbers: growth, scale, and an outlier among weights."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from hilbertlearn.decoders.scalar import decode_scalar
from hilbertlearn.output_losses import L2L1, Cauchy, Fair, GemanMcClure, SquaredError

ROBUST = [Cauchy(0.5), GemanMcClure(0.5), Fair(0.5), L2L1()]


@pytest.mark.parametrize("loss", ROBUST, ids=repr)
def test_an_outlier_moves_the_prediction_less_than_the_mean(loss):
    Y = np.array([0.0, 0.1, 0.2, 0.3, 50.0])
    W = np.full((1, 5), 0.2)
    assert decode_scalar(W, Y, loss)[0] < 1.5 < decode_scalar(W, Y, SquaredError())[0]


@pytest.mark.parametrize("loss", [Cauchy, GemanMcClure, Fair])
def test_the_scale_is_a_unit_of_residuals(loss):
    """loss_c(r) = c^2 loss_1(r / c)."""
    r = np.linspace(-4, 4, 17)
    assert_allclose(loss(0.3).value(r, 0.0), 0.09 * loss(1.0).value(r / 0.3, 0.0), rtol=1e-10)


@pytest.mark.parametrize("loss", ROBUST, ids=repr)
def test_small_residuals_are_quadratic(loss):
    r = np.array([1e-4, -2e-4])
    ratio = loss.value(r, 0.0) / r**2
    assert_allclose(ratio, ratio[0], rtol=1e-3)
    assert ratio[0] > 0.1
