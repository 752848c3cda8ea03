"""The kernel and alpha of smallest leave-one-out error, searched together."""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from .. import kernels, operators
from .._utils.progress import StopSearch, Task
from .._utils.statistics import mean_rows
from .._utils.threads import threads_for
from .._utils.validation import warn
from ..core.terms import Factors
from ..leave_one_out import loo_residual_path
from ..training import Encoded, Options, Samples, Training, build
from .criterion import Criterion
from .draws import draw_subsample
from .trials import Trial, best_index, smoothest, trials_of

_COARSE = 4  # every so many alphas are tried first, a decade apart, and then those between
RATES = 2.0 ** np.arange(-10, 5, 2)  # of a kernel, relative to the median rule's
_WINDOW = 2  # steps to either side of the best rate of one shape that others are looked at
_BEYOND = 2  # steps that the search may go on where values fall faster still
_STEP, _HALF_STEP = RATES[1] / RATES[0], np.sqrt(RATES[1] / RATES[0])
_EDGE = 1e-2  # gain at the end of the grid, relative to its neighbour, that is told
_WHOLE, _FEW = 600, 400  # samples up to which all, and beyond which so many, say where to look
_COMPARED = 1000  # samples that rates near each other are compared on
_MOST, _MANY = 2000, 1500  # samples up to which all, and beyond which so many, are chosen by
_NEAR = (1.0, 0.5, 2.0)  # rates near each other, relative
_ENTRIES = 2e9  # products of samples, samples and coordinates that a step of a search may take
_PATTERNS = 8  # patterns of gaps beyond which fewer samples do


@dataclass(frozen=True)
class ErrorCurve:
    """Errors over alpha for one kernel."""

    training: Any  # as it was prepared for the alphas; None once it is not the best
    total: float  # sum of the weights
    alphas: np.ndarray  # increasing, those that were tried
    errors: np.ndarray
    standard_errors: np.ndarray
    seconds: float
    factors: Factors | None = None  # of the training data's term, where they were made

    @cached_property
    def best(self) -> int:
        return best_index(self.errors)

    @property
    def error(self) -> float:
        return float(self.errors[self.best])

    @property
    def standard_error(self) -> float:
        return float(self.standard_errors[self.best])

    @property
    def alpha(self) -> float:
        return float(self.alphas[self.best])

    @property
    def penalty(self) -> float:
        """alpha times the sum of weights: what a model of more samples of the same kind keeps."""
        return self.alpha * self.total

    def trials(self) -> tuple[Trial, ...]:
        errors = (self.errors, self.standard_errors)
        return trials_of(self.training, self.alphas, *errors, self.seconds, "leave-one-out")


def error_curve(
    training: Training, criterion: Criterion, alphas, weights=None, factors=None, judged=None
) -> ErrorCurve:
    """Leave-one-out errors of the squared loss for increasing alphas: a decade apart, then those around the best.

    weights : (n,) factors of the sample weights in the fit; errors are averaged without them
    factors : of the training data's term, where they are there already
    judged : number of samples, drawn once and for all, whose errors count; None for all
    """
    begun = time.perf_counter()
    data = training.merge_duplicates() if weights is None else training
    fitted = data if weights is None else replace(data, weights=data.weights * weights)
    if factors is None or fitted is not training:
        fitted, factors = fitted.prepared(alphas)
    share = data.weights.sum() / fitted.weights.sum()  # the penalty, alpha times the sum of weights, stays
    rows = None if judged is None or judged >= len(data.rows) else draw_subsample(data, judged)
    seen: Samples = data if rows is None else data.judged(rows)
    found: dict[int, tuple[float, float]] = {}
    judge = criterion.judge(seen)

    def look(numbers):
        with np.errstate(over="ignore", invalid="ignore"):  # best_index says what overflows
            path = loo_residual_path(fitted, [alphas[i] * share for i in numbers], factors, rows)
            found.update((i, judge(r)) for i, r in zip(numbers, path, strict=True))

    coarse_to_fine(len(alphas), look, lambda i: found[i][0])
    order = sorted(found)
    errors, spread = np.array([found[i] for i in order]).T
    if data is not training or weights is not None:
        fitted, factors = training, None
    total = float(data.weights.sum())
    return ErrorCurve(fitted, total, np.asarray(alphas)[order], errors, spread, time.perf_counter() - begun, factors)


def coarse_to_fine(number, look, error):
    """Look at every fourth of so many settings in order, then at those around the best.

    look : function of a list of numbers of settings; error : the error of one that was looked at
    """
    coarse = range(0, number, _COARSE) if number > _COARSE else range(number)
    look(coarse)
    best = coarse[best_index([error(i) for i in coarse])]
    seen = set(coarse)
    between = [i for i in range(best - _COARSE + 1, best + _COARSE) if 0 <= i < number and i not in seen]
    if between:
        look(between)


# ---------------------------------------------------------------- samples to search on


def subsample_size(samples: Samples) -> int:
    """The number of samples that settings are chosen on: up to 2000 all, of more 1500.

    Fewer where products with many coordinates, or many patterns of gaps, would take long.
    """
    n, d = len(samples.rows), samples.encoded.coordinates.shape[1]
    most = float(n if n <= _MOST else _MANY)
    if samples.mask is not None and samples.encoded.sampling is None:
        most /= max(1.0, len(np.unique(samples.mask, axis=1).T) / _PATTERNS) ** (1 / 3)
    return int(min(n, max(50, min(most, np.sqrt(_ENTRIES / max(d, 1))))))


def make_surrogate(samples: Samples) -> Samples:
    """Samples whose leave-one-out errors have a formula, near those given: what kernels are compared by.

    Functions seen at points of their own are interpolated; terms with operators of their own are summed without them.
    Outputs have as few coordinates as their errors need.
    """
    recipe, encoded = samples.recipe, samples.encoded
    gaps = samples.mask is not None and encoded.sampling is None and samples.measure is not None
    if encoded.sampling is not None or gaps:
        Y = samples.space.encode_filled(samples.y[samples.rows])
        Y = np.where(np.isfinite(Y), Y, mean_rows(Y, samples.weights))
        encoded = replace(encoded, Y=Y, sampling=None, coordinates=Y)
    compact = encoded.space.compress()
    if compact is not encoded.space:
        encoded = Encoded.of(compact, samples.y[samples.rows])
    pairs = recipe.pairs
    given = [operator for _, operator in pairs if operator is not None]
    own = any(kernels.provides_operator(kernel) and not kernels.is_operator_valued(kernel) for kernel, _ in pairs)
    hidden = samples.mask is not None and encoded is samples.encoded  # gaps that an operator would mix
    if own or (given and (len(pairs) > 1 or hidden or any(map(operators.as_learned, given)))):
        pairs = [(kernels.scalar_kernel(kernel), None) for kernel, _ in pairs]
    if pairs is recipe.pairs and encoded is samples.encoded:
        return samples
    return replace(samples, recipe=replace(recipe, pairs=pairs), encoded=encoded)


# ---------------------------------------------------------------- the search


@dataclass(frozen=True)
class SearchResult:
    """The kernels of smallest error, and what was seen on the way."""

    shape: Any  # the kernel, a setting, that was chosen
    kernels: tuple[kernels.InputKernel, ...]
    curve: ErrorCurve  # of their errors over alpha
    trials: tuple[Trial, ...]
    rate: float  # relative to the median rule's
    neighbours: list[tuple[int, float]]  # itself and those near it, by number of the family and rate


def search(
    samples: Samples,
    families,
    criterion: Criterion,
    alpha,
    options: Options,
    weights=None,
    *,
    around: SearchResult | None = None,
    middle: float | None = None,
) -> SearchResult:
    """The shape and rate of the kernel, for alpha a number, or "auto" for the best of each.

    Of more than 600 samples 400 say where to look: errors of kernels with rates far apart differ by more than
    they do between draws. The best of these and its neighbours are compared on 1000, and all have a say in alpha.

    families : from ``families_of``
    weights : (n,) factors of the sample weights, of a robust fit, or None
    around : what an earlier search has found: its shape stays, and its rate is looked at with those near it
    middle : the rate around which others are looked at first; None for all of ``RATES``
    """
    n = len(samples.rows)
    trials: tuple[Trial, ...] = ()
    kept: Any = [
        (i, rate) for i, (_, family) in enumerate(families) for rate in (RATES if family.is_searched else [1.0])
    ]
    if around is not None:
        kept = around.neighbours
    wide = len(kept) > len(_NEAR)
    for number in [few for few in (_FEW if wide and n > _WHOLE else n, _COMPARED) if few < n and len(kept) > 1] + [n]:
        rows = draw_subsample(samples, number)
        own = samples if number == n else samples.subsample(rows)
        steps, where = len(kept) + 2 * wide * len(families), f"{number} samples"
        task = options.progress.task("choice of the kernel", "kernel", steps, where=where, exact=False)
        look = _KernelSearch(own, families, criterion, alpha, task, None if weights is None else weights[rows])
        with threads_for(number):
            with suppress(StopSearch), task:
                if wide:
                    look.widely(middle)
                else:
                    for i, rate in kept:
                        look.at(i, rate)
            i, rate = look.best()
            if look.curves[i, rate].training is None:  # ties made it the best after another had been
                look.look(i, rate)
        shape, family = families[i]
        neighbours = [(i, rate * factor) for factor in (_NEAR if family.is_searched else (1.0,))]
        trials += look.trials
        look.tell_edges(i, rate)
        wide, kept = False, neighbours if wide else [(i, rate)]
    return SearchResult(shape, family.at_rate(rate), look.curves[i, rate], trials, rate, neighbours)


def best_operator(
    samples: Samples, found: SearchResult, criterion: Criterion, alpha, weights=None
) -> tuple[Any, SearchResult]:
    """The operator, a setting, of smallest error with the kernel that was found, of those to choose from."""
    best, *others = samples.recipe.operators
    for operator in others:
        chosen = samples.with_operator_setting(operator).with_shape(found.shape)
        training = build(chosen, found.kernels, [gram.dense() for gram in found.curve.training.grams])
        alphas = training.alphas() if isinstance(alpha, str) else [float(alpha)]
        factors = found.curve.factors
        own = None if factors is None or training.term is None else factors.with_operator(training.term.M)
        curve = error_curve(training, criterion, alphas, weights, own)
        trials = found.trials + curve.trials()
        found = replace(found, trials=trials)
        if curve.error < found.curve.error:
            best, found = operator, replace(found, curve=curve)
    return best, found


def is_open(samples: Samples) -> bool:
    """Whether there is a kernel or an operator to choose."""
    recipe = samples.recipe
    settings = [kernels.scalar_kernel(kernel) for kernel, _ in recipe.pairs]
    searched = (kernels.is_searched(one, recipe.gamma) or getattr(one, "n_rounds", 0) for one in settings)
    return len(recipe.shapes) > 1 or len(recipe.operators) > 1 or any(searched)


def has_plain_kernels(samples: Samples) -> bool:
    """Whether kernels have Gram matrices of their own, without the operators that they bring."""
    return all(getattr(kernels.scalar_kernel(kernel), "returns_gram", True) for kernel, _ in samples.recipe.pairs)


def families_of(samples: Samples) -> list[tuple[Any, kernels.KernelFamily]]:
    """For each shape that is open the kernel, a setting, and the family of its rates for all samples."""
    recipe, out = samples.recipe, []
    for shape in recipe.shapes or [recipe.pairs[0][0]]:
        pairs = samples.with_shape(shape).recipe.pairs
        inputs = (samples.X, samples.input_weights)
        out.append(
            (shape, kernels.KernelFamily.from_settings(pairs, recipe.gamma, recipe.params, *inputs, recipe.center))
        )
    return out


class _KernelSearch:
    """Error curves of kernels on the same samples, by (number of the family, rate)."""

    def __init__(self, samples, families, criterion, alpha, task: Task, weights):
        self.samples, self.families, self.criterion, self.alpha = samples, families, criterion, alpha
        self.task, self.weights = task, weights
        self.grams = kernels.SharedDistances(samples.X)
        self.curves: dict[tuple[int, float], ErrorCurve] = {}
        self.trials: tuple[Trial, ...] = ()

    def widely(self, middle=None):
        """The grid of rates for each family, then halves of steps around its best.

        The first looks at all, or around the middle, the others around the best so far; each goes on where its best is
        the last it has seen.
        """
        if middle is None:
            allowed, first, end = RATES[0] * _STEP ** np.arange(len(RATES) + _BEYOND), 0, len(RATES)
        else:
            number = len(RATES) // 2
            allowed, first, end = middle * _STEP ** np.arange(-number, number + 1), number - 1, number + 2
        for i, (_, family) in enumerate(self.families):
            if not family.is_searched:
                self.at(i, 1.0)
                continue
            for rate in allowed[first:end]:
                self.at(i, rate)
            while end < len(allowed) and self._best_rate(i) == allowed[end - 1]:
                self.at(i, allowed[end])
                end += 1
            while first and self._best_rate(i) == allowed[first]:
                first -= 1
                self.at(i, allowed[first])
            middle = self._best_rate(i)
            self.at(i, middle / _HALF_STEP)
            self.at(i, middle * _HALF_STEP)
            nearest = int(np.argmin(np.abs(np.log(allowed / self.best()[1]))))
            first, end = max(nearest - _WINDOW, 0), min(nearest + _WINDOW + 1, len(allowed))

    def at(self, i, rate):
        """Look, and tell of it."""
        curve, best = self.look(i, rate), self.best()
        tried, least = self._named(i, rate), self.curves[best].error
        so_far = f"best {least:.4g} for {self._named(*best)}"
        facts = {"kernel": tried, "alpha": curve.alpha, "error": curve.error}
        self.task.search_step(f"{tried}: error {curve.error:.4g} at alpha {curve.alpha:.2g}", so_far, **facts)

    def _named(self, i, rate) -> str:
        return " + ".join(
            f"{one.kernel}, rate {rate:.3g}" if one.rate is not None else f"{one.kernel}"
            for one in self.families[i][1].at_rate(rate)
        )

    def look(self, i, rate) -> ErrorCurve:
        shape, family = self.families[i]
        chosen = family.at_rate(rate)
        training = build(self.samples.with_shape(shape), chosen, self.grams(chosen))
        alphas = training.alphas() if isinstance(self.alpha, str) else [float(self.alpha)]
        curve = self.curves[i, rate] = error_curve(training, self.criterion, alphas, self.weights)
        self.trials += curve.trials()
        best = self.best()
        for key, other in self.curves.items():
            if key != best and other.training is not None:  # matrices and factors of the best alone are needed
                self.curves[key] = replace(other, training=None, factors=None)
        return self.curves[i, rate]

    def _best_rate(self, i):
        return smoothest({rate: curve.error for (j, rate), curve in self.curves.items() if i == j})

    def best(self):
        """Where the error is smallest; ties go to the smoother model, and to the first shape."""
        rates = {i: self._best_rate(i) for i in {i for i, _ in self.curves}}
        i = smoothest({i: self.curves[i, rate].error for i, rate in rates.items()})
        return i, rates[i]

    def tell_edges(self, i, rate):
        """Warn where the error still falls at the end of the grid of rates."""
        own = {r: curve.error for (j, r), curve in self.curves.items() if j == i}
        tried = sorted(own)
        if len(tried) <= len(_NEAR) or rate not in (tried[0], tried[-1]):
            return
        smooth = rate == tried[0]
        if own[rate] < (1 - _EDGE) * own[tried[1 if smooth else -2]]:
            side, remedy = ("smoothest", "kernel='linear'") if smooth else ("roughest", "kernel='matern12'")
            warn(
                f"gamma='auto': the {side} kernel that was tried is the best, {rate:g} times the median rule's rate; "
                f"scale X, for example with StandardScaler, try {remedy}, or give gamma as a number"
            )
