"""Settings of a model of many rows that are not held in memory, selected by some of the rows."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .. import operators
from .._utils.validation import warn
from ..core.terms import FeatureGram
from ..features import FeatureKernel, Landmarks, fit_feature_map
from ..leave_one_out import Reservoir, loo_residuals_from_moments
from ..losses import Loss
from ..spaces import FixedSpace, Space
from ..training import MomentProblem, Moments, Options, Recipe, Samples, alpha_grid, make_terms, scheduled
from ..training.moments import MOST_PATTERNS, Solved, is_diagonal
from .automatic import select
from .criterion import Criterion
from .feature_search import Approximation
from .search import coarse_to_fine, families_of, is_open
from .step_back import automatic_bounds, step_back, with_larger_constants
from .trials import Trial, best_index


@dataclass(frozen=True, eq=False)
class StreamSettings:
    """A feature map and everything else that depends on data and was not given."""

    kernel: FeatureKernel
    space: Space
    M: Any  # operator (d, d), None for the identity, or for one that is learnt with the function
    loss: Loss  # with numbers for its settings
    recipe: Recipe
    penalty: float | None  # alpha times the sum of weights, where these rows have chosen it
    trials: tuple[Trial, ...] = ()
    approximation: Approximation | None = None
    selected_bounds: tuple[str, ...] = ()  # names of the loss's constants that were selected from the data

    @property
    def is_selected(self) -> bool:
        """Whether the penalty or constants of the loss were selected by the first rows."""
        return self.penalty is not None or bool(self.selected_bounds)

    def smoother(self, factor) -> StreamSettings:
        """The same with a larger penalty and larger constants of the loss, as far as these were selected."""
        penalty = None if self.penalty is None else factor * self.penalty
        return replace(self, penalty=penalty, loss=with_larger_constants(self.loss, self.selected_bounds, factor))


def select_stream_settings(samples: Samples, loss: Loss, alpha, options: Options, passes=True) -> StreamSettings:
    """The settings of a model of many rows on features, from some of them.

    alpha of the squared loss is left to all rows where sums over these say everything; other losses, and what may take
    iterations over rows, keep the penalty that these rows choose.

    passes : whether rows can be gone over several times
    """
    setting, few = samples.recipe.features, len(samples.columns)
    number: Any = getattr(setting, "n_components", None)
    chosen = isinstance(setting, Landmarks) and setting.points is None
    if chosen and not isinstance(number, str) and few < number:
        warn(
            f"feature_map: the first rows are {few}, of which {number} landmarks were to be chosen; begin with more "
            "rows, or give Landmarks(points=...) or RandomFeatures()"
        )
    alpha = scheduled(alpha, len(samples.rows))  # to choose by; the model has that of all rows
    automatic, loss_setting = isinstance(alpha, str), loss
    searched = is_open(samples) or isinstance(number, str) or loss.needs_residuals
    if searched or (automatic and not loss.quadratic):
        choice = select(samples, loss, alpha, options, trusted=True)
        training = choice.training
        kernel, recipe, M = training.kernels[0], training.recipe, training.terms[0].M
        penalty = choice.alpha * float(training.weights.sum())
        loss, trials, approximation = choice.loss, choice.trials, choice.approximation
    else:
        (shape, family), *_ = families_of(samples)
        samples = samples.with_shape(shape)
        inner, recipe = family.kernels[0], samples.recipe
        kernel = FeatureKernel(inner, fit_feature_map(setting, inner, samples.X, samples.input_weights))
        nothing = FeatureGram(np.empty((len(samples.rows), 0)))
        M = make_terms(recipe, [nothing], samples.encoded, samples.weights)[0].M
        penalty, trials, approximation = None, (), Approximation(kernel.n_components)
        if automatic and passes and _may_take_passes(samples, M):
            choice = select(samples, loss, alpha, options, trusted=True)
            penalty, trials = choice.alpha * float(samples.weights.sum()), choice.trials
    kernel = replace(kernel, map=kernel.map.detach())
    recipe = replace(recipe, space=FixedSpace(samples.space))
    penalty, bounds = penalty if automatic else None, automatic_bounds(loss_setting, loss)
    return StreamSettings(kernel, samples.space, M, loss, recipe, penalty, trials, approximation, bounds)


def solve_moments(
    moments: Moments, decided: StreamSettings, rows: Callable[[], Reservoir], alpha, tol
) -> tuple[Solved, tuple[Trial, ...]]:
    """The model of the squared loss from sums over all rows, and the settings that were tried for it.

    rows : function that returns some of the rows, which choose alpha where it is "auto", each left out of the model of
        all
    """
    problem = MomentProblem(moments, decided.M, decided.recipe.center, decided.space.smooth_means)
    alpha = scheduled(alpha, moments.n_rows)
    if not isinstance(alpha, str):
        return problem.solve(float(alpha), tol), decided.trials
    kernel = decided.kernel
    chosen, trials = select_alpha(problem, rows(), decided.space, kernel.kernel, kernel.rate)
    solved = step_back(lambda factor: problem.solve(factor * chosen, tol, path=True), lambda found: found.converged)
    return solved, decided.trials + trials


@dataclass(frozen=True)
class _EvaluationRows:
    """What a criterion asks of samples."""

    Y: np.ndarray
    weights: np.ndarray
    space: Space
    measure = None


def select_alpha(problem: MomentProblem, rows: Reservoir, space: Space, kernel=None, gamma=None):
    """The alpha of smallest error, on the grid that models in memory have, and the trials; kernel, gamma : told."""
    alphas = alpha_grid(problem.scale)
    if problem.moments.n_rows == 1:  # nothing to hold out: the smoothest model
        return float(alphas[-1]), ()
    begun, total, rows = time.perf_counter(), problem.moments.total, rows.flush()
    judged: Any = _EvaluationRows(rows.Y, rows.weights, space)
    criterion = Criterion()
    found: dict[int, tuple[float, float]] = {}

    def look(numbers):
        with np.errstate(over="ignore", invalid="ignore"):  # best_index says what overflows
            path = loo_residuals_from_moments(problem, rows, [alphas[i] * total for i in numbers])
            found.update((i, criterion.summary(judged, r)) for i, r in zip(numbers, path, strict=True))

    coarse_to_fine(len(alphas), look, lambda i: found[i][0])
    order = sorted(found)
    best = order[best_index([found[i][0] for i in order])]
    share = (time.perf_counter() - begun) / len(order)
    m, method = len(rows.Y), "leave-one-out"
    trials = tuple(Trial(kernel, gamma, float(alphas[i]), *found[i], share, m, method) for i in order)
    return float(alphas[best]), trials


def n_patterns(samples: Samples) -> int:
    """Outputs, or groups of them, with gaps of their own."""
    return 1 if samples.mask is None else len(np.unique(samples.mask, axis=1).T)


def _may_take_passes(samples: Samples, M) -> bool:
    """Whether the squared loss may have no formula from sums: gaps, which later rows may have too."""
    learnt = operators.as_learned(samples.recipe.pairs[0][1]) is not None
    return learnt or not is_diagonal(M) or n_patterns(samples) > MOST_PATTERNS
