"""Spaces of functions as settings: each says how one variable becomes an axis of coordinates."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from sklearn.base import BaseEstimator, clone

from .._linalg import spectrum
from .._validation import check_choice, check_number
from ..functions import gauss, non_negative, quadrature
from ..operators import Integral
from .atoms import Atoms, Eigenfunctions
from .axis import BasisAxis, GridAxis
from .dictionaries import BASES, as_basis


class Grid(BaseEstimator):
    """Point values on the training grid, the only space for losses that act point by point.

    The default operator is ``operators.Integral()``. With an integral operator predictions at any point come from its
    kernel; else, and for irregular functions, from linear splines through the grid.

    Parameters
    ----------
    weights : quadrature weights, by which functions have norms and inner products: "trapezoid", "equal", or an array
        (m,) of positive numbers, one a point, which are scaled to sum 1. Each variable of a function has the same.
    """

    def __init__(self, weights="trapezoid"):
        self.weights = weights

    def axis(self, points, curves=None, sample_weight=None):
        q = quadrature(points, self.weights, "Grid: weights")
        if not q.all():
            raise ValueError(
                f"Grid: weights must be > 0, got 0 at index {np.argmin(q)}, where values would not matter; leave the "
                "point out of y and grid, or use spaces.Eigen(weights=...) or Dictionary(weights=...)"
            )
        return GridAxis(points, q, Integral())


class Eigen(BaseEstimator):
    """Approximate eigenfunctions of the integral operator of a kernel on the domain (Lambert et al. 2022).

    The eigenfunctions are those of the discretised operator, extended by Nystroem's formula. The default operator is
    the diagonal of eigenvalues. A basis of your own with its eigenvalues (Laforgue et al. 2020, theorem 7) is
    ``Dictionary(basis, eigenvalues)``.

    Parameters
    ----------
    kernel, gamma : as in ``operators.Integral``
    n_components : number of eigenfunctions; fewer when the operator has fewer eigenvalues above rounding
    weights : as in ``Grid``; points of weight 0 are fine
    """

    def __init__(self, kernel="laplacian", n_components=20, gamma=10.0, weights="trapezoid"):
        self.kernel, self.n_components, self.gamma, self.weights = kernel, n_components, gamma, weights

    def axis(self, points, curves=None, sample_weight=None):
        operator = Integral(self.kernel, self.gamma)
        operator.validate("Eigen")
        number = check_number(self.n_components, "Eigen: n_components", integer=True)
        q = quadrature(points, self.weights, "Eigen: weights")
        root = np.sqrt(q)
        S = root[:, None] * operator.gram(points, points) * root
        values, vectors = spectrum(S, 1e-12)  # eigenfunctions of smaller ones are rounding
        if not len(values):
            raise ValueError("Eigen: kernel is zero on the grid; give another kernel or gamma")
        values, vectors = values[::-1][:number], vectors[:, ::-1][:, :number]
        coefficients = root[:, None] * vectors / values
        return BasisAxis(Atoms(Eigenfunctions(operator, points, coefficients), values), points, q)


class Dictionary(BaseEstimator):
    """Combinations of atoms, which need be neither orthogonal nor independent (Bouche et al. 2021).

    The default operator is the diagonal of eigenvalues, on the atoms.

    Parameters
    ----------
    basis : ``Fourier``, ``BSpline``, ``Wavelet``, ``PrincipalComponents``, one of their names, a basis of scikit-fda,
        whose functions are scaled to norm 1, a callable ``points (p,) in [0, 1] -> (k, p)``, or a list of those
    eigenvalues : (k,) non-negative weights of the atoms; None for the basis's own, ones unless it says otherwise
    weights : as in ``Grid``; points of weight 0 are fine
    """

    def __init__(self, basis="fourier", eigenvalues=None, weights="trapezoid"):
        self.basis, self.eigenvalues, self.weights = basis, eigenvalues, weights

    def axis(self, points, curves=None, sample_weight=None):
        q = quadrature(points, self.weights, "Dictionary: weights")
        atoms = as_basis(self.basis).atoms(points, q, curves, sample_weight)
        if self.eigenvalues is None:
            return BasisAxis(atoms, points, q)
        number = len(atoms.scale_weights)
        wanted = f"Dictionary: eigenvalues must be {number} non-negative numbers, one an atom"
        values = non_negative(self.eigenvalues, number, wanted)
        return BasisAxis(replace(atoms, scale_weights=values), points, q)


def space_of_basis(space, basis):
    """The space for functions in a basis of scikit-fda: the basis itself unless another than "grid" is asked for.

    Inner products are exact in the basis, where weights are not given.
    """
    setting = Dictionary(basis) if isinstance(space, str) and space == "grid" else as_space(space)
    weights = getattr(setting, "weights", None)
    if not isinstance(weights, str) or weights != "trapezoid":
        return setting
    return clone(setting).set_params(weights=gauss(basis)[1])


_NAMES = {"grid": Grid, "eigen": Eigen, **BASES}


def named_space(name):
    """The space, or the basis of one, behind a name."""
    return _NAMES[check_choice(name, "space", tuple(_NAMES), ", or an object of spaces")]()


def as_space(space):
    """The space behind a name, an object, or a basis (its ``Dictionary``)."""
    if isinstance(space, type):
        raise TypeError(f"space must be an object, got the class {space.__name__}; pass {space.__name__}()")
    if isinstance(space, str):
        space = named_space(space)
    if hasattr(space, "axis"):
        return space
    try:
        return Dictionary(as_basis(space))
    except (TypeError, ValueError) as error:
        raise type(error)(f"space: {error}; or 'grid', 'eigen', or an object of spaces") from error
