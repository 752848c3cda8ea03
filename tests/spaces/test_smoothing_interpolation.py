"""Interpolation of means where no curve is observed."""

import numpy as np
from numpy.testing import assert_allclose

from hilbertlearn.spaces.smoothing import interpolate_mean

rng = np.random.default_rng(0)


def test_interpolation_of_polynomials_and_constants():
    fine = np.linspace(0, 1, 101)
    values = np.stack([np.ones(101), fine, np.sin(3 * fine)])[..., None]
    gone = values.copy()
    gone[:, 40:44] = np.nan
    found = interpolate_mean(gone, [fine])
    assert_allclose(found[:2], values[:2], atol=1e-9)  # constants and lines are reproduced inside
    assert np.abs(found[2] - values[2]).max() < 1e-3


def test_interpolation_is_bounded_beyond_the_ends():
    fine = np.linspace(0, 1, 101)
    line = np.where(fine < 0.3, 5 * fine, np.nan)[None, :, None]
    found = interpolate_mean(line, [fine])[0, :, 0]
    slope, last = 5.0, 5 * 0.29
    assert (np.diff(found) >= -1e-9).all() and found[-1] <= last + slope / 10 + 1e-6  # over the length 1 / 10
    alone = np.full((1, 101, 1), np.nan)
    alone[0, 7] = 3.0
    assert_allclose(interpolate_mean(alone, [fine]), 3.0)


def test_interpolation_is_linear_and_leaves_what_is_there():
    values = rng.normal(size=(3, 6, 7, 2))
    values[:, 2, 3, 0] = values[:, 5, :, 1] = np.nan
    values[2] = 2 * values[0] - values[1]
    axes = [np.linspace(0, 1, 6), np.sort(rng.uniform(size=7))]
    found = interpolate_mean(values, axes)
    assert_allclose(found[2], 2 * found[0] - found[1], atol=1e-9)
    assert_allclose(found[np.isfinite(values)], values[np.isfinite(values)])
    values[..., 1] = np.nan
    assert np.isnan(interpolate_mean(values, axes)[..., 1]).all()
