"""Settings of models on features: the kernel from some samples, the number of landmarks and alpha from all of them."""

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
from .error_curve import ErrorCurve, error_curve
from .loss_constants import robust_weights
from .surrogate import make_surrogate
from .trials import Trial

_FIRST, _MOST = 250, 4000  # landmarks to begin with, and at most
_UNJUDGED = 1000  # landmarks where no error says how many
_GAIN = 0.01  # share of the held-out error that twice as many landmarks must gain
_WORK = 2e12  # multiply-adds of Z'Z that more landmarks may take: about a minute
_MEMORY = 0.2  # share of memory that features may take
_JUDGED, _FEWEST = 4000, 500  # samples whose left-out errors choose among models of all samples; of wide outputs fewer
_ENTRIES = 2e6  # of these errors for one alpha
_WIDE = 3000  # coordinates beyond which the penalty stays that of the samples that the kernel was chosen by
_TRACED = 2000  # samples that tell what landmarks leave of the kernel
_ROUNDS = 2  # of robust weights

log = logging.getLogger("hilbertlearn")


@dataclass(frozen=True)
class Approximation:
    """How good features are in place of the kernel."""

    n_components: int
    trace_left: float | None = None  # share of k(x, x) that landmarks leave, mean over samples
    error_change: float | None = None  # of the held-out error at the last doubling, relative

    def __str__(self):
        parts = [f"{self.n_components} features"]
        if self.trace_left is not None:
            parts.append(f"{self.trace_left:.1e} of the kernel's trace left")
        if self.error_change is not None:
            parts.append(f"held-out error {self.error_change:+.1%} at the last doubling")
        return ", ".join(parts)


@dataclass(frozen=True)
class FeatureSearchResult:
    """Training data on features, with what was chosen by their held-out errors."""

    training: Training
    curve: ErrorCurve | None  # of errors over alpha, None where they were not computed
    unit: float  # what alpha of the curve is multiplied by, see ``robust_weights``
    approximation: Approximation

    @property
    def alpha(self) -> float | None:
        """None where the samples' penalty is to be kept."""
        return None if self.curve is None else self.unit * self.curve.alpha

    @property
    def factors(self) -> Factors | None:
        return None if self.curve is None else self.curve.factors

    @property
    def trials(self) -> tuple[Trial, ...]:
        return () if self.curve is None else self.curve.trials()


def search_features(samples: Samples, kernels, loss: Loss, alpha, penalty, options: Options) -> FeatureSearchResult:
    """The samples with features in place of the kernels, as many landmarks as lower the held-out error.

    kernels : with numbers for all settings
    loss : with numbers for its settings
    alpha : a number, or "auto" for the best by left-out errors
    penalty : alpha times the sum of weights, as some samples have chosen it
    """
    setting, guess = samples.recipe.features, penalty / float(samples.weights.sum())
    number = getattr(setting, "n_components", None)
    growing = isinstance(setting, Landmarks) and isinstance(number, str)
    if growing:
        check_choice(number, "Landmarks: n_components", ("auto",), ", or an integer")
    most = _largest(samples, len(kernels)) if growing else 0
    near = make_surrogate(samples)  # what errors are judged by where the samples themselves have no formula
    maps = _fitted(setting, min(_FIRST, most) if growing else number, kernels, samples)
    values, best, change = None, None, None
    with options.progress.task("choice of features", "map") as task:
        while True:
            values = _features(maps, samples, values)
            given = samples.columns
            chosen = [FeatureKernel(kernel, one, given) for kernel, one in zip(kernels, maps, strict=True)]
            training = build(samples, chosen, values)
            judged = training if training.closed_form or near is samples else build(near, chosen, values)
            curve, unit = _judged(judged, loss, alpha, guess) if growing or isinstance(alpha, str) else (None, 1.0)
            if curve is not None and judged is not training:
                curve = replace(curve, factors=None)  # of another map
            new = FeatureSearchResult(training, curve, unit, Approximation(sum(one.n_components for one in maps)))
            stop = task.step(_said(maps, curve), n_components=new.approximation.n_components)
            change = None if best is None or curve is None else _change(best.curve, curve)
            best = new if best is None or change is None or change < 0 else best
            reached = max(one.n_components for one in maps)
            most = min(most, _UNJUDGED) if curve is None else most
            if stop or not reached < most or (change is not None and change > -_GAIN):
                break
            grown = _fitted(setting, min(2 * reached, most), kernels, samples, maps)
            if max(one.n_components for one in grown) == reached:  # the kernel has no more
                break
            maps = grown
    kept = [kernel.map for kernel in best.training.kernels]
    approximation = replace(best.approximation, trace_left=_trace_left(kept, samples), error_change=change)
    log.info("%d samples on features: %s", len(samples.rows), approximation)
    return replace(best, approximation=approximation)


def _change(before: Any, after: Any) -> float:
    """Of the error between two curves, relative."""
    return after.error / before.error - 1 if before.error > 0 else 0.0


def _largest(samples: Samples, number) -> int:
    """Landmarks that time and memory allow, of each kernel."""
    n = len(samples.columns)
    by_memory = _MEMORY * copies_in_memory(n) * n / number
    return int(max(1, min(n, _MOST, np.sqrt(_WORK / n), by_memory)))


def _fitted(setting, number, kernels, samples: Samples, before=None):
    """A feature map for each kernel; those of more landmarks begin with the ones before."""
    weights = samples.input_weights
    if number is None:
        return [fit_feature_map(setting, kernel, samples.X, weights) for kernel in kernels]
    setting = clone(setting).set_params(n_components=number)
    if before is None:
        return [fit_feature_map(setting, kernel, samples.X, weights) for kernel in kernels]
    pairs = zip(kernels, before, strict=True)
    return [setting.fit(kernel, samples.X, weights, start=start) for kernel, start in pairs]


def _features(maps, samples: Samples, before):
    if before is None:
        return [one(samples.X) for one in maps]
    return [one.extend(samples.X, Z) for one, Z in zip(maps, before, strict=True)]


def _judged(training: Training, loss: Loss, alpha, guess) -> tuple[Any, float]:
    """Errors over alpha, or at the alpha given, and the unit of alpha; None where there is no formula, or it is long.

    For a loss with a bound under the weights of its residuals left out, see ``choice``.
    """
    if (
        not training.closed_form
        or loss.on_margins
        or not training.space.residuals_are_errors
        or training.Y.shape[1] > _WIDE
    ):
        return None, 1.0
    alphas = training.alphas() if isinstance(alpha, str) else [float(alpha)]
    judged = int(min(_JUDGED, max(_FEWEST, _ENTRIES / training.Y.shape[1])))
    if loss.quadratic or not np.isfinite(loss.bound):
        return error_curve(training, Criterion(), alphas, n_evaluated=judged), 1.0
    weights, unit, criterion = None, 1.0, Criterion(loss)
    for _ in range(_ROUNDS):
        own = training if weights is None else replace(training, weights=training.weights * weights)
        share = training.weights.sum() / own.weights.sum()
        (residuals,) = loo_residual_path(own, [guess / unit * share])
        weights, unit = robust_weights(loss, residuals, training)
    given = [one / unit for one in alphas] if not isinstance(alpha, str) else alphas
    return error_curve(training, criterion, given, weights, n_evaluated=judged), unit


def _trace_left(maps, samples: Samples):
    """Of landmarks, the mean share of k(x, x) that they leave; None of other features."""
    if not all(hasattr(one, "trace_error") for one in maps) or any(one.kernel.precomputed for one in maps):
        return None
    some = samples.subsample(np.arange(len(samples.rows))[:: max(1, len(samples.rows) // _TRACED)])
    return float(np.mean([one.trace_error(some.X) for one in maps]))


def _said(maps, curve):
    number = "+".join(str(one.n_components) for one in maps)
    return f"{number} features" + ("" if curve is None else f": error {curve.error:.4g} at alpha {curve.alpha:.2g}")
