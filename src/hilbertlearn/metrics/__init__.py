"""Scores and errors that ignore missing outputs."""

from .functional import functional_mse, functional_nmse, integrated_squared_error
from .links import best_f1_threshold, link_average_precision, link_roc_auc
from .orders import order_from_ranks, ranks_from_order
from .quantiles import d2_pinball, pinball_loss
from .robustness import RobustnessRatio, robustness_ratio
from .scorers import FunctionalScorer
from .structured import (
    f1_by_sample,
    hamming_loss,
    hellinger_distance,
    kendall_tau,
    normalized_rank_loss,
    squared_hellinger_loss,
    top_k_accuracy,
)
from .vector import mean_absolute_error, mean_squared_error, r2_score, root_mean_squared_error

__all__ = [
    "FunctionalScorer",
    "RobustnessRatio",
    "best_f1_threshold",
    "d2_pinball",
    "f1_by_sample",
    "functional_mse",
    "functional_nmse",
    "hamming_loss",
    "hellinger_distance",
    "integrated_squared_error",
    "kendall_tau",
    "link_average_precision",
    "link_roc_auc",
    "mean_absolute_error",
    "mean_squared_error",
    "normalized_rank_loss",
    "order_from_ranks",
    "pinball_loss",
    "r2_score",
    "ranks_from_order",
    "robustness_ratio",
    "root_mean_squared_error",
    "squared_hellinger_loss",
    "top_k_accuracy",
]
