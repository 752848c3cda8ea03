"""The wrapped estimator: fitted with weights, and what is behind pipelines and searches."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any
from warnings import catch_warnings, simplefilter

import numpy as np
from scipy.sparse import issparse
from sklearn.base import is_classifier
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing, get_tags
from sklearn.utils.validation import _num_samples

from .._utils.fitting import weight_arguments
from ..data.functions import has_points
from ..machine.base import KernelMachine
from ..machine.wrapping import fit_with_leave_one_out
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
            models = fit_with_leave_one_out(model, X, y, weights_of_machine(model, sample_weight))
        else:
            fitted(model, X, y, sample_weight)
        found = cls.of(model, X)
        return None if found is None else replace(found, models=models)

    def without_one(self):
        """The models without one sample."""
        return self.machine.machine_.leave_one_out_models() if self.models is None else self.models

    @classmethod
    def of(cls, model, X) -> KernelMachineBehind | None:
        """None where there is no formula: transformers that learn from X would learn other things without a sample.

        X : the inputs that the model was fitted to
        """
        model, steps = behind(model)
        if not isinstance(model, KernelMachine) or not model.machine_.has_leave_one_out_models:
            return None
        if not hasattr(model, "space_") or not model.space_.decodes or learn_from_inputs(model, steps, X):
            return None
        return cls(model, steps)

    def inputs(self, X):
        """Inputs as the machine takes them."""
        return self.machine.machine_.check_inputs(X if self.steps is None else self.steps.transform(X))


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


def learn_from_inputs(model, steps, X) -> bool:
    """Whether what the fitted kernel machine sees of a sample depends on the other samples too.

    steps : pipeline of the fitted transformers before it, or None
    Tags tell what ``fit`` learns. A transformer that learns nothing may still use a mean of the batch that it is given,
    before the machine or as its ``feature_map``; a feature map that learns is part of the kernel, which is held fixed.
    """
    if steps is not None:
        if any(get_tags(step).requires_fit for _, step in steps.steps) or depends_on_batch(steps.transform, X):
            return True
        X = steps.transform(X)
    maps = model.feature_map_ if isinstance(model.feature_map_, list) else [model.feature_map_]
    given = [one.transformer for one in maps if hasattr(one, "transformer")]
    return any(not get_tags(one).requires_fit and depends_on_batch(one.transform, X) for one in given)


def depends_on_batch(transform, X) -> bool:
    """Whether a function of a batch makes other rows of parts of X: of every second sample, and of some alone."""
    n = _num_samples(X)
    half, alone = np.arange(0, n, 2), np.unique(np.linspace(0, n - 1, _ALONE).astype(int))[:, None]
    try:
        with np.errstate(all="ignore"), catch_warnings():
            simplefilter("ignore")  # of statistics of one sample
            whole = transform(X)
            return any(not _is_part(whole, rows, transform(_safe_indexing(X, rows))) for rows in (half, *alone))
    except Exception:  # a function that needs several samples, or rows of another kind than can be compared
        return True


def _is_part(whole, rows, part) -> bool:
    """Whether what was made of some samples is what was made of them among all, up to rounding."""
    expected = _safe_indexing(whole, rows)
    if issparse(expected):
        return expected.shape == part.shape and (abs(expected - part) > _SAME * abs(expected)).nnz == 0
    expected, part = np.asarray(expected), np.asarray(part)
    if expected.shape != part.shape or expected.dtype.kind not in "biufc":
        return expected.shape == part.shape and bool((expected == part).all())
    sizes = np.nan_to_num(np.fmax.reduce(np.abs(np.asarray(whole)), axis=0))  # of each column
    return bool(np.isclose(part, expected, 0.0, _SAME * sizes, equal_nan=True).all())


def grid_of(estimator):
    """The setting ``grid`` of an estimator or of one inside it, None where there is none."""
    found = _grids_of(estimator)
    return found[max(found, key=len)] if found else None


def of_functions(estimator, y) -> bool:
    """Whether outputs are functions: a container of them, or an estimator that has a grid for them."""
    return has_points(y) or bool(_grids_of(estimator))


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


def resists_outliers(model) -> bool:
    """Whether a fitted model, or one inside it, has a loss that grows linearly at most."""
    loss = getattr(behind(model)[0], "loss_", None)
    return bool(np.isfinite(getattr(loss, "bound", np.inf)))
