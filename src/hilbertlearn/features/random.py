"""Random Fourier features of stationary kernels.

Rahimi & Recht, Random features for large-scale kernel machines, 2007: a stationary kernel is the mean of
``cos(w'(x - z))`` over frequencies w drawn from its spectral density, a Gaussian for the Gaussian kernel and a
multivariate t distribution with 2 nu degrees of freedom for Matérn's (Rasmussen & Williams 2006, section 4.2). Yu et
al., Orthogonal random features, 2016: directions that are orthogonal within blocks of p cover the space more evenly,
and every single one still has the same distribution.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state

from .. import kernels
from .._utils.validation import check_number
from ..kernels import InputKernel
from .base import FeatureMap

_NU = {"rbf": math.inf, "matern12": 0.5, "matern32": 1.5, "matern52": 2.5, "matern": 1.5}


class RandomFeatures(BaseEstimator):
    """Sines and cosines at random frequencies, for the Gaussian kernel and Matérn's on rows of numbers.

    They do not see the data: for the same number of features landmarks are closer to the kernel, most of all where
    inputs have many columns; random features are faster to compute where there are few columns or X is sparse.

    Parameters
    ----------
    n_components : int, default=1000
        Number of features, of an odd one the even number below.
    orthogonal : bool, default=True
        Whether frequencies are orthogonal to each other in blocks, which lowers the variance.
    random_state : int, RandomState instance or None, default=0
        Of the frequencies.

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

    def __init__(self, n_components=1000, orthogonal=True, random_state=0):
        self.n_components, self.orthogonal, self.random_state = n_components, orthogonal, random_state

    def fit(self, kernel: InputKernel, X, weights=None) -> RandomMap:
        """The map for a kernel; of X the number of columns counts, weights have no part."""
        check_number(self.n_components, "RandomFeatures: n_components", low=1, integer=True)
        nu, gamma = _spectrum(kernel)
        if getattr(X, "ndim", 0) != 2:
            raise ValueError("feature_map: RandomFeatures take rows of numbers (n, p); give features.Landmarks()")
        random, pairs, p = check_random_state(self.random_state), self.n_components // 2, X.shape[1]
        directions = (_orthogonal if self.orthogonal else _independent)(random, p, pairs)
        if nu < math.inf:  # a Gaussian divided by the root of a chi-squared mean has a t distribution
            directions *= np.sqrt(2 * nu / random.chisquare(2 * nu, size=pairs))
        return RandomMap(math.sqrt(2 * gamma) * directions)


def _spectrum(kernel):
    """(nu, gamma) of a kernel whose spectral density is known, nu infinite for the Gaussian kernel."""
    inner, gamma = kernel.kernel, kernel.gamma
    if isinstance(inner, kernels.Matern):
        return float(inner.nu), inner.gamma
    if isinstance(inner, kernels.NamedKernel):
        inner, gamma = inner.name, inner.gamma
    if not isinstance(inner, str) or inner not in _NU:
        raise ValueError(
            f"feature_map: RandomFeatures are of the kernels {', '.join(map(repr, _NU))} and kernels.Matern, got "
            f"{inner!r}; features.Landmarks() go with every kernel"
        )
    return _NU[inner], gamma


def _independent(random, p, number):
    """Frequencies (p, number) with independent Gaussian entries."""
    return random.normal(size=(p, number))


def _orthogonal(random, p, number):
    """Gaussian frequencies (p, number) that are orthogonal within blocks of p: random rotations, and chi radii."""
    blocks = []
    for start in range(0, number, p):
        Q, R = np.linalg.qr(random.normal(size=(p, p)))
        Q *= np.sign(np.diag(R))  # so that it is uniform over the rotations
        blocks.append(Q[:, : number - start])
    return np.hstack(blocks) * np.sqrt(random.chisquare(p, size=number))


@dataclass(frozen=True, eq=False)
class RandomMap(FeatureMap):
    """Cosines, then sines, of ``X @ frequencies``, divided by the root of the number of frequencies."""

    frequencies: np.ndarray  # (p, r / 2)

    @property
    def n_components(self) -> int:
        return 2 * self.frequencies.shape[1]

    def values(self, X):
        p, half = self.frequencies.shape
        if X.shape[1] != p:
            raise ValueError(f"feature_map: X must have {p} columns as in fit, got {X.shape[1]}")
        frequencies = self.frequencies.astype(np.float32) if X.dtype == np.float32 else self.frequencies
        phases = np.asarray(X @ frequencies)
        Z = np.empty((len(phases), 2 * half), dtype=phases.dtype)
        np.cos(phases, out=Z[:, :half])
        np.sin(phases, out=Z[:, half:])
        Z /= math.sqrt(half)
        return Z
