"""Search of alpha for a selected kernel: one for each output, and for losses without closed-form errors."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from .._utils.statistics import pointwise_median
from ..leave_one_out import loo_residual_path
from ..losses import Loss
from ..spaces import output_scales
from ..training import Options, Training
from .averaging import alpha_log_weights, effective_number, limited_squares, mean_alpha
from .error_curve import candidate_alphas
from .folds import FoldSearch
from .result import Selection
from .surrogate import selection_subsample
from .trials import Trial


def select_alpha_by_output(selection: Selection, options: Options) -> Selection:
    """The same selection with an alpha for each output, by its own leave-one-out errors.

    A penalty ``sum_j alpha_j ||h_j||^2`` is that of the diagonal operator ``alpha / alpha_j``. Existing factors are
    used again.
    """
    training = selection.training
    term = training.term
    if not selection.loss.quadratic or not training.closed_form or term is None or term.M is not None:
        raise ValueError(
            "alpha_per_output=True requires the squared loss, operator=None and kernels without operators of their "
            "own; set alpha_per_output=False"
        )
    data, factors = selection_subsample(training), selection.factors
    alphas, largest = np.asarray(candidate_alphas(data, "auto")), training.alphas()[-1]
    if data is not training or factors is None:
        data, factors = data.factor_for_path(alphas)
    share = training.weights.sum() / data.weights.sum()
    path = loo_residual_path(data, alphas * share, factors)
    n, spread = effective_number(data.weights), output_scales(data.Y, data.weights)
    shares = data.weights / data.weights.sum()
    errors = np.array([shares @ limited_squares(np.nan_to_num(residuals / spread) ** 2, n) for residuals in path])
    log_losses = np.log(np.maximum(errors, np.finfo(float).tiny)).T
    log_weights = [alpha_log_weights(alphas, column, n, largest) for column in log_losses]
    by_output = np.array([mean_alpha(alphas, column) for column in log_weights])
    least = float(by_output.min())
    operator = np.diag(least / by_output)
    factors = None if selection.factors is None else selection.factors.with_operator(operator)
    training = training.with_operator(operator)
    return replace(selection, alpha=least, training=training, factors=factors, alpha_by_output=by_output)


def search_alpha_of_loss(training: Training, loss: Loss, guess, options: Options) -> tuple[float, tuple[Trial, ...]]:
    """The alpha with the smallest error of a loss over folds, near the one that the squared loss selects."""
    data = selection_subsample(training)
    share = float(training.weights.sum() / data.weights.sum())
    search = FoldSearch(data, loss, options.quick())
    search.evaluate_near(sign_scaled_alpha(guess, data) * share)
    search.refine()
    return search.best() / share, search.trials()


def sign_scaled_alpha(alpha, training: Training) -> float:
    """An alpha of the squared loss for a loss whose dual variables have the size of signs, and not of residuals."""
    deviations = np.abs(training.Y - pointwise_median(training.Y, training.weights))
    size = float(np.nanmean(deviations if training.measure is None else deviations / np.sqrt(training.measure)))
    return alpha / size if size > 0 else alpha
