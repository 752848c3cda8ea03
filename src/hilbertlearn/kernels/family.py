"""Candidate kernels of an estimator, and families of kernels that differ by a common rate."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import scipy.sparse
from sklearn.base import BaseEstimator

from ..data.functions import has_points
from .functional import L2, IntegratedKernel
from .gram import CURVE_NAMES, PRECOMPUTED, TANIMOTO, InputKernel, scalar_kernel
from .objects import NamedKernel, object_kernel
from .stationary import STATIONARY

# shapes that kernel="auto" tries, smooth ones first: of two with equal errors the first is selected
_CURVES = ("rbf", "matern32", "matern12", "linear")
_ROWS = ("rbf", "matern32", "matern12", "laplacian", "linear")
_SPARSE = _CURVES  # city-block distances of sparse rows are slow
_WITH_RATE = (*STATIONARY, "poly", "polynomial")  # names with a rate
_CURVE_KERNELS: dict[str, Callable] = dict(zip(CURVE_NAMES, (L2, IntegratedKernel), strict=True))


def kernel_from_name(kernel, gamma):
    """Replace the name of a kernel of curves or strings by its object, with the estimator's gamma.

    Other names and objects are returned unchanged. In a list of (kernel, operator) terms each kernel is replaced.
    """
    if isinstance(kernel, str):
        return _CURVE_KERNELS[kernel](gamma=gamma) if kernel in _CURVE_KERNELS else object_kernel(kernel)
    if isinstance(kernel, (list, tuple)):
        return [
            (kernel_from_name(term[0], gamma), term[1]) if isinstance(term, (list, tuple)) and len(term) == 2 else term
            for term in kernel
        ]
    return kernel


def as_kernel_object(name):
    """Return the object of a named kernel, so that its gamma can be set; the name if there is no such object."""
    kernel = kernel_from_name(name, "auto")
    return NamedKernel(kernel, "auto") if isinstance(kernel, str) and kernel in STATIONARY else kernel


class KernelSearch(BaseEstimator):
    """Selection of kernels from a list by their leave-one-out errors; ``kernel="auto"`` is such a list.

    Of few samples the model has an average of the kernels, see ``AverageKernel``.

    Parameters
    ----------
    kernels : sequence, default=("rbf", "matern32", "matern12", "laplacian", "linear")
        Candidates: names, kernel objects or callables that take the same inputs. Named kernels use the estimator's
        gamma. The first one whose rate is selected is the preferred one: of few samples more of its rates are
        evaluated, and its prior weight is four times that of each other one.

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
    >>> model.kernel_.main_part.kernel
    'matern12'
    """

    def __init__(self, kernels=_ROWS):
        self.kernels = kernels


def candidate_kernels(kernel, gamma, X):
    """List the kernels that the settings allow for inputs X, as given to ``fit``.

    "auto" with a gamma other than "auto" is the Gaussian kernel.
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
    return [kernel_from_name(candidate, gamma) for candidate in kernel.kernels]


def is_searched(kernel, gamma):
    """Whether the rate of a kernel is selected by leave-one-out errors; gamma is the estimator's setting."""
    if isinstance(kernel, str):
        return kernel in _WITH_RATE and isinstance(gamma, str) and gamma == "auto"
    return bool(getattr(kernel, "rate_is_searched", False))


def can_scale(kernels, X):
    """Whether all kernels are named kernels of rows of numbers, whose columns can be scaled."""
    return all(map(_is_scalable, kernels)) and (scipy.sparse.issparse(X) or getattr(X, "ndim", 0) == 2)


def check_scalable(kernels):
    """Raise an error for kernels, settings, whose inputs are not scaled."""
    for kernel in map(scalar_kernel, kernels):
        if not _is_scalable(kernel):
            raise ValueError(
                f"scale_inputs=True is for kernels by name of rows of numbers, got {kernel!r}; set scale_inputs=False, "
                "and scale X by a StandardScaler in a pipeline"
            )


def _is_scalable(kernel):
    return isinstance(kernel, str) and kernel not in (PRECOMPUTED, TANIMOTO)


def is_fixed(kernel, gamma, resolved: InputKernel):
    """Whether the resolved kernel also holds for subsets of the samples, because no rule computes it from them."""
    if is_searched(kernel, gamma):
        return True
    if isinstance(kernel, str):
        return resolved.origin is None and (resolved.gamma is None or not isinstance(gamma, str))
    return not hasattr(kernel, "resolve")


@dataclass(frozen=True)
class KernelFamily:
    """The kernels of a model up to a common rate; rate 1 is the median rule."""

    kernels: tuple[InputKernel, ...]
    searched: tuple[bool, ...]  # whether the rate of each kernel is searched
    log_weight: float = 0.0  # logarithm of the prior weight of its kernels

    @classmethod
    def from_settings(cls, pairs, gamma, params, X, weights, centred, scaling=None):
        """Resolve (kernel, operator) pairs with training inputs X, their weights (n,) and their scaling."""
        settings = [scalar_kernel(kernel) for kernel, _ in pairs]
        inputs = X, weights, centred, scaling
        resolved = tuple(InputKernel.from_settings(kernel, gamma, params, *inputs) for kernel in settings)
        return cls(resolved, tuple(is_searched(kernel, gamma) for kernel in settings))

    @property
    def is_searched(self) -> bool:
        """Whether the rate of any kernel is searched."""
        return any(self.searched)

    @property
    def rate_is_roughness(self) -> bool:
        """Whether a searched rate decides how rough functions are."""
        pairs = zip(self.kernels, self.searched, strict=True)
        return any(searched and getattr(one.kernel, "rate_is_roughness", True) for one, searched in pairs)

    def without_search(self) -> KernelFamily:
        """Return the same kernels with fixed rates."""
        return replace(self, searched=(False,) * len(self.kernels))

    def at_rate(self, rate) -> tuple[InputKernel, ...]:
        """Return the kernels at a rate, relative to the median rule."""
        pairs = zip(self.kernels, self.searched, strict=True)
        return tuple(kernel.with_rate(rate) if searched else kernel for kernel, searched in pairs)
