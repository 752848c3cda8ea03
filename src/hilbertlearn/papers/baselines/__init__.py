"""Methods that the papers compare with, under the names that the papers use.

Methods that are settings of ``FunctionalRegressor`` have ``build()``, which returns that estimator. The other methods
are independent implementations of their papers. Link baselines have the methods of ``LinkPredictor``.
"""

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
