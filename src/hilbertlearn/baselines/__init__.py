"""What the papers compare with, under the names they use."""

from .functional import (
    FunctionalKernelRidge,
    FunctionalNadarayaWatson,
    KernelAdditiveRegressor,
    TripleBasisRegressor,
)
from .structured import KernelDependencyEstimation, PairwiseRanker, RobustNadarayaWatson, StructuredSVM

__all__ = [
    "FunctionalKernelRidge",
    "FunctionalNadarayaWatson",
    "KernelAdditiveRegressor",
    "KernelDependencyEstimation",
    "PairwiseRanker",
    "RobustNadarayaWatson",
    "StructuredSVM",
    "TripleBasisRegressor",
]
