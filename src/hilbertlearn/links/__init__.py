"""Prediction of the links of a graph."""

from .predictor import LinkPredictor
