"""Settings of spaces of functions: each creates the axis of one variable."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from sklearn.base import BaseEstimator, clone

from .._utils.linalg import spectrum
from .._utils.validation import check_choice, check_number
from ..data.functions import gauss_quadrature, non_negative, quadrature
from ..operators import Integral
from .atoms import Atoms, Eigenfunctions
from .axis import BasisAxis, GridAxis
from .dictionaries import BASES, as_basis


class AxisSetting(BaseEstimator):
    """Settings of coordinates along one variable; any object with this method is one."""

    def axis(self, points, curves=None, sample_weight=None):
        """The coordinates of outputs along one variable.

        Parameters
        ----------
        points : array of shape (m,)
            Grid of the outputs in [0, 1].
        curves : array of shape (n, m), default=None
            Training curves on the grid, NaN where not observed; dictionaries may depend on them.
        sample_weight : array of shape (n,), default=None
            Weights of the curves; None for ones.

        Returns
        -------
        axis : GridAxis or BasisAxis
            Maps between point values and coordinates.
        """
        raise NotImplementedError


class Grid(AxisSetting):
    """Point values on the training grid, the only space for losses that act point by point.

    The default operator is ``operators.Integral()``. An integral operator predicts values at any point by its kernel.
    With other operators, and for irregular functions, values between grid points are interpolated linearly.

    Parameters
    ----------
    weights : {"trapezoid", "equal"} or array of shape (m,), default="trapezoid"
        Quadrature weights of norms and inner products. An array of positive numbers, one for each point, is scaled to
        sum 1. All variables of a function have the same weights.

    References
    ----------
    - Lambert, Bouche, Szabó and d'Alché-Buc (2022). Functional output regression with infimal convolution: exploring
      the Huber and epsilon-insensitive losses. ICML, section 3.1.

    Examples
    --------
    >>> import numpy as np
    >>> from hilbertlearn import FunctionalRegressor, losses, spaces
    >>> X, t = np.linspace(1, 2, 20)[:, None], np.linspace(0, 1, 30)
    >>> Y = np.exp(-X * t)
    >>> Y[3, 10] = 50.0  # one wrong value
    >>> model = FunctionalRegressor(space=spaces.Grid(), loss=losses.Huber(0.05, p=1), gamma=1.0, alpha=1e-4).fit(X, Y)
    >>> round(float(np.abs(model.predict(X[3:4]) - np.exp(-X[3] * t)).max()), 2)
    0.01
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


class Eigen(AxisSetting):
    """Approximate eigenfunctions of the integral operator of a kernel on the domain.

    The eigenfunctions are those of the discretised operator, extended by Nystroem's formula. The default operator is
    the diagonal of eigenvalues. ``Dictionary(basis, eigenvalues)`` is a given basis with its eigenvalues (Laforgue et
    al. 2020, theorem 7). In both papers a loss takes the residual in the span of the basis:
    ``FunctionalRegressor(irregular="projected_trapezoid")``. By default, losses other than the squared one include the
    part of the residual outside the span.

    Parameters
    ----------
    kernel : str or callable, default="laplacian"
        As in ``operators.Integral``.
    n_components : int, default=20
        Number of eigenfunctions; fewer when the operator has fewer eigenvalues above rounding.
    gamma : float, default=10.0
        As in ``operators.Integral``.
    weights : {"trapezoid", "equal"} or array of shape (m,), default="trapezoid"
        As in ``Grid``; weights may be 0.

    References
    ----------
    - Lambert, Bouche, Szabó and d'Alché-Buc (2022). Functional output regression with infimal convolution: exploring
      the Huber and epsilon-insensitive losses. ICML, section 3.2.
    - Laforgue, Lambert, Brogat-Motte and d'Alché-Buc (2020). Duality in RKHSs with infinite dimensional outputs:
      application to robust losses. ICML, theorem 7.

    Examples
    --------
    >>> import numpy as np
    >>> from hilbertlearn import FunctionalRegressor, spaces
    >>> X, t = np.linspace(1, 2, 20)[:, None], np.linspace(0, 1, 50)
    >>> space = spaces.Eigen("rbf", n_components=6, gamma=5.0)
    >>> model = FunctionalRegressor(space=space, gamma=1.0, alpha=1e-6).fit(X, np.exp(-X * t))
    >>> round(float(np.abs(model.predict([[1.5]]) - np.exp(-1.5 * t)).max()), 3)
    0.014
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
        values, vectors = spectrum(S, 1e-12)  # smaller eigenvalues are rounding errors
        if not len(values):
            raise ValueError("Eigen: kernel is zero on the grid; give another kernel or gamma")
        values, vectors = values[::-1][:number], vectors[:, ::-1][:, :number]
        coefficients = root[:, None] * vectors / values
        return BasisAxis(Atoms(Eigenfunctions(operator, points, coefficients), values), points, q)


class Dictionary(AxisSetting):
    """Linear combinations of atoms, which need not be orthogonal or independent.

    The default operator is the diagonal of eigenvalues on the coefficients of atoms.

    Parameters
    ----------
    basis : basis object, str, callable or list, default="fourier"
        ``Fourier``, ``BSpline``, ``Wavelet``, ``PrincipalComponents``, one of their names, a basis of scikit-fda (its
        functions are scaled to norm 1), a callable ``points (p,) in [0, 1] -> (k, p)``, or a list of these.
    eigenvalues : array of shape (k,), default=None
        Non-negative weights of the atoms; None for the weights of the basis, which are ones for most bases.
    weights : {"trapezoid", "equal"} or array of shape (m,), default="trapezoid"
        As in ``Grid``; weights may be 0.

    References
    ----------
    - Bouche, Clausel, Roueff and d'Alché-Buc (2021). Nonlinear functional output regression: a dictionary approach.
      AISTATS.

    Examples
    --------
    A line, a parabola and a wave:

    >>> import numpy as np
    >>> from hilbertlearn import FunctionalRegressor, spaces
    >>> X, t = np.linspace(0, 1, 20)[:, None], np.linspace(0, 1, 50)
    >>> atoms = spaces.Dictionary(lambda t: np.array([t, t**2, np.sin(20 * t)]))
    >>> model = FunctionalRegressor(space=atoms, gamma=1.0, alpha=1e-6).fit(X, X * np.sin(20 * t) + t)
    >>> round(float(np.abs(model.predict([[0.5]]) - (0.5 * np.sin(20 * t) + t)).max()), 3)
    0.0
    """

    def __init__(self, basis="fourier", eigenvalues=None, weights="trapezoid"):
        self.basis, self.eigenvalues, self.weights = basis, eigenvalues, weights

    def axis(self, points, curves=None, sample_weight=None):
        q = quadrature(points, self.weights, "Dictionary: weights")
        atoms = as_basis(self.basis).atoms(points, q, curves, sample_weight)
        if self.eigenvalues is None:
            return BasisAxis(atoms, points, q)
        number = len(atoms.scale_weights)
        message = f"Dictionary: eigenvalues must be {number} non-negative numbers, one an atom"
        values = non_negative(self.eigenvalues, number, message)
        return BasisAxis(replace(atoms, scale_weights=values), points, q)


def space_of_basis(space, basis):
    """The space for functions in a basis of scikit-fda: this basis, unless the setting is not "grid".

    Inner products are exact in the basis unless weights are given.
    """
    setting = Dictionary(basis) if isinstance(space, str) and space == "grid" else as_space(space)
    weights = getattr(setting, "weights", None)
    if not isinstance(weights, str) or weights != "trapezoid":
        return setting
    return clone(setting).set_params(weights=gauss_quadrature(basis)[1])


_NAMES = {"grid": Grid, "eigen": Eigen, **BASES}


def named_space(name):
    """The space or basis with the given name."""
    return _NAMES[check_choice(name, "space", tuple(_NAMES), ", or an object of spaces")]()


def as_space(space):
    """The space from a name, an object, or a basis, which becomes a ``Dictionary``."""
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
