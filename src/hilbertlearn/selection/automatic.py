"""The automatic selection: a list of stages."""

from __future__ import annotations

from ..losses import Loss
from ..training import Options, Samples, Training, resolve_schedule
from . import stages
from .kernel_search import is_open
from .result import Selection
from .stages import Draft, Request
from .step_back import automatic_bounds

STAGES = [
    stages.use_squared_loss,
    stages.use_exact_subsample,
    stages.merge_duplicates,
    stages.subsample,
    stages.search_kernel,
    stages.screen_outliers,
    stages.average_evaluated_kernels,
    stages.search_operator,
    stages.learn_kernel,
    stages.search_metric,
    stages.build_training,
    stages.refine_alpha,
    stages.resolve_constants,
    stages.refine_alpha_of_loss,
    stages.restore_outputs,
    stages.search_landmarks,
    stages.restore_loss,
]


def select(samples: Samples, loss: Loss, alpha, options: Options, *, screens=True) -> Selection:
    """Select the kernel, alpha and the constants of the loss.

    Kernels are compared by leave-one-out errors of the squared loss, which have a closed form: on surrogate samples
    where the samples have none, and for a loss with a bound under the weights of a robust fit.

    alpha : a number, "auto" or the name of a schedule
    screens : whether outliers are screened, where the bound of the loss is "auto"
    """
    request = Request(samples, loss, resolve_schedule(alpha, len(samples.rows)), options)
    draft = Draft.start(request, screens)
    for stage in STAGES:
        draft = stage(draft)
    return Selection(
        alpha=draft.alpha,
        loss=draft.loss,
        training=draft.training,
        factors=draft.factors,
        trials=draft.trials,
        approximation=draft.approximation,
        selected_alpha=isinstance(request.alpha, str),
        selected_bounds=automatic_bounds(loss, draft.loss),
    )


def select_kernels(samples: Samples, loss: Loss, alpha, options: Options) -> Training:
    """The samples with the kernels that ``select`` selects, for callers that select alpha themselves."""
    if is_open(samples) or samples.recipe.features is not None:
        return select(samples, loss, alpha, options).training
    return stages.build_first(samples)
