"""Quantile regression."""

from .regressor import QuantileRegressor
