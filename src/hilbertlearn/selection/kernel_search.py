"""Search of the kernel, its rate, alpha and the operator by leave-one-out errors of the squared loss."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse

from .. import kernels
from .._utils.progress import StopSearch, Task
from .._utils.threads import threads_for
from .._utils.validation import warn
from ..training import Options, Samples, build
from .averaging import (
    FEW,
    Candidate,
    average_kernel,
    rate_log_weight,
    shape_log_weight,
    shares_of,
    sharpness,
    unscaled_log_weight,
    weights_of,
)
from .criterion import Criterion
from .draws import draw_subsample
from .error_curve import ErrorCurve, candidate_alphas, error_curve
from .trials import Trial, smoothest

# Rates of a kernel relative to the median rule's: a factor of 4 apart, from 1e-3 to 16.
RATES = 2.0 ** np.arange(-10, 5, 2)
_STEP, _HALF_STEP = RATES[1] / RATES[0], np.sqrt(RATES[1] / RATES[0])
_COARSENESS = 4  # half steps between two rates of the families whose fixed grid is coarse
_WINDOW = 1  # steps to either side of the best rate of one kernel at which the next kernels are evaluated
_BEYOND = 2  # steps beyond the largest rate that are evaluated as long as errors fall
_NEAR = (1.0, 0.5, 2.0)  # rates that are compared with the best one, relative to it
_OPERATOR_GAIN = 0.03  # relative gain in error from which an operator computed from the outputs replaces the identity
_FAR_WORSE = 1.2  # ratio of errors of one shape from which other shapes of inputs as given are not evaluated
_MOST_OTHERS = 6  # kernels beside these; each costs as much
_NEGLIGIBLE = 1e-3  # share up to which a kernel of the fixed grid, or the kernels of unscaled inputs, are left out
_EDGE = 1e-2  # relative gain of the last rate of the grid over its neighbour that causes a warning
# Errors of rates far apart differ by more than errors of different subsamples do. So up to 600 samples are searched as
# a whole, of more 400 find the region; the best rate and its neighbours are compared on 1000 samples.
_COMPLETE, _FIRST, _SECOND = 600, 400, 1000


@dataclass(frozen=True)
class SearchResult:
    """The selected kernels: those of the smallest error, or of the largest weights."""

    setting: Any  # the selected kernel, with "auto" parameters
    kernels: tuple[kernels.InputKernel, ...]
    curve: ErrorCurve  # of their errors over alpha
    trials: tuple[Trial, ...]
    rate: float  # of the smallest error, relative to the median rule's
    neighbours: list[tuple[int, float]]  # (index of the family, rate) of the kernel itself and of similar ones
    candidates: tuple[Candidate, ...] = ()  # the kernels evaluated in the last round


def is_open(samples: Samples) -> bool:
    """Whether a kernel or an operator is to be selected."""
    recipe = samples.recipe
    settings = [kernels.scalar_kernel(kernel) for kernel, _ in recipe.pairs]
    searched = (kernels.is_searched(kernel, recipe.gamma) or getattr(kernel, "n_rounds", 0) for kernel in settings)
    return len(recipe.kernel_candidates) > 1 or len(recipe.operator_candidates) > 1 or any(searched)


def has_plain_kernels(samples: Samples) -> bool:
    """Whether kernels have Gram matrices without the operators that some of them define."""
    return all(getattr(kernels.scalar_kernel(kernel), "returns_gram", True) for kernel, _ in samples.recipe.pairs)


def can_average(samples: Samples) -> bool:
    """Whether kernels can be averaged.

    Not where one of them is learnt in rounds or contains an operator, not for feature maps of a single kernel, and not
    with a graph, whose few labelled samples tell little about the kernel.
    """
    settings = samples.recipe.kernel_candidates or [kernel for kernel, _ in samples.recipe.pairs]
    has_rounds = any(getattr(kernels.scalar_kernel(kernel), "n_rounds", 0) for kernel in settings)
    has_operators = any(kernels.is_operator_valued(one) or kernels.provides_operator(one) for one in settings)
    is_single = len(samples.recipe.pairs) == 1 and not samples.recipe.params and samples.recipe.takes_average
    return is_single and samples.graph is None and not has_rounds and not has_operators


def families_of(samples: Samples) -> list[tuple[Any, kernels.KernelFamily]]:
    """For each candidate kernel, and each scaling of its inputs, its setting and the family of its rates.

    Kernels whose inputs cannot be scaled, such as kernel objects, have them as given.
    """
    recipe = samples.recipe
    candidates = recipe.kernel_candidates or [recipe.pairs[0][0]]
    scalable = [kernel for kernel in candidates if kernels.can_scale(_settings_of_terms(samples, kernel), samples.X)]
    families: list[tuple[Any, kernels.KernelFamily]] = []
    for number, (scaling, log_weight) in enumerate(_candidate_scalings(samples, scalable)):
        for kernel in candidates if number == 0 else scalable:
            pairs = samples.with_kernel(kernel).recipe.pairs
            inputs = (samples.X, samples.input_weights, recipe.center, scaling if kernel in scalable else None)
            family = kernels.KernelFamily.from_settings(pairs, recipe.gamma, recipe.params, *inputs)
            if number == 0 or family.is_searched:  # of linear functions, scaled inputs are enough
                families.append((kernel, replace(family, log_weight=log_weight)))
    return families


def _settings_of_terms(samples: Samples, kernel) -> list:
    """The kernels of all terms, with one of the candidates in the first."""
    return [kernels.scalar_kernel(one) for one, _ in samples.with_kernel(kernel).recipe.pairs]


def _candidate_scalings(samples: Samples, scalable) -> list[tuple[kernels.InputScaling | None, float]]:
    """Scalings of the inputs to select from, None for inputs as they are, and logarithms of their prior weights.

    scalable : the candidate kernels whose inputs can be scaled
    """
    recipe = samples.recipe
    is_auto = isinstance(recipe.scale_inputs, str)
    settings = [setting for kernel in scalable for setting in _settings_of_terms(samples, kernel)]
    if not recipe.scale_inputs or not settings:
        return [(None, 0.0)]
    is_searched = any(kernels.is_searched(kernel, recipe.gamma) for kernel in settings)
    if is_auto and (scipy.sparse.issparse(samples.X) or samples.graph is not None or not is_searched):
        return [(None, 0.0)]
    scaling = kernels.InputScaling.from_samples(samples.X, samples.input_weights, keeps_equal=is_auto)
    unscaled = (None, unscaled_log_weight(scaling.unit_ratio))
    return [(scaling, 0.0), *([unscaled] if is_auto and np.isfinite(unscaled[1]) else [])]


def search_kernels(
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
    """The kernel and its rate, for alpha a number, or "auto" for the best alpha of each kernel.

    families : from ``families_of``
    weights : (n,) factors of the sample weights, of a robust fit, or None
    around : result of an earlier search whose kernel is kept; only its rate and neighbours are evaluated
    middle : the rate around which others are evaluated first; None for all of ``RATES``
    """
    n = len(samples.rows)
    trials: tuple[Trial, ...] = ()
    is_averaged = n <= FEW and middle is None and can_average(samples)
    is_fixed = is_averaged and around is None  # kernels with a share are evaluated whatever the errors of others are
    if around is not None:
        candidates = around.neighbours
    else:
        candidates = _fixed_rates(families) if is_fixed else _all_rates(families)
    is_wide = around is None and not is_fixed and len(candidates) > len(_NEAR)
    for number in _subsample_sizes(n, is_wide, len(candidates)):
        rows = draw_subsample(samples, number)
        part = samples if number == n else samples.subsample(rows)
        steps = len(candidates) + 2 * is_wide * len(families)
        task = options.progress.task("search of the kernel", "kernel", steps, where=f"{number} samples", exact=False)
        log_weights = _log_weights(families, is_averaged)
        factors = None if weights is None else weights[rows]
        search = _KernelSearch(part, families, log_weights, criterion, alpha, task, factors)
        with threads_for(number):
            with suppress(StopSearch), task:
                if is_wide:
                    search.evaluate_grid(middle)
                elif is_fixed:
                    search.evaluate_fixed(candidates)
                else:
                    for candidate in candidates:
                        search.evaluate(*candidate)
            curve = search.best_curve()
        best = search.candidates[search.best]
        neighbours = search.averaged() if is_averaged else search.neighbours(n)
        trials += search.trials
        if n > FEW:  # an average of few samples has no best rate
            search.warn_at_edge()
        is_wide, candidates = False, neighbours if is_wide else [search.best]
    evaluated = tuple(search.candidates.values())
    return SearchResult(best.setting, best.kernels, curve, trials, search.best[1], neighbours, evaluated)


def average_kernels(samples: Samples, result: SearchResult, criterion: Criterion, alpha, weights=None) -> SearchResult:
    """The result with the average of the evaluated kernels in place of the best one, and its alpha.

    Where one kernel has all the weight it is this one: not always that of the smallest error, whose large residuals
    are not limited.
    """
    is_auto = isinstance(alpha, str)
    setting, kernel = average_kernel(result.candidates, normalizes=is_auto)
    if kernel is result.kernels[0]:
        return result
    gram = kernels.SharedDistances(samples.X).gram(kernel)
    training = build(samples.with_kernel_candidates([setting]).with_kernel(setting), [kernel], [gram])
    curve = error_curve(training, criterion, candidate_alphas(training, alpha), weights)
    trials = result.trials + curve.trials() if isinstance(setting, kernels.AverageKernel) else result.trials
    return replace(result, setting=setting, kernels=(kernel,), curve=curve, trials=trials)


def operator_gain(operator) -> float:
    """Relative gain in error from which another operator is selected.

    An operator that is computed from the outputs also knows the sample that is left out.
    """
    return _OPERATOR_GAIN if operator is None else 0.0


def search_operators(
    samples: Samples, result: SearchResult, candidates, criterion: Criterion, alpha, weights=None
) -> tuple[Any, SearchResult]:
    """The candidate operator with the smallest error for the selected kernel, and the search result with it."""
    best, *others = candidates
    for operator in others:
        candidate = samples.with_operator_setting(operator).with_kernel(result.setting)
        training = build(candidate, result.kernels, [gram.dense() for gram in result.curve.training.grams])
        factors = result.curve.factors
        if factors is not None:
            factors = None if training.term is None else factors.with_operator(training.term.M)
        curve = error_curve(training, criterion, candidate_alphas(training, alpha), weights, factors)
        result = replace(result, trials=result.trials + curve.trials())
        if curve.error < (1 - operator_gain(best)) * result.curve.error:
            best, result = operator, replace(result, curve=curve)
    return best, result


def main_family(families) -> int:
    """Index of the first family whose rate is searched; 0 where there is none."""
    return next((i for i, (_, family) in enumerate(families) if family.is_searched), 0)


def _fixed_rates(families) -> list[tuple[int, float]]:
    """(index of the family, rate) of kernels that are all evaluated: four times as many of the main family."""
    fine, main = RATES[0] * _HALF_STEP ** np.arange(2 * (len(RATES) + _BEYOND) - 1), main_family(families)
    coarse = fine[2::_COARSENESS]
    rates = [(fine if i == main else coarse) if family.is_searched else [1.0] for i, (_, family) in enumerate(families)]
    return [(i, rate) for i, chosen in enumerate(rates) for rate in chosen]


def _log_weights(families, is_fixed_grid) -> list[float]:
    """Logarithms of the prior weights of the families at each rate that is evaluated."""
    main, log_weights = main_family(families), []
    for i, (_, family) in enumerate(families):
        fixed_step = _HALF_STEP if i == main else _HALF_STEP**_COARSENESS
        shape = shape_log_weight(i == main, fixed_step if is_fixed_grid else _STEP) if family.is_searched else 0.0
        log_weights.append(family.log_weight + shape)
    return log_weights


def _all_rates(families) -> list[tuple[int, float]]:
    """(index of the family, rate) of all candidates."""
    return [(i, rate) for i, (_, family) in enumerate(families) for rate in (RATES if family.is_searched else [1.0])]


def _subsample_sizes(n, is_wide, n_candidates) -> list[int]:
    """Numbers of samples of the rounds of a search; the last is n."""
    first = _FIRST if is_wide and n > _COMPLETE else n
    return [size for size in (first, _SECOND) if size < n and n_candidates > 1] + [n]


class _KernelSearch:
    """Errors of kernels on the same samples, by (index of the family, rate); the best curve is kept."""

    def __init__(self, samples: Samples, families, log_weights, criterion, alpha, task: Task, weights):
        self.samples, self.families, self.criterion, self.alpha = samples, families, criterion, alpha
        self.log_weights, self.task, self.weights = log_weights, task, weights
        self.grams = kernels.SharedDistances(samples.X)
        self.is_distinct = not samples.has_duplicates()
        self.errors: dict[int, dict[float, float]] = {}  # by family, then rate
        self.best_rates: dict[int, float] = {}  # by family
        self.best: tuple[int, float] = (0, 1.0)  # family and rate of the smallest error
        self.names: dict[tuple[int, float], str] = {}
        self.trials: tuple[Trial, ...] = ()
        self.candidates: dict[tuple[int, float], Candidate] = {}
        self._curve: tuple[tuple[int, float], ErrorCurve] | None = None  # of the best, where it is in memory

    def evaluate_fixed(self, candidates):
        """Compute the error curves of candidates (index of the family, rate), ordered by family.

        Where inputs as given have no weight with the first shape, their other shapes are left out.
        """
        unscaled = [i for i, (_, family) in enumerate(self.families) if family.log_weight < 0]
        for i, rate in candidates:
            if i not in unscaled[1:] or self._share_of(unscaled[0]) > _NEGLIGIBLE:
                self.evaluate(i, rate)

    def _share_of(self, i) -> float:
        """The share of a family in the weights of the kernels evaluated so far."""
        weights = weights_of(tuple(self.candidates.values()))
        return float(sum(weight for key, weight in zip(self.candidates, weights, strict=True) if key[0] == i))

    def evaluate_grid(self, middle=None):
        """A grid of rates for each family, then half steps around its best rate.

        The first family is evaluated on the whole grid, or around `middle`; the others around the best rate so far.
        Each continues in the direction in which errors fall at the end of what was evaluated.
        """
        if middle is None:
            grid, first, end = RATES[0] * _STEP ** np.arange(len(RATES) + _BEYOND), 0, len(RATES)
        else:
            number = len(RATES) // 2
            grid, first, end = middle * _STEP ** np.arange(-number, number + 1), number - 1, number + 2
        for i, (_, family) in enumerate(self.families):
            if i and family.log_weight < 0 and self._is_negligible(i - 1):
                continue  # nor are other shapes of inputs as they are given
            if not family.is_searched:
                self.evaluate(i, 1.0)
                continue
            for rate in grid[first:end]:
                self.evaluate(i, rate)
            while end < len(grid) and self.best_rates[i] == grid[end - 1]:
                self.evaluate(i, grid[end])
                end += 1
            while first and self.best_rates[i] == grid[first]:
                first -= 1
                self.evaluate(i, grid[first])
            nearest = int(np.argmin(np.abs(np.log(grid / self.best[1]))))
            first, end = max(nearest - _WINDOW, 0), min(nearest + _WINDOW + 1, len(grid))
        i, rate = self.best
        if self.families[i][1].is_searched:
            self.evaluate(i, rate / _HALF_STEP)
            self.evaluate(i, rate * _HALF_STEP)

    def _is_negligible(self, i) -> bool:
        """Whether a family of inputs as given is far worse than scaled inputs, or was not evaluated for that reason."""
        if self.families[i][1].log_weight == 0:
            return False
        return (
            i not in self.best_rates
            or self.errors[i][self.best_rates[i]] > _FAR_WORSE * self.errors[0][self.best_rates[0]]
        )

    def neighbours(self, n) -> list[tuple[int, float]]:
        """The best kernel, those at rates around it, and others that n samples may not tell from it."""
        i, rate = self.best
        near = [(i, rate * factor) for factor in (_NEAR if self.families[i][1].is_searched else (1.0,))]
        growth = sharpness(n) / sharpness(len(self.samples.rows))
        of_all = tuple(one.with_more_samples(growth) for one in self.candidates.values())
        others = self._by_share(shares_of(of_all))
        return near + [key for key in others if key not in near][:_MOST_OTHERS]

    def averaged(self) -> list[tuple[int, float]]:
        """The best kernel, and those that are in the average, or may be if the samples change a little."""
        weights = weights_of(tuple(self.candidates.values()))
        return list(dict.fromkeys([self.best, *self._by_share(weights, _NEGLIGIBLE)]))

    def _by_share(self, shares, least=0.0):
        """(index of the family, rate) of the evaluated kernels with more than the least share, the largest first."""
        keys = list(self.candidates)
        return [keys[k] for k in np.argsort(-shares, kind="stable") if shares[k] > least]

    def evaluate(self, i, rate):
        """Compute the error curve of a kernel and report it."""
        curve = self._compute(i, rate)
        error, name, least = curve.error, self.names[i, rate], self.errors[self.best[0]][self.best[1]]
        best_so_far = f"best {least:.4g} for {self.names[self.best]}"
        facts = {"kernel": name, "alpha": curve.alpha, "error": error}
        self.task.search_step(f"{name}: error {error:.4g} at alpha {curve.alpha:.2g}", best_so_far, **facts)

    def best_curve(self) -> ErrorCurve:
        """The curve of the best kernel, with its training data and factors."""
        if self._curve is None or self._curve[0] != self.best:  # it tied with another when it was evaluated
            return self._compute(*self.best)
        return self._curve[1]

    def _compute(self, i, rate) -> ErrorCurve:
        setting, family = self.families[i]
        selected = family.at_rate(rate)
        training = build(self.samples.with_kernel(setting), selected, self.grams(selected))
        alphas = candidate_alphas(training, self.alpha)
        curve = error_curve(training, self.criterion, alphas, self.weights, is_distinct=self.is_distinct)
        self.trials += curve.trials()
        log_prior = self.log_weights[i] + (rate_log_weight(rate) if family.rate_is_roughness else 0.0)
        log_weight = curve.log_weight + log_prior
        self.candidates[i, rate] = Candidate(setting, selected, rate, log_weight, log_prior, curve.largest)
        self.names[i, rate] = " + ".join(
            f"{kernel.kernel}" if kernel.rate is None else f"{kernel.kernel}, rate {rate:.3g}" for kernel in selected
        )
        self.errors.setdefault(i, {})[rate] = curve.error
        self.best_rates[i] = smoothest(self.errors[i])
        family_errors = {j: self.errors[j][best] for j, best in self.best_rates.items()}
        j = smoothest(family_errors)  # ties go to the first kernel, and to the smallest rate
        self.best = j, self.best_rates[j]
        if self.best == (i, rate):  # matrices and factors of the others are not needed
            self._curve = self.best, curve
        return curve

    def warn_at_edge(self):
        """Warn where the error still falls at the end of the grid of rates."""
        i, rate = self.best
        errors = self.errors[i]
        rates = sorted(errors)
        if len(rates) <= len(_NEAR) or rate not in (rates[0], rates[-1]):
            return
        is_smoothest = rate == rates[0]
        if errors[rate] < (1 - _EDGE) * errors[rates[1 if is_smoothest else -2]]:
            side, remedy = ("smoothest", "kernel='linear'") if is_smoothest else ("roughest", "kernel='matern12'")
            warn(
                f"gamma='auto': the {side} kernel that was tried is the best, {rate:g} times the median rule's rate; "
                f"scale X, for example with StandardScaler, try {remedy}, or give gamma as a number"
            )
