"""hilbertlearn: predict objects instead of numbers, with operator-valued kernels and the scikit-learn interface."""

from . import baselines, datasets, kernels, losses, metrics, operators, spaces
from .estimators import FunctionalRegressor, OperatorKernelRegressor
from .functions import IrregularFunctions
from .model_selection import RegularizationPathCV

__version__ = "0.1.0"

__all__ = [
    "FunctionalRegressor",
    "IrregularFunctions",
    "OperatorKernelRegressor",
    "RegularizationPathCV",
    "baselines",
    "datasets",
    "kernels",
    "losses",
    "metrics",
    "operators",
    "spaces",
]
