"""Random Fourier features of stationary kernels.

A stationary kernel is the mean of ``cos(w'(x - z))`` over frequencies w drawn from its spectral density (Rahimi &
Recht, Random features for large-scale kernel machines, 2007). The density is Gaussian for the Gaussian kernel, and a
multivariate t distribution with 2 nu degrees of freedom for Matérn kernels (Rasmussen & Williams 2006, section 4.2).
Frequencies that are orthogonal within blocks of p have the same marginal distribution and a smaller variance (Yu et
al., Orthogonal random features, 2016).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state

from .. import kernels
from .._utils.validation import check_number
from ..kernels import InputKernel, InputScaling
from ..kernels.stationary import MATERN
from .base import FeatureMap

_NU = {"rbf": math.inf, **MATERN}  # smoothness of kernels with a known spectral density


class RandomFeatures(BaseEstimator):
    """Random Fourier features of the Gaussian kernel and of Matérn kernels of rows of numbers.

    The features do not depend on the data. With as many features, landmarks approximate the kernel better, above all if
    the inputs have many columns. Random features are faster if there are few columns or X is sparse.

    Parameters
    ----------
    n_components : int, default=1000
        Number of features; an odd number is rounded down to an even one.
    orthogonal : bool, default=True
        Whether frequencies are orthogonal within blocks, which lowers the variance.
    random_state : int, RandomState instance or None, default=0
        Seed of the frequencies.

    References
    ----------
    - Rahimi and Recht (2007). Random features for large-scale kernel machines. NIPS 20.
    - Yu, Suresh, Choromanski, Holtmann-Rice and Kumar (2016). Orthogonal random features. NIPS 29.

    Examples
    --------
    >>> import numpy as np
    >>> from hilbertlearn import OperatorKernelRegressor, features
    >>> X = np.linspace(0, 1, 200)[:, None]
    >>> model = OperatorKernelRegressor(gamma=10.0, alpha=1e-6, feature_map=features.RandomFeatures(100))
    >>> model.fit(X, np.sin(6 * X[:, 0])).predict([[0.25]]).round(2)
    array([1.])
    """

    takes_average = False  # an average of kernels has no spectral density of a known form

    def __init__(self, n_components=1000, orthogonal=True, random_state=0):
        self.n_components, self.orthogonal, self.random_state = n_components, orthogonal, random_state

    def fit(self, kernel: InputKernel, X, weights=None) -> RandomMap:
        """Draw the frequencies of a kernel.

        Parameters
        ----------
        kernel : InputKernel
            A Gaussian or Matérn kernel.
        X : array or sparse matrix of shape (n, p)
            Samples; only the number of columns is used.
        weights : array of shape (n,), default=None
            Ignored.

        Returns
        -------
        map : RandomMap
            The map with its frequencies.
        """
        check_number(self.n_components, "RandomFeatures: n_components", low=1, integer=True)
        nu, gamma = _spectral_density(kernel)
        if getattr(X, "ndim", 0) != 2:
            raise ValueError("feature_map: RandomFeatures take rows of numbers (n, p); give features.Landmarks()")
        rng, number, p = check_random_state(self.random_state), self.n_components // 2, X.shape[1]
        directions = (_orthogonal_frequencies if self.orthogonal else _independent_frequencies)(rng, p, number)
        if nu < math.inf:  # a Gaussian over the root of a chi-squared mean is t distributed
            directions *= np.sqrt(2 * nu / rng.chisquare(2 * nu, size=number))
        return RandomMap(math.sqrt(2 * gamma) * directions, kernel.scaling)


def _spectral_density(kernel):
    """The parameters (nu, gamma) of the spectral density of a kernel; nu is infinite for the Gaussian kernel."""
    inner, gamma = kernel.kernel, kernel.gamma
    if isinstance(inner, kernels.Matern):
        return float(inner.nu), inner.gamma
    if isinstance(inner, kernels.NamedKernel):
        inner, gamma = inner.name, inner.gamma
    if not isinstance(inner, str) or inner not in _NU:
        raise ValueError(
            f"feature_map: RandomFeatures are of the kernels {', '.join(map(repr, _NU))} and kernels.Matern, got "
            f"{inner!r}; features.Landmarks() are for every kernel"
        )
    return _NU[inner], gamma


def _independent_frequencies(rng, p, number):
    """Frequencies (p, number) with independent Gaussian entries."""
    return rng.normal(size=(p, number))


def _orthogonal_frequencies(rng, p, number):
    """Gaussian frequencies (p, number), orthogonal within blocks of p: random rotations with chi distributed norms."""
    blocks = []
    for start in range(0, number, p):
        Q, R = np.linalg.qr(rng.normal(size=(p, p)))
        Q *= np.sign(np.diag(R))  # makes Q uniform over the rotations
        blocks.append(Q[:, : number - start])
    return np.hstack(blocks) * np.sqrt(rng.chisquare(p, size=number))


@dataclass(frozen=True, eq=False)
class RandomMap(FeatureMap):
    """Cosines, then sines, of ``X @ frequencies`` of scaled X, divided by the root of the number of frequencies."""

    frequencies: np.ndarray  # (p, r / 2)
    scaling: InputScaling | None = None

    @property
    def n_components(self) -> int:
        return 2 * self.frequencies.shape[1]

    def without_bounds(self):
        return replace(self, scaling=None if self.scaling is None else self.scaling.without_bounds())

    def values(self, X):
        p, half = self.frequencies.shape
        if X.shape[1] != p:
            raise ValueError(f"feature_map: X must have {p} columns as in fit, got {X.shape[1]}")
        frequencies = self.frequencies.astype(np.float32) if X.dtype == np.float32 else self.frequencies
        phases = np.asarray((X if self.scaling is None else self.scaling(X)) @ frequencies)
        Z = np.empty((len(phases), 2 * half), dtype=phases.dtype)
        np.cos(phases, out=Z[:, :half])
        np.sin(phases, out=Z[:, half:])
        Z /= math.sqrt(half)
        return Z
