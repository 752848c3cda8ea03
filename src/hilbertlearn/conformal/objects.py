"""Strategy for outputs that are objects: sets of candidates, or balls of the output loss."""

from __future__ import annotations

from dataclasses import dataclass

from sklearn.base import clone
from sklearn.utils import indexable
from sklearn.utils.validation import _num_samples

from ..data.objects import take
from .candidate_calibration import CandidateCalibration, all_candidates, read_candidate_lists, resolve_score
from .candidate_scores import as_candidate_score
from .fold_settings import select_by_fold
from .object_models import (
    OBJECTIVE,
    ObjectModels,
    OutputObjective,
    fit_object_machines,
    object_jackknife,
    object_refits,
)
from .output_sets import CLOSED_FORM, OutputSets
from .samples import ObjectData, default_query_weights
from .settings import ConformalSettings
from .wrapped import ObjectMachine, fit_model

# method="auto" uses one leave-one-out model per sample up to this number of samples, because a prediction evaluates all
# of them,
_JACKKNIFE_UP_TO = 500
# and up to this number of scores (samples times candidates) per query, 8 MB.
_SCORES_PER_QUERY = 10**6


@dataclass(frozen=True, eq=False, kw_only=True)
class ObjectSets(OutputSets):
    """Sets of candidates around a ``StructuredPredictor``."""

    methods = ("predict_set",)

    calibration: CandidateCalibration

    @classmethod
    def fit(cls, settings, X, y, sample_weight=None, groups=None, candidates_per_query=None):
        score = as_candidate_score(settings.score)
        data = ObjectData.from_arguments(X, y, sample_weight, groups)
        outputs = take(data.outputs.items, data.rows)
        lists = read_candidate_lists(candidates_per_query, outputs, data.n_samples)
        method, reason = settings.initial_method(data)
        parts = _fit_parts(settings, method, data) if method == "split" else None
        machine = _fit_all(settings, data) if parts is None else parts[1][0]
        candidates = all_candidates(machine.rules, outputs)
        score, kind = resolve_score(score, machine.rules, candidates is not None or lists is not None)
        obstacle = _obstacle(machine, kind, data)
        if method == "auto":
            obstacle = obstacle or _size_obstacle(data, candidates, lists)
            method, reason = ("cv+", obstacle) if obstacle else ("jackknife+", CLOSED_FORM)
        closed_form, shares_settings = method == "jackknife+" and not obstacle, False
        models: ObjectModels
        if closed_form:
            loo_models = machine.leave_one_out_models()
            loo_models, shares_settings = select_by_fold(loo_models, settings, data, machine.model)
            models = object_jackknife(machine, loo_models, data)
        else:
            splits, machines = parts or _fit_parts(settings, method, data)
            models = object_refits(machines, data, splits, kind)
        calibration = CandidateCalibration(
            models=models,
            objective=OutputObjective(machine, kind),
            score=score,
            weights=data.calibration_weights(models.rows),
            has_groups=data.groups is not None,
            level=settings.level,
            candidates=candidates,
            lists=None if lists is None else [lists[i] for i in models.rows],
        )
        calibration.check()
        return cls(
            estimator=machine.model,
            columns=machine.columns,
            calibration=calibration,
            method=method,
            closed_form=closed_form,
            n_calibration=len(models.rows),
            reason=reason,
            shares_settings=shares_settings,
        )

    def predict_set(self, X=None, candidates=None, candidates_per_query=None, sample_weight=None, allow_empty=False):
        if X is None:
            raise ValueError("X: sets of objects are for inputs; give X")
        X = indexable(X)[0]
        query_weights = default_query_weights(sample_weight, _num_samples(X), self.calibration.has_groups)
        return self.calibration.predict(X, candidates, candidates_per_query, query_weights, allow_empty)


def _fit_all(settings: ConformalSettings, data: ObjectData) -> ObjectMachine:
    """The estimator fitted to all samples."""
    with settings.full_model_progress():
        return ObjectMachine(fit_model(clone(settings.estimator), data.X, data.y, data.sample_weight))


def _fit_parts(settings: ConformalSettings, method, data: ObjectData):
    """Splits, and the estimator fitted to each training part."""
    splits = settings.splits(method, data)
    options = {"n_jobs": settings.n_jobs, "progress": settings.progress}
    return splits, fit_object_machines(settings.estimator, data, splits, **options)


def _obstacle(machine: ObjectMachine, kind, data: ObjectData) -> str:
    """Why the scores of leave-one-out models have no closed form; "" if they have one."""
    if data.groups is not None:
        return "groups are left out together"
    if kind != OBJECTIVE:
        return f"there is no closed form for a score of the {kind} to the prediction of each model"
    return machine.closed_form_obstacle(data.X)


def _size_obstacle(data: ObjectData, candidates, lists) -> str:
    """Why a query has too many scores, of all candidates by all leave-one-out models; "" if it has few."""
    n = len(data.rows)
    if n > _JACKKNIFE_UP_TO:
        return f"there are more than {_JACKKNIFE_UP_TO} samples"
    n_candidates = max(map(len, lists)) if lists is not None else 1 if candidates is None else len(candidates)
    return "there are many candidates" if n * n_candidates > _SCORES_PER_QUERY else ""
