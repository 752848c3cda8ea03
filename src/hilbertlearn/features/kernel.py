"""Features where a kernel is asked for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from ..kernels import InputKernel
from .base import FeatureMap
from .transformer import TransformerFeatures, TransformerMap


@dataclass(frozen=True, eq=False)
class FeatureKernel:
    """A kernel with the features that stand in its place: values "with the samples" are features (m, r)."""

    inner: InputKernel
    map: FeatureMap
    given: Any = None  # (N,) which of the samples given to fit the map was fitted to, None for all
    precomputed = False  # values are never inputs
    on_features = True

    @property
    def kernel(self):
        return self.inner.kernel

    @property
    def rate(self):
        return self.inner.rate

    @property
    def n_components(self) -> int:
        return self.map.n_components

    def value_size(self, n, d):
        return 1

    def training_gram(self, X):
        return self.map(X)

    def __call__(self, X, samples=None):
        """Features of checked inputs; kernel values are those with all samples given to fit."""
        if self.inner.precomputed and self.given is not None and X.shape[1] != len(self.given):
            X = X[:, self.given]
        return self.map(X)

    def kernel_expansion(self, W):
        """The function of coefficients W (r, d) as (kernel, samples, which of those given these are, coefficients).

        Landmarks need no product with a whitening matrix then: their kernel values are enough.
        """
        chosen = getattr(self.map, "columns", None)
        if chosen is None:
            return self, None, np.empty(0, dtype=int), W
        kernel, samples, C = self.map.expansion(W)
        if (chosen < 0).any():  # landmarks that are none of the samples
            return kernel, samples, chosen, C
        places = chosen if self.given is None else self.given[chosen]
        return kernel, samples, places, C[chosen] if self.inner.precomputed else C

    def matrix(self, W):
        """What kernel values of the kernel_expansion function are multiplied by for ``Z(x) W``."""
        return self.kernel_expansion(W)[3]


class TransformerKernel(BaseEstimator):
    """The kernel ``<z(x), z(x')>`` of the features that a transformer makes, fitted to the training inputs.

    It takes whatever inputs the transformer does, frames and texts too.
    """

    accepts_any_input = True
    positive_definite = True

    def __init__(self, transformer):
        self.transformer = transformer

    def validate(self):
        TransformerFeatures(self.transformer).validate()

    def resolve(self, X, weights=None):
        return FittedTransformerKernel(TransformerFeatures(self.transformer).fit(InputKernel("linear"), X))


class FittedTransformerKernel:
    """The same, fitted."""

    accepts_any_input = True
    positive_definite = True

    def __init__(self, map: TransformerMap):
        self.map = map

    def __call__(self, X, Z):
        left = self.map(X)
        return left @ (left if Z is X else self.map(Z)).T

    def diagonal(self, X):
        Z = self.map(X)
        return np.einsum("ij,ij->i", Z, Z)

    def __repr__(self):
        return f"features of {self.map.transformer!r}"


def fit_feature_map(setting: Any, kernel: InputKernel, X, weights=None) -> FeatureMap:
    """The feature map of a setting for a kernel; a transformer's kernel brings its own."""
    return kernel.kernel.map if isinstance(kernel.kernel, FittedTransformerKernel) else setting.fit(kernel, X, weights)
