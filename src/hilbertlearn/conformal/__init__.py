"""Prediction sets with a promised coverage, for any model: split conformal, cv+ and jackknife+."""

from . import candidate_scores, scores
from .given_scores import PositionSets, sets_of_scores
from .links import PartnerSets
from .predictor import ConformalPredictor
from .regions import Band, Box, Ellipsoid
from .sets import Balls, CandidateSets

__all__ = [
    "Balls",
    "Band",
    "Box",
    "CandidateSets",
    "ConformalPredictor",
    "Ellipsoid",
    "PartnerSets",
    "PositionSets",
    "candidate_scores",
    "scores",
    "sets_of_scores",
]
