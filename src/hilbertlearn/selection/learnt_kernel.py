"""Rounds of a kernel that is learnt in steps: fit, change the distance or the rate of one part, choose again."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from sklearn.utils import _safe_indexing

from ..kernels import InputKernel
from ..losses import Squared
from ..training import Fit, Options, Samples, Training, build, fit
from .criterion import Criterion
from .draws import shuffled_folds
from .search import SearchResult, families_of, search

_GAIN = 0.02  # share of the error over folds that a round must gain: less is as often lost on new samples


def rounds_of(samples: Samples) -> int:
    """How often the kernel is to be learnt anew; a term among others is not."""
    pairs = samples.recipe.pairs
    return getattr(pairs[0][0], "n_rounds", 0) if len(pairs) == 1 and not samples.recipe.shapes else 0


def relearn(
    samples: Samples, found: SearchResult, criterion: Criterion, alpha, options: Options, weights=None
) -> SearchResult:
    """The kernel after as many rounds as make its held-out error fall.

    Leaving samples out of the last fit alone would flatter a metric that was learnt from them too. So each round is
    repeated without each of five folds, and must lower the error there by 2 %.

    weights : (n,) factors of the sample weights, of a robust fit, or None
    """
    number, trials = rounds_of(samples), found.trials
    if not number:
        return found
    folds = _Folds.of(samples, found, weights, options)
    error = folds.error(criterion)
    for _ in range(number):
        variants = _reweighted(_fitted(found.curve.training, found.curve.penalty, weights, options))
        if not variants:
            break
        reweighted = samples.with_shapes(variants)
        new = search(reweighted, families_of(reweighted), criterion, alpha, options, weights, middle=found.rate)
        trials += new.trials
        if not new.curve.error < found.curve.error:
            break
        folds = folds.next(new)
        if not (now := folds.error(criterion)) < (1 - _GAIN) * error:
            break
        found, error = new, now
    return replace(found, trials=trials)


def _fitted(training: Training, penalty, weights, options: Options) -> Fit:
    own = training if weights is None else replace(training, weights=training.weights * weights)
    return fit(own, Squared(), penalty / float(own.weights.sum()), options.quick())


def _reweighted(fitted: Fit):
    """Settings of kernels whose metric is that of the gradients of a fit."""
    training = fitted.training
    (predictor,) = fitted.predictors(fitted.coefficients)
    return training.kernels[0].kernel.variants(training.X, predictor.coef, training.input_weights)


@dataclass(frozen=True)
class _Folds:
    """The same rounds without each of some folds."""

    samples: Samples
    weights: np.ndarray | None
    options: Options
    tests: list  # positions of each fold
    fits: list[Fit]  # without it

    @classmethod
    def of(cls, samples, found, weights, options):
        folds = shuffled_folds(samples)
        self = cls(samples, weights, options, [test for _, test in folds], [])
        fits = [self._fit(train, found.shape, found.kernels, found.curve.penalty) for train, _ in folds]
        return replace(self, fits=fits)

    def next(self, new: SearchResult) -> _Folds:
        """After a round in which the samples together chose one of the variants, its rate and alpha."""
        (number, _), *_ = new.neighbours
        fits = []
        for test, fitted in zip(self.tests, self.fits, strict=True):
            train = np.setdiff1d(np.arange(len(self.samples.rows)), test)
            shape = _reweighted(fitted)[number]
            ((_, family),) = families_of(self.samples.subsample(train).with_shapes([shape]))
            fits.append(self._fit(train, shape, family.at_rate(new.rate), new.curve.penalty))
        return replace(self, fits=fits)

    def _fit(self, train, shape, kernels: tuple[InputKernel, ...], penalty) -> Fit:
        weights = None if self.weights is None else self.weights[train]
        part = build(self.samples.subsample(train).with_shape(shape), kernels)
        return _fitted(part, penalty, weights, self.options)

    def error(self, criterion: Criterion) -> float:
        """Of all samples, each under the fit without its fold."""
        residuals = np.full(self.samples.Y.shape, np.nan)
        for test, fitted in zip(self.tests, self.fits, strict=True):
            inputs = _safe_indexing(
                self.samples.X, self.samples.labelled_indices[test]
            )  # under a graph there are others
            values = [kernel(inputs, fitted.training.X) for kernel in fitted.training.kernels]
            residuals[test] = self.samples.Y[test] - fitted.coordinates_at(values)
        return criterion.summary(self.samples, residuals)[0]
