"""Spaces of functions as settings: each says how one variable becomes an axis of coordinates."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import scipy.linalg
from sklearn.base import BaseEstimator

from .._validation import check_choice, check_number
from ..functions import quadrature
from ..operators import Integral
from .axis import BasisAxis, GridAxis
from .dictionaries import Atoms, as_basis

_SMALLEST_EIGENVALUE = 1e-12  # of an integral operator, beside its largest, whose eigenfunction is more than rounding


class Grid(BaseEstimator):
    """Point values on the training grid, the only space for losses that act point by point.

    The default operator is ``operators.Integral()``. With an integral operator predictions at any point come from its
    kernel; else, and for irregular functions, from linear splines through the grid.

    Parameters
    ----------
    weights : "trapezoid" or "equal" quadrature weights
    """

    def __init__(self, weights="trapezoid"):
        self.weights = weights

    def axis(self, points, curves=None, sample_weight=None):
        rule = check_choice(self.weights, "Grid: weights", ("trapezoid", "equal"))
        return GridAxis(points, quadrature(points, rule), Integral())


class Eigen(BaseEstimator):
    """Approximate eigenfunctions of the integral operator of a kernel on the domain (Lambert et al. 2022).

    The eigenfunctions are those of the discretised operator, extended by Nystroem's formula. The default operator is
    the diagonal of eigenvalues. A basis of your own with its eigenvalues (Laforgue et al. 2020, theorem 7) is
    ``Dictionary(basis, eigenvalues)``.

    Parameters
    ----------
    kernel, gamma : as in ``operators.Integral``
    n_components : number of eigenfunctions; fewer when the operator has fewer eigenvalues above rounding
    """

    def __init__(self, kernel="laplacian", n_components=20, gamma=10.0):
        self.kernel, self.n_components, self.gamma = kernel, n_components, gamma

    def axis(self, points, curves=None, sample_weight=None):
        operator = Integral(self.kernel, self.gamma)
        operator.validate("Eigen")
        number = min(check_number(self.n_components, "Eigen: n_components", integer=True), len(points))
        weights = quadrature(points)
        root = np.sqrt(weights)
        S = root[:, None] * operator.gram(points, points) * root
        values, vectors = scipy.linalg.eigh(S, subset_by_index=(len(points) - number, len(points) - 1))
        kept = values > _SMALLEST_EIGENVALUE * max(values[-1], 0.0)
        if not kept.any():
            raise ValueError("Eigen: kernel is zero on the grid; give another kernel or gamma")
        values, vectors = values[kept][::-1], vectors[:, kept][:, ::-1]
        coefficients = root[:, None] * vectors / values
        return BasisAxis(Atoms(partial(_eigenfunctions, operator, points, coefficients), values), points, weights)


def _eigenfunctions(operator, grid, coefficients, points):
    """``sum_m k(t, t_m) coef_mj`` at points t (p,): Nystroem's extension of eigenvectors on a grid, (k, p)."""
    return coefficients.T @ operator.gram(grid, points)


class Dictionary(BaseEstimator):
    """Combinations of atoms, which need be neither orthogonal nor independent (Bouche et al. 2021).

    The default operator is the diagonal of eigenvalues, on the atoms.

    Parameters
    ----------
    basis : ``Fourier``, ``BSpline``, ``Wavelet``, ``PrincipalComponents``, one of their names, a callable
        ``points (p,) in [0, 1] -> (k, p)``, or a list of those
    eigenvalues : (k,) non-negative weights of the atoms; None for the basis's own, ones unless it says otherwise
    """

    def __init__(self, basis="fourier", eigenvalues=None):
        self.basis, self.eigenvalues = basis, eigenvalues

    def axis(self, points, curves=None, sample_weight=None):
        weights = quadrature(points)
        atoms = as_basis(self.basis).resolve(points, weights, curves, sample_weight)
        if self.eigenvalues is None:
            return BasisAxis(atoms, points, weights)
        number = len(atoms.scale_weights)
        try:
            values = np.asarray(self.eigenvalues, dtype=float)
        except (TypeError, ValueError):
            values = np.empty(0)  # refused below
        if values.shape != (number,) or not (np.isfinite(values) & (values >= 0)).all():
            raise ValueError(
                f"Dictionary: eigenvalues must be {number} non-negative numbers, one an atom, got {self.eigenvalues!r}"
            )
        return BasisAxis(replace(atoms, scale_weights=values), points, weights)


_NAMES = {"grid": Grid, "eigen": Eigen}


def as_space(space):
    """The space behind a name, an object, or a basis (its ``Dictionary``)."""
    if isinstance(space, str) and space in _NAMES:
        return _NAMES[space]()
    if hasattr(space, "axis") and not isinstance(space, type):
        return space
    if isinstance(space, type):
        raise TypeError(f"space must be an object, got the class {space.__name__}; pass {space.__name__}()")
    try:
        return Dictionary(as_basis(space))
    except (TypeError, ValueError) as error:
        raise type(error)(f"space: {error}; or {', '.join(map(repr, _NAMES))}, or an object of spaces") from error
