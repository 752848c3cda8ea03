"""What the papers compare with, under the names they use."""

from .functional import (
    FunctionalKernelRidge,
    FunctionalNadarayaWatson,
    KernelAdditiveRegressor,
    TripleBasisRegressor,
)
from .ranking import PairwiseRanker
from .structured import KernelDependencyEstimation, RobustNadarayaWatson
from .structured_svm import StructuredSVM

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
