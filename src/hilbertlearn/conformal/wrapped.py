"""The wrapped estimator: fitted with weights, and what is behind pipelines and searches."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any
from warnings import catch_warnings, simplefilter

import numpy as np
from sklearn.base import is_classifier
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing, get_tags
from sklearn.utils.validation import _num_samples

from .._fitting import weight_arguments
from ..estimators.base import KernelMachine
from ..functions import brings_points
from ..losses import as_loss
from ..model_selection import RegularizationPathCV

_SEARCHES = (GridSearchCV, RandomizedSearchCV)
_ALONE = 5  # samples that transformers are asked for by themselves
_SAME = 1e-9  # relative difference of numbers up to which they are the same


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
        found = cls.of(model, X)
        return None if found is None else replace(found, models=models)

    def without_one(self):
        """The models without one sample."""
        return self.machine.without_one() if self.models is None else self.models

    @classmethod
    def of(cls, model, X) -> KernelMachineBehind | None:
        """None where there is no formula: transformers that learn from X would learn other things without a sample.

        X : the inputs that the model was fitted to
        """
        model, steps = behind(model)
        if not isinstance(model, KernelMachine) or not model.leaves_one_out:
            return None
        if not hasattr(model, "space_") or not model.space_.decodes or learn_from_inputs(steps, X):
            return None
        return cls(model, steps)

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


def learn_from_inputs(steps, X) -> bool:
    """Whether a fitted pipeline of transformers, or None, makes of a sample what depends on the other samples too.

    Tags tell of what ``fit`` learns. Functions may still use a mean of the batch that they are given, so they are
    asked again for parts of X: every second sample, and some alone.
    """
    if steps is None:
        return False
    if any(get_tags(step).requires_fit for _, step in steps.steps):
        return True
    n = _num_samples(X)
    parts = [np.arange(0, n, 2), *np.unique(np.linspace(0, n - 1, _ALONE).astype(int))[:, None]]
    try:
        with np.errstate(all="ignore"), catch_warnings():
            simplefilter("ignore")  # of statistics of one sample
            whole = steps.transform(X)
            return not all(_is_part(whole, rows, steps.transform(_safe_indexing(X, rows))) for rows in parts)
    except Exception:  # a function that needs several samples, or rows of another kind than can be compared
        return True


def _is_part(whole, rows, part) -> bool:
    """Whether what was made of some samples is what was made of them among all, up to rounding."""
    expected, found = (_plain(made) for made in (_safe_indexing(whole, rows), part))
    if expected.dtype.kind not in "biufc":
        return expected.shape == found.shape and bool((expected == found).all())
    return expected.shape == found.shape and np.allclose(found, expected, _SAME, 0.0, equal_nan=True)


def _plain(made):
    """Rows of a matrix, sparse or not, of a data frame, or of objects, as an array."""
    return made.toarray() if hasattr(made, "toarray") else np.asarray(made)


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
