"""Settings left to the data: the kernel, alpha, and what is "auto" in a loss, from residuals of samples held out."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from .._utils.statistics import pointwise_median
from ..core.terms import ITERATIONS, Factors
from ..leave_one_out import loo_residual_path
from ..losses import Loss, Squared
from ..training import Fit, Options, Samples, Training, build, for_alpha, scheduled
from .criterion import Criterion, NormCriterion, robust_weights
from .draws import draw_subsample
from .feature_search import Approximation, with_features
from .folds import Folds, held_out_residuals, search_folds
from .learnt_kernel import relearn, rounds_of
from .outlier_screening import SCREENED_WEIGHT, replace_outlying_points, screen_samples
from .search import (
    best_operator,
    error_curve,
    families_of,
    has_plain_kernels,
    is_open,
    make_surrogate,
    search,
    subsample_size,
)
from .step_back import automatic_bounds, is_final, step_back, with_larger_constants
from .trials import Trial, best_index

_MOST_FILLED = 0.25  # share of the values of curves that may be filled in where leave-one-out errors select alpha
_REWEIGHTED = 3  # times that weights are renewed between searches


@dataclass(frozen=True)
class Selection:
    """What was left to the data."""

    alpha: float
    loss: Loss
    training: Training  # as the choice left it: prepared for many alphas or not
    factors: Factors | None = None  # of its term, where the choice has paid for them
    trials: tuple[Trial, ...] = ()
    alpha_by_output: Any = None  # (d,), where each output has its own: the operator is min / these
    approximation: Approximation | None = None  # where features stand in place of the kernel
    selected_alpha: bool = False  # whether alpha was selected from the data
    selected_bounds: tuple[str, ...] = ()  # names of the loss's constants that were, and bound its dual variables

    def smoother(self, factor) -> Selection:
        """The same choice with a larger alpha and a larger bound of the loss, as far as these were selected.

        With both multiplied by the same factor, samples held at the loss's bound pull on the function as before.
        """
        loss = with_larger_constants(self.loss, self.selected_bounds, factor)
        if not self.selected_alpha:
            return replace(self, loss=loss)
        by_output = None if self.alpha_by_output is None else factor * self.alpha_by_output
        return replace(self, loss=loss, alpha=factor * self.alpha, alpha_by_output=by_output)

    def with_factors(self) -> Selection:
        """The same with factors that serve the fit and the models without one sample, where these have a formula."""
        training = self.training
        double = training.recipe.precision == "float64" or training.on_features
        if self.factors is not None or not (self.loss.quadratic and double and training.closed_form):
            return self
        if training.depends_on_alpha or training.term is None or training.term.loo_formula != "models":
            return self
        return replace(self, factors=training.term_at(self.alpha).factor(ITERATIONS))


def select(samples: Samples, loss: Loss, alpha, options: Options, trusted=False) -> Selection:
    """Kernel, alpha, and the loss with its settings as numbers; alpha : a number, "auto" or a schedule.

    Kernels are compared by leave-one-out errors of the squared loss, which have a formula: for samples near those given
    where these have none, and for a loss with a bound under weights that hold large residuals back. The model of more
    samples than were looked at keeps their penalty, alpha times the sum of weights. Choices are made in double
    precision, also of samples that are to be fitted in single. Where the bound is left to the data too, samples that
    are plainly wrong lose their weight, see ``screen_samples``.

    trusted : whether none are looked for
    """
    alpha = scheduled(alpha, len(samples.rows))
    choice = _choose(samples, loss, alpha, options, trusted)
    return replace(choice, selected_alpha=isinstance(alpha, str), selected_bounds=automatic_bounds(loss, choice.loss))


def _choose(samples: Samples, loss: Loss, alpha, options: Options, trusted) -> Selection:
    """As ``select``, alpha a number or "auto"."""
    automatic = isinstance(alpha, str)
    if not loss.symmetric:
        return _asymmetric(samples, loss, alpha, options)
    if samples.recipe.features is not None:
        return _on_features(samples, loss, alpha, options)
    if len(samples.rows) == 1 or not (automatic or is_open(samples)):  # nothing to hold out, or nothing to choose
        return _given(samples, loss, alpha, options)
    if not has_plain_kernels(samples):
        return _by_folds(samples, loss, alpha, options)
    double = samples.to_float64()
    merged = double.merge_duplicates()
    some = merged.subsample(draw_subsample(merged, subsample_size(merged)))
    near, families, weights = make_surrogate(some), families_of(double), None
    whole, nearly_complete = near is double, _is_nearly_complete(near, some)
    if np.isfinite(loss.largest_residual):  # what is smoother than the median rule's might not reach every sample
        families = [(families[0][0], families[0][1].without_search())]
    criterion, unit = Criterion(), 1.0
    if _is_robust(loss):
        setting = loss
        found, weights, unit, loss = _search_robust(near, families, setting, alpha, options)
        seen = setting.needs_residuals and weights is not None and some is merged and samples.graph is None
        if seen and not trusted:
            built = build(near.with_shape(found.shape), found.kernels)
            choice = _without_wrong(samples, built, setting, alpha, options, weights, found.curve.penalty)
            if choice is not None:
                return choice
        criterion = criterion if weights is None else Criterion(loss)
    else:
        found = search(near, families, criterion, alpha, options)
    if samples.recipe.operators:
        given = alpha if automatic else float(alpha) / unit
        operator, found = best_operator(near, found, criterion, given, weights)
        near, samples = (one.with_operator_setting(operator) for one in (near, samples))
    if rounds_of(near):
        given = alpha if automatic else float(alpha) / unit
        found = relearn(near, found, criterion, given, options, weights)
        samples = samples.with_shapes([found.shape])
    curve, trials = found.curve, found.trials
    chosen = unit * curve.alpha * (curve.total / float(samples.weights.sum())) if automatic else float(alpha)
    if whole and weights is None:  # the search has seen the problem itself
        training, factors = curve.training, curve.factors
    else:
        training, factors = for_alpha(build(samples.with_shape(found.shape), found.kernels), loss, chosen), None
    if automatic and (loss.on_margins or not (training.closed_form or nearly_complete)):
        judged = (
            selection_subsample(training)
            if samples.graph is None
            else training.take(draw_subsample(training, len(some.rows)))
        )
        if weights is not None:
            judged, share = _held_back(judged, weights)
            unit *= share
        chosen, more = search_folds(judged, loss if loss.on_margins else Squared(), chosen / unit, options)
        chosen, trials = unit * chosen, trials + more
    if loss.needs_residuals:
        loss = resolve_loss(training, loss, [chosen], options, factors)
    return Selection(chosen, loss, training, factors, trials)


def fit_selected(choice: Selection, solve: Callable[[Selection], Fit]) -> tuple[Selection, Fit]:
    """The choice and its fit; smoother ones where the solver misses its tolerance with the selected settings.

    solve : function that fits a choice
    """
    if not (choice.selected_alpha or choice.selected_bounds):
        return choice, solve(choice)

    def solve_smoother(factor):
        smoother = choice if factor == 1 else choice.smoother(factor)
        return smoother, solve(smoother)

    return step_back(solve_smoother, lambda found: is_final(found[1]))


def select_kernels(samples: Samples, loss: Loss, alpha, options: Options) -> Training:
    """The samples with the kernel that ``select`` takes, for those who go on by themselves."""
    on_features = samples.recipe.features is not None
    return select(samples, loss, alpha, options).training if is_open(samples) or on_features else _built(samples)


def select_alpha_by_output(choice: Selection, options: Options) -> Selection:
    """The same choice with an alpha for each output, by its own leave-one-out errors; no factor is made twice.

    A penalty ``sum_j alpha_j ||h_j||^2`` is that of the diagonal operator ``alpha / alpha_j``.
    """
    training = choice.training
    term = training.term
    if not choice.loss.quadratic or not training.closed_form or term is None or term.M is not None:
        raise ValueError(
            "alpha_per_output=True goes with the squared loss, operator=None and kernels without operators of their "
            "own; set alpha_per_output=False"
        )
    alphas, data = training.alphas(), selection_subsample(training)
    data, factors = data.prepared(alphas) if data is not training or choice.factors is None else (data, choice.factors)
    share = training.weights.sum() / data.weights.sum()
    path = loo_residual_path(data, alphas * share, factors)
    errors = np.array([data.weights @ np.nan_to_num(residuals) ** 2 for residuals in path])
    own = np.array([alphas[best_index(column)] for column in errors.T])
    least = float(own.min())
    training = training.with_operator(np.diag(least / own))
    factors = None if choice.factors is None else choice.factors.with_operator(np.diag(least / own))
    return replace(choice, alpha=least, training=training, factors=factors, alpha_by_output=own)


def _on_features(samples: Samples, loss: Loss, alpha, options: Options) -> Selection:
    """The choice for features in place of the kernel.

    Kernel and constants of the loss are chosen by the exact problem of some samples; then the number of landmarks, and
    alpha, by samples left out of the model of all on features.
    """
    exact = samples.with_features(None)
    small = select(exact.subsample(draw_subsample(exact, subsample_size(exact))), loss, alpha, options, trusted=True)
    recipe, kernels = small.training.recipe, small.training.kernels
    chosen = replace(samples, recipe=replace(recipe, features=samples.recipe.features))
    total = float((small.training if isinstance(alpha, str) else samples).weights.sum())
    penalty = small.alpha * total
    found = with_features(chosen, kernels, small.loss, alpha, penalty, options)
    if not isinstance(alpha, str):
        number = float(alpha)
    else:
        number = penalty / float(samples.weights.sum()) if found.alpha is None else found.alpha
    trials = small.trials + found.trials
    return Selection(number, small.loss, found.training, found.factors, trials, approximation=found.approximation)


def _by_folds(samples: Samples, loss: Loss, alpha, options: Options) -> Selection:
    """The choice of alpha where no samples near those given have a formula."""
    training = _built(samples)
    trials: tuple[Trial, ...] = ()
    if isinstance(alpha, str):
        chosen, trials = search_folds(training, Squared(), float(np.sqrt(np.prod(training.alphas()[[0, -1]]))), options)
    else:
        chosen = float(alpha)
    loss = resolve_loss(training, loss, [chosen], options)
    if isinstance(alpha, str) and not loss.quadratic:
        chosen, more = search_folds(training, loss, chosen, options)
        trials += more
    return Selection(chosen, loss, training, None, trials)


def _asymmetric(samples: Samples, loss: Loss, alpha, options: Options) -> Selection:
    """The kernel as for the squared loss, which has formulas and the same scales; alpha by folds of the loss itself."""
    if not isinstance(alpha, str) and not is_open(samples) and samples.recipe.features is None:
        return _given(samples, loss, alpha, options)
    choice = select(samples, Squared(), "auto", options)
    return by_own_loss(replace(choice, loss=loss), alpha, options)


def by_own_loss(choice: Selection, alpha, options: Options) -> Selection:
    """The same choice with an alpha by folds of its own loss, around what the squared loss would take."""
    training, trials = choice.training, choice.trials
    if not isinstance(alpha, str):
        return replace(choice, alpha=float(alpha))
    if len(training.rows) == 1:
        return choice
    judged = selection_subsample(training)
    share = float(training.weights.sum() / judged.weights.sum())
    folds = Folds(judged, choice.loss, options.quick())
    folds.near(in_units_of_signs(choice.alpha, judged) * share)
    folds.finer()
    return replace(choice, alpha=folds.best() / share, trials=trials + folds.trials())


def in_units_of_signs(alpha, training: Training) -> float:
    """An alpha of the squared loss for one whose dual variables are of the size of signs, and not of residuals."""
    apart = np.abs(training.Y - pointwise_median(training.Y, training.weights))
    size = float(np.nanmean(apart if training.measure is None else apart / np.sqrt(training.measure)))
    return alpha / size if size > 0 else alpha


def _is_nearly_complete(near: Samples, samples: Samples) -> bool:
    """Whether curves lack so few values that leave-one-out errors of the filled-in ones, ``near``, select alpha.

    Folds, which select it where more is missing, are another criterion: one missing value would change alpha.
    """
    completed = near.mask is None and samples.mask is not None and samples.graph is None
    same_terms = near.recipe.pairs is samples.recipe.pairs
    return completed and same_terms and samples.space.filled_share(samples.y[samples.rows]) <= _MOST_FILLED


def _is_robust(loss: Loss) -> bool:
    """Whether large residuals are held back."""
    numbers = loss.resolve(np.array([[1.0], [2.0]])) if loss.needs_residuals else loss
    return bool(np.isfinite(numbers.bound)) and not loss.on_margins


def _given(samples, loss, alpha, options):
    training = _built(samples)
    alpha = float(training.alphas()[-1] if isinstance(alpha, str) else alpha)  # the smoothest model of one sample
    training = for_alpha(training, loss, alpha)
    return Selection(alpha, resolve_loss(training, loss, [alpha], options), training)


def _built(samples):
    """With the kernels as they are given, or the first, at the median rule's rate."""
    (shape, family), *_ = families_of(samples)
    return build(samples.with_shape(shape), family.kernels)


def _search_robust(samples: Samples, families, loss: Loss, alpha, options: Options) -> tuple:
    """Kernel, weights and the constants of a loss with a bound in turn.

    Weights are those of iteratively reweighted least squares, at first from distances to the median, then from
    residuals left out: an outlier has no part in the model that it is judged by. As long as they are rough, all kernels
    are looked at. Returns what was found, the weights (None for ones), the unit of alpha (see ``robust_weights``) and
    the loss.
    """
    weights, setting = _first_weights(samples), loss
    found = search(samples, families, NormCriterion(), alpha, options, weights)
    trials = found.trials
    for wide in (True, False):
        training = build(samples.with_shape(found.shape), found.kernels)
        loss, weights, unit = _reweighted(training, setting, weights, found.curve.penalty)
        if (weights == 1).all():  # nothing is held back: to these samples it is the squared loss
            return search(samples, families, Criterion(), alpha, options), None, 1.0, loss
        given = alpha if isinstance(alpha, str) else float(alpha) / unit
        found = search(samples, families, Criterion(loss), given, options, weights, around=None if wide else found)
        trials += found.trials
    return replace(found, trials=trials), weights, unit, loss


def _without_wrong(samples: Samples, training: Training, setting: Loss, alpha, options: Options, weights, penalty):
    """The choice where samples or points are plainly wrong, None where none are.

    Samples lose their weight, in the fit too. Points are changed for the choice alone: the fit holds them back by a
    bound that is as small as what is right about the others.

    training : the samples, or some near them, with a kernel, repeated ones merged
    weights, penalty : of the model that these are judged by, see ``screen_samples``
    """
    if not setting.pointwise or samples.Y.shape[1] == 1:  # one output is all of a sample
        wrong = samples.expand_duplicates(screen_samples(training, weights, penalty))
        if not wrong.any():
            return None
        return select(samples.screen(wrong, SCREENED_WEIGHT), setting, alpha, options, trusted=True)
    if samples.measure is None or samples.mask is not None or training.Y.shape[1:] != samples.Y.shape[1:]:
        return None  # to tell wrong entries of vectors, or beside gaps, from others takes more
    Y = replace_outlying_points(training, weights, penalty)
    if Y is None:
        return None
    choice = select(samples.with_outputs(samples.expand_duplicates(Y)), setting, alpha, options, trusted=True)
    return replace(choice, training=choice.training.with_outputs(samples.Y))


def _first_weights(samples: Samples):
    """Weights (n,) of a robust model before there is one, from distances to the median."""
    Y = samples.encoded.coordinates
    return robust_weights(None, Y - pointwise_median(Y, samples.weights), samples)[0]


def _reweighted(training: Training, setting: Loss, weights, penalty):
    """The loss with numbers, weights (n,) and the unit of alpha after rounds of iteratively reweighted least squares.

    penalty : alpha times the sum of weights, which is the same whatever the weights
    """
    loss, unit = setting, 1.0
    for _ in range(_REWEIGHTED):
        own = replace(training, weights=training.weights * weights)
        residuals = next(loo_residual_path(own, [penalty / own.weights.sum()]))
        loss = setting.resolve(training.encoded.whole(residuals, setting), training.measure, training.weights)
        weights, unit = robust_weights(loss, residuals, training)
    return loss, weights, unit


def _held_back(training: Training, weights):
    """Training data under weights that hold large residuals back, and their share of the whole weight.

    Those of samples near the ones given; where these merge differently, all count as they did.
    """
    if len(weights) != len(training.rows):
        return training, 1.0
    held = replace(training, weights=training.weights * weights)
    return held, float(held.weights.sum() / training.weights.sum())


def resolve_loss(training: Training, loss: Loss, alphas, options: Options, factors: Factors | None = None) -> Loss:
    """The loss with its settings as numbers, for models along a path of alphas.

    Those of a loss with a bound come from a model that holds large residuals back, where it has a formula.

    factors : of the training data's term, where they are there already
    """
    if not loss.needs_residuals:
        return loss
    if len(training.rows) == 1:
        return loss.resolve(training.Y - training.Y)
    some = _with_filled_values(selection_subsample(training))
    if some.closed_form and loss.symmetric and _is_robust(loss):
        return _resolve_robust_loss(some, loss, np.sort(alphas) * float(training.weights.sum() / some.weights.sum()))
    if some.closed_form:
        alpha = error_curve(some, Criterion(), np.sort(alphas)).alpha if len(alphas) > 1 else alphas[0]
        share = training.weights.sum() / some.weights.sum()
        residuals = next(loo_residual_path(some, [alpha * share], factors if some is training else None))
    else:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # of models that only serve to choose
            residuals = held_out_residuals(some, Squared(), float(np.median(alphas)), options.quick())
    return loss.resolve(some.encoded.whole(residuals, loss), some.measure, some.weights)


def _with_filled_values(training: Training) -> Training:
    """Curves with few missing values filled in, which have leave-one-out errors; other training data as they are."""
    given = {field.name: getattr(training, field.name) for field in fields(Samples)}
    samples = Samples(**given)
    near = make_surrogate(samples)
    if training.closed_form or not _is_nearly_complete(near, samples):
        return training
    return build(near, training.kernels, [gram.dense() for gram in training.grams])


def _resolve_robust_loss(training: Training, setting: Loss, alphas) -> Loss:
    """As ``resolve_loss`` for a loss with a bound; the best of several alphas."""
    weights = _first_weights(training)
    alpha = error_curve(training, NormCriterion(), alphas, weights).alpha if len(alphas) > 1 else alphas[0]
    loss, unit = setting, 1.0
    for _ in range(2):  # the second time in the unit of the first
        loss, weights, unit = _reweighted(training, setting, weights, alpha / unit * training.weights.sum())
    return loss


def selection_subsample(training: Training) -> Training:
    """The samples that settings are chosen on, repeated ones merged: all of them, or some of many."""
    data = training.merge_duplicates()
    number = subsample_size(data)
    return (data if number == len(data.rows) else data.take(draw_subsample(data, number))).to_float64()
