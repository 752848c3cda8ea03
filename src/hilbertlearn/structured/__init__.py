"""Structured prediction: any objects with an output kernel or an output loss."""

from .predictor import StructuredPredictor
