"""Offsets of quantiles: ranks of exchangeable residuals, weights, missing values, continuity."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from hilbertlearn.selection.level_offsets import level_offsets

rng = np.random.default_rng(0)


@pytest.mark.parametrize("n", [1, 2, 7, 40])
def test_ranks_are_those_of_exchangeable_residuals(n):
    """numpy's method "weibull" has the rank tau (n + 1), with linear interpolation, clipped to 1 and n."""
    residuals, levels = rng.normal(size=(n, 3)), [0.05, 0.5, 0.95]
    expected = [np.quantile(column, tau, method="weibull") for column, tau in zip(residuals.T, levels, strict=True)]
    assert_allclose(level_offsets(residuals, np.full(n, 3.0), levels), expected, atol=1e-12)


def test_a_new_residual_is_below_as_often_as_the_level_says():
    n, draws, levels = 24, 20_000, [0.1, 0.5, 0.9]
    below = np.zeros(3)
    for row in rng.exponential(size=(draws, n + 1)):
        below += row[n] <= level_offsets(np.tile(row[:n, None], 3), np.ones(n), levels)
    assert_allclose(below / draws, levels, atol=0.012)


def test_columns_have_levels_in_turn_and_skip_missing_values():
    residuals = rng.normal(size=(30, 4))
    residuals[rng.random(residuals.shape) < 0.3] = np.nan
    for j, offset in enumerate(level_offsets(residuals, np.ones(30), [0.2, 0.8])):
        observed = residuals[np.isfinite(residuals[:, j]), j]
        assert offset == pytest.approx(np.quantile(observed, (0.2, 0.8)[j % 2], method="weibull"), abs=1e-12)


def test_without_residuals_there_is_no_offset():
    assert_allclose(level_offsets(np.full((5, 1), np.nan), np.ones(5), [0.9]), [0.0])


def test_weight_zero_is_no_sample():
    residuals, weights = rng.normal(size=(20, 2)), rng.uniform(0.5, 2.0, size=20)
    weights[:6] = 0.0
    assert_allclose(
        level_offsets(residuals, weights, [0.3, 0.7]), level_offsets(residuals[6:], weights[6:], [0.3, 0.7])
    )


def test_offsets_are_continuous_in_residuals_weights_and_level():
    residuals, weights = rng.normal(size=(15, 1)), rng.uniform(0.2, 2.0, size=15)
    before = level_offsets(residuals, weights, [0.3])
    for change in np.linspace(-3, 3, 40):  # residuals and weights of one sample move across the others
        moved, heavier = residuals.copy(), weights.copy()
        moved[4], heavier[4] = change, abs(change)
        here = level_offsets(moved, heavier, [0.3])
        moved[4] += 1e-7
        heavier[4] += 1e-7
        assert_allclose(level_offsets(moved, heavier, [0.3 + 1e-7]), here, atol=1e-5)
    assert np.isfinite(before).all()


def test_offsets_move_with_the_residuals():
    residuals, weights = rng.normal(size=(15, 2)), rng.uniform(0.2, 2.0, size=15)
    offsets = level_offsets(residuals, weights, [0.1, 0.9])
    assert_allclose(level_offsets(5 * residuals + 2, 7 * weights, [0.1, 0.9]), 5 * offsets + 2, rtol=1e-10)
