"""Search of a metric of the inputs that is learnt in rounds (recursive feature machines, see ``MetricKernel``).

A round fits a model, takes its gradients as the metric, and is kept if errors of samples outside the fit fall. The
first round is tried on few samples, so that data without a structure that a metric can use pay little.
"""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse
from sklearn.base import clone
from sklearn.utils import _safe_indexing

from .. import kernels
from .._utils.progress import Task
from .._utils.threads import limit_blas_threads
from ..kernels import InputKernel, MetricKernel
from ..losses import Squared
from ..training import Fit, Options, Samples, Training, build, fit
from .criterion import Criterion
from .draws import draw_subsample, shuffled_folds
from .surrogate import largest_subsample
from .trials import Trial, make_trials

_PROFILES = ("rbf", "matern32", "matern12")  # of the learnt kernel
# The profile of the first model by the shape that was selected for the given inputs. Gradients of rough functions are
# inaccurate, so that it is smoother than these.
_BASES = {"rbf": "rbf", "matern32": "matern32", "matern12": "matern32", "laplacian": "matern32"}
FEWEST = 400  # samples from which metrics are learnt: errors of fewer cannot tell a gain of 2 %
# Samples of successive searches, each of which starts with the metric of the one before; fewer than 1600 all at once.
_SIZES = (800, 2000, 4000)
_WITH_OPERATOR = 1500  # samples at most where a fit needs an eigendecomposition
_TESTED = 500  # samples up to which all of five folds are tested; of more, as few as have together so many samples
_MOST_INPUTS = 300  # inputs up to which directions are learnt; of more their weights alone
_GAIN = 0.02  # relative gain in error, over the selected kernel, that a learnt metric must have
_FIRST_GAIN, _LATER_GAIN = 0.01, 0.005  # relative gain that the first round, and a later one, must have
# The same for the first round of more samples. A metric of fewer samples has seen some that are tested now: its errors
# there are too small.
_CARRIED_GAIN = -0.02
_FIRST_ROUNDS, _ROUNDS = 2, 4  # at most, for the first number of samples and for each later one
_ONE_THREAD = 2000  # samples up to which one thread is faster than two, which would wait for each other
_MEDIAN_ROWS = 300  # samples that the median distance is computed from
_NEAR = 1.02  # ratio of errors up to which both forms of a metric, directions and weights, are evaluated again
_STEPS = (0.1, 10.0)  # factors of the penalty that are tried in each round
_RATE_STEPS = (2.0, 0.5)  # factors of the rate, likewise
_TIE = 1e-3  # relative gain in error that another penalty, rate or profile must have


@dataclass(frozen=True)
class LearntMetric:
    """A kernel whose metric was learnt, with the penalty that errors select."""

    evaluation: _Evaluation
    n_rounds: int
    family: _Family
    forms: tuple[int, ...]  # positions of the best metrics among ``MetricKernel.variants``
    is_stopped: bool  # by a callback

    @property
    def kernel(self) -> InputKernel:
        """The kernel that was learnt from all samples."""
        return self.evaluation.fits[-1].training.kernels[0]

    @property
    def penalty(self) -> float:
        """alpha times the sum of weights."""
        return self.evaluation.penalty

    def trials(self) -> tuple[Trial, ...]:
        """The metric with its error over folds; leave-one-out errors of a metric of all samples are too small."""
        one, fitted = self.evaluation, self.evaluation.fits[-1]
        return make_trials(fitted.training, [fitted.alpha], [one.error], [one.standard_error], 0.0, "folds")


def _is_learnable(resolved: tuple[InputKernel, ...], X) -> bool:
    """Whether the kernel is a stationary one of rows of several numbers."""
    if len(resolved) != 1 or scipy.sparse.issparse(X) or getattr(X, "ndim", 0) != 2 or X.shape[1] < 2:
        return False
    shape = _main_part(resolved[0]).kernel
    return isinstance(shape, str) and shape in _BASES


def number_to_learn_from(samples: Samples) -> int:
    """The number of samples that a metric is learnt from; outputs with gaps need a factor for each pattern of them."""
    is_direct = samples.recipe.pairs[0][1] is None and samples.mask is None
    most = _SIZES[-1] if is_direct else _WITH_OPERATOR
    return min(len(samples.rows), most, largest_subsample(samples))


def learn_metric(
    samples: Samples,
    resolved: tuple[InputKernel, ...],
    penalty,
    criterion: Criterion,
    options: Options,
    *,
    is_auto=True,
    weights=None,
) -> LearntMetric | None:
    """The kernel with the learnt metric; None where its error is not 2 % below that of the selected kernel.

    resolved : the kernels selected before
    penalty : alpha times the sum of weights that was selected with them
    is_auto : whether the penalty may change
    weights : (n,) factors of the sample weights, of a robust fit, or None
    """
    n, learnt = len(samples.rows), None
    if not _is_learnable(resolved, samples.X):
        return None
    for size in [*(size for size in _SIZES[:-1] if 2 * size <= n), n]:
        rows = draw_subsample(samples, size)
        part, factors = samples.subsample(rows), None if weights is None else weights[rows]
        task = options.progress.task("search of a metric", "round", where=f"{size} samples")
        rounds = _Rounds.start(part, factors, criterion, options.quick(), is_auto, task)
        if rounds is None:
            return None
        with limit_blas_threads(1) if size <= _ONE_THREAD else nullcontext(), task:
            if learnt is None:
                learnt = _first_rounds(rounds, resolved[0], penalty, _FIRST_ROUNDS if size < n else _ROUNDS)
            else:
                learnt = _more_rounds(rounds, learnt)
            if learnt is None:
                return None
            if size == n or learnt.is_stopped:
                return learnt if _is_better_than(learnt, rounds, resolved[0], penalty) else None
    return learnt


def _first_rounds(rounds: _Rounds, kernel: InputKernel, penalty, most) -> LearntMetric | None:
    """The metric after rounds that start with a selected kernel; None where the first does not lower the error."""
    main = _main_part(kernel)
    family = _Family.from_kernel(main, rounds.samples)
    start, n_tests = family.start(rounds.samples), len(rounds.tests)
    best = rounds.evaluate([start] * n_tests, penalty)
    before = best
    if main is not kernel or main.kernel != family.base:
        before, best = rounds.evaluate([kernel] * n_tests, penalty), rounds.move_penalty(best)
    best = rounds.with_all(best, start)
    found = _round(rounds, family, best, before, None, _FIRST_GAIN)
    is_stopped = rounds.report(found)
    if found is None:
        return None
    best, forms = found
    if is_stopped:
        return LearntMetric(best, 1, family, tuple(forms), is_stopped)
    tuned = best
    for base in _PROFILES:
        tuned, family = rounds.change(tuned, family, base, 1.0)
    return _continue(rounds, family, rounds.refit_all(best, tuned), forms, 1, most, _LATER_GAIN)


def _more_rounds(rounds: _Rounds, learnt: LearntMetric) -> LearntMetric:
    """The metric after rounds of more samples, which start with a learnt one."""
    best = rounds.move_penalty(rounds.evaluate([learnt.kernel] * len(rounds.tests), learnt.penalty))
    best = rounds.with_all(best, learnt.kernel)
    return _continue(
        rounds, learnt.family, best, learnt.forms, learnt.n_rounds, learnt.n_rounds + _ROUNDS, _CARRIED_GAIN
    )


def _is_better_than(learnt: LearntMetric, rounds: _Rounds, kernel: InputKernel, penalty) -> bool:
    """Whether the error of the learnt metric is below that of the selected kernel."""
    selected = rounds.move_penalty(rounds.evaluate([kernel] * len(rounds.tests), penalty))
    return rounds.is_better(learnt.evaluation, selected, _GAIN)


def _continue(rounds: _Rounds, family: _Family, best: _Evaluation, forms, number, most, gain) -> LearntMetric:
    """The metric after further rounds, as long as the error falls; gain : that the first of them must have."""
    tuned, family = rounds.move_rate(best, family)
    best = rounds.refit_all(best, tuned)
    found, is_stopped = (best, forms), False
    while found is not None and number < most and not is_stopped:
        found = _round(rounds, family, best, best, forms, gain)
        is_stopped = rounds.report(found)
        if found is not None:
            (best, forms), number, gain = found, number + 1, _LATER_GAIN
    return LearntMetric(best, number, family, tuple(forms), is_stopped)


def _round(rounds: _Rounds, family: _Family, best: _Evaluation, before: _Evaluation, forms, gain):
    """The best evaluation with a metric from the gradients of `best`, and the forms of metrics nearly as good.

    None where the error is not below that of `before` by the gain.
    """
    variants = [family.variants(fitted) for fitted in best.fits]
    trials = {
        form: rounds.evaluate([of_part[form] for of_part in variants[:-1]], best.penalty)
        for form in (range(len(variants[0])) if forms is None else forms)
    }
    form = min(trials, key=lambda one: trials[one].error)
    new = rounds.move_penalty(trials[form])
    if not rounds.is_better(new, before, gain):
        return None
    near = [one for one in trials if one // 2 == form // 2 or trials[one].error < _NEAR * trials[form].error]
    return rounds.with_all(new, variants[-1][form]), near


@dataclass(frozen=True)
class _Evaluation:
    """Fits of the parts at a penalty, and the error of the samples outside of them."""

    fits: list[Fit]
    penalty: float
    residuals: np.ndarray  # (m, d)
    error: float
    standard_error: float


@dataclass(frozen=True)
class _Rounds:
    """Parts of the samples, the last one all of them, and the tests of the others."""

    samples: Samples
    options: Options
    parts: list[Samples]
    tests: list[np.ndarray]  # positions of the samples outside of each part but the last
    evaluated: Samples  # those of all tests
    criterion: Criterion
    is_auto: bool  # whether the penalty may change
    task: Task

    @classmethod
    def start(cls, samples: Samples, weights, criterion, options: Options, is_auto, task) -> _Rounds | None:
        """Folds of the samples; None where outputs have too many coordinates."""
        n, folds = len(samples.rows), shuffled_folds(samples)
        splits = folds[: max(1, round(len(folds) * _TESTED / n))]
        fitted = samples if weights is None else replace(samples, weights=samples.weights * weights)
        tests = [test for _, test in splits]
        positions = np.sort(np.concatenate(tests))
        is_wide = samples.encoded.coordinates.shape[1] > min(len(positions), *(len(train) for train, _ in splits))
        if is_wide and samples.measure is None:
            return None  # each part would have other coordinates
        evaluated = samples if len(positions) == n else samples.subsample(positions)
        parts = [*(fitted.subsample(train) for train, _ in splits), fitted]
        return cls(samples, options, parts, tests, evaluated, criterion, is_auto, task)

    def report(self, found) -> bool:
        """Count a round, with what it found or None; whether a callback asks to stop."""
        return self.task.step("" if found is None else f"error {found[0].error:.4g} over folds")

    def evaluate(self, resolved: list[InputKernel], penalty) -> _Evaluation:
        """Fit the parts with these kernels, and all samples where a kernel is given for them."""
        fits = [self._fit(part, kernel, penalty) for part, kernel in zip(self.parts, resolved, strict=False)]
        return self._evaluation(fits, penalty)

    def is_better(self, new: _Evaluation, old: _Evaluation, gain) -> bool:
        """Whether the error falls by this share, and limited squared residuals by more than their standard error."""
        if gain < 0 or not new.error < (1 - gain) * old.error:
            return new.error < (1 - gain) * old.error
        Y = self.evaluated.Y
        scale = np.nanmean((Y - np.nanmean(Y, axis=0)) ** 2, axis=0)
        squares = (np.log1p(one.residuals**2 / np.where(scale > 0, scale, 1.0)) for one in (old, new))
        fall = np.nansum(np.subtract(*squares), axis=1)
        weights = self.evaluated.weights / self.evaluated.weights.sum()
        mean = float(weights @ fall)
        return mean > float(np.sqrt(weights**2 @ (fall - mean) ** 2))

    def move_penalty(self, trial: _Evaluation) -> _Evaluation:
        """The evaluation at the penalty of the smallest error, in steps of a decade."""
        best = trial
        for factor in _STEPS if self.is_auto else ():
            while True:
                penalty = best.penalty * factor
                parts = trial.fits[: len(self.tests)]
                moved = self._evaluation([self._fit_at(fitted.training, penalty) for fitted in parts], penalty)
                if not moved.error < (1 - _TIE) * best.error:
                    break
                best = moved
            if best is not trial:
                break
        return best

    def move_rate(self, best: _Evaluation, family: _Family) -> tuple[_Evaluation, _Family]:
        """The evaluation at the rate of the smallest error, in steps by a factor of 2."""
        start = best
        for factor in _RATE_STEPS:
            while True:
                moved, changed = self.change(best, family, family.base, factor)
                if moved is best:
                    break
                best, family = moved, changed
            if best is not start:
                break
        return (best if best is start else self.move_penalty(best)), family

    def change(self, best: _Evaluation, family: _Family, base, factor) -> tuple[_Evaluation, _Family]:
        """The evaluation with another profile, or another rate, of the same metrics, if the error is smaller."""
        if base == family.base and factor == 1:
            return best, family
        parts = best.fits[: len(self.tests)]
        new = self.evaluate([_changed(fitted.training.kernels[0], base, factor) for fitted in parts], best.penalty)
        if not new.error < (1 - _TIE) * best.error:
            return best, family
        return new, replace(family, base=base, rate=family.rate * factor)

    def refit_all(self, before: _Evaluation, tuned: _Evaluation) -> _Evaluation:
        """The tuned evaluation with the fit of all samples, whose kernel changes as those of the parts have."""
        if tuned is before:
            return before
        new, old, of_all = (one.training.kernels[0] for one in (tuned.fits[0], before.fits[0], before.fits[-1]))
        return self.with_all(tuned, _changed(of_all, new.kernel.base, new.kernel.gamma / old.kernel.gamma))

    def with_all(self, evaluation: _Evaluation, kernel: InputKernel) -> _Evaluation:
        """The evaluation with the fit of all samples."""
        fitted = self._fit(self.parts[-1], kernel, evaluation.penalty)
        return replace(evaluation, fits=[*evaluation.fits[: len(self.tests)], fitted])

    def _fit(self, part: Samples, kernel: InputKernel, penalty) -> Fit:
        return self._fit_at(build(part.with_kernel(kernel.kernel), (kernel,)), penalty)

    def _fit_at(self, training: Training, penalty) -> Fit:
        return fit(training, Squared(), penalty / float(training.weights.sum()), self.options)

    def _evaluation(self, fits: list[Fit], penalty) -> _Evaluation:
        residuals = np.full(self.samples.Y.shape, np.nan)
        for fitted, test in zip(fits, self.tests, strict=False):
            inputs = _safe_indexing(self.samples.X, self.samples.labelled_indices[test])
            values = [kernel(inputs, fitted.training.X) for kernel in fitted.training.kernels]
            residuals[test] = self.samples.Y[test] - fitted.coordinates_at(values)
        residuals = residuals[np.sort(np.concatenate(self.tests))]
        error, standard_error, _ = self.criterion.evaluate(self.evaluated, residuals)
        return _Evaluation(fits, penalty, residuals, error, standard_error)


def _changed(kernel: InputKernel, base, factor) -> InputKernel:
    """The kernel with another profile, and its rate multiplied by a factor."""
    return InputKernel(clone(kernel.kernel).set_params(base=base).with_rate(factor))


def _main_part(kernel: InputKernel) -> InputKernel:
    """The kernel, or the part of an average with the largest share."""
    return getattr(kernel.kernel, "main_part", kernel)


@dataclass(frozen=True)
class _Family:
    """Kernels with a metric, whose shape, rate and scaling are those of a selected kernel."""

    base: str
    rate: float  # relative to the median rule
    scaling: Any

    @classmethod
    def from_kernel(cls, kernel: InputKernel, samples: Samples) -> _Family:
        median = kernels.resolve_gamma(kernel.kernel, "median", kernel.scale(samples.X), samples.input_weights)
        return cls(_BASES[kernel.kernel], kernel.gamma / median, kernel.scaling)

    def start(self, samples: Samples) -> InputKernel:
        """The kernel without a metric."""
        diagonal = samples.X.shape[1] > _MOST_INPUTS
        kernel = MetricKernel(self.base, n_rounds=0, diagonal=diagonal, scaling=self.scaling)
        return self._resolve(kernel, samples)

    def variants(self, fitted: Fit) -> list[InputKernel]:
        """Kernels whose metric comes from the gradients of a fit, directions first, then weights of inputs."""
        training = fitted.training
        (predictor,) = fitted.predictors(fitted.coefficients)
        kernel = training.kernels[0].kernel
        variants = kernel.variants(training.X, predictor.coef, training.input_weights)
        return [self._resolve(variant, training) for variant in variants]

    def _resolve(self, kernel: MetricKernel, samples: Samples) -> InputKernel:
        rows = draw_subsample(samples, _MEDIAN_ROWS)  # the median of fewer distances varies by some per cent
        return InputKernel(kernel.resolve(samples.X[rows], samples.input_weights[rows]).with_rate(self.rate))
