"""Feature maps with the interface of a kernel."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from ..kernels import InputKernel
from .base import FeatureMap
from .transformer import TransformerFeatures, TransformerMap


@dataclass(frozen=True, eq=False)
class FeatureKernel:
    """A kernel whose values with the samples are replaced by features (m, r)."""

    inner: InputKernel
    map: FeatureMap
    sample_indices: Any = None  # (N,) indices of the samples of the map among all samples of fit; None for all
    precomputed = False  # the features are computed, also where the inner kernel is "precomputed"
    on_features = True

    @property
    def kernel(self):
        """The kernel that the features approximate."""
        return self.inner.kernel

    @property
    def rate(self):
        """The rate of the kernel."""
        return self.inner.rate

    @property
    def scaled_share(self) -> float:
        """The share of the kernel that has scaled inputs."""
        return self.inner.scaled_share

    @property
    def n_components(self) -> int:
        """Number r of features."""
        return self.map.n_components

    def without_bounds(self) -> FeatureKernel:
        """The same features for inputs however far from the training samples, see ``InputScaling``."""
        return replace(self, inner=self.inner.without_bounds(), map=self.map.without_bounds())

    def value_size(self, n, d):
        """Number of entries of one kernel value."""
        return 1

    def training_gram(self, X):
        """Compute the features (n, r) of the samples, which replace the Gram matrix."""
        return self.map(X)

    def __call__(self, X, samples=None):
        """Compute features of checked inputs; precomputed kernel values are with all samples of fit."""
        if self.inner.precomputed and self.sample_indices is not None and X.shape[1] != len(self.sample_indices):
            X = X[:, self.sample_indices]
        return self.map(X)

    def kernel_expansion(self, W):
        """Express ``Z(x) W``, with coefficients W (r, d), by kernel values: (kernel, samples, indices, coefficients).

        The indices are those of the samples among all samples of fit. For landmarks no triangular solve is needed.
        """
        columns = getattr(self.map, "columns", None)
        if columns is None:
            return self, None, np.empty(0, dtype=int), W
        kernel, samples, C = self.map.expansion(W)
        if (columns < 0).any():  # the landmarks are not samples
            return kernel, samples, columns, C
        indices = columns if self.sample_indices is None else self.sample_indices[columns]
        return kernel, samples, indices, C[columns] if self.inner.precomputed else C

    def expansion_coefficients(self, W):
        """The coefficients of ``kernel_expansion``."""
        return self.kernel_expansion(W)[3]


class TransformerKernel(BaseEstimator):
    """The kernel ``<z(x), z(x')>`` of features z of a transformer that is fitted to the training inputs.

    It takes the same inputs as the transformer, such as data frames and texts.
    """

    accepts_any_input = True
    positive_definite = True

    def __init__(self, transformer):
        self.transformer = transformer

    def validate(self):
        """Raise an error unless the transformer has fit and transform."""
        TransformerFeatures(self.transformer).validate()

    def resolve(self, X, sample_weight=None):
        """Fit the transformer to X."""
        return FittedTransformerKernel(TransformerFeatures(self.transformer).fit(InputKernel("linear"), X))


class FittedTransformerKernel:
    """``TransformerKernel`` with a fitted transformer."""

    accepts_any_input = True
    positive_definite = True

    def __init__(self, map: TransformerMap):
        self.map = map

    def __call__(self, X, Z):
        features = self.map(X)
        return features @ (features if Z is X else self.map(Z)).T

    def diagonal(self, X):
        """Compute ``k(x, x)`` (n,)."""
        Z = self.map(X)
        return np.einsum("ij,ij->i", Z, Z)

    def __repr__(self):
        return f"features of {self.map.transformer!r}"


def fit_feature_map(setting: Any, kernel: InputKernel, X, weights=None) -> FeatureMap:
    """Fit the feature map of a setting to a kernel and samples; a transformer kernel already has one."""
    return kernel.kernel.map if isinstance(kernel.kernel, FittedTransformerKernel) else setting.fit(kernel, X, weights)
