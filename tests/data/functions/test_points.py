"""Points of grids: quadrature, the unit interval, and gaps that are filled."""

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal

from hilbertlearn.data.functions import (
    fill_gaps,
    quadrature,
    to_unit,
)

rng = np.random.default_rng(8)


def test_gaps_are_filled_along_each_curve():
    values = np.array([[np.nan, 1.0, np.nan, 4.0, np.nan], [np.nan] * 5, [1.0, 2.0, 3.0, 4.0, 5.0]])[..., None]
    axis = np.array([0.0, 1.0, 2.0, 4.0, 5.0])
    kept = values.copy()
    filled = fill_gaps(values, (axis,))
    assert_allclose(filled[0, :, 0], [1, 1, 2, 4, 4])
    assert np.isnan(filled[1]).all()
    assert_array_equal(filled[2], values[2])
    assert_array_equal(values, kept)


def test_gaps_of_two_variables_are_filled():
    """Exact for what is linear in each variable, where neighbours on both sides were seen."""
    s, t = np.array([0.0, 1.0, 3.0, 4.0]), np.array([0.0, 2.0, 3.0])
    plane = (2 * s[:, None] - t + 1)[None, ..., None]
    gaps = plane.copy()
    gaps[0, 1, 0] = gaps[0, 2, 2] = np.nan
    assert_allclose(fill_gaps(gaps, (s, t)), plane)
    gaps[0, :, 1] = np.nan  # a line without any value: from the lines beside it
    assert_allclose(fill_gaps(gaps, (s, t)), plane)


def test_quadrature_is_the_trapezoid_rule_over_the_length():
    points = np.sort(rng.uniform(2, 9, 20))
    assert_allclose(quadrature(points) @ points**2, np.trapezoid(points**2, points) / np.ptp(points))
    assert_allclose(quadrature(points, "equal"), np.full(20, 1 / 20))
    assert_allclose(quadrature(points[:1]), [1.0])


def test_unit_interval():
    assert_allclose(to_unit([2, 3, 6], (2, 6)), [0, 0.25, 1])
    assert_allclose(to_unit([5.0], (5, 5)), [0])
