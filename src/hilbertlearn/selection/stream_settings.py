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
from ..training import MomentProblem, Moments, Options, Recipe, Samples, alpha_grid, make_terms, resolve_schedule
from ..training.moments import MOST_PATTERNS, MomentSolution, is_diagonal
from .automatic import select
from .averaging import FEW, alpha_log_weights, effective_number, mean_alpha
from .criterion import Criterion
from .error_curve import coarse_to_fine
from .feature_search import Approximation
from .kernel_search import families_of, is_open
from .step_back import automatic_bounds, step_back, with_larger_constants
from .trials import Trial, best_index


@dataclass(frozen=True, eq=False)
class StreamSettings:
    """The feature map, and the other settings that depend on data."""

    kernel: FeatureKernel
    space: Space
    M: Any  # operator (d, d); None for the identity, and for an operator that is learnt with the function
    loss: Loss  # with numbers for all constants
    recipe: Recipe
    penalty: float | None  # alpha times the sum of weights, where these rows selected it
    trials: tuple[Trial, ...] = ()
    approximation: Approximation | None = None
    selected_bounds: tuple[str, ...] = ()  # selected constants of the loss that bound its dual variables

    @property
    def is_selected(self) -> bool:
        """Whether the penalty or constants of the loss were selected by the first rows."""
        return self.penalty is not None or bool(self.selected_bounds)

    def smoother(self, factor) -> StreamSettings:
        """The same with a larger penalty and larger constants of the loss, as far as these were selected."""
        penalty = None if self.penalty is None else factor * self.penalty
        return replace(self, penalty=penalty, loss=with_larger_constants(self.loss, self.selected_bounds, factor))


def select_stream_settings(samples: Samples, loss: Loss, alpha, options: Options, passes=True) -> StreamSettings:
    """Select the settings of a model of many rows on features, by some of the rows.

    alpha of the squared loss is selected later by all rows, where sums over them are sufficient. Other losses, and
    problems that may need iterations over the rows, keep the penalty that these rows select.

    passes : whether rows can be read several times
    """
    setting = samples.recipe.features
    _check_landmark_number(setting, len(samples.columns))
    alpha = resolve_schedule(alpha, len(samples.rows))  # for the selection; the model has the alpha of all rows
    is_auto, is_auto_number = isinstance(alpha, str), isinstance(getattr(setting, "n_components", None), str)
    is_searched = is_open(samples) or is_auto_number or loss.needs_residuals or (is_auto and not loss.quadratic)
    if is_searched:
        selection = select(samples, loss, alpha, options, screens=False)
        training = selection.training
        kernel, recipe, M = training.kernels[0], training.recipe, training.terms[0].M
        penalty = selection.alpha * float(training.weights.sum())
        resolved, trials, approximation = selection.loss, selection.trials, selection.approximation
    else:
        (candidate, family), *_ = families_of(samples)
        samples = samples.with_kernel(candidate)
        inner, recipe, resolved = family.kernels[0], samples.recipe, loss
        kernel = FeatureKernel(inner, fit_feature_map(setting, inner, samples.X, samples.input_weights))
        no_features = FeatureGram(np.empty((len(samples.rows), 0)))
        M = make_terms(recipe, [no_features], samples.encoded, samples.weights)[0].M
        penalty, trials, approximation = None, (), Approximation(kernel.n_components)
        if is_auto and passes and _may_need_passes(samples, M):
            selection = select(samples, loss, alpha, options, screens=False)
            penalty, trials = selection.alpha * float(samples.weights.sum()), selection.trials
    return StreamSettings(
        kernel=replace(kernel, map=kernel.map.detach()),
        space=samples.space,
        M=M,
        loss=resolved,
        recipe=replace(recipe, space=FixedSpace(samples.space)),
        penalty=penalty if is_auto else None,
        trials=trials,
        approximation=approximation,
        selected_bounds=automatic_bounds(loss, resolved),
    )


def _check_landmark_number(setting, n_rows):
    """Warn where more landmarks are to be chosen than there are rows."""
    if not isinstance(setting, Landmarks) or setting.points is not None or isinstance(setting.n_components, str):
        return
    if n_rows < setting.n_components:
        warn(
            f"feature_map: the first rows are {n_rows}, of which {setting.n_components} landmarks were to be chosen; "
            "begin with more rows, or give Landmarks(points=...) or RandomFeatures()"
        )


def solve_moments(
    moments: Moments, settings: StreamSettings, rows: Callable[[], Reservoir], alpha, tol
) -> tuple[MomentSolution, tuple[Trial, ...]]:
    """The model of the squared loss from sums over all rows, and the evaluated settings.

    rows : function that returns a sample of the rows; their leave-one-out errors select alpha where it is "auto"
    """
    problem = MomentProblem(moments, settings.M, settings.recipe.center, settings.space.smooth_means)
    alpha = resolve_schedule(alpha, moments.n_rows)
    if not isinstance(alpha, str):
        return problem.solve(float(alpha), tol), settings.trials
    kernel = settings.kernel
    selected, trials = select_alpha(problem, rows(), settings.space, kernel.kernel, kernel.rate)
    solved = step_back(
        lambda factor: problem.solve(factor * selected, tol, path=True), lambda solution: solution.converged
    )
    return solved, settings.trials + trials


@dataclass(frozen=True)
class _EvaluationRows:
    """Rows with the attributes of samples that a criterion reads."""

    Y: np.ndarray
    weights: np.ndarray
    space: Space
    measure = None


def select_alpha(problem: MomentProblem, rows: Reservoir, space: Space, kernel=None, gamma=None):
    """The mean alpha by leave-one-out errors of some rows under the model of all rows, and the trials.

    kernel, gamma : recorded in the trials
    """
    alphas, n_rows = alpha_grid(problem.scale), problem.moments.n_rows
    largest = float(alphas[-1])
    if n_rows <= FEW:
        alphas = alphas[::2]
    if n_rows == 1:  # there is no other row: the smoothest model
        return largest, ()
    begun, total, rows = time.perf_counter(), problem.moments.total, rows.flush()
    evaluated: Any = _EvaluationRows(rows.Y, rows.weights, space)
    error = Criterion().evaluator(evaluated)

    def evaluate(indices):
        with np.errstate(over="ignore", invalid="ignore"):  # best_index raises on what overflows
            path = loo_residuals_from_moments(problem, rows, [alphas[i] * total for i in indices])
            return list(map(error, path))

    results = coarse_to_fine(len(alphas), evaluate)
    n_effective = n_rows * effective_number(rows.weights) / len(rows.weights)
    evaluated_alphas, log_losses = alphas[list(results)], np.array([one.log_loss for one in results.values()])
    best_index([one.error for one in results.values()])  # raises an error where errors overflow
    log_weights = alpha_log_weights(evaluated_alphas, log_losses, n_effective, largest)
    share, m = (time.perf_counter() - begun) / len(results), len(rows.Y)
    trials = tuple(
        Trial(kernel, gamma, float(alphas[i]), *errors[:2], share, m, "leave-one-out") for i, errors in results.items()
    )
    return mean_alpha(evaluated_alphas, log_weights), trials


def n_patterns(samples: Samples) -> int:
    """The number of different patterns of missing values among the outputs."""
    return 1 if samples.mask is None else len(np.unique(samples.mask, axis=1).T)


def _may_need_passes(samples: Samples, M) -> bool:
    """Whether sums over rows may not be sufficient for the squared loss, or for missing values of later rows."""
    learnt = operators.as_learned(samples.recipe.pairs[0][1]) is not None
    return learnt or not is_diagonal(M) or n_patterns(samples) > MOST_PATTERNS
