"""A fitted model and what is inside it: a conformal predictor, a search, a pipeline, the estimator itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import _num_samples, check_is_fitted

from ...conformal import ConformalPredictor
from ...data.graphs import Pairs, is_networkx


@dataclass(frozen=True)
class Model:
    """A model as it was handed over, and its layers."""

    outer: Any
    conformal: Any  # what has sets around predictions, None for nothing
    search: Any  # what has chosen among fits, None for nothing
    predictor: Any  # what predicts: an estimator, or a pipeline that ends in one
    machine: Any  # the estimator

    @classmethod
    def of(cls, model) -> Model:
        if isinstance(model, type) or not hasattr(model, "fit"):
            raise TypeError(
                f"model must be a fitted estimator, got {model!r}; give what fit returned, OperatorKernelRegressor()"
                ".fit(X, y) for instance"
            )
        check_is_fitted(model)
        conformal = search = None
        predictor = model
        while _is_conformal(predictor) or hasattr(predictor, "best_estimator_"):
            if _is_conformal(predictor):
                conformal, predictor = predictor, predictor.estimator_
            else:
                search, predictor = predictor, predictor.best_estimator_
        machine = predictor
        while isinstance(machine, Pipeline) or hasattr(machine, "best_estimator_") or _is_conformal(machine):
            if isinstance(machine, Pipeline):
                machine = machine[-1]
            elif _is_conformal(machine):  # behind transformers: their output is not at hand to ask it for sets
                machine = machine.estimator_
            else:
                search, machine = machine, machine.best_estimator_
        return cls(model, conformal, search, predictor, machine)

    def predict(self, X, **options):
        """Predictions for X, of the outermost layer that takes the options."""
        return self.predictor.predict(X, **options) if options else self.outer.predict(X)

    def learnt(self, name, default=None):
        """A learnt attribute of the estimator, ``default`` where it has none, or none for this fit."""
        try:
            return getattr(self.machine, name, default)
        except ValueError:
            return default

    @property
    def space(self):
        """The space of the outputs, None where the estimator is none of the package's; of quantiles that of y."""
        space = self.learnt("space_")
        return getattr(space, "base", space)

    @property
    def predicts_links(self) -> bool:
        return hasattr(self.machine, "predict_links")

    @property
    def makes_codes(self) -> bool:
        return hasattr(self.machine, "inverse_transform") and not hasattr(self.machine, "predict")

    @property
    def predicts_objects(self) -> bool:
        return hasattr(self.machine, "predict_topk")

    @property
    def predicts_quantiles(self) -> bool:
        return bool(self.learnt("conformal_strategy", "rows") == "quantiles")

    @property
    def predicts_functions(self) -> bool:
        return hasattr(self.space, "grids")


def _is_conformal(model) -> bool:
    return isinstance(model, ConformalPredictor)


def names_of(model: Model, X, y, ids) -> list[str]:
    """Names of the samples, or of nodes: those given, the index of a data frame, or positions."""
    if isinstance(X, Pairs) or X is None or is_networkx(X):
        nodes = X.nodes if isinstance(X, Pairs) else model.learnt("nodes_", range(0 if X is None else len(X)))
        ids, n = nodes if ids is None else ids, len(nodes)
    else:
        n = _num_samples(X)
    if ids is None:
        framed = next((one for one in (X, y) if hasattr(one, "iloc")), None)
        ids = range(n) if framed is None else framed.index
    ids = [str(name) for name in ids]
    if len(ids) != n:
        raise ValueError(f"ids must have a name for each of the {n} samples, got {len(ids)}")
    return ids


def columns_of(values, given, model, name) -> list[str] | None:
    """Names of the columns of inputs or outputs, None where there are none."""
    if given is not None:
        return [str(one) for one in given]
    if hasattr(values, "columns"):
        return [str(one) for one in values.columns]
    if getattr(values, "name", None) is not None and np.ndim(values) == 1:
        return [str(values.name)]
    seen = getattr(model, name, None)
    return None if seen is None else [str(one) for one in seen]
