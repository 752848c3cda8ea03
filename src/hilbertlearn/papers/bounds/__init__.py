"""The papers' guarantees as numbers, from plain numbers or from a fitted estimator: values with what they are made of.

In the package's convention: the mean of the losses, half of squared norms. ``docs/bounds.md`` has the formulas.
"""

from .comparison import ComparisonConstant, comparison_bound, comparison_constant
from .estimation import EstimationBound, RieszConstants, estimation_bound, estimation_bound_of, riesz_constants
from .rates import ExcessRiskBound, excess_risk_bound, excess_risk_bound_of, schedule
from .stability import StabilityBound, StabilityConstants, stability_bound, stability_bound_of, stability_constants

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
    "estimation_bound_of",
    "excess_risk_bound",
    "excess_risk_bound_of",
    "riesz_constants",
    "schedule",
    "stability_bound",
    "stability_bound_of",
    "stability_constants",
]
