"""Settings of radial losses that residuals decide; the contract suite has their mathematics."""

import numpy as np
import pytest

from hilbertlearn.losses import Ball, EpsilonSVR, Norm, PowerNorm


def test_epsilon_is_the_lower_quartile_of_residual_norms():
    norms = np.arange(1.0, 102.0)  # 1, ..., 101: the quartile is 26
    R = np.stack([0.6 * norms, -0.8 * norms], axis=1)
    assert EpsilonSVR().needs_residuals
    resolved = EpsilonSVR().resolve(R)
    assert not resolved.needs_residuals and resolved.epsilon == pytest.approx(26, abs=1)
    assert EpsilonSVR(0.3).resolve(R).epsilon == 0.3


def test_saturated_rows_are_at_the_bound():
    A = np.array([[0.3, 0.4], [0.6, 0.8], [0.0, 0.0]])
    assert Norm(1.0).saturated(A).tolist() == [False, True, False]
    assert not PowerNorm(3).saturated(A).any() and not Ball(1.0).saturated(A).any()


def test_the_ball_is_constrained_by_its_radius():
    R = np.array([[3.0, 4.0], [0.3, 0.4]])
    assert Ball(1.0).is_constrained and not Norm(1.0).is_constrained
    assert Ball(1.0).violation(R).ravel().tolist() == pytest.approx([4.0, -0.5])
