"""Axes: orthonormal coordinates of functions of one variable on the unit interval."""

from __future__ import annotations

import numpy as np

from .._utils.linalg import spectrum
from ..data.functions import interpolate_rows


class GridAxis:
    """Point values: coordinates are ``sqrt(q_j) f(t_j)``, q quadrature weights; between the points, linear splines.

    Parameters
    ----------
    points, quadrature : arrays of shape (m,)
        Grid in [0, 1] and quadrature weights of sum 1.
    operator : operators.Integral
        The default output operator, with ``gram(points, others)``.
    """

    pointwise = True
    around_mean = False

    def __init__(self, points, quadrature, operator):
        self.points, self.quadrature, self.root = points, quadrature, np.sqrt(quadrature)
        self.size = self.n_atoms = len(points)
        self.operator = operator

    @property
    def default_operator(self):
        """Matrix (d, d) of the operator that "auto" means."""
        return self.integral(self.operator.gram)

    def encode(self, values):
        """Coordinates (..., d) of point values (..., m)."""
        return values * self.root

    def decode(self, coordinates):
        """Point values (..., m) of coordinates (..., d)."""
        return coordinates / self.root

    def basis(self, points):
        """Values (d, p) of the basis functions at points (p,): hat functions divided by sqrt(q_j)."""
        return interpolate_rows(self.points, np.eye(self.size), points) / self.root[:, None]

    def integral(self, gram):
        """Matrix (d, d) of the integral operator of a kernel."""
        return self.root[:, None] * gram(self.points, self.points) * self.root

    def evaluate_integral(self, gram, points):
        """Matrix (d, p) from coordinates of f to values, at points (p,), of its integral against the kernel."""
        return self.root[:, None] * gram(self.points, points)

    def operator_from_atoms(self, B):
        """The operator itself: atoms are the points."""
        return B


class BasisAxis:
    """Coordinates in the orthonormal basis that spans a dictionary of atoms, which may be redundant.

    With the dictionary's Gram matrix ``G = E diag(g) E'`` the basis is ``g^-1/2 E' atoms``, and an operator B on
    coefficients of atoms becomes ``g^1/2 E' B E g^1/2``: Bouche et al. 2021, proposition 3.2, in whitened coordinates.

    Parameters
    ----------
    atoms : Atoms
        Callable ``points (p,) -> (k, p)`` with ``scale_weights`` (k,), the diagonal of B.
    points, quadrature : arrays of shape (m,)
        Points in [0, 1] and quadrature weights of sum 1, which define the inner product.
    """

    pointwise = False

    def __init__(self, atoms, points, quadrature):
        self.atoms, self.points, self.quadrature = atoms, points, quadrature
        self.around_mean = getattr(atoms, "around_mean", False)
        values = atoms(points)
        gram = (values * quadrature) @ values.T
        self.n_atoms = len(values)
        if np.abs(gram - np.eye(self.n_atoms)).max() <= 1e-12 * self.n_atoms:  # orthonormal up to rounding
            self.to_basis = self.from_atoms = None
        else:
            g, E = spectrum(gram, 1e-10)  # smaller eigenvalues are rounding errors of dependent atoms
            if not len(g):
                raise ValueError("space: every atom of the dictionary is zero on the grid; give other atoms")
            self.to_basis = (E / np.sqrt(g)).T  # (d, k)
            self.from_atoms = (E * np.sqrt(g)).T  # (d, k), coefficients of atoms -> coordinates
        self.grid_values = self.basis(points)
        self.analysis = self.grid_values * quadrature
        self.size = len(self.grid_values)

    @property
    def default_operator(self):
        """Matrix (d, d) of the operator that "auto" means: the weights of the atoms."""
        return self.operator_from_atoms(np.diag(self.atoms.scale_weights))

    def encode(self, values):
        return values @ self.analysis.T

    def decode(self, coordinates):
        return coordinates @ self.grid_values

    def basis(self, points):
        values = self.atoms(points)
        return values if self.to_basis is None else self.to_basis @ values

    def integral(self, gram):
        return self.analysis @ gram(self.points, self.points) @ self.analysis.T

    def operator_from_atoms(self, B):
        """Operator (d, d) on coordinates from an operator (k, k) on coefficients of atoms."""
        return B if self.from_atoms is None else self.from_atoms @ B @ self.from_atoms.T
