"""Matrices of output losses against a function of two outputs."""

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal


def by_pairs(function, Z, Y):
    return np.array([[function(z, y) for y in Y] for z in Z], dtype=float)


def assert_pairs(loss, function, Z, Y):
    """The loss of all pairs is the function of each pair, and canonical outputs stay what they are."""
    Z, Y = loss.check(Z), loss.check(Y)
    values = loss(Z, Y)
    assert values.shape == (len(Z), len(Y)) and values.dtype == float
    assert_allclose(values, by_pairs(function, Z, Y), rtol=1e-12, atol=1e-12)
    if isinstance(Y, np.ndarray):
        assert_array_equal(loss.check(Y), Y)
