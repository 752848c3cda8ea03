"""Settings of quantiles of several levels: the kernel, how levels are coupled, and alpha."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, fields, replace

import numpy as np

from .. import kernels
from .._utils.progress import StopSearch, Task
from ..losses import Pinball, Squared
from ..operators import LevelCoupling
from ..spaces import QuantileSpace
from ..training import Fit, Options, Samples, Training, build
from .automatic import Selection, in_units_of_signs, select, select_alpha_by_output, selection_subsample
from .folds import Folds
from .search import is_open

COUPLINGS = (0.0, 0.1, 1.0, 10.0, np.inf)  # those that are tried
_RATE, _RATES = 32.0, 2  # factor of the kernel's rate, and how often it is tried in one direction
_GAIN = 0.01  # share of the pinball loss that another rate must gain
_UNSOLVED = 0.1  # gap of a model that is not judged
_TOL, _STEPS = 1e-3, 80  # of models that only serve to choose: their errors differ by more


@dataclass(frozen=True)
class SpaceOfLevels:
    """Outputs and weights -> the space of their quantiles; that of outputs from another such function."""

    space: Callable
    n_levels: int
    axis: bool

    def __call__(self, y, weights):
        return QuantileSpace(self.space(y, weights), self.n_levels, self.axis)


def with_levels(training: Training, loss: Pinball, coupling, axis=True) -> Training:
    """Training data of outputs as those of their quantiles: a column for each output and level."""
    levels, recipe = loss.taus, training.recipe
    if isinstance(training.space, QuantileSpace):
        space, inner = training.space, recipe.space
        pairs = [(kernel, LevelCoupling(one.operator, levels, coupling)) for kernel, one in recipe.pairs]
    else:
        space, inner = QuantileSpace(training.space, len(levels), axis), SpaceOfLevels(recipe.space, len(levels), axis)
        pairs = [(kernel, LevelCoupling(operator, levels, coupling)) for kernel, operator in recipe.pairs]
    recipe = replace(recipe, pairs=pairs, space=inner)
    return replace(training, recipe=recipe).with_space(space)


def select_levels(samples: Samples, loss: Pinball, alpha, coupling, axis, options: Options) -> tuple[Selection, float]:
    """Kernel, alpha and coupling of the levels; the last two are numbers, or "auto".

    The kernel, and an operator on the outputs where one is to be chosen, are those of the squared loss, by closed-form
    leave-one-out. Coupling and alpha have the smallest pinball loss over folds, which share their factors.
    """
    open_alpha, open_coupling = isinstance(alpha, str), isinstance(coupling, str) and len(loss.taus) > 1
    first = 1.0 if isinstance(coupling, str) else float(coupling)
    given = not (open_alpha or open_coupling or is_open(samples))
    base = select(samples, Squared(), alpha if given else "auto", options)
    apart = open_alpha and _is_apart(base)
    if apart:
        base = select_alpha_by_output(base, options)
    training = with_levels(_with_shares(base), loss, first, axis)
    more: dict = {"approximation": base.approximation, "selected_alpha": open_alpha}
    choice = Selection(base.alpha, loss, training, None, base.trials, **more)
    if len(training.rows) == 1 or not (open_alpha or open_coupling):
        return replace(choice, alpha=base.alpha if open_alpha else float(alpha)), first
    judged = selection_subsample(training)
    share = float(training.weights.sum() / judged.weights.sum())
    quick = replace(options.quick(), tol=_TOL, max_iter=_STEPS)
    folds = Folds(judged, loss, quick, errors_by_output)
    _look(folds, in_units_of_signs(base.alpha, judged) * share if open_alpha else float(alpha) * share, open_alpha)
    factor = 1.0
    if kernels.is_searched(samples.recipe.pairs[0][0], samples.recipe.gamma) and not training.on_features:
        folds, factor = _best_rate(folds, open_alpha)
        training = with_rate(training, factor)
        base = replace(base, training=with_rate(base.training, factor))
    tried = _Couplings(folds, first)
    if open_coupling:
        with suppress(StopSearch), options.progress.task("choice of the coupling", "coupling") as task:
            for step in (1, -1):
                tried.climb(step, open_alpha, task)
    best = tried.best()
    if open_alpha:
        tried.folds[best].finer()
    trials = base.trials + tuple(trial for folds in tried.folds.values() for trial in folds.trials())
    chosen = tried.folds[best].best() / share if open_alpha else float(alpha)
    training = with_levels(training, loss, best)
    if apart:
        own = tried.folds[best].best_by_output() / share / base.alpha * base.alpha_by_output
        chosen = float(own.min())
        base = replace(base, alpha=chosen, alpha_by_output=own)
        training = with_levels(_with_shares(base), loss, best, axis)
    choice = replace(choice, alpha=chosen, training=training, trials=trials, alpha_by_output=base.alpha_by_output)
    return choice, best


def _is_apart(base: Selection) -> bool:
    """Whether outputs have nothing in common but the kernel, so that each may have an alpha of its own."""
    training = base.training
    several = training.space.coordinate_scales(training.Y, training.weights) is not None
    return several and training.closed_form and training.term is not None and training.term.M is None


def _with_shares(base: Selection) -> Training:
    """Training data whose operator is the diagonal that gives each output its own alpha, where that was chosen."""
    training, own = base.training, base.alpha_by_output
    if own is None:
        return training
    pairs = [(training.recipe.pairs[0][0], np.diag(own.min() / own))]
    return replace(training, recipe=replace(training.recipe, pairs=pairs))


def errors_by_output(training: Training, found: Fit, test):
    """Twice the pinball loss (outputs,) of a fit, means over the samples of a fold; of curves for all points."""
    loss, space, y = found.loss, found.training.space, training.y[training.rows[test]]
    number = 1 if space.measure is not None else space.encode(y[:1]).shape[1] // len(loss.taus)
    if found.solution.gap > _UNSOLVED:  # errors mean nothing
        return np.full(number, np.inf)
    values = found.coordinates_at(training.cross(test, found.training))
    residuals = np.nan_to_num(space.residuals(y, values))
    losses = loss.value(residuals) * (1.0 if space.measure is None else np.sqrt(space.measure))
    means = np.average(losses, axis=0, weights=training.weights[test])
    return 2 * means.reshape(number, -1).sum(axis=1)


def with_rate(training: Training, factor) -> Training:
    """The same training data with the rates of their kernels multiplied by a factor."""
    if factor == 1:
        return training
    given = {field.name: getattr(training, field.name) for field in fields(Samples)}
    return build(Samples(**given), tuple(kernel.with_rate(factor) for kernel in training.kernels))


def _look(folds: Folds, alpha, open_alpha):
    folds.near(alpha) if open_alpha else folds.at(alpha)


def _best_rate(folds: Folds, open_alpha) -> tuple[Folds, float]:
    """Folds with the kernel's rate as it is, or larger or smaller as long as errors fall, and the factor of the rate.

    Noise that differs between inputs can hide what is learnt from the squared loss, but not from the pinball loss.
    """
    factor = 1.0
    for step in (_RATE, 1 / _RATE):
        for _ in range(_RATES):
            training = with_rate(folds.training, step)
            other = Folds(training, folds.loss, folds.options, folds.error)
            _look(other, folds.best(), open_alpha)
            if other.least() > (1 - _GAIN) * folds.least():
                break
            folds, factor = other, factor * step
        if factor != 1:
            break
    return folds, factor


class _Couplings:
    """Folds by coupling, one after the other as long as the error falls."""

    def __init__(self, folds: Folds, first):
        self.first = folds
        self.folds: dict[float, Folds] = {first: folds}

    def look(self, coupling, alpha, open_alpha):
        own = self.first.with_operators(lambda part: with_levels(part, self.first.loss, coupling))
        _look(own, alpha, open_alpha)
        self.folds[coupling] = own

    def climb(self, step, open_alpha, task: Task):
        """Look at larger or smaller couplings until one is no better."""
        order = list(COUPLINGS)
        place = order.index(self.best()) + step
        while 0 <= place < len(order) and order[place] not in self.folds:
            best = self.best()
            self.look(order[place], self.folds[best].best(), open_alpha)
            error = self.folds[order[place]].least()
            task.search_step(f"error {error:.4g} at {order[place]:g}", f"best at {self.best():g}", error=error)
            if self.best() == best:
                break
            place += step

    def best(self) -> float:
        return min(self.folds, key=lambda coupling: self.folds[coupling].least())
