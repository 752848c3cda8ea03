"""The wrapped estimator: fitted with weights, and what is behind pipelines and searches."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags

from .._fitting import weight_arguments
from ..estimators.base import KernelMachine
from ..functions import brings_points
from ..losses import as_loss
from ..model_selection import RegularizationPathCV

_SEARCHES = (GridSearchCV, RandomizedSearchCV)


def check_estimator(estimator):
    """Raise unless it is an object that can be fitted, copied and asked for predictions."""
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
            f"estimator: {type(estimator).__name__} is a classifier, whose sets of classes are not made here; give "
            "StructuredPredictor(), which predicts labels too and has predict_set"
        )


def fitted(model, X, y, sample_weight=None):
    """The model after ``fit``, with weights as ``weight_arguments`` hands them on."""
    return model.fit(X, y, **_weights_of(model, sample_weight))


def _weights_of(model, sample_weight):
    return weight_arguments(model, sample_weight, "ConformalPredictor")


def weights_of_machine(model, sample_weight):
    """Weights that a kernel machine is fitted with; None where it requests none by metadata routing."""
    return _weights_of(model, sample_weight).get("sample_weight")


@dataclass(frozen=True, eq=False)
class KernelMachineBehind:
    """A fitted kernel machine whose models without one sample have a formula, behind steps that learn nothing."""

    machine: Any
    steps: Any = None  # a pipeline of the transformers before it, None for none
    models: Any = None  # of ``without_one``, where the fit has made them

    @classmethod
    def fitted(cls, model, X, y, sample_weight=None) -> KernelMachineBehind | None:
        """The same after fitting the model, which may hand its factors on."""
        models = None
        if isinstance(model, KernelMachine):
            models = model.fit_without_one(X, y, weights_of_machine(model, sample_weight))
        else:
            fitted(model, X, y, sample_weight)
        found = cls.of(model)
        return None if found is None else replace(found, models=models)

    def without_one(self):
        """The models without one sample."""
        return self.machine.without_one() if self.models is None else self.models

    @classmethod
    def of(cls, model) -> KernelMachineBehind | None:
        """None where there is no formula: transformers that learn from X would learn other things without a sample."""
        model, steps = behind(model)
        if steps is not None and any(get_tags(step).requires_fit for _, step in steps.steps):
            return None
        if not isinstance(model, KernelMachine) or not model.leaves_one_out:
            return None
        return cls(model, steps) if hasattr(model, "space_") and model.space_.decodes else None

    def inputs(self, X):
        """Inputs as the machine takes them."""
        return self.machine.checked_inputs(X if self.steps is None else self.steps.transform(X))


def behind(model, searches=(RegularizationPathCV,)):
    """The model inside pipelines and searches, fitted if they are, and the pipeline of steps before it or None."""
    steps: list = []
    while True:
        if isinstance(model, Pipeline):
            steps += [
                (f"{len(steps)}-{name}", step) for name, step in model.steps[:-1] if step not in (None, "passthrough")
            ]
            model = model.steps[-1][1]
        elif isinstance(model, searches):
            model = getattr(model, "best_estimator_", model.estimator)
        else:
            return model, Pipeline(steps) if steps else None


def grid_of(estimator):
    """The setting ``grid`` of an estimator or of one inside it, None where there is none."""
    found = _grids_of(estimator)
    return found[max(found, key=len)] if found else None


def of_functions(estimator, y) -> bool:
    """Whether outputs are functions: a container of them, or an estimator that has a grid for them."""
    return brings_points(y) or bool(_grids_of(estimator))


def _grids_of(estimator):
    settings = estimator.get_params().items()
    return {name: value for name, value in settings if name == "grid" or name.endswith("__grid")}


def innermost(model):
    """``behind`` pipelines and searches of any kind, whose settings each model chooses for itself."""
    return behind(model, (RegularizationPathCV, *_SEARCHES))


def is_searched(model) -> bool:
    """Whether the settings of a model, not fitted, are searched by scikit-learn."""
    while isinstance(model, (Pipeline, RegularizationPathCV)):
        model = model.steps[-1][1] if isinstance(model, Pipeline) else model.estimator
    return isinstance(model, _SEARCHES)


def shares_choice(model) -> bool:
    """Whether models of parts can have what a kernel machine chooses by all samples: losses that have no formula."""
    return isinstance(model, KernelMachine) and model.shares_choice and not as_loss(model.loss).quadratic


def resists_outliers(model) -> bool:
    """Whether a fitted model, or one inside it, has a loss that grows linearly at most."""
    loss = getattr(behind(model)[0], "loss_", None)
    return bool(np.isfinite(getattr(loss, "bound", np.inf)))
