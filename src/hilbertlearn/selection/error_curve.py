"""Leave-one-out errors of one kernel over alpha."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..core.terms import Factors
from ..leave_one_out import loo_residual_path, loo_targets
from ..training import Samples, Training
from .averaging import FEW, alpha_log_weights, effective_number, log_sum, mean_alpha
from .criterion import Criterion, ErrorEstimate
from .draws import draw_subsample
from .trials import Trial, best_index, make_trials

_ALL_EVALUATED = 25  # settings up to which all are evaluated: half of the default grid
_COARSE = 4  # alphas of the default grid, four a decade, between two that are evaluated first


@dataclass(frozen=True)
class ErrorCurve:
    """Errors over alpha for one kernel."""

    training: Any  # prepared for the alphas
    total_weight: float  # sum of the sample weights
    alphas: np.ndarray  # increasing, the evaluated ones
    errors: np.ndarray
    standard_errors: np.ndarray
    best: int  # index of the smallest error
    log_weights: np.ndarray  # of the alphas
    largest: float  # end of the default grid, 10 times the scale of the kernel
    seconds: float
    factors: Factors | None = None  # of the training data's term, where they were computed

    @property
    def error(self) -> float:
        return float(self.errors[self.best])

    @property
    def best_alpha(self) -> float:
        """The alpha of the smallest error, the largest of those that are as good."""
        return float(self.alphas[self.best])

    @property
    def alpha(self) -> float:
        """The selected alpha, a mean of the evaluated ones."""
        return mean_alpha(self.alphas, self.log_weights)

    @property
    def log_weight(self) -> float:
        """Logarithm of the weight of the kernel."""
        return log_sum(self.log_weights)

    @property
    def penalty(self) -> float:
        """alpha times the sum of weights: it stays the same for a model of more samples of the same kind."""
        return self.alpha * self.total_weight

    def trials(self) -> tuple[Trial, ...]:
        errors = (self.errors, self.standard_errors)
        return make_trials(self.training, self.alphas, *errors, self.seconds, "leave-one-out")


def error_curve(
    training: Training,
    criterion: Criterion,
    alphas,
    weights=None,
    factors: Factors | None = None,
    n_evaluated=None,
    is_distinct=False,
) -> ErrorCurve:
    """Leave-one-out errors of the squared loss for increasing alphas: a decade apart, then around the best.

    weights : (n,) factors of the sample weights in the fit; errors are averaged without them
    factors : of the training data's term, where they exist
    n_evaluated : number of samples in a fixed random subsample whose errors count; None for all
    is_distinct : whether the samples are known to have no duplicates; otherwise these are merged
    """
    begun = time.perf_counter()
    data = training if is_distinct or weights is not None else training.merge_duplicates()
    fitted = data if weights is None else replace(data, weights=data.weights * weights)
    if factors is None or fitted is not training:
        fitted, factors = fitted.factor_for_path(alphas)
    share = data.weights.sum() / fitted.weights.sum()  # the penalty, alpha times the sum of weights, stays
    rows = None if n_evaluated is None or n_evaluated >= len(data.rows) else draw_subsample(data, n_evaluated)
    evaluated: Samples = data if rows is None else data.take_encoded(rows)
    targets, error = loo_targets(fitted), criterion.evaluator(evaluated)

    def evaluate(indices):
        with np.errstate(over="ignore", invalid="ignore"):  # best_index raises on what overflows
            path = loo_residual_path(fitted, [alphas[i] * share for i in indices], factors, rows, targets)
            return list(map(error, path))

    results = coarse_to_fine(len(alphas), evaluate)
    errors, standard_errors, log_losses = np.array(list(results.values())).T
    if data is not training or weights is not None:
        fitted, factors = training, None
    alphas, largest = np.asarray(alphas)[list(results)], training.alphas()[-1]
    best = best_index(errors)
    log_weights = alpha_log_weights(alphas, log_losses, effective_number(data.weights), largest)
    if training.depends_on_alpha:  # the ratio of a graph's penalty to alpha has no middle value
        log_weights = np.where(np.arange(len(alphas)) == best, 0.0, -np.inf)
    return ErrorCurve(
        training=fitted,
        total_weight=float(data.weights.sum()),
        alphas=alphas,
        errors=errors,
        standard_errors=standard_errors,
        best=best,
        log_weights=log_weights,
        largest=float(largest),
        seconds=time.perf_counter() - begun,
        factors=factors,
    )


def candidate_alphas(training: Training, alpha) -> Sequence[float]:
    """The alphas that a search evaluates: for "auto" the default grid, or half of it for few samples."""
    if not isinstance(alpha, str):
        return [float(alpha)]
    return training.alphas()[::2] if len(training.rows) <= FEW else training.alphas()


def coarse_to_fine(number, evaluate: Callable) -> dict[int, ErrorEstimate]:
    """Errors by index, of every fourth of so many ordered settings, then of those around the best.

    Of few settings all are evaluated.

    evaluate : function of a sequence of indices that returns an ``ErrorEstimate`` for each
    """
    coarse = range(0, number, _COARSE) if number > _ALL_EVALUATED else range(number)
    results = dict(zip(coarse, evaluate(coarse), strict=True))
    best = coarse[best_index([evaluation.error for evaluation in results.values()])]
    between = [i for i in range(best - _COARSE + 1, best + _COARSE) if 0 <= i < number and i not in results]
    if between:
        results.update(zip(between, evaluate(between), strict=True))
    return dict(sorted(results.items()))
