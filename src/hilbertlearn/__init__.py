"""hilbertlearn: predict objects instead of numbers, with operator-valued kernels and the scikit-learn interface."""

import importlib

from . import (
    conformal,
    decoders,
    features,
    graphs,
    kernels,
    losses,
    metrics,
    model_selection,
    operators,
    output_losses,
    spaces,
    streams,
)
from .autoencoder import KernelAutoencoder
from .conformal import ConformalPredictor
from .data.functions import IrregularFunctions
from .functional import FunctionalRegressor
from .inspection import outlier_report
from .links import LinkPredictor
from .model_selection import RegularizationPathCV
from .quantile import QuantileRegressor
from .structured import StructuredPredictor
from .vector import OperatorKernelRegressor

__version__ = "0.1.0"

__all__ = [
    "ConformalPredictor",
    "FunctionalRegressor",
    "IrregularFunctions",
    "KernelAutoencoder",
    "LinkPredictor",
    "OperatorKernelRegressor",
    "QuantileRegressor",
    "RegularizationPathCV",
    "StructuredPredictor",
    "baselines",
    "bounds",
    "conformal",
    "datasets",
    "decoders",
    "features",
    "graphs",
    "kernels",
    "load",
    "losses",
    "metrics",
    "model_selection",
    "operators",
    "outlier_report",
    "output_losses",
    "persistence",
    "plotting",
    "readers",
    "report",
    "save",
    "spaces",
    "streams",
    "tabular",
]

# fitting needs none of them
_ON_DEMAND = ("baselines", "bounds", "datasets", "persistence", "plotting", "readers", "report", "tabular")
_OF_FILES = ("load", "save")


def __getattr__(name):
    if name in _ON_DEMAND:
        return importlib.import_module(f".{name}", __name__)
    if name in _OF_FILES:
        return getattr(importlib.import_module(".persistence", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__():
    return sorted([*globals(), *_ON_DEMAND, *_OF_FILES])
