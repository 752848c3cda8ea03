"""Functions in a basis of scikit-fda, recognised by their attributes: the library is not imported."""

from __future__ import annotations

import numpy as np

_GAUSS = 8  # Gauss points between two knots: products of polynomials up to degree 7 are integrated exactly
_EVEN = 201  # smallest number of points at which inputs are evaluated
_PER_ATOM = 5  # points for each basis function: large bases have more points


def is_basis(value):
    """Whether value is a basis of scikit-fda, such as BSplineBasis or FourierBasis."""
    return hasattr(value, "n_basis") and hasattr(value, "domain_range") and callable(value)


def is_expansion(Y):
    """Whether Y holds coefficients in such a basis, as scikit-fda's FDataBasis."""
    return hasattr(Y, "coefficients") and is_basis(getattr(Y, "basis", None))


def check_basis(basis, name):
    """Raise unless the basis has real functions of one variable."""
    variables, values = getattr(basis, "dim_domain", 1), getattr(basis, "dim_codomain", 1)
    if variables != 1 or values != 1:
        raise ValueError(
            f"{name}: a basis must be of functions of one variable with one value, got {variables} variables and "
            f"{values} values; give functions by their values at points, with to_grid(points)"
        )


def atom_values(basis, points):
    """Values (k, p) of the basis functions at points (p,) of its domain."""
    return np.asarray(basis(np.asarray(points, dtype=float)), dtype=float).reshape(basis.n_basis, len(points))


def gauss_quadrature(basis):
    """Increasing points (m,) of the domain and weights (m,) of sum 1 that integrate products of basis functions.

    Gauss quadrature between the knots of splines; for other bases, between one equal step for each function.
    """
    low, high = map(float, basis.domain_range[0])
    knots = np.unique(np.asarray(getattr(basis, "knots", np.linspace(low, high, basis.n_basis + 1)), dtype=float))
    nodes, weights = np.polynomial.legendre.leggauss(_GAUSS)
    steps = np.diff(knots)
    points = knots[:-1, None] + steps[:, None] * (nodes + 1) / 2
    return points.ravel(), np.multiply.outer(steps / steps.sum(), weights / 2).ravel()


def fit_coefficients(basis, values):
    """Coefficients (n, k) of the L2 projections of functions with values (n, m) at the Gauss points."""
    points, weights = gauss_quadrature(basis)
    atoms = atom_values(basis, points) * np.sqrt(weights)
    sizes = np.linalg.norm(atoms, axis=1)
    sizes[sizes == 0] = 1.0
    # without scaling, monomials far from 0 would be numerically dependent
    solution = np.linalg.lstsq((atoms / sizes[:, None]).T, (values * np.sqrt(weights)).T, rcond=None)[0]
    return solution.T / sizes


def evaluate_expansion(X, name="X"):
    """Functions in a basis as scikit-fda's FDataGrid at equal steps of their domain; other data unchanged."""
    if not is_expansion(X):
        return X
    if getattr(X.basis, "dim_domain", 1) != 1:
        raise ValueError(f"{name} must be functions of one variable, or their values at points, {name}.to_grid(points)")
    low, high = X.basis.domain_range[0]
    return X.to_grid(np.linspace(low, high, max(_EVEN, _PER_ATOM * X.basis.n_basis + 1)))
