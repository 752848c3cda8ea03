"""The defaults of ``Space``, and the small objects that keep a space."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from hilbertlearn.spaces import FixedSpace, MeanSmoother, Space


class Doubled(Space):
    def encode(self, y):
        return 2.0 * np.asarray(y)

    def smooth_means(self, means):
        return means + 1.0


Y = np.arange(6.0).reshape(3, 2)


def test_a_space_needs_encode_alone():
    space = Doubled()
    assert_array_equal(space.decode(Y), Y)
    assert_array_equal(space.residuals(Y, Y), Y)
    assert_array_equal(space.encode_filled(Y), 2 * Y)
    assert_array_equal(space.sample_errors(Y, np.array([[3.0, np.nan], [0, 0], [3, 4]])), [9, 0, 25])
    assert space.compress() is space and space.measure is None and not space.pointwise
    assert space.sampling(Y) is space.outside_norms(Y) is space.outside_values(Y) is None
    assert space.unobserved_mask(Y) is None and space.unobserved_message(None, None, True) == ""
    assert space.filled_share(Y) == 1.0


def test_a_space_without_encode():
    with pytest.raises(NotImplementedError):
        Space().encode(Y)


def test_objects_that_keep_a_space():
    space = Doubled()
    assert_array_equal(MeanSmoother(space)(Y), Y + 1)
    assert FixedSpace(space)("any outputs", "any weights") is space
