"""The stages of the automatic selection.

A stage takes a draft and returns it with more settings selected, or unchanged where it has nothing to do.
``automatic.STAGES`` lists the stages in their order.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..core.terms import Factors
from ..losses import Loss, Squared
from ..operators import depends_on_outputs
from ..training import Options, Samples, Training, build, for_alpha
from .alpha_search import search_alpha_of_loss
from .averaging import effective_number
from .criterion import Criterion, NormCriterion, RobustCriterion
from .draws import draw_subsample
from .error_curve import candidate_alphas, error_curve
from .feature_search import Approximation, search_features
from .folds import FoldSearch, search_folds
from .kernel_search import (
    average_kernels,
    can_average,
    families_of,
    has_plain_kernels,
    is_open,
    main_family,
    operator_gain,
    search_kernels,
    search_operators,
)
from .learnt_kernel import n_rounds, relearn
from .loss_constants import initial_weights, is_robust, resolve_loss, reweight
from .metric_search import FEWEST, learn_metric, number_to_learn_from
from .outlier_screening import replace_outlying_points, screening_weights, vertex_alpha
from .surrogate import is_nearly_complete, make_surrogate, selection_subsample, subsample_size
from .trials import Trial

_MOST_OUTPUTS = 30  # outputs up to which their covariance is compared with the identity
_SAMPLES_PER_OUTPUT = 4  # samples for each of them, so that the covariance is known
_MOSTLY_COMPLETE = 0.75  # share of complete samples from which these compare operators
_MOST_WITH_GAPS = 300  # samples that operators are compared on where outputs have gaps: a fit is iterative


@dataclass(frozen=True)
class Request:
    """The settings that a selection starts from."""

    samples: Samples
    loss: Loss
    alpha: float | str  # a number, or "auto"
    options: Options


@dataclass(frozen=True)
class SearchSamples:
    """The samples that errors are computed on. A step that changes nothing keeps the object of the step before."""

    unmerged: Samples  # all, in double precision
    merged: Samples  # duplicates merged
    subsample: Samples  # some of many
    surrogate: Samples  # with closed-form leave-one-out errors

    @property
    def is_complete(self) -> bool:
        """Whether errors are computed on the samples of the fit themselves."""
        return self.surrogate is self.unmerged

    @property
    def is_subsampled(self) -> bool:
        return self.subsample is not self.merged


@dataclass(frozen=True)
class Draft:
    """Settings during the selection, passed from stage to stage.

    A field at None, or at its default, is not selected yet; the comments name the stage that writes it. A stage returns
    the draft itself where it has nothing to do. When outliers are found, ``screen_outliers`` searches again from the
    request, so that a stage before it must derive its results from ``samples``. A stage that tries settings before
    ``build_training`` adds them to ``result.trials``, a later one to ``trials``.
    """

    request: Request  # as given
    samples: Samples  # to fit; use_exact_subsample, screen_outliers, restore_outputs, search_landmarks
    loss: Loss  # use_squared_loss, search_kernel (constants of a robust loss), resolve_constants, restore_loss
    alpha_setting: float | str  # a number, or "auto"; use_squared_loss
    screens: bool = True  # whether outliers are screened
    search_samples: SearchSamples | None = None  # merge_duplicates, subsample; None where no errors are computed
    surrogate: Any = None  # Samples of the search with the selected operator; search_kernel, search_operator
    weights: Any = None  # (n,) factors of the surrogate's weights in a robust fit, None for ones; search_kernel
    unit: float = 1.0  # alpha of the loss over alpha of the squared loss with these weights; search_kernel
    criterion: Criterion = field(default_factory=Criterion)  # search_kernel
    result: Any = None  # SearchResult on the surrogate; search_kernel and the stages up to search_metric
    has_replaced_outputs: bool = False  # whether outlying points were replaced; screen_outliers
    training: Any = None  # Training: the samples with the selected kernels; build_training, search_landmarks
    alpha: Any = None  # float; build_training, refine_alpha, refine_alpha_of_loss, search_landmarks, restore_loss
    factors: Factors | None = None  # of the training data's term, where the search computed them; build_training
    trials: tuple[Trial, ...] = ()  # build_training and later stages
    approximation: Approximation | None = None  # search_landmarks

    @classmethod
    def start(cls, request: Request, screens=True) -> Draft:
        return cls(request, request.samples, request.loss, request.alpha, screens)

    @property
    def is_auto(self) -> bool:
        """Whether alpha is selected."""
        return isinstance(self.alpha_setting, str)

    @property
    def is_open(self) -> bool:
        """Whether something is selected by errors; one sample alone has none."""
        return len(self.samples.rows) > 1 and (self.is_auto or is_open(self.samples))

    @property
    def search_alpha(self) -> float | str:
        """alpha in the search on the surrogate: "auto", or the number in the unit of the robust weights."""
        return self.alpha_setting if self.is_auto else float(self.alpha_setting) / self.unit


def use_squared_loss(draft: Draft) -> Draft:
    """Replace an asymmetric loss by the squared loss, which has closed-form errors and needs the same kernel.

    ``restore_loss`` takes the loss back and selects its alpha.
    """
    samples = draft.samples
    is_given = not draft.is_auto and not is_open(samples) and samples.recipe.features is None
    return draft if draft.loss.symmetric or is_given else replace(draft, loss=Squared(), alpha_setting="auto")


def use_exact_subsample(draft: Draft) -> Draft:
    """Replace features by the exact kernel of a subsample, on which the kernel and the loss are selected.

    ``search_landmarks`` returns to all samples. Outliers are not screened.
    """
    if draft.samples.recipe.features is None:
        return draft
    exact = draft.samples.with_features(None)
    return replace(draft, samples=exact.subsample(draw_subsample(exact, subsample_size(exact))), screens=False)


def merge_duplicates(draft: Draft) -> Draft:
    """Merge repeated samples.

    Leaving out one of two copies tests nothing, and integer weights must select what repetition selects.
    """
    if not draft.is_open or not has_plain_kernels(draft.samples):
        return draft
    unmerged = draft.samples.to_float64()  # settings are selected in double precision
    merged = unmerged.merge_duplicates()
    return replace(draft, search_samples=SearchSamples(unmerged, merged, merged, merged))


def subsample(draft: Draft) -> Draft:
    """Draw a subsample of many samples, and make the surrogate whose leave-one-out errors have a closed form."""
    if draft.search_samples is None:
        return draft
    merged = draft.search_samples.merged
    part = merged.subsample(draw_subsample(merged, subsample_size(merged)))
    surrogate = make_surrogate(part)
    search_samples = replace(draft.search_samples, subsample=part, surrogate=surrogate)
    return replace(draft, search_samples=search_samples, surrogate=surrogate)


def search_kernel(draft: Draft) -> Draft:
    """Select the kernel, its rate and alpha; for a loss with a bound its constants in turn with them."""
    if draft.search_samples is None:
        return draft
    families = families_of(draft.search_samples.unmerged)
    if np.isfinite(draft.loss.largest_residual):  # a kernel smoother than the median rule's may not reach every sample
        kernel, family = families[main_family(families)]
        families = [(kernel, family.without_search())]
    if is_robust(draft.loss):
        return _search_robust_kernel(draft, families)
    result = search_kernels(draft.surrogate, families, draft.criterion, draft.alpha_setting, draft.request.options)
    return replace(draft, result=result)


def _search_robust_kernel(draft: Draft, families) -> Draft:
    """Kernel, weights and the constants of a loss with a bound in turn.

    Weights are those of iteratively reweighted least squares, at first from distances to the median, then from
    leave-one-out residuals. The first round only has to find the outliers, so that one shape of the kernel suffices;
    the last one evaluates the kernels again that had a part in the second.
    """
    samples, options = draft.surrogate, draft.request.options
    weights = initial_weights(samples)
    first = [families[main_family(families)]]
    result = search_kernels(samples, first, NormCriterion(draft.loss), draft.alpha_setting, options, weights)
    trials = result.trials
    for is_last in (False, True):
        training = build(samples.with_kernel(result.setting), result.kernels)
        loss, weights, unit = reweight(training, draft.loss, weights, result.curve.penalty)
        criterion = RobustCriterion.from_weights(loss, weights, samples.weights)
        if criterion.share == 0:  # no residual exceeds the bound: for these samples it is the squared loss
            result = search_kernels(samples, families, Criterion(), draft.alpha_setting, options)
            return replace(draft, result=result, loss=loss)
        new = replace(draft, weights=weights, unit=unit, criterion=criterion)
        around = result if is_last else None
        result = search_kernels(samples, families, criterion, new.search_alpha, options, weights, around=around)
        trials += result.trials
    return replace(new, result=replace(result, trials=trials), loss=loss)


def screen_outliers(draft: Draft) -> Draft:
    """Reduce the weight of outliers, or replace outlying points of curves, and search the kernel again.

    This is done where the bound of the loss is "auto", all samples are searched, and there is no graph. Screened
    samples keep their small weight in the fit. Points are replaced for the selection only, see ``restore_outputs``.
    """
    setting, samples, search_samples = draft.request.loss, draft.samples, draft.search_samples
    if not (draft.screens and setting.needs_residuals) or search_samples is None or draft.weights is None:
        return draft
    if search_samples.is_subsampled or samples.graph is not None:
        return draft
    training = build(draft.surrogate.with_kernel(draft.result.setting), draft.result.kernels)
    curve = draft.result.curve  # the mean alpha is too smooth for steps, whose residuals would be far from others
    model = training, draft.weights, vertex_alpha(curve) * curve.total_weight
    if not setting.pointwise or samples.Y.shape[1] == 1:  # one output is all of a sample
        factors = samples.expand_duplicates(screening_weights(*model))
        return _search_again(draft, samples.screen(factors)) if (factors < 1).any() else draft
    if samples.measure is None or samples.mask is not None or training.Y.shape[1:] != samples.Y.shape[1:]:
        return draft  # outlying entries of vectors, or beside missing values, are harder to tell from others
    Y = replace_outlying_points(*model)
    if Y is None:
        return draft
    return replace(_search_again(draft, samples.with_outputs(samples.expand_duplicates(Y))), has_replaced_outputs=True)


def _search_again(draft: Draft, samples: Samples) -> Draft:
    """The draft after the search of the kernel for other samples."""
    again = replace(Draft.start(draft.request, screens=False), samples=samples)
    return search_kernel(subsample(merge_duplicates(again)))


def average_evaluated_kernels(draft: Draft) -> Draft:
    """Average the evaluated kernels, where the samples cannot tell which one is the best."""
    result = draft.result
    if result is None or not can_average(draft.samples):
        return draft
    averaged = average_kernels(draft.surrogate, result, draft.criterion, draft.search_alpha, draft.weights)
    if averaged is result:
        return draft
    samples = draft.samples.with_kernel_candidates([averaged.setting])
    return replace(draft, result=averaged, samples=samples)


def search_operator(draft: Draft) -> Draft:
    """Select the output operator, where there are several to select from."""
    if draft.result is None or not draft.samples.recipe.operator_candidates:
        return draft
    candidates = _operators_to_compare(draft)
    if len(candidates) == 1:
        return _with_operator(draft, candidates[0])
    if draft.samples.mask is not None and draft.samples.measure is None:
        return _search_operator_of_gaps(draft, candidates)
    operator, result = search_operators(
        draft.surrogate, draft.result, candidates, draft.criterion, draft.search_alpha, draft.weights
    )
    return replace(_with_operator(draft, operator), result=result)


def _operators_to_compare(draft: Draft) -> tuple:
    """The candidate operators; one computed from the outputs needs several outputs and enough distinct samples."""
    assert draft.search_samples is not None
    merged, candidates = draft.search_samples.merged, draft.samples.recipe.operator_candidates
    n_outputs = int(np.isfinite(merged.Y).any(axis=0).sum())
    if 2 <= n_outputs <= min(_MOST_OUTPUTS, len(merged.rows) // _SAMPLES_PER_OUTPUT):
        return candidates
    return tuple(operator for operator in candidates if not depends_on_outputs(operator))


def _with_operator(draft: Draft, operator) -> Draft:
    samples, surrogate = draft.samples.with_operator_setting(operator), draft.surrogate.with_operator_setting(operator)
    return replace(draft, samples=samples, surrogate=surrogate)


def _search_operator_of_gaps(draft: Draft, candidates) -> Draft:
    """Select the operator of vectors with missing entries, for which leave-one-out has no closed form with operators.

    Where most samples are complete, by leave-one-out errors of these, so that a few gaps change little; else by folds.
    """
    search_samples, result = draft.search_samples, draft.result
    assert search_samples is not None
    complete = np.flatnonzero(np.isfinite(draft.surrogate.Y).all(axis=1))
    is_mostly_complete = len(complete) >= _MOSTLY_COMPLETE * len(draft.surrogate.rows)
    best, trials = (
        _operator_of(draft, complete, candidates) if is_mostly_complete else _operator_by_folds(draft, candidates)
    )
    if best is not candidates[0]:
        surrogate = make_surrogate(search_samples.subsample.with_operator_setting(best))
        search_samples = replace(search_samples, surrogate=surrogate)
    samples = draft.samples.with_operator_setting(best)
    return replace(draft, samples=samples, search_samples=search_samples, result=replace(result, trials=trials))


def _operator_of(draft: Draft, positions, candidates):
    """The operator with the smallest leave-one-out error of some samples, and the trials so far."""
    samples, weights = draft.surrogate.subsample(positions), draft.weights
    weights = None if weights is None else weights[positions]
    settings = (draft.criterion, draft.search_alpha)
    training = build(samples.with_kernel(draft.result.setting), draft.result.kernels)
    curve = error_curve(training, settings[0], candidate_alphas(training, settings[1]), weights)
    best, result = search_operators(samples, replace(draft.result, curve=curve), candidates, *settings, weights)
    return best, result.trials


def _operator_by_folds(draft: Draft, candidates):
    """The operator with the smallest error over folds, and the trials so far."""
    assert draft.search_samples is not None
    result, part = draft.result, draft.search_samples.subsample
    if draft.weights is not None and len(draft.weights) == len(part.rows):
        part = replace(part, weights=part.weights * draft.weights)
    part = part.subsample(draw_subsample(part, _MOST_WITH_GAPS))
    alpha, trials, errors = result.curve.penalty / float(part.weights.sum()), result.trials, []
    for operator in candidates:
        samples = part.with_operator_setting(operator).with_kernel(result.setting)
        search = FoldSearch(build(samples, result.kernels), Squared(), draft.request.options.quick())
        search.evaluate_near(alpha)
        errors.append(search.least())
        trials += search.trials()
    errors[0] *= 1 - operator_gain(candidates[0])
    return candidates[int(np.argmin(errors))], trials


def learn_kernel(draft: Draft) -> Draft:
    """Learn the metric, or the rates, of a kernel that is learnt in rounds."""
    if draft.result is None or not n_rounds(draft.surrogate):
        return draft
    result = relearn(
        draft.surrogate, draft.result, draft.criterion, draft.search_alpha, draft.request.options, draft.weights
    )
    return replace(draft, result=result, samples=draft.samples.with_kernel_candidates([result.setting]))


def search_metric(draft: Draft) -> Draft:
    """Learn a metric of the inputs, where the kernel is selected automatically and errors fall.

    It is learnt from more samples than kernels are compared on. The penalty is the one that samples outside of the fits
    select: leave-one-out errors of samples that the metric was learnt from are too small.
    """
    result = draft.result
    if (
        result is None
        or not draft.samples.recipe.learns_metric
        or round(effective_number(draft.surrogate.weights)) < FEWEST
    ):
        return draft
    samples = _surrogate_to_learn_from(draft) if draft.weights is None else draft.surrogate
    penalty = result.curve.penalty if draft.is_auto else float(draft.search_alpha) * float(samples.weights.sum())
    settings = (penalty, draft.criterion, draft.request.options)
    learnt = learn_metric(samples, result.kernels, *settings, is_auto=draft.is_auto, weights=draft.weights)
    if learnt is None:
        return draft
    setting, kernels = learnt.kernel.kernel, (learnt.kernel,)
    training = build(draft.surrogate.with_kernel(setting), kernels)
    alpha = learnt.penalty / float(training.weights.sum())
    curve = error_curve(training, draft.criterion, [alpha], draft.weights)
    trials = result.trials + learnt.trials()
    result = replace(result, setting=setting, kernels=kernels, curve=curve, trials=trials)
    return replace(draft, result=result, samples=draft.samples.with_kernel_candidates([setting]))


def _surrogate_to_learn_from(draft: Draft) -> Samples:
    """The samples that a metric is learnt from: more than the surrogate, with the same operator."""
    assert draft.search_samples is not None
    merged = draft.search_samples.merged
    if draft.request.samples.recipe.features is not None:
        merged = draft.request.samples.with_features(None).to_float64().merge_duplicates()
    pairs = draft.samples.recipe.pairs
    merged = replace(merged, recipe=replace(merged.recipe, pairs=pairs, operator_candidates=()))
    number = number_to_learn_from(merged)
    if number <= len(draft.surrogate.rows):
        return draft.surrogate
    return make_surrogate(merged.subsample(draw_subsample(merged, number)))


def build_training(draft: Draft) -> Draft:
    """Compute the Gram matrices of the samples with the selected kernel, and the alpha that the search has selected.

    A model of more samples than were searched keeps the penalty, alpha times the sum of weights: it is the ratio of
    noise to signal and, unlike alpha, does not depend on n.
    """
    result, search_samples = draft.result, draft.search_samples
    if result is None or search_samples is None:
        return _build_given(draft)
    curve, samples = result.curve, draft.samples
    if draft.is_auto:
        alpha = draft.unit * curve.alpha * (curve.total_weight / float(samples.weights.sum()))
    else:
        alpha = float(draft.alpha_setting)
    draft = replace(draft, alpha=alpha, trials=result.trials)
    if search_samples.is_complete and draft.weights is None:
        return replace(draft, training=curve.training, factors=curve.factors)
    training = build(samples.with_kernel(result.setting), result.kernels)
    return replace(draft, training=for_alpha(training, draft.loss, alpha))


def _build_given(draft: Draft) -> Draft:
    """The draft where no errors select the kernel; alpha may still be open."""
    training = build_first(draft.samples)
    if draft.is_open and draft.is_auto:
        return replace(draft, training=training)
    alpha = float(training.alphas()[-1] if draft.is_auto else draft.alpha_setting)  # one sample: the smoothest model
    return replace(draft, training=for_alpha(training, draft.loss, alpha), alpha=alpha)


def build_first(samples: Samples) -> Training:
    """The samples with the kernels as they are given, of several the first, at the median rule's rate."""
    (kernel, family), *_ = families_of(samples)
    return build(samples.with_kernel(kernel), family.kernels)


def refine_alpha(draft: Draft) -> Draft:
    """Select alpha by folds where leave-one-out errors of the model have no closed form, starting from the surrogate's.

    Nearly complete curves keep the alpha of the surrogate.
    """
    if not (draft.is_open and draft.is_auto):
        return draft
    training, options, search_samples = draft.training, draft.request.options, draft.search_samples
    if search_samples is None:  # kernels without Gram matrices of their own: there is no surrogate
        middle = float(np.sqrt(np.prod(training.alphas()[[0, -1]])))
        alpha, trials = search_folds(training, Squared(), middle, options)
        return replace(draft, alpha=alpha, trials=trials)
    on_margins = draft.loss.on_margins
    if not on_margins and (
        training.closed_form or is_nearly_complete(search_samples.surrogate, search_samples.subsample)
    ):
        return draft
    if draft.samples.graph is None:
        part = selection_subsample(training)
    else:
        part = training.take(draw_subsample(training, len(search_samples.subsample.rows)))
    unit = draft.unit
    if draft.weights is not None and len(draft.weights) == len(part.rows):  # these may be merged differently
        weighted = replace(part, weights=part.weights * draft.weights)
        part, unit = weighted, unit * float(weighted.weights.sum() / part.weights.sum())
    alpha, trials = search_folds(part, draft.loss if on_margins else Squared(), draft.alpha / unit, options)
    return replace(draft, alpha=unit * alpha, trials=draft.trials + trials)


def resolve_constants(draft: Draft) -> Draft:
    """Compute the constants of the loss that are still "auto"."""
    loss = resolve_loss(draft.training, draft.loss, [draft.alpha], draft.request.options, draft.factors)
    return replace(draft, loss=loss)


def refine_alpha_of_loss(draft: Draft) -> Draft:
    """Select alpha again by folds of the loss itself, where there is no surrogate."""
    if draft.search_samples is not None or not (draft.is_open and draft.is_auto) or draft.loss.quadratic:
        return draft
    alpha, trials = search_folds(draft.training, draft.loss, draft.alpha, draft.request.options)
    return replace(draft, alpha=alpha, trials=draft.trials + trials)


def restore_outputs(draft: Draft) -> Draft:
    """Take the given outputs back in place of those whose outlying points were replaced."""
    if not draft.has_replaced_outputs:
        return draft
    return replace(draft, training=draft.training.with_outputs(draft.request.samples.Y))


def search_landmarks(draft: Draft) -> Draft:
    """Select the number of landmarks, and alpha, by leave-one-out errors of the model of all samples on features."""
    given = draft.request.samples
    if given.recipe.features is None:
        return draft
    recipe, total = draft.training.recipe, float(given.weights.sum())
    samples = replace(given, recipe=replace(recipe, features=given.recipe.features))
    penalty = draft.alpha * (float(draft.training.weights.sum()) if draft.is_auto else total)
    result = search_features(
        samples, draft.training.kernels, draft.loss, draft.alpha_setting, penalty, draft.request.options
    )
    alpha = float(draft.alpha_setting) if not draft.is_auto else result.alpha
    return replace(
        draft,
        samples=samples,
        training=result.training,
        alpha=penalty / total if alpha is None else alpha,
        factors=result.factors,
        trials=draft.trials + result.trials,
        approximation=result.approximation,
    )


def restore_loss(draft: Draft) -> Draft:
    """Take an asymmetric loss back, and select its alpha by folds, around the alpha of the squared loss."""
    loss, alpha = draft.request.loss, draft.request.alpha
    if loss.symmetric:
        return draft
    if not isinstance(alpha, str):
        return replace(draft, loss=loss, alpha=float(alpha))
    if len(draft.training.rows) == 1:
        return replace(draft, loss=loss)
    alpha, trials = search_alpha_of_loss(draft.training, loss, draft.alpha, draft.request.options)
    return replace(draft, loss=loss, alpha=alpha, trials=draft.trials + trials)
