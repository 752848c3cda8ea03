"""Prediction sets with a promised coverage, for any model: split conformal, cv+ and jackknife+."""

from . import scores
from .predictor import ConformalPredictor
from .regions import Band, Box, Ellipsoid

__all__ = ["Band", "Box", "ConformalPredictor", "Ellipsoid", "scores"]
