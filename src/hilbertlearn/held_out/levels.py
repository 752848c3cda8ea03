"""Settings of quantiles of several levels: the kernel, how levels are coupled, and alpha."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..losses import Pinball, Squared
from ..operators import BetweenLevels
from ..spaces import Levels
from ..training import Options, Samples, Training
from .choice import Choice, choose, looked_at
from .folds import Folds
from .search import is_open

COUPLINGS = (1.0, 0.0, 0.1, 10.0, np.inf)  # those that are tried, the first over the whole range of alphas


@dataclass(frozen=True)
class SpaceOfLevels:
    """Outputs and weights -> the space of their quantiles; that of outputs from another such function."""

    space: Callable
    n_levels: int
    axis: bool

    def __call__(self, y, weights):
        return Levels(self.space(y, weights), self.n_levels, self.axis)


def with_levels(training: Training, loss: Pinball, coupling, axis=True) -> Training:
    """Training data of outputs as those of their quantiles: a column for each output and level."""
    levels, recipe = loss.taus, training.recipe
    if isinstance(training.space, Levels):
        space, inner = training.space, recipe.space
        pairs = [(kernel, BetweenLevels(one.operator, levels, coupling)) for kernel, one in recipe.pairs]
    else:
        space, inner = Levels(training.space, len(levels), axis), SpaceOfLevels(recipe.space, len(levels), axis)
        pairs = [(kernel, BetweenLevels(operator, levels, coupling)) for kernel, operator in recipe.pairs]
    recipe = replace(recipe, pairs=pairs, space=inner)
    return replace(training, recipe=recipe).with_space(space)


def choose_levels(samples: Samples, loss: Pinball, alpha, coupling, axis, options: Options) -> tuple[Choice, float]:
    """Kernel, alpha and coupling of the levels; the last two are numbers, or "auto".

    The kernel, and an operator on the outputs where one is to be chosen, are those of the squared loss, by closed-form
    leave-one-out. Coupling and alpha have the smallest pinball loss over folds, which share their factors.
    """
    open_alpha, open_coupling = isinstance(alpha, str), isinstance(coupling, str) and len(loss.taus) > 1
    first = 1.0 if isinstance(coupling, str) else coupling
    given = not (open_alpha or open_coupling or is_open(samples))
    base = choose(samples, Squared(), alpha if given else "auto", options)
    training = with_levels(base.training, loss, first, axis)
    choice = Choice(base.alpha, loss, training, None, base.trials, approximation=base.approximation)
    if len(training.rows) == 1 or not (open_alpha or open_coupling):
        return replace(choice, alpha=base.alpha if open_alpha else float(alpha)), first
    judged = looked_at(training)
    share = float(training.weights.sum() / judged.weights.sum())
    folds = Folds(judged, loss, options)
    folds.widely(base.alpha * share) if open_alpha else folds.at(float(alpha) * share)
    best, found, trials = folds, first, folds.trials()
    for other in COUPLINGS[1:] if open_coupling else ():
        near = folds.with_operators(lambda part: with_levels(part, loss, other))
        near.near(best.best()) if open_alpha else near.at(float(alpha) * share)
        trials += near.trials()
        if near.least() < best.least():
            best, found = near, other
    chosen = best.best() / share if open_alpha else float(alpha)
    return replace(choice, alpha=chosen, training=with_levels(training, loss, found), trials=trials), found
