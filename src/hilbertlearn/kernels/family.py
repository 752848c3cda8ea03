"""Kernels to choose from: shapes, and for each the rate at which its values fall with distance."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import scipy.sparse
from sklearn.base import BaseEstimator

from ..data.functions import has_points
from .functional import L2, IntegratedKernel
from .gram import CURVE_NAMES, InputKernel, scalar_kernel
from .objects import NamedKernel, object_kernel
from .stationary import MATERN, distances, metric_name, profile

_CURVES = ("rbf", "matern32", "matern12", "linear")  # shapes of kernels that are tried, smooth ones first
_ROWS = ("rbf", "matern32", "matern12", "laplacian", "linear")
_SPARSE = _CURVES  # city-block distances of sparse rows take long
_STATIONARY = ("rbf", *MATERN, "laplacian", "chi2")
_RATED = (*_STATIONARY, "poly", "polynomial")  # names with a rate


_OF_CURVES: dict[str, Callable] = dict(zip(CURVE_NAMES, (L2, IntegratedKernel), strict=True))


def kernel_from_name(kernel, gamma):
    """The kernel of curves or strings behind a name, with the estimator's gamma; other names and objects as they are.

    In a list of (kernel, operator) terms, those that are such kernels by name.
    """
    if isinstance(kernel, str):
        return _OF_CURVES[kernel](gamma=gamma) if kernel in _OF_CURVES else object_kernel(kernel)
    if isinstance(kernel, (list, tuple)):
        pairs = [isinstance(term, (list, tuple)) and len(term) == 2 for term in kernel]
        return [
            (kernel_from_name(term[0], gamma), term[1]) if pair else term
            for pair, term in zip(pairs, kernel, strict=True)
        ]
    return kernel


def with_settings(name):
    """The object behind the name of a kernel, so that its gamma can be set; the name itself where there is none."""
    kernel = kernel_from_name(name, "auto")
    return NamedKernel(kernel, "auto") if isinstance(kernel, str) and kernel in _STATIONARY else kernel


class KernelSearch(BaseEstimator):
    """The kernel with the smallest held-out error of several; ``kernel="auto"`` is one of these.

    Parameters
    ----------
    kernels : sequence of str, kernel objects or callables
        They take the same inputs; rates of names follow the estimator's gamma.

    References
    ----------
    - Arlot and Celisse (2010). A survey of cross-validation procedures for model selection. Statistics Surveys 4.

    Examples
    --------
    >>> import numpy as np
    >>> from hilbertlearn import OperatorKernelRegressor, kernels
    >>> X = np.linspace(0, 1, 40)[:, None]
    >>> step = (X[:, 0] > 0.5).astype(float)
    >>> model = OperatorKernelRegressor(kernel=kernels.KernelSearch(["rbf", "matern12"])).fit(X, step)
    >>> model.kernel_
    'matern12'
    """

    def __init__(self, kernels=_ROWS):
        self.kernels = kernels


def candidate_kernels(kernel, gamma, X):
    """The kernels that the settings leave open for inputs X, as given to fit.

    "auto" with another gamma than "auto" is the Gaussian kernel.
    """
    if isinstance(kernel, str) and kernel == "auto":
        if not isinstance(gamma, str) or gamma != "auto":
            return ["rbf"]
        if (has_points(X) or getattr(X, "ndim", 2) == 3) and getattr(X, "dim_domain", 1) == 1:
            return [L2(shape=shape) for shape in _CURVES]
        return list(_SPARSE if scipy.sparse.issparse(X) else _ROWS)
    if not isinstance(kernel, KernelSearch):
        return [kernel_from_name(kernel, gamma)]
    if not len(kernel.kernels):
        raise ValueError("KernelSearch: kernels is empty; give at least one")
    return [kernel_from_name(one, gamma) for one in kernel.kernels]


def is_searched(kernel, gamma):
    """Whether a kernel, a setting beside the estimator's gamma, leaves its rate to held-out errors."""
    if isinstance(kernel, str):
        return kernel in _RATED and isinstance(gamma, str) and gamma == "auto"
    return bool(getattr(kernel, "rate_is_searched", False))


def is_fixed(kernel, gamma, resolved: InputKernel):
    """Whether a part of the samples has the kernel of all of them: it was chosen, or nothing in it is a rule."""
    if is_searched(kernel, gamma):
        return True
    if isinstance(kernel, str):
        return resolved.origin is None and (resolved.gamma is None or not isinstance(gamma, str))
    return not hasattr(kernel, "resolve")


@dataclass(frozen=True)
class KernelFamily:
    """The kernels of a model up to a common rate; at rate 1 they are those of the median rule."""

    kernels: tuple[InputKernel, ...]
    searched: tuple[bool, ...]  # those whose rate is open

    @classmethod
    def from_settings(cls, pairs, gamma, params, X, weights, centred):
        """For (kernel, operator) pairs of settings and training inputs X with weights (n,)."""
        settings = [scalar_kernel(kernel) for kernel, _ in pairs]
        made = (InputKernel.from_settings(kernel, gamma, params, X, weights, centred) for kernel in settings)
        return cls(tuple(made), tuple(is_searched(kernel, gamma) for kernel in settings))

    @property
    def is_searched(self) -> bool:
        return any(self.searched)

    def without_search(self) -> KernelFamily:
        """The same kernels, whose rates are not searched."""
        return KernelFamily(self.kernels, (False,) * len(self.kernels))

    def at_rate(self, rate) -> tuple[InputKernel, ...]:
        """The kernels at a rate, relative to the median rule's."""
        both = zip(self.kernels, self.searched, strict=True)
        return tuple(kernel.with_rate(rate) if searched else kernel for kernel, searched in both)


class SharedDistances:
    """Gram matrices of training inputs X for one kernel after another: what they are functions of is computed once."""

    def __init__(self, X):
        self.X = X
        self._known: dict = {}

    def __call__(self, kernels):
        """Gram matrices (n, n) of kernels with numbers for all settings."""
        return [self._of(kernel) for kernel in kernels]

    def _of(self, kernel):
        if not isinstance(kernel.kernel, str) or kernel.kernel not in _STATIONARY:
            return kernel.training_gram(self.X)
        kind = metric_name(kernel.kernel)
        if kind not in self._known:
            self._known[kind] = distances(kernel.kernel, self.X)
        return profile(kernel.kernel, self._known[kind], kernel.gamma)
