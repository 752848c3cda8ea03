"""hilbertlearn: predict objects instead of numbers, with operator-valued kernels and the scikit-learn interface."""

from . import baselines, datasets, decoders, kernels, losses, metrics, operators, output_losses, spaces
from .estimators import FunctionalRegressor, OperatorKernelRegressor, StructuredPredictor
from .functions import IrregularFunctions
from .model_selection import RegularizationPathCV

__version__ = "0.1.0"

__all__ = [
    "FunctionalRegressor",
    "IrregularFunctions",
    "OperatorKernelRegressor",
    "RegularizationPathCV",
    "StructuredPredictor",
    "baselines",
    "datasets",
    "decoders",
    "kernels",
    "losses",
    "metrics",
    "operators",
    "output_losses",
    "spaces",
]
