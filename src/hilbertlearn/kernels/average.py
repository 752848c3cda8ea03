"""A weighted sum of kernels: the kernel of a model that is averaged over settings."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from .._utils.equality import EqualByValues
from .._utils.validation import check_number
from .gram import InputKernel, is_average, is_positive
from .stationary import STATIONARY, BandwidthMixin, distances, metric_name, profile

_SHOWN = 0.005  # smallest share of a shape that the name contains


@dataclass(frozen=True, eq=False)
class AverageKernel(EqualByValues):
    """Weighted sum of kernels with numbers for all settings.

    Where the samples cannot tell the best kernel from others, ``kernel="auto"`` and ``gamma="auto"`` give each a
    weight, and one model with the sum is fitted. Give ``model.kernel_`` as the kernel of another estimator to use it
    again.

    Parameters
    ----------
    parts : tuple of InputKernel
        Kernels of the same inputs.
    weights : tuple of float
        Their factors.
    shares : tuple of float
        The share of each kernel in the average: factors of kernels that are 1 on average.

    References
    ----------
    - Yang (2003). Regression with multiple candidate models: selecting or mixing? Statistica Sinica 13.
    - Gönen and Alpaydın (2011). Multiple kernel learning algorithms. Journal of Machine Learning Research 12.

    Examples
    --------
    >>> import numpy as np
    >>> from hilbertlearn import OperatorKernelRegressor
    >>> X = np.linspace(0, 1, 40)[:, None]
    >>> model = OperatorKernelRegressor("rbf").fit(X, X[:, 0] > 0.5)
    >>> len(model.kernel_.parts) == len(model.gamma_)
    True
    >>> again = OperatorKernelRegressor(model.kernel_, alpha=model.alpha_).fit(X, X[:, 0] > 0.5)
    >>> bool(np.allclose(again.predict(X), model.predict(X)))
    True
    """

    parts: tuple[InputKernel, ...]
    weights: tuple[float, ...]
    shares: tuple[float, ...]
    is_average = True
    rate_setting = BandwidthMixin.rate_setting

    def __hash__(self):
        return hash((self.parts, self.weights))

    @property
    def gamma(self):
        """The rates of the kernels, with None for kernels without a rate."""
        return [part.rate for part in self.parts]

    @property
    def positive_definite(self):
        """Whether all kernels are positive semi-definite by construction."""
        return all(is_positive(part.kernel) for part in self.parts)

    @property
    def main_part(self) -> InputKernel:
        """The kernel with the largest share."""
        return self.parts[int(np.argmax(self.shares))]

    def sum_of(self, values_of):
        """Weighted sum of the values of a function of the kernels."""
        total = None
        for weight, part in zip(self.weights, self.parts, strict=True):
            values = weight * np.asarray(values_of(part), dtype=float)
            total = values if total is None else np.add(total, values, out=total)
        return total

    def diagonal(self, X):
        """Compute ``k(x, x)`` (n,)."""
        return self.sum_of(lambda part: part.diagonal(X))

    def with_rate(self, factor):
        """Return the sum of the kernels with their rates multiplied by a factor; kernels without a rate stay."""
        check_number(factor, "factor")
        return replace(self, parts=tuple(part.with_rate(factor) for part in self.parts))

    def without_bounds(self):
        """The same kernel for inputs however far from the training samples, see ``InputScaling``."""
        return replace(self, parts=tuple(part.without_bounds() for part in self.parts))

    def __call__(self, X, Z):
        return self.sum_of(SharedDistances(X, None if Z is X else Z).gram)

    @property
    def name(self) -> str:
        """The shares of the kernels by shape; shares that round to 0 % are omitted."""
        shares: dict[str, float] = {}
        for share, part in zip(self.shares, self.parts, strict=True):
            shape = _shape(part)
            shares[shape] = shares.get(shape, 0.0) + share
        order = [shape for shape in sorted(shares, key=lambda shape: -shares[shape]) if shares[shape] >= _SHOWN]
        if len(order) > 1:
            return f"average of {', '.join(f'{shares[shape]:.0%} {shape}' for shape in order)}"
        return f"average of {sum(_shape(part) == order[0] for part in self.parts)} {order[0]} kernels"

    def __repr__(self):
        return self.name


def _shape(part: InputKernel) -> str:
    return part.kernel if isinstance(part.kernel, str) else type(part.kernel).__name__


class SharedDistances:
    """Gram matrices of several kernels at the same inputs, from one matrix of distances for each metric and scaling.

    Values are of X with itself, or with Z if given.
    """

    def __init__(self, X, Z=None):
        self.X, self.Z = X, Z
        self._distances: dict = {}

    def __call__(self, kernels):
        """Compute the Gram matrices (n, m) of resolved kernels."""
        return [self.gram(kernel) for kernel in kernels]

    def gram(self, kernel):
        """Compute the Gram matrix (n, m) of a resolved kernel."""
        if is_average(kernel.kernel):
            return kernel.kernel.sum_of(self.gram)
        if not isinstance(kernel.kernel, str) or kernel.kernel not in STATIONARY:
            return kernel.training_gram(self.X) if self.Z is None else kernel(self.X, self.Z)
        key = metric_name(kernel.kernel), kernel.scaling
        if key not in self._distances:
            others = None if self.Z is None else kernel.scale(self.Z)
            self._distances[key] = distances(kernel.kernel, kernel.scale(self.X), others)
        return profile(kernel.kernel, self._distances[key], kernel.gamma)
