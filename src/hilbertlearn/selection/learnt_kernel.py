"""Kernels that are learnt in rounds: fit, change the metric or the rate of one part, search again."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from sklearn.utils import _safe_indexing

from ..kernels import InputKernel
from ..losses import Squared
from ..training import Fit, Options, Samples, Training, build, fit
from .criterion import Criterion
from .draws import shuffled_folds
from .kernel_search import SearchResult, families_of, search_kernels

# Share of the error over folds that a round must gain. A smaller gain is lost on new samples as often as not.
_GAIN = 0.02


def n_rounds(samples: Samples) -> int:
    """The largest number of rounds in which the kernel is learnt; 0 for a sum of several terms."""
    pairs = samples.recipe.pairs
    return getattr(pairs[0][0], "n_rounds", 0) if len(pairs) == 1 and not samples.recipe.kernel_candidates else 0


def relearn(
    samples: Samples, result: SearchResult, criterion: Criterion, alpha, options: Options, weights=None
) -> SearchResult:
    """The kernel after as many rounds as lower its cross-validated error.

    Leave-one-out errors of the last fit are too small: the metric was learnt from all samples. So each round is
    repeated without each of five folds, and must lower the error there by 2 %.

    weights : (n,) factors of the sample weights, of a robust fit, or None
    """
    trials = result.trials
    folds = _RefittedFolds.start(samples, result, weights, options)
    error = folds.error(criterion)
    for _ in range(n_rounds(samples)):
        variants = _kernel_variants(_fit(result.curve.training, result.curve.penalty, weights, options))
        if not variants:
            break
        changed = samples.with_kernel_candidates(variants)
        new = search_kernels(changed, families_of(changed), criterion, alpha, options, weights, middle=result.rate)
        trials += new.trials
        if not new.curve.error < result.curve.error:
            break
        folds = folds.next(new)
        new_error = folds.error(criterion)
        if not new_error < (1 - _GAIN) * error:
            break
        result, error = new, new_error
    return replace(result, trials=trials)


def _fit(training: Training, penalty, weights, options: Options) -> Fit:
    weighted = training if weights is None else replace(training, weights=training.weights * weights)
    return fit(weighted, Squared(), penalty / float(weighted.weights.sum()), options.quick())


def _kernel_variants(fitted: Fit):
    """Settings of kernels whose metric comes from the gradients of a fit."""
    training = fitted.training
    (predictor,) = fitted.predictors(fitted.coefficients)
    return training.kernels[0].kernel.variants(training.X, predictor.coef, training.input_weights)


@dataclass(frozen=True)
class _RefittedFolds:
    """The rounds repeated without each of the folds."""

    samples: Samples
    weights: np.ndarray | None
    options: Options
    tests: list  # positions of each fold
    fits: list[Fit]  # without each fold

    @classmethod
    def start(cls, samples, result: SearchResult, weights, options):
        folds = shuffled_folds(samples)
        self = cls(samples, weights, options, [test for _, test in folds], [])
        fits = [self._fit(train, result.setting, result.kernels, result.curve.penalty) for train, _ in folds]
        return replace(self, fits=fits)

    def next(self, new: SearchResult) -> _RefittedFolds:
        """The folds after a round in which all samples selected one of the variants, its rate and alpha."""
        (number, _), *_ = new.neighbours
        fits = []
        for test, fitted in zip(self.tests, self.fits, strict=True):
            train = np.setdiff1d(np.arange(len(self.samples.rows)), test)
            kernel = _kernel_variants(fitted)[number]
            ((_, family),) = families_of(self.samples.subsample(train).with_kernel_candidates([kernel]))
            fits.append(self._fit(train, kernel, family.at_rate(new.rate), new.curve.penalty))
        return replace(self, fits=fits)

    def _fit(self, train, setting, kernels: tuple[InputKernel, ...], penalty) -> Fit:
        weights = None if self.weights is None else self.weights[train]
        part = build(self.samples.subsample(train).with_kernel(setting), kernels)
        return _fit(part, penalty, weights, self.options)

    def error(self, criterion: Criterion) -> float:
        """The error of all samples, each under the fit without its fold."""
        residuals = np.full(self.samples.Y.shape, np.nan)
        for test, fitted in zip(self.tests, self.fits, strict=True):
            inputs = _safe_indexing(self.samples.X, self.samples.labelled_indices[test])
            values = [kernel(inputs, fitted.training.X) for kernel in fitted.training.kernels]
            residuals[test] = self.samples.Y[test] - fitted.coordinates_at(values)
        return criterion.evaluate(self.samples, residuals)[0]
