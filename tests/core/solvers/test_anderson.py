"""Anderson acceleration of linear fixed-point iterations, whose solution is known."""

import numpy as np
from numpy.testing import assert_allclose

from hilbertlearn.core.solvers.anderson import Anderson

RNG = np.random.default_rng(0)
B = RNG.normal(size=(30, 30))
B = 0.97 * (B + B.T) / np.abs(np.linalg.eigvalsh(B + B.T)).max()  # a slow contraction w -> B w + c
C = RNG.normal(size=(30, 1))
FIXED_POINT = np.linalg.solve(np.eye(30) - B, C)


def iterate(steps, accelerated):
    w, anderson = np.zeros_like(C), Anderson(C.shape)
    for _ in range(steps):
        g = B @ w + C - w
        w = anderson.step(w, g) if accelerated else w + g
    return np.abs(w - FIXED_POINT).max()


def test_accelerated_steps_reach_the_fixed_point_in_far_fewer_iterations():
    assert iterate(80, True) < 1e-6
    assert iterate(80, False) > 1e-2


def test_the_first_step_and_the_first_after_a_restart_are_plain():
    anderson, w, g = Anderson(C.shape), C, 0.1 * C
    assert_allclose(anderson.step(w, g), w + g)
    anderson.step(w + g, 0.5 * g)
    anderson.restart()
    assert_allclose(anderson.step(w, g), w + g)


def test_sums_over_all_parts_scale_with_the_number_of_equal_parts():
    """Two parts with the same entries: doubled inner products leave the steps as they are."""
    alone, doubled = Anderson(C.shape), Anderson(C.shape, total=lambda sums: 2 * sums)
    w = np.zeros_like(C)
    for _ in range(10):
        g = B @ w + C - w
        expected = alone.step(w, g)
        assert_allclose(doubled.step(w, g), expected, rtol=1e-9, atol=1e-12)
        w = expected
