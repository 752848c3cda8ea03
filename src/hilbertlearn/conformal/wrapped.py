"""The wrapped estimator. Only this module of the package calls methods that estimators have for wrappers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from warnings import catch_warnings, simplefilter

import numpy as np
from scipy.sparse import issparse
from sklearn.base import clone, is_classifier
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing, get_tags
from sklearn.utils.validation import _num_samples

from .._utils.fitting import weight_arguments
from .._utils.progress import propagate_callbacks
from ..machine import wrapping
from ..machine.base import KernelMachine
from ..machine.folded_leave_one_out import FoldedLeaveOneOut
from ..model_selection import RegularizationPathCV
from ..structured.output_scorer import OutputScorer

_SINGLES = 5  # samples that are transformed one by one to find transformers that use statistics of their batch
_TOLERANCE = 1e-9  # of the largest entry of a column: smaller differences between transforms are rounding


def check_estimator(estimator):
    """Raise unless the estimator is an object with fit, predict and get_params, and not a classifier."""
    if isinstance(estimator, type):
        raise TypeError(f"estimator must be an object, got the class {estimator.__name__}; pass {estimator.__name__}()")
    missing = [name for name in ("fit", "predict", "get_params") if not hasattr(estimator, name)]
    if missing:
        raise TypeError(
            f"estimator must have {', '.join(missing)}, as scikit-learn's regressors do, got {estimator!r}; give for "
            "example OperatorKernelRegressor()"
        )
    if is_classifier(estimator):
        raise TypeError(
            f"estimator: {type(estimator).__name__} is a classifier, which is not supported; give "
            "StructuredPredictor(), which predicts labels too and has predict_set"
        )


def strategy_name(estimator) -> str:
    """The strategy that an estimator names by its class attribute ``conformal_strategy``; "rows" by default.

    In pipelines and searches the estimator inside names it.
    """
    return getattr(unwrap(estimator, sklearn_searches=True)[0], "conformal_strategy", "rows")


def quantile_levels(estimator):
    """Levels (L,) of the quantiles that an estimator, or the one inside it, predicts."""
    return np.atleast_1d(np.asarray(unwrap(estimator, sklearn_searches=True)[0].levels, dtype=float))


# ---------------------------------------------------------------- fits


def fit_model(model, X, y, sample_weight=None):
    """Fit a model; ``weight_arguments`` decides how it receives the weights."""
    with propagate_callbacks(model):
        return model.fit(X, y, **weight_arguments(model, sample_weight, "ConformalPredictor"))


def fit_with_parts(model, X, y, sample_weight=None):
    """Fit a kernel machine; return a function that fits a copy to some samples with the same selected settings.

    The function takes positions (k,) of samples. It is None where the machine has no parts.
    """
    with propagate_callbacks(model):
        return wrapping.fit_with_parts(model, X, y, _machine_weights(model, sample_weight))


def _machine_weights(model, sample_weight):
    """Weights for a kernel machine; None where it requests none by metadata routing."""
    return weight_arguments(model, sample_weight, "ConformalPredictor").get("sample_weight")


def unwrap(model, sklearn_searches=False):
    """The model inside pipelines and ``RegularizationPathCV``, and the pipeline of the steps before it or None.

    sklearn_searches : whether to look inside scikit-learn's searches too, each of whose refits selects its own settings
    """
    steps: list = []
    while True:
        if isinstance(model, Pipeline):
            steps += [
                (f"{len(steps)}-{name}", step) for name, step in model.steps[:-1] if step not in (None, "passthrough")
            ]
            model = model.steps[-1][1]
        elif isinstance(model, RegularizationPathCV) or (sklearn_searches and _is_sklearn_search(model)):
            model = getattr(model, "best_estimator_", model.estimator)
        else:
            return model, Pipeline(steps) if steps else None


def _is_sklearn_search(model) -> bool:
    """Whether a model is ``GridSearchCV``, or has its parameters."""
    return hasattr(model, "estimator") and hasattr(model, "refit")


def is_searched(model) -> bool:
    """Whether scikit-learn searches the settings of a model that is not fitted."""
    while isinstance(model, (Pipeline, RegularizationPathCV)):
        model = model.steps[-1][1] if isinstance(model, Pipeline) else model.estimator
    return _is_sklearn_search(model)


def is_robust(model) -> bool:
    """Whether the loss of a fitted model grows at most linearly."""
    loss = getattr(unwrap(model)[0], "loss_", None)
    return bool(np.isfinite(getattr(loss, "bound", np.inf)))


# ---------------------------------------------------------------- leave-one-out models of rows in closed form


@dataclass(frozen=True, eq=False)
class ClosedFormMachine:
    """A fitted kernel machine whose n leave-one-out models have a closed form, after transformers that learn nothing.

    alpha n, kernel and operator of these models are those of all samples, or selected in folds (``FoldedLeaveOneOut``).
    """

    machine: KernelMachine
    transformers: Pipeline | None
    models: Any  # leave-one-out models of the machine

    @classmethod
    def fit(cls, model, X, y, sample_weight=None) -> tuple[ClosedFormMachine | None, str]:
        """Fit the model; None and the reason where its leave-one-out models have no closed form."""
        models = None
        if isinstance(model, KernelMachine):  # reuses the factorisation of the fit
            with propagate_callbacks(model):
                models = wrapping.fit_with_leave_one_out(model, X, y, _machine_weights(model, sample_weight))
        else:
            fit_model(model, X, y, sample_weight)
        obstacle = closed_form_obstacle(model, X)
        if obstacle:
            return None, obstacle
        machine, transformers = unwrap(model)
        models = machine.machine_.leave_one_out_models() if models is None else models
        return cls(machine, transformers, models), ""

    @property
    def rows(self):
        """Positions (n,) of the samples that the models leave out, in order."""
        return self.models.rows

    @property
    def weights(self):
        """Weights (n,) of these samples."""
        return self.models.weights

    def leave_one_out(self):
        """Outputs of the samples, each predicted by the model without it."""
        return self.machine.machine_.decode(self.models.loo_predictions)

    def pair_changes(self, block):
        """Change of these predictions, (b, n) flattened, when each sample of a block is left out too."""
        changes = self.models.pairwise_residuals(np.arange(len(self.rows))[block]) - self.models.residuals  # (b, n, d)
        return self.machine.space_.decode_differences(changes.reshape(-1, changes.shape[-1]))

    @property
    def n_coordinates(self) -> int:
        """Number d of coordinates of an output."""
        return self.models.loo_predictions.shape[1]

    def predict(self, X):
        """Predictions of every model, (m, n) flattened."""
        coordinates = self.models.coordinates_at(self._inputs(X))  # (m, n, d)
        return self.machine.machine_.decode(coordinates.reshape(-1, coordinates.shape[-1]))

    def _inputs(self, X):
        """Inputs as kernels take them."""
        return self.machine.machine_.check_inputs(X if self.transformers is None else self.transformers.transform(X))

    def loo_spreads(self):
        """Spread (n,) of the posterior at each sample, by the model without it."""
        return self.models.spreads

    def spreads(self, X):
        """Spreads (m, n) of the posterior of every model at the inputs of a block."""
        return self.models.spreads_at(self._inputs(X))


def selects_settings(model) -> bool:
    """Whether a fitted model has compared settings on its samples, or computed constants of its loss from them.

    Models of other kinds, and a regressor in place of the kernel machine, count as ones that do.
    """
    machine = _last_step(model)
    if not isinstance(machine, KernelMachine):
        return True
    spec = machine.spec()
    if spec.regressor is not None or spec.loss.needs_residuals:
        return True
    return len(machine.search_results_["error"]) > 1


def has_learnt_metric(model) -> bool:
    """Whether the selection of a fitted model has learnt a metric of the inputs."""
    machine = _last_step(model)
    return isinstance(machine, KernelMachine) and getattr(machine, "metric_", None) is not None


def fit_folded_leave_one_out(estimator, model, X, y, sample_weight, fold, task) -> FoldedLeaveOneOut | None:
    """Leave-one-out models of a machine, with settings that were selected without the fold of the sample left out.

    None where another object selects the settings, or models with such settings have no closed form.

    estimator, model : before the fit, and fitted to all samples
    fold, task : see ``FoldedLeaveOneOut.fit``
    """
    machine = _last_step(clone(estimator))
    if not isinstance(machine, KernelMachine):
        return None
    transformers = unwrap(model)[1]
    X = X if transformers is None else transformers.transform(X)
    return FoldedLeaveOneOut.fit(machine, X, y, _machine_weights(machine, sample_weight), fold, task)


def _last_step(model):
    """The last step of a pipeline, or of pipelines inside it; other models as they are."""
    while isinstance(model, Pipeline):
        model = model.steps[-1][1]
    return model


def closed_form_obstacle(model, X) -> str:
    """Why leave-one-out models of a model fitted to X have no closed form; "" if they have one."""
    machine, transformers = unwrap(model)
    if not isinstance(machine, KernelMachine):
        return f"{type(machine).__name__} has no leave-one-out models in closed form"
    obstacle = machine.machine_.leave_one_out_obstacle
    if not obstacle and learn_from_inputs(machine, transformers, X):
        return "a step of the pipeline learns from the inputs"
    return obstacle


def leave_one_out_fit(model, X, y):
    """Outputs of the samples (X, y) of a fitted model, each predicted without it; None without a closed form."""
    if closed_form_obstacle(model, X):
        return None
    machine = unwrap(model)[0].machine_
    return machine.decode(machine.encode(y) - machine.loo_residuals())


# ---------------------------------------------------------------- the posterior of kernel machines


def check_has_kernel(estimator):
    """Raise unless an estimator, or the one inside it, is a kernel machine."""
    inner = unwrap(estimator, sklearn_searches=True)[0]
    if not isinstance(inner, KernelMachine):
        raise ValueError(
            f"score='novelty' requires a kernel machine, perhaps in a pipeline, got {type(inner).__name__}; set "
            "score='auto'"
        )


def spreads(model, X):
    """Spreads (m,) of the posterior of a fitted model, for ``scores.NoveltyScaled``."""
    machine, inputs = _machine_inputs(model, X)
    return machine.posterior().spreads(inputs)


def count_extrapolations(model, X, largest):
    """Number of inputs whose novelty exceeds the threshold of a fitted model, and the threshold.

    The number is 0 for models without novelty, and where it takes a factorisation of more than `largest` rows.
    """
    inner = unwrap(model, sklearn_searches=True)[0]
    size = inner.machine_.posterior_size if isinstance(inner, KernelMachine) else None
    if size is None or size > largest:
        return 0, 1.0
    machine, inputs = _machine_inputs(model, X)
    posterior = machine.posterior()
    return int((posterior.novelty(inputs) > posterior.threshold).sum()), posterior.threshold


def _machine_inputs(model, X):
    """What wrappers use of the kernel machine inside a model, and its checked inputs."""
    machine, transformers = unwrap(model, sklearn_searches=True)
    machine = machine.machine_
    return machine, machine.check_inputs(X if transformers is None else transformers.transform(X))


# ---------------------------------------------------------------- predictors of objects


@dataclass(frozen=True, eq=False)
class ObjectMachine:
    """A fitted ``StructuredPredictor``, perhaps after transformers, as conformal sets use it."""

    model: Any  # as the user gave it, fitted
    columns: Any = None  # training samples, where inputs are kernel values with all samples; None otherwise

    @property
    def predictor(self):
        return unwrap(self.model, sklearn_searches=True)[0]

    @property
    def rules(self):
        """The ``OutputRules`` of the predictor: output kernel, output loss, decoder, candidates."""
        return self.predictor.space_.rules

    def inputs(self, X):
        """Inputs as the predictor takes them."""
        transformers = unwrap(self.model, sklearn_searches=True)[1]
        X = select_columns(X, self.columns)
        return self.predictor.machine_.check_inputs(X if transformers is None else transformers.transform(X))

    def predict(self, X):
        """Predictions in the user's form."""
        return self.model.predict(select_columns(X, self.columns))

    def queries(self, X):
        """Rows (m, r) whose inner products with ``features`` of outputs are minus the decoder's objective."""
        return OutputScorer(self.predictor.state_).objective()[0](self.inputs(X))

    def features(self, outputs):
        """Features (c, r) of outputs, and a bias (c,) or None."""
        return OutputScorer(self.predictor.state_).objective()[1](outputs)

    def leave_one_out_models(self):
        """The leave-one-out models in closed form; see ``closed_form_obstacle``."""
        return self.predictor.machine_.leave_one_out_models()

    def queries_at(self, coordinates):
        """``queries`` from coordinates (..., r) of a model with the squared loss."""
        return 2 * coordinates if self.rules.loss is None else -coordinates

    def closed_form_obstacle(self, X) -> str:
        """Why the objective of all leave-one-out models does not follow from the model fitted to X; "" if it does.

        With both an output kernel and an output loss the decoder's weights are not coordinates of that closed form.
        """
        if self.rules.has_kernel_and_loss:
            return "there is no closed form for an output kernel together with an output loss"
        return closed_form_obstacle(self.model, X)


# ---------------------------------------------------------------- predictors of links


def scores_of_new_nodes(predictor):
    """Cross-validated scores, links and weights of pairs of a known node with one that the fold had not."""
    return predictor.link_state_.example_scores("mixed")


# ---------------------------------------------------------------- inputs


def select_columns(X, columns):
    """Inputs that are kernel values with all samples, for a model fitted to the samples `columns`; None for all."""
    if columns is None:
        return X
    return _safe_indexing(np.asarray(X) if isinstance(X, (list, tuple)) else X, columns, axis=1)


def learn_from_inputs(model, steps, X) -> bool:
    """Whether the input of a fitted kernel machine for one sample depends on the other samples.

    steps : pipeline of the fitted transformers before it, or None

    Tags say whether ``fit`` learns. A transformer that learns nothing may still use statistics of its batch, before the
    machine or as its ``feature_map``. A feature map that learns is part of the kernel, which leave-one-out keeps fixed.
    """
    if steps is not None:
        if any(get_tags(step).requires_fit for _, step in steps.steps) or depends_on_batch(steps.transform, X):
            return True
        X = steps.transform(X)
    maps = model.feature_map_ if isinstance(model.feature_map_, list) else [model.feature_map_]
    transformers = [feature_map.transformer for feature_map in maps if hasattr(feature_map, "transformer")]
    return any(not get_tags(step).requires_fit and depends_on_batch(step.transform, X) for step in transformers)


def depends_on_batch(transform, X) -> bool:
    """Whether a function of a batch gives other rows for parts of X: every second sample, and some single ones."""
    n = _num_samples(X)
    half, singles = np.arange(0, n, 2), np.unique(np.linspace(0, n - 1, _SINGLES).astype(int))[:, None]
    try:
        with np.errstate(all="ignore"), catch_warnings():
            simplefilter("ignore")  # from statistics of one sample
            full = transform(X)
            return any(not _equals_rows(full, rows, transform(_safe_indexing(X, rows))) for rows in (half, *singles))
    except Exception:  # the function needs several samples, or its rows cannot be compared
        return True


def _equals_rows(full, rows, part) -> bool:
    """Whether the transform of some samples equals their rows of the full transform, up to rounding."""
    expected = _safe_indexing(full, rows)
    if issparse(expected):
        return expected.shape == part.shape and (abs(expected - part) > _TOLERANCE * abs(expected)).nnz == 0
    expected, part = np.asarray(expected), np.asarray(part)
    if expected.shape != part.shape or expected.dtype.kind not in "biufc":
        return expected.shape == part.shape and bool((expected == part).all())
    sizes = np.nan_to_num(np.fmax.reduce(np.abs(np.asarray(full)), axis=0))  # of each column
    return bool(np.isclose(part, expected, 0.0, _TOLERANCE * sizes, equal_nan=True).all())


# ---------------------------------------------------------------- settings


def grid_setting(estimator):
    """Whether an estimator, or one inside it, has a parameter ``grid``, and the value of the innermost one or None."""
    params = estimator.get_params()
    names = [name for name in params if name == "grid" or name.endswith("__grid")]
    return bool(names), params[max(names, key=len)] if names else None
