"""Functions in a basis, recognised by what they have: quadrature, coefficients and values against polynomials."""

from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from hilbertlearn.data.functions import (
    atom_values,
    check_basis,
    evaluate_expansion,
    fit_coefficients,
    gauss_quadrature,
    is_basis,
    is_expansion,
)


class Monomials:
    """1, t, t^2 on [2, 4], as scikit-fda's bases look."""

    n_basis, domain_range = 3, ((2.0, 4.0),)

    def __call__(self, points):
        return np.array([points**k for k in range(3)])[..., None]


BASIS = Monomials()


def test_a_basis_is_known_by_what_it_has():
    assert is_basis(BASIS) and not is_basis(np.eye(3)) and not is_basis(len)
    functions = SimpleNamespace(basis=BASIS, coefficients=np.eye(3))
    assert is_expansion(functions) and not is_expansion(BASIS)


def test_values_are_those_of_the_functions():
    assert_allclose(atom_values(BASIS, [2.0, 3.0]), [[1, 1], [2, 3], [4, 9]])


def test_products_are_integrated_exactly():
    points, weights = gauss_quadrature(BASIS)
    assert weights.sum() == pytest.approx(1) and (np.diff(points) > 0).all()
    for power in range(5):
        assert weights @ points**power == pytest.approx((4 ** (power + 1) - 2 ** (power + 1)) / (power + 1) / 2)


def test_coefficients_are_those_of_the_nearest_combination():
    points, weights = gauss_quadrature(BASIS)
    inside = np.array([[1.0, -2.0, 0.5]])
    assert_allclose(fit_coefficients(BASIS, inside @ atom_values(BASIS, points)), inside, rtol=1e-9)
    atoms, cubic = atom_values(BASIS, points), points**3
    expected = np.linalg.solve((atoms * weights) @ atoms.T, (atoms * weights) @ cubic)
    assert_allclose(fit_coefficients(BASIS, cubic[None])[0], expected, rtol=1e-6)


def test_functions_of_two_variables_are_refused():
    with pytest.raises(ValueError, match="functions of one variable with one value"):
        check_basis(SimpleNamespace(dim_domain=2), "y")


def test_inputs_are_evaluated_at_even_steps():
    functions = SimpleNamespace(basis=BASIS, coefficients=np.eye(3), to_grid=lambda points: points)
    assert_allclose(evaluate_expansion(functions), np.linspace(2, 4, 201))
    assert evaluate_expansion([1, 2]) == [1, 2]
