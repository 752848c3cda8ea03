"""Models fitted without some samples, whose outputs are objects: the objective of every model at outputs.

This is to objects what ``row_models`` is to numbers: one model without the calibration part (split), one model per fold
(cv+), or one leave-one-out model per sample in closed form (jackknife+).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing, get_tags
from sklearn.utils.parallel import delayed
from sklearn.utils.validation import _num_samples

from .._utils.blocks import row_blocks
from .._utils.progress import Progress, run_jobs
from ..data.objects import read_outputs, take
from ..structured.state import OutputRules
from .samples import ObjectData
from .wrapped import ObjectMachine

# Values that outputs are scored by: the decoder's objective, the same minus its value at the prediction, or the output
# loss to the prediction
OBJECTIVE, GAP, LOSS = "objective", "gap", "loss"
_COPIES = 6  # arrays as large as the objective of all models that exist at the same time; for the memory estimate


@dataclass(frozen=True, eq=False)
class OutputObjective:
    """The objective of a fitted predictor, as a function of queries and outputs."""

    machine: ObjectMachine
    kind: str = OBJECTIVE  # or GAP, or LOSS

    @property
    def rules(self) -> OutputRules:
        return self.machine.rules

    def queries(self, X):
        """(m, r) numbers, or for LOSS the predictions, that ``values`` takes."""
        if self.kind == OBJECTIVE:
            return self.machine.queries(X)
        predictions, _ = read_outputs(self.machine.predict(X), like=self.rules.outputs)
        if self.kind == LOSS:
            return predictions
        queries, (features, bias) = self.machine.queries(X), self.machine.features(predictions)
        at_prediction = -np.einsum("ij,ij->i", queries, features) - (0.0 if bias is None else bias)
        return np.hstack([queries, at_prediction[:, None]])

    def values(self, queries, outputs):
        """Objective (m, c) at outputs after reading."""
        if self.kind == LOSS:
            loss = self.rules.evaluation_loss.resolve(outputs)
            return np.asarray(loss(loss.check_predictions(queries), loss.check(outputs)), dtype=float)
        features, bias = self.machine.features(outputs)
        if self.kind == GAP:
            return _negative_scores(queries[:, :-1], features, bias) - queries[:, -1:]
        return _negative_scores(queries, features, bias)


def _negative_scores(queries, features, bias):
    """Minus the scores (..., c) of queries (..., r)."""
    scores = queries @ features.T
    return -scores if bias is None else -scores - bias


@dataclass(frozen=True, eq=False, kw_only=True)
class ObjectModels(ABC):
    """K models, each fitted without some samples, and n calibration samples, each left out by one of the models."""

    rules: OutputRules
    outputs: Any  # (n,) of the calibration samples
    rows: np.ndarray  # (n,) positions of the calibration samples
    model_index: np.ndarray  # (n,) the model without calibration sample i

    @property
    @abstractmethod
    def n_models(self) -> int: ...

    @abstractmethod
    def out_of_fold(self, samples, outputs):
        """Objective (k, c) of some calibration samples at outputs, by the model without each."""

    @abstractmethod
    def queries(self, X):
        """Queries for ``values``."""

    @abstractmethod
    def values(self, queries, rows, outputs):
        """Objective (b, K, c) of some rows of queries at outputs, by every model."""

    def blocks(self, m, c):
        """Slices of m queries whose objective at c outputs fits in scikit-learn's working memory."""
        return row_blocks(m, self.n_models * c, _COPIES)


@dataclass(frozen=True, eq=False, kw_only=True)
class ObjectRefits(ObjectModels):
    """Models fitted to parts of the samples."""

    objectives: tuple  # of each model
    calibration_queries: tuple  # for each model the queries of the samples that it leaves out

    @property
    def n_models(self):
        return len(self.objectives)

    def out_of_fold(self, samples, outputs):
        out, starts = np.empty((len(samples), len(outputs))), np.searchsorted(self.model_index, range(self.n_models))
        for k in np.unique(self.model_index[samples]):
            by_model = self.model_index[samples] == k
            queries = take(self.calibration_queries[k], samples[by_model] - starts[k])
            out[by_model] = self.objectives[k].values(queries, outputs)
        return out

    def queries(self, X):
        return [objective.queries(X) for objective in self.objectives]

    def values(self, queries, rows, outputs):
        parts = [
            objective.values(part[rows], outputs) for objective, part in zip(self.objectives, queries, strict=True)
        ]
        return np.stack(parts, axis=1)


@dataclass(frozen=True, eq=False, kw_only=True)
class ObjectJackknife(ObjectModels):
    """Leave-one-out models in closed form."""

    objective: OutputObjective
    models: Any  # leave-one-out models of the machine, or ``FoldedLeaveOneOut``
    calibration_queries: np.ndarray  # (n, r)

    @property
    def n_models(self):
        return len(self.rows)

    def out_of_fold(self, samples, outputs):
        return self.objective.values(self.calibration_queries[samples], outputs)

    def queries(self, X):
        return self.objective.machine.inputs(X)

    def values(self, queries, rows, outputs):
        coordinates = self.models.coordinates_at(_select_rows(queries, rows))  # (b, n, r)
        return self.objective.values(self.objective.machine.queries_at(coordinates), outputs)


def _select_rows(X, rows):
    """Inputs in a slice."""
    return X[rows] if isinstance(X, np.ndarray) else _safe_indexing(X, np.arange(_num_samples(X))[rows])


# ---------------------------------------------------------------- fits


def fit_object_machines(estimator, data: ObjectData, splits, *, n_jobs=None, progress: Progress) -> list[ObjectMachine]:
    """Fit a copy of the estimator to each training part; splits : pairs (train, test) of sample positions."""
    work = (delayed(_fit_machine)(estimator, data, train) for train, _ in splits)
    task = progress.task("models without some samples", "model", len(splits), has_subtasks=True)
    return run_jobs(task, work, n_jobs)


def _fit_machine(estimator, data: ObjectData, train):
    columns = train if get_tags(estimator).input_tags.pairwise else None
    return ObjectMachine(data.fit_copy(estimator, train, columns), columns)


def object_refits(machines, data: ObjectData, splits, kind) -> ObjectRefits:
    """The objectives of the models of parts, and their queries of the samples that they leave out."""
    objectives = tuple(OutputObjective(machine, kind) for machine in machines)
    tests = [test for _, test in splits]
    rows = np.concatenate(tests)
    return ObjectRefits(
        objectives=objectives,
        calibration_queries=tuple(
            objective.queries(_safe_indexing(data.X, test)) for objective, test in zip(objectives, tests, strict=True)
        ),
        rules=objectives[0].rules,
        outputs=take(data.outputs.items, rows),
        rows=rows,
        model_index=np.repeat(np.arange(len(splits)), list(map(len, tests))),
    )


def object_jackknife(machine: ObjectMachine, models, data: ObjectData) -> ObjectJackknife:
    """A fitted predictor with its leave-one-out models; see ``ObjectMachine.closed_form_obstacle``."""
    return ObjectJackknife(
        objective=OutputObjective(machine),
        models=models,
        calibration_queries=machine.queries_at(models.loo_predictions),
        rules=machine.rules,
        outputs=take(data.outputs.items, models.rows),
        rows=models.rows,
        model_index=np.arange(len(models.rows)),
    )
