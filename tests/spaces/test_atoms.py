"""Functions on the unit interval, against their formulas."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from hilbertlearn.operators import Integral
from hilbertlearn.spaces.atoms import (
    Atoms,
    AtomUnion,
    CallableAtoms,
    Eigenfunctions,
    LinearInterpolants,
    TrigonometricFunctions,
    translates,
)

T = np.linspace(0, 1, 7)


def test_points_beyond_the_interval_are_those_at_its_ends():
    atoms = Atoms(lambda t: np.array([t, t**2]), np.ones(2))
    assert_array_equal(atoms([-1.0, 0.5, 3.0]), [[0, 0.5, 1], [0, 0.25, 1]])


def test_order_of_trigonometric_functions():
    values = TrigonometricFunctions(np.arange(5))(T)
    root, angle = np.sqrt(2), 2 * np.pi * T
    expected = [
        np.ones(7),
        root * np.cos(angle),
        root * np.sin(angle),
        root * np.cos(2 * angle),
        root * np.sin(2 * angle),
    ]
    assert_allclose(values, expected, atol=1e-12)


def test_interpolants_are_linear_between_and_constant_beyond():
    atoms = LinearInterpolants(np.array([0.2, 0.6]), np.array([[1.0, 3.0]]))
    assert_allclose(atoms(np.array([0.0, 0.2, 0.4, 0.6, 1.0])), [[1, 1, 2, 3, 3]])


def test_eigenfunctions_are_sums_of_kernel_functions():
    coefficients = np.random.default_rng(0).normal(size=(7, 2))
    new = np.array([0.1, 0.77])
    expected = [[sum(c * np.exp(-4 * abs(s - t)) for c, s in zip(column, T)) for t in new] for column in coefficients.T]
    assert_allclose(Eigenfunctions(Integral("laplacian", 4.0), T, coefficients)(new), expected)


def test_unions_are_one_after_the_other():
    parts = [Atoms(lambda t: t[None], np.ones(1)), Atoms(lambda t: np.array([t**2, t**3]), np.ones(2))]
    assert_array_equal(AtomUnion(parts)(T), [T, T**2, T**3])


@pytest.mark.parametrize(
    ("function", "words"),
    [(lambda t: t, "must return one row an atom"), (lambda t: np.full((2, len(t)), np.nan), "NaN or infinity")],
)
def test_callables_are_checked(function, words):
    with pytest.raises(ValueError, match=words):
        CallableAtoms(function)(T)


def test_translates_are_those_that_reach_the_interval():
    """f(2^j t - k), f supported on [0, 3], is not zero for some t in [0, 1) where 0 < 2^j t - k < 3."""
    inside = np.linspace(0, 1, 4000, endpoint=False)
    for j in range(4):
        expected = [k for k in range(-10, 20) if ((2**j * inside - k > 0) & (2**j * inside - k < 3)).any()]
        assert_array_equal(translates(np.ones(4), j), expected)
