"""Estimators with the scikit-learn interface."""

from .vector import OperatorKernelRegressor

__all__ = ["OperatorKernelRegressor"]
