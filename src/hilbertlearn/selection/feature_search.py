"""Selection for models on features: the number of landmarks, and alpha.

They are selected by leave-one-out errors of the model of all samples on features. The kernel was selected before, on an
exact subsample.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import clone

from .._utils.validation import check_choice, copies_in_memory
from ..core.terms import Factors
from ..features import FeatureKernel, Landmarks, fit_feature_map
from ..leave_one_out import loo_residual_path
from ..losses import Loss
from ..training import Options, Samples, Training, build
from .criterion import Criterion
from .error_curve import ErrorCurve, candidate_alphas, error_curve
from .loss_constants import robust_weights
from .surrogate import make_surrogate
from .trials import Trial

_FIRST, _MOST = 1000, 4000  # landmarks to begin with, and at most
_WITHOUT_ERRORS = 1000  # landmarks where no error can be computed
_GAIN = 0.005  # share of the leave-one-out error that twice as many landmarks must gain
_WORK = 5e11  # multiply-adds that the last step may take: n r^2 for Z'Z, and 4 r^3 for its eigenvalues; half a minute
_MEMORY = 0.2  # share of memory that features may take
# Samples whose leave-one-out errors are computed: 4000, fewer for wide outputs, at least 500.
_EVALUATED, _FEWEST = 4000, 500
_ENTRIES = 2e6  # of these errors for one alpha
_WIDE = 3000  # coordinates beyond which no errors are computed and the penalty of the subsample is kept
_TRACE_SAMPLES = 2000  # samples in the mean of the kernel's trace
_REWEIGHTINGS = 2  # rounds of robust weights

log = logging.getLogger("hilbertlearn")


@dataclass(frozen=True)
class Approximation:
    """How well features approximate the kernel."""

    n_components: int
    trace_error: float | None = None  # mean share of k(x, x) that landmarks do not explain
    error_change: float | None = None  # relative change of the leave-one-out error at the last doubling

    def __str__(self):
        parts = [f"{self.n_components} features"]
        if self.trace_error is not None:
            parts.append(f"{self.trace_error:.1e} of the kernel's trace left")
        if self.error_change is not None:
            parts.append(f"leave-one-out error {self.error_change:+.1%} at the last doubling")
        return ", ".join(parts)


@dataclass(frozen=True)
class FeatureSearchResult:
    """Training data on features, and the settings that their errors select."""

    training: Training
    curve: ErrorCurve | None  # None where errors were not computed
    unit: float  # factor of the curve's alpha, see ``robust_weights``
    approximation: Approximation

    @property
    def alpha(self) -> float | None:
        """None where the penalty of the subsample is to be kept."""
        return None if self.curve is None else self.unit * self.curve.alpha

    @property
    def factors(self) -> Factors | None:
        return None if self.curve is None else self.curve.factors

    @property
    def trials(self) -> tuple[Trial, ...]:
        return () if self.curve is None else self.curve.trials()


def search_features(samples: Samples, kernels, loss: Loss, alpha, penalty, options: Options) -> FeatureSearchResult:
    """The samples with features in place of the kernels. Landmarks double as long as the leave-one-out error falls.

    kernels : with numbers for all settings
    loss : with numbers for all constants
    alpha : a number, or "auto" for the smallest leave-one-out error
    penalty : alpha times the sum of weights that a subsample selected
    """
    setting = samples.recipe.features
    number = getattr(setting, "n_components", None)
    grows, most = isinstance(setting, Landmarks) and isinstance(number, str), 0
    if grows:
        check_choice(number, "Landmarks: n_components", ("auto",), ", or an integer")
        most = _largest_number(samples, len(kernels))
        number = min(_FIRST, most)
    search = _FeatureSearch(samples, kernels, loss, alpha, penalty, has_errors=grows or isinstance(alpha, str))
    maps = _fit_maps(setting, number, kernels, samples)
    best: Any = None
    change = None
    with options.progress.task("search of features", "map") as task:
        while maps is not None:
            result = search.evaluate(maps)
            stop = task.step(_description(maps, result.curve), n_components=result.approximation.n_components)
            change = None if best is None else _error_change(best.curve, result.curve)
            if change is None or change < 0:
                best = result
            if stop or (change is not None and change > -_GAIN):
                break
            limit = min(most, _WITHOUT_ERRORS) if result.curve is None else most
            maps = _grow(setting, maps, limit, kernels, samples)
    trace_error = _trace_error([kernel.map for kernel in best.training.kernels], samples)
    approximation = replace(best.approximation, trace_error=trace_error, error_change=change)
    log.info("%d samples on features: %s", len(samples.rows), approximation)
    return replace(best, approximation=approximation)


class _FeatureSearch:
    """Errors of one set of feature maps after the other; features of a larger set extend those of the set before."""

    def __init__(self, samples: Samples, kernels, loss: Loss, alpha, penalty, has_errors):
        self.samples, self.kernels, self.loss, self.alpha, self.has_errors = samples, kernels, loss, alpha, has_errors
        self.guess = penalty / float(samples.weights.sum())
        self.surrogate = make_surrogate(samples)
        self.features: list | None = None

    def evaluate(self, maps) -> FeatureSearchResult:
        samples = self.samples
        self.features = _compute_features(maps, samples, self.features)
        kernels = [FeatureKernel(kernel, one, samples.columns) for kernel, one in zip(self.kernels, maps, strict=True)]
        training = build(samples, kernels, self.features)
        curve, unit = None, 1.0
        if self.has_errors:
            is_exact = training.closed_form or self.surrogate is samples
            data = training if is_exact else build(self.surrogate, kernels, self.features)
            curve, unit = _error_curve(data, self.loss, self.alpha, self.guess)
            if curve is not None and not is_exact:
                curve = replace(curve, factors=None)  # they are those of the surrogate
        return FeatureSearchResult(training, curve, unit, Approximation(sum(one.n_components for one in maps)))


def _grow(setting, maps, most, kernels, samples: Samples):
    """Maps with twice as many landmarks, at most so many; None where there are no more."""
    number = max(one.n_components for one in maps)
    if number >= most:
        return None
    grown = _fit_maps(setting, min(2 * number, most), kernels, samples, maps)
    return None if max(one.n_components for one in grown) == number else grown  # the kernel has no larger rank


def _error_change(before: ErrorCurve | None, after: ErrorCurve | None) -> float | None:
    """Relative change of the error between two curves."""
    if before is None or after is None:
        return None
    return after.error / before.error - 1 if before.error > 0 else 0.0


def _largest_number(samples: Samples, n_kernels) -> int:
    """Landmarks of each kernel that time and memory allow."""
    n = len(samples.columns)
    by_memory = _MEMORY * copies_in_memory(n) * n / n_kernels
    by_time = _MOST
    while by_time > 1 and by_time**2 * (n + 4 * by_time) > _WORK:
        by_time = int(0.95 * by_time)
    return int(max(1, min(n, by_time, by_memory)))


def _fit_maps(setting, number, kernels, samples: Samples, before=None):
    """A feature map for each kernel; maps with more landmarks begin with those of the maps before."""
    weights = samples.input_weights
    if number is not None:
        setting = clone(setting).set_params(n_components=number)
    if number is None or before is None:
        return [fit_feature_map(setting, kernel, samples.X, weights) for kernel in kernels]
    if setting.method == "medoids":
        setting = setting.set_params(method="uniform")  # of many landmarks these are as accurate, in half the time
    pairs = zip(kernels, before, strict=True)
    return [setting.fit(kernel, samples.X, weights, start=start) for kernel, start in pairs]


def _compute_features(maps, samples: Samples, before):
    if before is None:
        return [one(samples.X) for one in maps]
    return [one.extend(samples.X, Z) for one, Z in zip(maps, before, strict=True)]


def _error_curve(training: Training, loss: Loss, alpha, guess) -> tuple[ErrorCurve | None, float]:
    """Errors over alpha, or at the given alpha, and the unit of alpha; None where they have no closed form or are many.

    For a loss with a bound they are computed under the weights of a robust fit.
    """
    has_closed_form = training.closed_form and not loss.on_margins and training.space.residuals_are_errors
    if not has_closed_form or training.Y.shape[1] > _WIDE:
        return None, 1.0
    alphas = candidate_alphas(training, alpha)
    n_evaluated = int(min(_EVALUATED, max(_FEWEST, _ENTRIES / training.Y.shape[1])))
    weights, unit, criterion = None, 1.0, Criterion()
    if not loss.quadratic and np.isfinite(loss.bound):
        weights, unit = _robust_weights(training, loss, guess)
        alphas = candidate_alphas(training, alpha if isinstance(alpha, str) else float(alpha) / unit)
        criterion = Criterion(loss)
    return error_curve(training, criterion, alphas, weights, n_evaluated=n_evaluated), unit


def _robust_weights(training: Training, loss: Loss, guess):
    """Weights (n,) of a robust fit, and the unit of alpha, near an alpha."""
    weights, unit = np.ones(len(training.rows)), 1.0
    for _ in range(_REWEIGHTINGS):
        weighted = replace(training, weights=training.weights * weights)
        share = training.weights.sum() / weighted.weights.sum()
        (residuals,) = loo_residual_path(weighted, [guess / unit * share])
        weights, unit = robust_weights(loss, residuals, training)
    return weights, unit


def _trace_error(maps, samples: Samples):
    """Mean share of k(x, x) that landmarks do not explain; None for other features."""
    if not all(hasattr(one, "trace_error") for one in maps) or any(one.kernel.precomputed for one in maps):
        return None
    step = max(1, len(samples.rows) // _TRACE_SAMPLES)
    part = samples.subsample(np.arange(len(samples.rows))[::step])
    return float(np.mean([one.trace_error(part.X) for one in maps]))


def _description(maps, curve: ErrorCurve | None) -> str:
    number = "+".join(str(one.n_components) for one in maps)
    return f"{number} features" + ("" if curve is None else f": error {curve.error:.4g} at alpha {curve.alpha:.2g}")
