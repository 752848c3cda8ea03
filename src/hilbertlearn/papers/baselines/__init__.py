"""What the papers compare with, under the names they use."""

from .bands import SplitConformalBand
from .functional import FunctionalKernelRidge, FunctionalNadarayaWatson, KernelAdditiveRegressor, TripleBasisRegressor
from .link_kernels import EMKernelCompletion, KernelCCALinks, KernelMatrixRegression
from .links import KernelMetricLearning, LocalLinkModel, NaiveLinkPredictor
from .ranking import PairwiseRanker
from .structured import KernelDependencyEstimation, RobustNadarayaWatson
from .structured_svm import StructuredSVM

__all__ = [
    "EMKernelCompletion",
    "FunctionalKernelRidge",
    "FunctionalNadarayaWatson",
    "KernelAdditiveRegressor",
    "KernelCCALinks",
    "KernelDependencyEstimation",
    "KernelMatrixRegression",
    "KernelMetricLearning",
    "LocalLinkModel",
    "NaiveLinkPredictor",
    "PairwiseRanker",
    "RobustNadarayaWatson",
    "SplitConformalBand",
    "StructuredSVM",
    "TripleBasisRegressor",
]
