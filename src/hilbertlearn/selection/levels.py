"""Selection for quantiles of several levels: the kernel, the coupling of the levels, and alpha."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np

from .. import kernels
from .._utils.progress import StopSearch, Task
from ..core.solvers import select_solver
from ..losses import Pinball, Squared
from ..operators import LevelCoupling
from ..spaces import QuantileSpace
from ..training import Fit, Options, Samples, Training, build
from .alpha_search import select_alpha_by_output, sign_scaled_alpha
from .automatic import select
from .draws import FOLDS, draw_subsample
from .folds import FoldSearch
from .kernel_search import is_open
from .level_offsets import level_offsets
from .result import Selection
from .surrogate import selection_subsample
from .trials import Trial

COUPLINGS = (0.0, 0.1, 1.0, 10.0, np.inf)  # candidates of coupling="auto"
_RATE, _RATES = 32.0, 2  # factor between rates of the kernel, and how often it is applied in one direction
_GAIN = 0.01  # share of the pinball loss that another rate must gain
_LEAST_VARIATION = 1e-3  # of a smaller rate's kernel: with less it is constant up to the accuracy of solvers
_LOSS = 0.02  # share of the error by which a coupling may be worse at one alpha for others to be evaluated
_LARGEST_GAP = 0.1  # duality gap beyond which a model has no error
_SEARCHED = 400  # samples at most by which settings are compared; fits of 1600 take thirty times as long as of 320
_STEP = 10.0**0.5  # between alphas: errors over folds do not resolve less
_PLATEAU = 0.003  # share of the error that another alpha must gain for the search to continue
_LEAST = 1e-9  # smallest alpha, relative to the largest: smaller ones are at the limit of rounding
_N_ALPHAS = 5  # about as many alphas a search evaluates; for the progress display
_FIRST_ALPHA = 3.0  # the first alpha relative to that of the squared loss: levels that are coupled add their influence
_CALIBRATION_TOL = 1e-3  # of models whose residuals calibrate quantiles
_CALIBRATION_FOLDS = 10  # of these models: without a fifth of 30 samples they have larger residuals than the final one
_TOL, _MAX_ITER = 1e-2, 80  # of models that only serve the selection: errors of folds vary by more


@dataclass(frozen=True)
class QuantileSpaceFactory:
    """Function of outputs and weights that returns the space of their quantiles.

    space : such a function that returns the space of the outputs themselves
    """

    space: Callable
    n_levels: int
    axis: bool

    def __call__(self, y, weights):
        return QuantileSpace(self.space(y, weights), self.n_levels, self.axis)


def with_levels(training: Training, loss: Pinball, coupling, axis=True) -> Training:
    """Training data of quantiles: a column for each output and level."""
    levels, recipe = loss.taus, training.recipe
    if isinstance(training.space, QuantileSpace):
        space, make_space = training.space, recipe.space
        pairs = [(kernel, LevelCoupling(former.operator, levels, coupling)) for kernel, former in recipe.pairs]
    else:
        space = QuantileSpace(training.space, len(levels), axis)
        make_space = QuantileSpaceFactory(recipe.space, len(levels), axis)
        pairs = [(kernel, LevelCoupling(operator, levels, coupling)) for kernel, operator in recipe.pairs]
    recipe = replace(recipe, pairs=pairs, space=make_space)
    return replace(training, recipe=recipe).with_space(space)


def select_levels(
    samples: Samples, loss: Pinball, alpha, coupling, axis, options: Options, *, calibrates=False
) -> tuple[Selection, float]:
    """Select the kernel, alpha and the coupling of the levels; the last two are numbers, or "auto".

    The kernel, and an operator on the outputs where one is open, are those of the squared loss, by closed-form
    leave-one-out; the rate of the kernel may differ from theirs by powers of 32. It, coupling and alpha have the
    smallest pinball loss over folds, which share their factors.

    calibrates : whether quantiles are corrected by the offsets of ``level_offsets``, in the folds and in the result
    """
    open_alpha, open_coupling = isinstance(alpha, str), isinstance(coupling, str) and len(loss.taus) > 1
    first = 1.0 if isinstance(coupling, str) else float(coupling)
    base = _select_by_squared_loss(samples, alpha, open_coupling, options)
    training = with_levels(_with_output_alphas(base), loss, first, axis)
    selection = Selection(
        alpha=base.alpha if open_alpha else float(alpha),
        loss=loss,
        training=training,
        trials=base.trials,
        alpha_by_output=base.alpha_by_output,
        approximation=base.approximation,
        selected_alpha=open_alpha,
    )
    if len(training.rows) == 1:
        offsets = np.zeros(training.Y.shape[1]) if calibrates else None
        return replace(selection, alpha_by_output=None, offsets=offsets), first
    if not (open_alpha or open_coupling):
        selection = replace(selection, alpha_by_output=None)
        return calibrate(selection, options) if calibrates else selection, first
    folds, share = _start_folds(selection, options, calibrates)
    if not training.on_features and _has_searched_rate(samples, base.training):
        folds, factor = _search_rate(folds, open_alpha)
        selection = replace(selection, training=with_rate(training, factor))
        base = replace(base, training=with_rate(base.training, factor))
    search = _CouplingSearch(folds, first, open_alpha)
    if open_coupling:
        search.run(options)
    best = search.best()
    training = with_levels(selection.training, loss, best)
    selection = replace(selection, training=training, trials=base.trials + search.trials())
    if open_alpha:
        selection = _with_best_alpha(selection, base, search.folds[best], share, axis, best)
    return calibrate(selection, options, search.folds[best]) if calibrates else selection, best


def calibrate(selection: Selection, options: Options, former: LevelFolds | None = None) -> Selection:
    """The selection with the offsets of its quantiles, from residuals of each sample without its fold.

    The models are those of at most so many samples as settings are selected on, with the same penalty.

    former : folds of the search of alpha, at whose dual variables the models start if they are of the same samples
    """
    data = selection_subsample(selection.training)
    share = float(selection.training.weights.sum() / data.weights.sum())
    precise = replace(options.quick(), tol=max(options.tol, _CALIBRATION_TOL))
    folds = LevelFolds(data, selection.loss, precise, calibrates=True, n_folds=_CALIBRATION_FOLDS)
    if former is not None and np.array_equal(former.training.rows, data.rows):
        folds.start_at_mean_of(former)
    folds.evaluate(selection.alpha * share)
    return replace(selection, offsets=folds.offsets[selection.alpha * share])


def _select_by_squared_loss(samples: Samples, alpha, open_coupling, options: Options) -> Selection:
    """The selection for the squared loss; with an alpha for each output where outputs are separate."""
    open_alpha = isinstance(alpha, str)
    is_given = not (open_alpha or open_coupling or is_open(samples))
    base = select(samples, Squared(), alpha if is_given else "auto", options)
    return select_alpha_by_output(base, options) if open_alpha and _has_separate_outputs(base) else base


def _start_folds(selection: Selection, options: Options, calibrates) -> tuple[LevelFolds, float]:
    """Folds with errors at the first coupling, and the factor of alpha from all samples to theirs."""
    training = selection.training
    data = selection_subsample(training)
    data = data.take(draw_subsample(data, _SEARCHED)) if len(data.rows) > _SEARCHED else data
    share = float(training.weights.sum() / data.weights.sum())
    is_open = selection.selected_alpha
    guess = (_FIRST_ALPHA * sign_scaled_alpha(selection.alpha, data) if is_open else selection.alpha) * share
    folds = LevelFolds(data, selection.loss, replace(options.quick(), tol=_TOL, max_iter=_MAX_ITER), calibrates)
    _evaluate(folds, guess, is_open)
    return folds, share


def _with_best_alpha(selection: Selection, base: Selection, folds: LevelFolds, share, axis, coupling) -> Selection:
    """The selection with the alpha of the smallest error over folds; one for each output where the base has such."""
    if base.alpha_by_output is None:
        return replace(selection, alpha=folds.best() / share)
    by_output = folds.best_by_output() / share / base.alpha * base.alpha_by_output
    base = replace(base, alpha=float(by_output.min()), alpha_by_output=by_output)
    training = with_levels(_with_output_alphas(base), selection.loss, coupling, axis)
    return replace(selection, alpha=base.alpha, training=training, alpha_by_output=by_output)


def _has_separate_outputs(base: Selection) -> bool:
    """Whether outputs have only the kernel in common, so that each may have its own alpha."""
    training = base.training
    several = training.space.coordinate_scales(training.Y, training.weights) is not None
    return several and training.closed_form and training.term is not None and training.term.M is None


def _with_output_alphas(base: Selection) -> Training:
    """Training data with the diagonal operator that gives each output its own alpha, where these were selected."""
    training, by_output = base.training, base.alpha_by_output
    if by_output is None:
        return training
    pairs = [(training.recipe.pairs[0][0], np.diag(by_output.min() / by_output))]
    return replace(training, recipe=replace(training.recipe, pairs=pairs))


class LevelFolds(FoldSearch):
    """Search of alpha over folds by twice the pinball loss, of quantiles with their offsets if it calibrates."""

    def __init__(self, training: Training, loss: Pinball, options: Options, calibrates=False, n_folds=FOLDS):
        super().__init__(training, loss, options, level_residuals, n_folds)
        self.calibrates = calibrates
        self.offsets: dict[float, np.ndarray] = {}  # (d,) of the columns, by alpha

    def factored(self, part):
        # proximal Newton steps need no factors, which would take longer than all fits
        solver = select_solver(part.problem(self.loss, 1.0, part.constant(self.loss)), self.options.solver)
        return (part, None) if solver == "proximal_newton" else super().factored(part)

    def with_operators(self, change):
        new = super().with_operators(change)
        assert isinstance(new, LevelFolds)
        return new.started_at(self)

    def started_at(self, other: LevelFolds) -> LevelFolds:
        """The folds whose first models start at those of others."""
        self.offsets, self._duals = {}, dict(other._duals)
        return self

    def start_at_mean_of(self, former: LevelFolds):
        """Let the first models start at the mean dual variables of other folds of the same samples."""
        alpha = former.best()
        total, number = np.zeros(self.training.Y.shape), np.zeros((len(self.training.rows), 1))
        for (train, _), dual in zip(former.folds, former._duals[alpha], strict=True):
            total[train] += dual
            number[train] += 1
        mean = total / np.maximum(number, 1)
        self._duals = {alpha: [mean[train] for train, _ in self.folds]}

    def evaluate_near(self, alpha, step=_STEP):
        """Alphas around a guess, larger ones first, and further as long as errors fall by more than a plateau.

        Small alphas take longest.
        """
        least, largest = _LEAST * self.training.alphas()[-1], self.training.alphas()[-1]
        alpha = max(alpha, step * least)
        with self._search(_N_ALPHAS):
            for factor in (step, 1.0):
                self.evaluate(alpha * factor)
            while not self.is_solved() and max(self.errors) < largest:
                self.evaluate(max(self.errors) * step)
            if self._falls(alpha, alpha * step):
                while self._falls(*sorted(self.errors)[-2:]) and max(self.errors) < largest:
                    self.evaluate(max(self.errors) * step)
            else:
                while self._falls(*sorted(self.errors)[1::-1]) and min(self.errors) / step > least:
                    self.evaluate(min(self.errors) / step)

    def _falls(self, former, new) -> bool:
        """Whether the error of a new alpha is lower than that of the former by more than a plateau."""
        return self.mean(new) < (1 - _PLATEAU) * self.mean(former)

    def errors_of(self, alpha, measured):
        tests = [test for _, test in self.folds]
        weights = self.training.weights
        offsets = np.zeros(measured[0].shape[1])
        if self.calibrates:
            offsets = level_offsets(np.vstack(measured), weights[np.concatenate(tests)], self.loss.taus)
        self.offsets[alpha] = offsets
        space, pairs = self.training.space, zip(measured, tests, strict=True)
        assert isinstance(space, QuantileSpace)
        return np.array([errors_by_output(space, self.loss, R - offsets, weights[test]) for R, test in pairs])


def level_residuals(training: Training, fitted: Fit, test):
    """Residuals (n, d) of quantiles of the samples `test`, NaN where not observed and far from the optimum."""
    space, y = fitted.training.space, training.y[training.rows[test]]
    values = fitted.coordinates_at(training.cross(test, fitted.training))
    residuals = space.residuals(y, values)
    return residuals if fitted.solution.gap <= _LARGEST_GAP else np.full_like(residuals, np.nan)


def errors_by_output(space: QuantileSpace, loss: Pinball, residuals, weights):
    """Twice the mean pinball loss (outputs,) of residuals (n, d); curves have one number for all points.

    Infinite for residuals of a model that has none.
    """
    number = 1 if space.measure is not None else residuals.shape[1] // len(loss.taus)
    if not np.isfinite(residuals).any():
        return np.full(number, np.inf)
    losses = loss.value(np.nan_to_num(residuals)) * (1.0 if space.measure is None else np.sqrt(space.measure))
    means = np.average(losses, axis=0, weights=weights)
    return 2 * means.reshape(number, -1).sum(axis=1)


def with_rate(training: Training, factor) -> Training:
    """The same training data with the rates of their kernels multiplied by a factor."""
    if factor == 1:
        return training
    return build(training.samples, tuple(kernel.with_rate(factor) for kernel in training.kernels))


def _has_searched_rate(samples: Samples, selected: Training) -> bool:
    """Whether errors selected the rate of the kernel; of an average or a learnt kernel, that of a candidate."""
    candidates = samples.recipe.kernel_candidates or (samples.recipe.pairs[0][0],)
    kernel = selected.recipe.pairs[0][0]
    settings = [kernel] if kernel in candidates else candidates
    return any(kernels.is_searched(setting, samples.recipe.gamma) for setting in settings)


def _search_rate(folds: LevelFolds, open_alpha) -> tuple[LevelFolds, float]:
    """Folds with the best rate of the kernel, and its factor: larger or smaller rates as long as errors fall.

    Where noise differs between inputs the squared loss may select too smooth a kernel; the pinball loss does not.
    Another rate starts at the alpha that keeps the ratio of the kernel's variation to the penalty.
    """
    factor = 1.0
    for step in (_RATE, 1 / _RATE):
        for _ in range(_RATES):
            training = with_rate(folds.training, step)
            if training.kernels == folds.training.kernels or _variation(training) < _LEAST_VARIATION:
                break  # kernels without a rate stay as they are
            other = LevelFolds(training, folds.loss, folds.options, folds.calibrates)
            scale = _variation(training) / _variation(folds.training) if open_alpha else 1.0
            other.evaluate(folds.best() * scale)
            if open_alpha and other.least() < (1 + _LOSS) * folds.least():
                other.evaluate_near(folds.best() * scale)
            if other.least() > (1 - _GAIN) * folds.least():
                break
            folds, factor = other, factor * step
        if factor != 1:
            break
    return folds, factor


def _variation(training: Training) -> float:
    """The mean of k(x, x) less that of k(x, z) over samples, relative to the former."""
    K = training.grams[0].dense()
    return float(1.0 - K.mean() / np.diagonal(K).mean())


def _evaluate(folds: FoldSearch, alpha, open_alpha):
    """Errors around an alpha, or at the given one."""
    folds.evaluate_near(alpha) if open_alpha else folds.evaluate(alpha)


class _CouplingSearch:
    """Folds by coupling, in increasing or decreasing order as long as the error falls."""

    def __init__(self, folds: LevelFolds, first, open_alpha):
        self.first, self.open_alpha = folds, open_alpha
        self.folds: dict[float, LevelFolds] = {first: folds}

    def evaluate(self, coupling):
        """Evaluate a coupling at the alpha of the best one, and at others if it is about as good there."""
        former = self.folds[self.best()]
        folds = self.first.with_operators(lambda part: with_levels(part, self.first.loss, coupling)).started_at(former)
        alpha = former.best()
        folds.evaluate(alpha)
        if self.open_alpha and folds.least() < (1 + _LOSS) * former.least():
            folds.evaluate_near(alpha)
        self.folds[coupling] = folds

    def run(self, options: Options):
        """Evaluate larger, then smaller couplings."""
        with suppress(StopSearch), options.progress.task("search of the coupling", "coupling") as task:
            for step in (1, -1):
                self.climb(step, task)

    def trials(self) -> tuple[Trial, ...]:
        return tuple(trial for folds in self.folds.values() for trial in folds.trials())

    def climb(self, step, task: Task):
        """Evaluate larger or smaller couplings until one is no better."""
        order = list(COUPLINGS)
        place = order.index(self.best()) + step
        while 0 <= place < len(order) and order[place] not in self.folds:
            best = self.best()
            self.evaluate(order[place])
            error = self.folds[order[place]].least()
            task.search_step(f"error {error:.4g} at {order[place]:g}", f"best at {self.best():g}", error=error)
            if self.best() == best:
                break
            place += step

    def best(self) -> float:
        """The coupling of smallest error, among those that are better than the first by a standard error."""
        better = [coupling for coupling in self.folds if self._is_better(self.folds[coupling])]
        return min(better, key=lambda coupling: self.folds[coupling].least(), default=next(iter(self.folds)))

    def _is_better(self, folds: LevelFolds) -> bool:
        first, errors = self.first.errors[self.first.best()], folds.errors[folds.best()]
        if not np.isfinite([first, errors]).all():
            return False
        gains = first - errors
        return bool(gains.mean() > gains.std(ddof=1) / np.sqrt(len(gains)))
