"""The wrapped estimator: fitted with weights, and what is behind pipelines and searches."""

from __future__ import annotations

from dataclasses import dataclass, replace
from inspect import signature
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags
from sklearn.utils.validation import has_fit_parameter

from ..estimators.base import KernelMachine
from ..model_selection import RegularizationPathCV


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


def fitted(model, X, y, sample_weight=None):
    """The model after ``fit``; weights of a pipeline go to its last step."""
    return model.fit(X, y, **({} if sample_weight is None else {_name_of_weights(model): sample_weight}))


def _name_of_weights(model):
    """The argument of ``fit`` that weights are: searches and the like hand on what they do not know."""
    if isinstance(model, Pipeline):
        name, last = model.steps[-1]
        return f"{name}__{_name_of_weights(last)}"
    handed_on = any(one.kind is one.VAR_KEYWORD for one in signature(model.fit).parameters.values())
    if not handed_on and not has_fit_parameter(model, "sample_weight"):
        raise ValueError(f"sample_weight: {model!r} takes none; give another estimator, or no weights")
    return "sample_weight"


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
            models = model.fit_without_one(X, y, sample_weight)
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


def behind(model):
    """The fitted model inside pipelines and searches over alpha, and the pipeline of steps before it or None."""
    steps: list = []
    while True:
        if isinstance(model, Pipeline):
            steps += [
                (f"{len(steps)}-{name}", step) for name, step in model.steps[:-1] if step not in (None, "passthrough")
            ]
            model = model.steps[-1][1]
        elif isinstance(model, RegularizationPathCV):
            model = model.best_estimator_
        else:
            return model, Pipeline(steps) if steps else None


def resists_outliers(model) -> bool:
    """Whether a fitted model, or one inside it, has a loss that grows linearly at most."""
    loss = getattr(behind(model)[0], "loss_", None)
    return bool(np.isfinite(getattr(loss, "bound", np.inf)))
