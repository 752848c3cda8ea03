"""Strategy for outputs that are rows of numbers: vectors and curves."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from sklearn.base import clone
from sklearn.utils import indexable
from sklearn.utils.validation import _num_samples

from .._utils.validation import warn
from ..data.functions import has_points
from ..machine.wrapping import can_fit_parts
from .calibration import Calibration
from .fold_settings import depends_on_samples, select_by_fold
from .output_form import OutputForm
from .output_sets import CLOSED_FORM, OutputSets, refuse_candidates
from .regions import Band, Box, Ellipsoid, Region
from .row_models import RowModels, fit_row_refits, row_jackknife
from .samples import RowData, check_has_outputs, default_query_weights
from .scores import Mahalanobis, Score, as_score, output_units
from .settings import ConformalSettings
from .wrapped import (
    ClosedFormMachine,
    check_has_kernel,
    closed_form_obstacle,
    count_extrapolations,
    fit_model,
    fit_with_parts,
    grid_setting,
    is_robust,
    select_columns,
)

# Rows of the factor that novelty takes, up to which predictions say whether queries are far from the samples. Doubling
# it makes the first prediction after a fit or a load take up to eight times as long.
_WARNS_UP_TO = 5000


@dataclass(frozen=True, eq=False, kw_only=True)
class RowSets(OutputSets):
    """Intervals, regions and bands."""

    methods = ("predict_interval", "predict_region", "predict_band")
    calibration_class: ClassVar[type[Calibration]] = Calibration

    calibration: Calibration
    form: OutputForm

    as_score = staticmethod(as_score)

    # ---------------------------------------------------------------- fit

    @classmethod
    def fit(cls, settings, X, y, sample_weight=None, groups=None, candidates_per_query=None):
        refuse_candidates(candidates_per_query)
        score = cls.as_score(settings.score)
        if score.follows_inputs:
            check_has_kernel(settings.estimator)
        check_has_outputs(y)
        form, curves = cls._output_form(settings, y)
        data = RowData.from_arguments(X, y, sample_weight, groups, form)
        if form.irregular and not score.pointwise:
            raise ValueError("score='mahalanobis' does not support irregular functions; use 'auto' or 'scale'")
        method, reason = settings.initial_method(data)
        full = FullFit() if method == "split" else FullFit.from_data(settings, data, method, indexable(y)[0])
        if method == "auto":
            method, reason = ("jackknife+", CLOSED_FORM) if full.machine is not None else ("cv+", full.obstacle)
        learn_scale = ScaleLearner(score, settings.level, curves) if score.learns else None
        models: RowModels
        estimator, columns = full.model, None
        if full.machine is not None:
            models = row_jackknife(full.machine, data, learn_scale, score.follows_inputs)
        else:
            splits, options = settings.splits(method, data), {"n_jobs": settings.n_jobs, "progress": settings.progress}
            options |= {"fit_part": full.fit_part, "follows_inputs": score.follows_inputs}
            models = refits = fit_row_refits(settings.estimator, data, splits, learn_scale, **options)
            if method == "split":
                (estimator,), (columns,) = refits.models, refits.columns
        return cls(
            estimator=estimator,
            columns=columns,
            calibration=cls.calibration_class(
                models,
                score,
                data.outputs[models.rows],
                data.calibration_weights(models.rows),
                settings.level,
                data.groups is not None,
            ),
            method=method,
            closed_form=full.machine is not None,
            reason=reason,
            shares_settings=full.shares_settings,
            n_calibration=len(models.rows),
            form=form,
        )

    @classmethod
    def _output_form(cls, settings: ConformalSettings, y):
        """The form of outputs, and the form of curves whose scales are smoothed, None for other outputs."""
        has_grid, grid = grid_setting(settings.estimator)
        form = OutputForm.from_outputs(indexable(y)[0], grid)
        return form, form if has_grid or has_points(y) else None

    # ---------------------------------------------------------------- predict

    @property
    def coverage(self):
        return self.calibration.coverage

    def predict_interval(self, X, sample_weight=None):
        X, query_weights = indexable(X)[0], self._query_weights(X, sample_weight)
        lower, upper = self.calibration.intervals(X, query_weights)
        _warn_infinite(upper, sample_weight)
        self._warn_extrapolation(X)
        return np.stack([self.form.array(lower), self.form.array(upper)], axis=-1)

    def predict_region(self, X, sample_weight=None) -> Region:
        region = Ellipsoid if isinstance(self.calibration.score, Mahalanobis) else Box
        return self._region(region, X, sample_weight)

    def predict_band(self, X, sample_weight=None, grid=None) -> Band:
        if isinstance(self.calibration.score, Mahalanobis):
            raise ValueError("predict_band has no score='mahalanobis'; set score='scale', 'trimmed' or 'constant'")
        return self._region(Band, X, sample_weight, grid=grid)

    def _region(self, region, X, sample_weight, **options):
        X, query_weights = indexable(X)[0], self._query_weights(X, sample_weight)
        sets = region.from_calibration(self.calibration, X, self.form, query_weights, **options)
        _warn_infinite(sets.ends[1], sample_weight)
        self._warn_extrapolation(X)
        return sets

    def _warn_extrapolation(self, X):
        """Warn of queries that are far from the samples of the estimator behind ``predict``."""
        number, threshold = count_extrapolations(self.estimator, select_columns(X, self.columns), _WARNS_UP_TO)
        if number:
            warn(
                f"{number} of {_num_samples(X)} rows of X are far from all samples, with a novelty above "
                f"{threshold:.2g}: no calibration sample is like them, and their sets may miss the level; see "
                "novelty(X) of the estimator"
            )

    def _query_weights(self, X, sample_weight):
        """Weights of the queries: as given, ones with groups, None for the plain rank of samples."""
        return default_query_weights(sample_weight, _num_samples(X), self.calibration.has_groups)


@dataclass(frozen=True)
class FullFit:
    """The model of all samples, and what other models reuse of it."""

    model: Any = None
    machine: ClosedFormMachine | None = None  # where leave-one-out models have a closed form
    obstacle: str = ""  # why there is no such machine
    fit_part: Any = None  # fits a part with the settings of all samples, for method="auto" without a closed form
    shares_settings: bool = False  # whether models without some samples have the settings of all samples

    @classmethod
    def from_data(cls, settings: ConformalSettings, data: RowData, method, y) -> FullFit:
        model = clone(settings.estimator)
        arguments = (model, data.X, y, data.sample_weight)
        with settings.full_model_progress():
            if settings.method == "auto" and can_fit_parts(model):
                return cls._with_parts(model, fit_with_parts(*arguments), data)
            if method == "cv+" or data.groups is not None:
                return cls(fit_model(*arguments))
            machine, obstacle = ClosedFormMachine.fit(*arguments)
        if machine is None:
            return cls(model, obstacle=obstacle)
        models, shares_settings = select_by_fold(machine.models, settings, data, model)
        return cls(model, machine=replace(machine, models=models), shares_settings=shares_settings)

    @classmethod
    def _with_parts(cls, model, fit_part, data: RowData):
        """Folds of a fitted model without a closed form: of many samples they share the settings."""
        obstacle = closed_form_obstacle(model, data.X)
        if fit_part is None or depends_on_samples(model, len(data.rows)):
            return cls(model, obstacle=obstacle)
        return cls(model, obstacle=obstacle, fit_part=fit_part, shares_settings=True)


@dataclass(frozen=True)
class ScaleLearner:
    """Learns the scale of residuals of one model."""

    score: Score
    level: float
    curves: OutputForm | None  # None where outputs are not curves

    def __call__(self, residuals, outputs, weights, model):
        """The scale from residuals (n, d), outputs (n, d) and weights (n,) of the training samples of a model."""
        units = output_units(outputs)
        units = units if self.curves is None else self.curves.maximum_over_curves(units)
        scale = self.score.learn_in_units(residuals, units, weights, self.level, is_robust(model))
        return self.curves.smooth(scale) if self.curves is not None and self.score.smooth else scale


def _warn_infinite(upper, sample_weight):
    if sample_weight is None and np.isinf(upper).any():
        warn(
            "some outputs were observed in too few samples for the level, or in none: their intervals are "
            "infinite; lower the level, or add samples that observe these outputs"
        )
