"""Guarantees of the papers as numbers. ``docs/bounds.md`` has the formulas.

The convention is that of the package: the mean of the losses, half of squared norms. Every function returns a frozen
dataclass with the value and its parts.

Decisions
---------
- Functions of plain numbers do the work. Functions that end in ``_from_estimator`` read these numbers from a fitted
  estimator and its training samples, by ``fitted_model``, the only module here that reads the state of an estimator.
  The theorems need settings that are fixed before the samples are seen; ``assumptions`` of a result lists the settings
  that were estimated from the samples.
- Stability constants of all losses of the residual's norm come from one derivation, M = phi(R) and C = phi'(R). The
  slope phi' is the dual variable of the loss.
- An output loss is described by bounds on the parts of a bilinear form (``bilinear_forms``). Both the constant of the
  paper and a smaller one follow from them, so that a new loss needs one line there. A loss without a line is a matrix
  on a finite list of outputs.
- The defaults are the constants of the papers. ``sharp=True`` gives smaller ones.
- Schedules of alpha are resolved where the samples are first counted (``training/schedules.py``). The robustness ratio
  of a loss is computed from data, and is in ``metrics``.
"""

from .comparison import ComparisonConstant, comparison_bound, comparison_constant
from .estimation import (
    EstimationBound,
    RieszConstants,
    estimation_bound,
    estimation_bound_from_estimator,
    riesz_constants,
)
from .excess_risk import ExcessRiskBound, excess_risk_bound, excess_risk_bound_from_estimator, schedule
from .stability import (
    StabilityBound,
    StabilityConstants,
    stability_bound,
    stability_bound_from_estimator,
    stability_constants,
)

__all__ = [
    "ComparisonConstant",
    "EstimationBound",
    "ExcessRiskBound",
    "RieszConstants",
    "StabilityBound",
    "StabilityConstants",
    "comparison_bound",
    "comparison_constant",
    "estimation_bound",
    "estimation_bound_from_estimator",
    "excess_risk_bound",
    "excess_risk_bound_from_estimator",
    "riesz_constants",
    "schedule",
    "stability_bound",
    "stability_bound_from_estimator",
    "stability_constants",
]
