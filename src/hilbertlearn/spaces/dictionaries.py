"""Dictionaries of functions on the unit interval: settings from which ``atoms`` are computed for a grid and curves."""

from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator

from .._utils.linalg import spectrum
from .._utils.statistics import covariance
from .._utils.validation import check_choice, check_number
from ..data.functions import check_basis, is_basis
from .atoms import (
    Atoms,
    AtomUnion,
    Bumps,
    CallableAtoms,
    LinearInterpolants,
    RescaledBasis,
    Splines,
    TrigonometricFunctions,
    Wavelets,
    translates,
)


class Basis(BaseEstimator):
    """Settings of a dictionary; any object with this method is one."""

    def atoms(self, grid, quadrature, curves=None, sample_weight=None):
        """The functions of the dictionary for outputs on a grid.

        Parameters
        ----------
        grid : array of shape (m,)
            Increasing quadrature points in [0, 1].
        quadrature : array of shape (m,)
            Weights of these points, non-negative, of sum 1.
        curves : array of shape (n, m), default=None
            Training curves on the grid, NaN where not observed; None for irregular curves.
        sample_weight : array of shape (n,), default=None
            Weights of the curves; None for ones.

        Returns
        -------
        atoms : Atoms
            A callable that returns values (n_atoms, p) at points (p,), with weights of the atoms.
        """
        raise NotImplementedError


class Fourier(Basis):
    """Trigonometric basis ``1, √2 cos 2πt, √2 sin 2πt, √2 cos 4πt, √2 sin 4πt, ...``, orthonormal on [0, 1].

    ``Fourier(16, constant=False, rate=2)`` are the first 8 cosines and sines of Laforgue et al. 2020 (figure 8) with
    their eigenvalues.

    Parameters
    ----------
    n_components : int, default=10
        Number of atoms, in the order above; without the constant, an even number keeps pairs complete.
    constant : bool, default=True
        Whether the constant function is included.
    rate : float, default=0.0
        The weight at frequency l is ``1 / (1 + l)^rate``; 0 gives all atoms weight 1.

    References
    ----------
    - Laforgue, Lambert, Brogat-Motte and d'Alché-Buc (2020). Duality in RKHSs with infinite dimensional outputs:
      application to robust losses. ICML, figure 8.
    - Ramsay and Silverman (2005). Functional Data Analysis, second edition. Springer, chapter 3.

    Examples
    --------
    >>> import numpy as np
    >>> from hilbertlearn import FunctionalRegressor, spaces
    >>> X, t = np.linspace(0, 1, 20)[:, None], np.linspace(0, 1, 50)
    >>> model = FunctionalRegressor(space=spaces.Fourier(3), gamma=1.0, alpha=1e-6).fit(X, X * np.sin(2 * np.pi * t))
    >>> round(float(np.abs(model.predict([[0.5]]) - 0.5 * np.sin(2 * np.pi * t)).max()), 3)
    0.0
    """

    def __init__(self, n_components=10, constant=True, rate=0.0):
        self.n_components, self.constant, self.rate = n_components, constant, rate

    def atoms(self, grid, quadrature, curves=None, sample_weight=None):
        check_number(self.n_components, "Fourier: n_components", integer=True)
        check_number(self.rate, "Fourier: rate", strict=False)
        order = np.arange(self.n_components) + (0 if self.constant else 1)
        return Atoms(TrigonometricFunctions(order), (1.0 + (order + 1) // 2) ** -self.rate)


class BSpline(Basis):
    """B-splines: the basis of all splines on equidistant knots, or equidistant bumps of a given width. Not orthogonal.

    Parameters
    ----------
    n_components : int, default=15
        Number of atoms.
    degree : int, default=3
        Degree of the polynomial pieces; 3 is cubic.
    width : float, default=None
        None for the basis of all splines on equidistant knots, repeated at both ends; it sums to 1 everywhere.
        A number in (0, 1], a fraction of the domain, for B-splines whose equidistant knots span this width; the first
        starts at 0 and the last ends at 1. ``BSpline(10, width=2 / 11)`` is the dictionary of Bouche et al. 2021
        (appendix C.1) for their toy data, with frequencies 1 ... 10 and functions on [0, 11].

    References
    ----------
    - de Boor (2001). A Practical Guide to Splines, revised edition. Springer.
    - Bouche, Clausel, Roueff and d'Alché-Buc (2021). Nonlinear functional output regression: a dictionary approach.
      AISTATS, appendix C.1.

    Examples
    --------
    >>> import numpy as np
    >>> from hilbertlearn import FunctionalRegressor, spaces
    >>> X, t = np.linspace(1, 2, 20)[:, None], np.linspace(0, 1, 50)
    >>> space = spaces.BSpline(8)
    >>> model = FunctionalRegressor(space=space, gamma=1.0, alpha=1e-6).fit(X, np.exp(-X * t))
    >>> round(float(np.abs(model.predict([[1.5]]) - np.exp(-1.5 * t)).max()), 3)
    0.0
    """

    def __init__(self, n_components=15, degree=3, width=None):
        self.n_components, self.degree, self.width = n_components, degree, width

    def atoms(self, grid, quadrature, curves=None, sample_weight=None):
        n = check_number(self.n_components, "BSpline: n_components", integer=True)
        degree = check_number(self.degree, "BSpline: degree", strict=False, integer=True)
        if self.width is None:
            if n <= degree:
                raise ValueError(
                    f"BSpline: n_components must be at least degree + 1 = {degree + 1}, got {n}; "
                    "raise it, lower the degree, or give a width"
                )
            inner = np.linspace(0.0, 1.0, n - degree + 1)
            knots = np.concatenate([np.zeros(degree), inner, np.ones(degree)])
            return Atoms(Splines(knots, degree), np.ones(n))
        if check_number(self.width, "BSpline: width") > 1:
            raise ValueError(f"BSpline: width must be at most 1, the length of the interval, got {self.width!r}")
        starts = np.linspace(0.0, 1 - self.width, n) if n > 1 else np.array([(1 - self.width) / 2])
        return Atoms(Bumps(starts, self.width, degree), np.ones(n))


class Wavelet(Basis):
    """Orthogonal wavelets: scaling functions of scale 0 and wavelets of scales 0 ... level - 1.

    Atoms of scale j are ``2^(j/2) f(2^j t - k)``, orthonormal on the line. All atoms that are not zero on [0, 1] are
    restricted to it, as PyWavelets synthesises with ``mode="symmetric"``. Coefficients are computed from inner products
    on [0, 1], so no extension beyond the ends is needed, and the atoms span all polynomials that the wavelets
    reproduce. The family is redundant at the ends; its Gram matrix has no eigenvalue above 1.

    Parameters
    ----------
    name : str, default="db2"
        An orthogonal wavelet of PyWavelets: Daubechies ("db2", "db3", ...), Coiflets ("coif1" has 2 vanishing
        moments, "coif2" has 4, ...) or Symlets ("sym4", ...).
    level : int, default=None
        Number of scales, with about ``2^level`` independent atoms; None for the largest number with two grid points
        for each atom, at most 6.
    decay : float, default=1.0
        The weight at scale j is ``1 / decay^j``; at least 1.

    References
    ----------
    - Daubechies (1992). Ten Lectures on Wavelets. SIAM.
    - Bouche, Clausel, Roueff and d'Alché-Buc (2021). Nonlinear functional output regression: a dictionary approach.
      AISTATS, appendix C.2.2.

    Examples
    --------
    >>> import numpy as np
    >>> from hilbertlearn import FunctionalRegressor, spaces
    >>> X, t = np.linspace(1, 2, 20)[:, None], np.linspace(0, 1, 50)
    >>> space = spaces.Wavelet("db2", level=3)
    >>> model = FunctionalRegressor(space=space, gamma=1.0, alpha=1e-6).fit(X, np.exp(-X * t))
    >>> round(float(np.abs(model.predict([[1.5]]) - np.exp(-1.5 * t)).max()), 3)
    0.006
    """

    def __init__(self, name="db2", level=None, decay=1.0):
        self.name, self.level, self.decay = name, level, decay

    def atoms(self, grid, quadrature, curves=None, sample_weight=None):
        check_number(self.decay, "Wavelet: decay", low=1, strict=False)
        low, high = _filters(self.name)
        level = self.level
        if level is None:
            level = int(np.clip(np.log2(len(grid)) - 1, 1, 6))
        check_number(level, "Wavelet: level", integer=True)
        sizes = [len(translates(low, j)) for j in (0, *range(level))]
        scale = np.repeat([0, *range(level)], sizes)
        return Atoms(Wavelets(low, high, level), float(self.decay) ** -scale)


class PrincipalComponents(Basis):
    """Eigenfunctions of the covariance of the training curves, in decreasing order of eigenvalues, orthonormal.

    Means and covariances use observed values only; negative eigenvalues, which gaps may cause, are dropped. Atoms are
    linear between grid points and constant beyond the ends.

    Parameters
    ----------
    n_components : int, default=10
        Largest number of atoms. There are fewer if the covariance has a smaller rank, and only the constant function
        if all curves are equal.

    References
    ----------
    - Ramsay and Silverman (2005). Functional Data Analysis, second edition. Springer, chapter 8.
    - Bouche, Clausel, Roueff and d'Alché-Buc (2021). Nonlinear functional output regression: a dictionary approach.
      AISTATS.

    Examples
    --------
    >>> import numpy as np
    >>> from hilbertlearn import FunctionalRegressor, spaces
    >>> X, t = np.linspace(1, 2, 20)[:, None], np.linspace(0, 1, 50)
    >>> space = spaces.PrincipalComponents(3)
    >>> model = FunctionalRegressor(space=space, gamma=1.0, alpha=1e-6).fit(X, np.exp(-X * t))
    >>> round(float(np.abs(model.predict([[1.5]]) - np.exp(-1.5 * t)).max()), 3)
    0.0
    """

    def __init__(self, n_components=10):
        self.n_components = n_components

    def atoms(self, grid, quadrature, curves=None, sample_weight=None):
        check_number(self.n_components, "PrincipalComponents: n_components", integer=True)
        if curves is None:
            raise ValueError(
                "PrincipalComponents needs training curves on a common grid, got none; interpolate the curves on a "
                "grid first, or use another basis such as 'bspline'"
            )
        sample_weight = np.ones(len(curves)) if sample_weight is None else sample_weight
        is_observed = (sample_weight @ np.isfinite(curves) > 0) & (quadrature > 0)
        if not is_observed.any():
            raise ValueError("PrincipalComponents: no training curve has an observed value; use another basis")
        root = np.sqrt(quadrature[is_observed] / quadrature[is_observed].sum())
        _, vectors = spectrum(root[:, None] * covariance(curves[:, is_observed], sample_weight) * root, 1e-12)
        atoms = vectors.T[::-1][: self.n_components] / root
        if not len(atoms):  # all curves are equal: any atom represents zero deviations
            atoms = np.ones((1, is_observed.sum()))
        return Atoms(LinearInterpolants(grid[is_observed], atoms), np.ones(len(atoms)), around_mean=True)


class _CallableBasis(Basis):
    """The atoms of a callable ``points (p,) -> (n_atoms, p)``."""

    def __init__(self, function):
        self.function = function

    def atoms(self, grid, quadrature, curves=None, sample_weight=None):
        function = CallableAtoms(self.function)
        number = len(function(grid))
        if not number:
            raise ValueError("basis: the callable returned no atoms; return at least one row")
        return Atoms(function, np.ones(number))


class _ScikitFdaBasis(Basis):
    """The functions of a scikit-fda basis, its domain mapped to that of the outputs, scaled to norm 1.

    Bouche et al. 2021 assume a normed dictionary (assumption 3.3); monomials far from 0 would be ill-conditioned.
    """

    def __init__(self, basis):
        self.basis = basis

    def atoms(self, grid, quadrature, curves=None, sample_weight=None):
        check_basis(self.basis, "basis")
        sizes = np.sqrt(RescaledBasis(self.basis, 1.0)(grid) ** 2 @ quadrature)
        return Atoms(RescaledBasis(self.basis, np.where(sizes > 0, sizes, 1.0)[:, None]), np.ones(len(sizes)))


class _BasisUnion(Basis):
    """The atoms of several bases, one after the other."""

    def __init__(self, bases):
        self.bases = bases

    def atoms(self, grid, quadrature, curves=None, sample_weight=None):
        parts = [basis.atoms(grid, quadrature, curves, sample_weight) for basis in self.bases]
        scale_weights = np.concatenate([part.scale_weights for part in parts])
        return Atoms(AtomUnion(parts), scale_weights, any(part.around_mean for part in parts))


BASES = {"fourier": Fourier, "bspline": BSpline, "wavelet": Wavelet, "principal_components": PrincipalComponents}


def as_basis(basis):
    """The basis from a name, a basis, a callable ``points (p,) -> (n_atoms, p)``, or a list of these (their union)."""
    if isinstance(basis, str):
        return BASES[check_choice(basis, "basis", tuple(BASES))]()
    if isinstance(basis, type):
        raise TypeError(f"basis must be an object, got the class {basis.__name__}; pass {basis.__name__}()")
    if hasattr(basis, "atoms"):
        return basis
    if isinstance(basis, list | tuple):
        if not len(basis):
            raise ValueError("basis is an empty list; give at least one basis, for example ['fourier']")
        return _BasisUnion([as_basis(part) for part in basis])
    if is_basis(basis):
        return _ScikitFdaBasis(basis)
    if callable(basis):
        return _CallableBasis(basis)
    raise TypeError(
        f"basis must be one of the names {', '.join(map(repr, BASES))}, an object such as Fourier(10), a basis of "
        f"scikit-fda, a callable points -> (n_atoms, n_points), or a list of these, got {type(basis).__name__}"
    )


def _filters(name):
    """Low- and high-pass synthesis filters of an orthogonal wavelet."""
    try:
        import pywt
    except ImportError as error:
        raise ImportError(
            "the wavelet basis needs PyWavelets; install it with: pip install 'hilbertlearn[wavelets]'"
        ) from error
    families = {family: pywt.wavelist(family) for family in ("db", "sym", "coif")}
    if not any(name in names for names in families.values()):
        spans = ", ".join(f"{names[0]!r} to {names[-1]!r}" for names in families.values())
        raise ValueError(f"Wavelet: name must be an orthogonal wavelet of PyWavelets, {spans}, got {name!r}")
    wavelet = pywt.Wavelet(name)
    return np.array(wavelet.rec_lo), np.array(wavelet.rec_hi)
