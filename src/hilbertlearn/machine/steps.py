"""The steps of a fit, from samples to a state. An estimator that differs in a step overrides it."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import selection
from ..losses import Loss
from ..selection import Selection
from ..training import EncodedOutputs, Fit, Samples, Training, fit, fit_path, is_searched
from .batch_state import StreamState
from .checks import gap_message, warn_not_converged
from .state import State

if TYPE_CHECKING:
    from .sources import MemorySource
    from .spec import Spec

_LARGEST_ROUNDING = 1e-4  # relative error of a deformed kernel, from rounding, above which a fit warns
_LARGEST_SHARED = 0.1  # the same for a kernel that several eigenvalues share: 10 % is a change of manifold by 10 %


@dataclass(frozen=True, kw_only=True)
class FitResult:
    """What a fit returns to its estimator."""

    state: Any  # State, StreamState or RegressorState
    form: Any  # DataForm of the training data
    selection: Selection | None = None  # with the training data, for wrappers that fit parts of them
    sums: Any = None  # RunningSums that partial_fit continues
    by_passes: bool = False  # whether rows were read several times, which partial_fit cannot continue
    learnt: dict = field(default_factory=dict)  # further learnt attributes, by name


class FitSteps:
    """Fits of samples in memory: select the settings, solve, and keep what was learnt."""

    shares_selection = True  # whether models of parts of the samples can use the settings selected with all

    def check_encoded(self, loss: Loss, encoded: EncodedOutputs):
        """Raise if the loss does not suit the space of the outputs."""
        if loss.pointwise and not encoded.space.pointwise:
            raise ValueError(
                f"loss={loss!r} acts on point values, which the space of the outputs does not have; use p=2, or "
                "space='grid' and outputs on a common grid (NaN where not observed)"
            )
        loss.check_columns(encoded.Y.shape[1])
        if encoded.sampling is not None and (loss.on_margins or np.isfinite(loss.largest_residual)):
            raise ValueError(
                f"loss={loss!r} needs outputs that are known on a whole common grid; use Huber, EpsilonInsensitive or "
                "the squared loss, or irregular='projected'"
            )

    def fit(self, spec: Spec, source: MemorySource) -> FitResult:
        """The whole fit."""
        selected = self.select(spec, source.read(spec))
        return solve_selection(spec, selected.with_factors() if spec.reuse == "factors" else selected)

    def select(self, spec: Spec, samples: Samples) -> Selection:
        """The samples with selected settings."""
        selected = selection.select(samples, spec.loss, spec.alpha, spec.options)
        if spec.alpha_per_output and is_searched(spec.alpha):  # numbers and schedules are for all outputs
            return selection.select_alpha_by_output(selected, spec.options)
        return selected

    def prepare(self, spec: Spec, samples: Samples) -> Training:
        """The samples with selected kernels, for paths over alpha and folds."""
        samples = samples.to_float64()  # one factorisation serves many alphas and is worth its digits
        return selection.select_kernels(samples, spec.loss, spec.alpha, spec.options)

    def solve(self, spec: Spec, selected: Selection) -> Fit:
        """The fit with these settings, converged or not."""
        return fit(selected.training, selected.loss, selected.alpha, spec.options, factors=selected.factors)

    def fit_selected(self, spec: Spec, selected: Selection) -> tuple[Selection, Fit]:
        """The fit, and its settings: smoother ones where the solver does not converge with those selected."""
        return selection.fit_selected(selected, partial(self.solve, spec))

    def fit_path(self, spec: Spec, training: Training, alphas) -> Iterator[tuple[Selection, Fit]]:
        """Settings and a fit for each alpha, each started at the one before."""
        loss = selection.resolve_loss(training, spec.loss, alphas, spec.options)
        for alpha, result in zip(alphas, fit_path(training, loss, alphas, spec.options), strict=True):
            yield Selection(alpha, loss, training), result

    def make_state(self, result: Fit) -> State:
        """Create the state of a fit."""
        return State.from_fit(result)

    def make_stream_state(self, settings, solved, n_samples, results) -> StreamState:
        """Create the state of a model that was solved from sums over rows."""
        return StreamState.from_moments(settings, solved, n_samples, results)

    def fold_error(self, training: Training, result: Fit, test, loss=None) -> float:
        """Error of a fit to a part of the training data on others, given by their positions.

        loss : in place of the fit's own, where several are compared
        """
        return selection.fold_error(training, result, test, loss)

    def learnt(self, selected: Selection) -> dict:
        """Further learnt attributes of the estimator."""
        return {}


def solve_selection(spec: Spec, selected: Selection) -> FitResult:
    """Solve the problem of the training data with the selected settings; warn where it is not solved."""
    selected, result = spec.steps.fit_selected(spec, selected)
    check_solved(spec, result)
    return make_result(spec, selected, result)


def make_result(spec: Spec, selected: Selection, result: Fit) -> FitResult:
    """What a fit with selected settings returns to its estimator."""
    state = replace(
        spec.steps.make_state(result),
        search_results=selection.trials_table(selected.trials),
        alpha_by_output=selected.alpha_by_output,
    )
    if selected.approximation is not None:
        state = replace(state, approximation=selected.approximation)
    form = selected.training.form
    return FitResult(state=state, form=form, selection=selected, learnt=spec.steps.learnt(selected))


def path_results(spec: Spec, training: Training, alphas) -> Iterator[FitResult]:
    """A result for each alpha, with the kernels of the training data."""
    for selected, result in spec.steps.fit_path(spec, training, alphas):
        check_solved(spec, result)
        state, learnt = spec.steps.make_state(result), spec.steps.learnt(selected)
        yield FitResult(state=state, form=training.form, learnt=learnt)


def fit_part(spec: Spec, selected: Selection, rows) -> FitResult:
    """The model of some of the samples, by their positions, with the settings selected with all.

    Kernel, constants of the loss, and alpha times the sum of weights are those of all samples. Constant, operator and
    space are computed from the part.
    """
    training = selected.training
    part = training.take(np.flatnonzero(np.isin(training.rows, rows)))
    alpha = selected.alpha * training.weights.sum() / part.weights.sum()
    by_output = None if selected.alpha_by_output is None else alpha / selected.alpha * selected.alpha_by_output
    return solve_selection(spec, replace(selected, training=part, alpha=alpha, alpha_by_output=by_output, factors=None))


def fitted_copy(estimator, result: FitResult):
    """A fitted copy of an estimator."""
    model = copy.copy(estimator)
    model.keep(result)
    return model


def check_solved(spec: Spec, result: Fit):
    """Raise where residuals are larger than the loss allows; warn of open duality gaps and of rounding."""
    loss, solution, setting = result.loss, result.solution, result.training.learned_operator
    if np.isfinite(loss.largest_residual) and not np.isfinite(solution.gap):
        raise ValueError(
            f"loss={loss!r} allows no larger residuals, and no function was found that fits every sample "
            "so closely (equal inputs with different outputs?); raise scale, or use EpsilonInsensitive"
        )
    messages = []
    if setting is not None and result.suboptimality > setting.tol:
        messages.append(
            f"operator={setting!r} leaves up to {result.suboptimality:.1e} of the objective to gain after "
            f"{len(result.objectives)} rounds; raise its max_iter or tol"
        )
    if not solution.converged:
        messages.append(gap_message(spec, solution.gap, solution.n_iter, _remedy(result)))
    rounding = result.training.grams[0].rounding(result.alpha)
    if rounding > _LARGEST_ROUNDING:
        messages.append(
            f"manifold={spec.manifold:g} beside alpha={result.alpha:.3g} is at the limit of rounding, relative "
            f"errors may be {rounding:.0e}; lower manifold or raise alpha"
        )
    shared = result.problem.terms[0].error
    if shared > _LARGEST_SHARED:
        messages.append(
            f"manifold: the operator has so many different eigenvalues that some share a kernel, whose relative "
            f"error is up to {shared:.0%}; use a space with fewer components, such as "
            "space=spaces.Eigen(n_components=20), or operator=None"
        )
    for message in messages:
        warn_not_converged(spec, message)


def _remedy(result: Fit) -> str:
    solution, problem = result.solution, result.problem
    if solution.stopped:
        return "a callback has stopped it: let it go on,"
    if problem.is_float32 and solution.gap <= problem.rounding_gap:
        return "it is what float32 reaches with this alpha: set precision='refined', raise alpha,"
    if result.loss.quadratic and result.training.closed_form:
        return "raise alpha, which is at the limit of rounding,"
    return "raise max_iter"
