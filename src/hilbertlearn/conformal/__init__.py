"""Prediction sets with a promised coverage, for any model: split conformal, cv+ and jackknife+."""

from . import candidate_scores, scores
from .candidate_sets import Balls, CandidateSets
from .partner_sets import PartnerSets
from .position_sets import PositionSets, sets_of_scores
from .predictor import ConformalPredictor
from .regions import Band, Box, Ellipsoid

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
