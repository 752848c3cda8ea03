"""Linear interpolation against numpy's."""

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal

from hilbertlearn.data.functions import interpolate_linear


def test_linear_between_points():
    rng = np.random.default_rng(0)
    grid, points = np.sort(rng.uniform(size=7)), rng.uniform(-0.2, 1.2, size=20)
    values = rng.normal(size=(3, 7, 2))
    expected = [[np.interp(points, grid, values[i, :, j]) for j in range(2)] for i in range(3)]
    assert_allclose(interpolate_linear(values, grid, points, axis=1), np.moveaxis(expected, 1, 2))
    assert_array_equal(interpolate_linear(values, grid, grid, axis=1), values)
    constant = interpolate_linear(values[:, :1], grid[:1], points, axis=1)
    assert_allclose(constant, np.repeat(values[:, :1], 20, axis=1))
    values[0, 3, 0] = np.nan
    assert_array_equal(np.isnan(interpolate_linear(values, grid, grid, axis=1)), np.isnan(values))
