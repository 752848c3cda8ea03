"""Quantiles of several levels in coordinates: one copy of an output for each level."""

import numpy as np
from numpy.testing import assert_array_equal

from hilbertlearn.spaces import QuantileSpace, VectorSpace, function_space

Y = np.arange(8.0).reshape(4, 2)


def test_levels_of_an_output_stand_beside_each_other():
    space = QuantileSpace(VectorSpace(), 3)
    assert_array_equal(space.encode(Y)[1], [2, 2, 2, 3, 3, 3])
    quantiles = np.array([[1.0, 2, 3, 10, 20, 30]])
    assert_array_equal(space.decode(quantiles), [[[1, 2, 3], [10, 20, 30]]])


def test_a_single_level_may_have_the_shape_of_the_outputs():
    assert QuantileSpace(VectorSpace(), 1).decode(Y).shape == (4, 2, 1)
    assert_array_equal(QuantileSpace(VectorSpace(), 1, axis=False).decode(Y), Y)


def test_smooth_quantiles_are_in_order():
    means = np.array([[3.0, 1.0, 2.0, 0.0, 5.0, 4.0]])
    assert_array_equal(QuantileSpace(VectorSpace(), 3).smooth_means(means), [[1, 2, 3, 0, 4, 5]])


def test_measure_and_scales_are_repeated():
    curves = function_space("grid", Y)
    assert_array_equal(QuantileSpace(curves, 2).measure, np.repeat(curves.measure, 2))
    space = QuantileSpace(VectorSpace(), 2)
    scales = space.coordinate_scales(space.encode(Y), np.ones(4))
    assert_array_equal(scales, np.repeat(Y.std(axis=0), 2))
    assert QuantileSpace(VectorSpace(), 2).measure is None
