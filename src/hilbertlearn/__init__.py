"""hilbertlearn: predict objects instead of numbers, with operator-valued kernels and the scikit-learn interface."""

from . import kernels, losses, metrics, operators
from .estimators import OperatorKernelRegressor
from .model_selection import RegularizationPathCV

__version__ = "0.1.0"

__all__ = ["OperatorKernelRegressor", "RegularizationPathCV", "kernels", "losses", "metrics", "operators"]
