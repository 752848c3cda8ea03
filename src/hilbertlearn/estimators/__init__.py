"""Estimators: the parts put together, with scikit-learn's interface."""

from .autoencoder import KernelAutoencoder
from .functional import FunctionalRegressor
from .links import LinkPredictor
from .quantile import QuantileRegressor
from .structured import StructuredPredictor
from .vector import OperatorKernelRegressor
