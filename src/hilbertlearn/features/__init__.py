"""Features in place of a Gram matrix: inputs -> Z (n, r) with ``K = Z Z'``, exactly or about.

    feature_map = Landmarks(500).fit(kernels.InputKernel("rbf", gamma=0.1), X)
    Z = feature_map(X)

Settings objects say how, fitted maps are frozen.
"""

from .base import FeatureMap
from .kernel import FeatureKernel, TransformerKernel, fit_feature_map
from .landmarks import LandmarkMap, Landmarks
from .random import RandomFeatures, RandomMap
from .settings import as_feature_map
from .transformer import TransformerFeatures, TransformerMap

__all__ = [
    "Landmarks",
    "RandomFeatures",
    "TransformerFeatures",
]
