"""The layers of a fitted model: conformal predictor, search, pipeline, estimator."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import _num_samples, check_is_fitted

from ...conformal import ConformalPredictor
from ...data.graphs import Pairs, is_networkx


@dataclass(frozen=True)
class ModelLayers:
    """A fitted model and its layers."""

    outer: Any  # the model itself
    conformal: Any  # conformal predictor, or None
    search: Any  # search over settings, or None
    predictor: Any  # estimator, or pipeline that ends in one, without conformal predictor and search
    estimator: Any  # the innermost estimator

    @classmethod
    def from_estimator(cls, model) -> ModelLayers:
        if isinstance(model, type) or not hasattr(model, "fit"):
            raise TypeError(
                f"model must be a fitted estimator, got {model!r}; give what fit returned, OperatorKernelRegressor()"
                ".fit(X, y) for instance"
            )
        check_is_fitted(model)
        conformal = search = None
        predictor = model
        while isinstance(predictor, ConformalPredictor) or hasattr(predictor, "best_estimator_"):
            if isinstance(predictor, ConformalPredictor):
                conformal, predictor = predictor, predictor.estimator_
            else:
                search, predictor = predictor, predictor.best_estimator_
        estimator = predictor
        while isinstance(estimator, (Pipeline, ConformalPredictor)) or hasattr(estimator, "best_estimator_"):
            if isinstance(estimator, Pipeline):
                estimator = estimator[-1]
            elif isinstance(estimator, ConformalPredictor):  # inside a pipeline: its sets would need transformed inputs
                estimator = estimator.estimator_
            else:
                search, estimator = estimator, estimator.best_estimator_
        return cls(model, conformal, search, predictor, estimator)

    def predict(self, X, **options):
        """Predictions for X, with options those of the predictor, which alone takes them."""
        return self.predictor.predict(X, **options) if options else self.outer.predict(X)

    def learnt_attribute(self, name, default=None):
        """A learnt attribute of the estimator, ``default`` if it has none for this fit."""
        try:
            return getattr(self.estimator, name, default)
        except ValueError:
            return default

    @property
    def space(self):
        """The space of the outputs, for quantiles that of y; None for estimators of other packages."""
        space = self.learnt_attribute("space_")
        return getattr(space, "base", space)

    @property
    def predicts_links(self) -> bool:
        return hasattr(self.estimator, "predict_links")

    @property
    def is_autoencoder(self) -> bool:
        return hasattr(self.estimator, "inverse_transform") and not hasattr(self.estimator, "predict")

    @property
    def predicts_objects(self) -> bool:
        return hasattr(self.estimator, "predict_topk")

    @property
    def predicts_quantiles(self) -> bool:
        return self.learnt_attribute("conformal_strategy", "rows") == "quantiles"

    @property
    def predicts_functions(self) -> bool:
        return hasattr(self.space, "grids")


def sample_names(model: ModelLayers, X, y, ids) -> list[str]:
    """Names of the samples, or of nodes: the given ones, the index of a data frame, or positions."""
    if isinstance(X, Pairs) or X is None or is_networkx(X):
        nodes = X.nodes if isinstance(X, Pairs) else model.learnt_attribute("nodes_", range(0 if X is None else len(X)))
        ids, n = nodes if ids is None else ids, len(nodes)
    else:
        n = _num_samples(X)
    if ids is None:
        frame = next((values for values in (X, y) if hasattr(values, "iloc")), None)
        ids = range(n) if frame is None else frame.index
    ids = [str(name) for name in ids]
    if len(ids) != n:
        raise ValueError(f"ids must have a name for each of the {n} samples, got {len(ids)}")
    return ids


def column_names(values, names, model, attribute) -> list[str] | None:
    """Names of columns: `names`, those of the values, or those in a learnt attribute; None if there are none."""
    if names is not None:
        return [str(column) for column in names]
    if hasattr(values, "columns"):
        return [str(column) for column in values.columns]
    if getattr(values, "name", None) is not None and np.ndim(values) == 1:
        return [str(values.name)]
    learnt = getattr(model, attribute, None)
    return None if learnt is None else [str(column) for column in learnt]
