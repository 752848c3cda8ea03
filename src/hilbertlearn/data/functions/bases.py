"""Functions in a basis of scikit-fda, recognised by what they have: the library is not imported to read them."""

from __future__ import annotations

import numpy as np

_GAUSS = 8  # points between two knots: products of polynomials up to degree 7 are integrated exactly
_EVEN, _PER_ATOM = 201, 5  # points that inputs are evaluated at: so many, or more for large bases


def is_basis(value):
    """Whether value is a basis of functions as scikit-fda has them, such as BSplineBasis or FourierBasis."""
    return hasattr(value, "n_basis") and hasattr(value, "domain_range") and callable(value)


def is_expansion(Y):
    """Whether Y are functions by their coefficients in such a basis: scikit-fda's FDataBasis."""
    return hasattr(Y, "coefficients") and is_basis(getattr(Y, "basis", None))


def check_basis(basis, name):
    """Raise unless the basis is one of numbers as functions of one variable."""
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
    """Points (m,) of the domain, increasing, and weights (m,) of sum 1 that integrate products of basis functions.

    Gauss's rule between the knots of splines, and between as many even steps as there are functions of other bases.
    """
    low, high = map(float, basis.domain_range[0])
    knots = np.unique(np.asarray(getattr(basis, "knots", np.linspace(low, high, basis.n_basis + 1)), dtype=float))
    nodes, weights = np.polynomial.legendre.leggauss(_GAUSS)
    steps = np.diff(knots)
    points = knots[:-1, None] + steps[:, None] * (nodes + 1) / 2
    return points.ravel(), np.multiply.outer(steps / steps.sum(), weights / 2).ravel()


def fit_coefficients(basis, values):
    """Coefficients (n, k) of the combinations of basis functions nearest in L2 to values (n, m) at Gauss's points."""
    points, weights = gauss_quadrature(basis)
    atoms = atom_values(basis, points) * np.sqrt(weights)
    sizes = np.linalg.norm(atoms, axis=1)
    sizes[sizes == 0] = 1.0
    # powers of points far from 0 have very different sizes, which would count as dependence
    found = np.linalg.lstsq((atoms / sizes[:, None]).T, (values * np.sqrt(weights)).T, rcond=None)[0]
    return found.T / sizes


def evaluate_expansion(X, name="X"):
    """Functions in a basis as scikit-fda's FDataGrid at even steps of their domain; anything else as it is."""
    if not is_expansion(X):
        return X
    if getattr(X.basis, "dim_domain", 1) != 1:
        raise ValueError(f"{name} must be functions of one variable, or their values at points, {name}.to_grid(points)")
    low, high = X.basis.domain_range[0]
    return X.to_grid(np.linspace(low, high, max(_EVEN, _PER_ATOM * X.basis.n_basis + 1)))
