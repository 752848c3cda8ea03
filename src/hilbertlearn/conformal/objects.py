"""Models of objects without some samples: the objective of every model at candidates, for samples left out and queries.

As ``leaving_out`` for numbers: one model that leaves out a part (split), one a fold (cv+), or one without each sample
in closed form (jackknife+).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import _safe_indexing, get_tags
from sklearn.utils.parallel import delayed
from sklearn.utils.validation import _num_samples

from .._utils.blocks import row_blocks
from .._utils.progress import Progress, propagate_callbacks, run_jobs
from ..data.objects import StructuredOutputs, read_outputs, take
from ..structured import StructuredPredictor
from ..structured.state import OutputRules
from .wrapped import fitted, innermost, is_searched, learn_from_inputs

# what outputs are judged by: what the decoder minimises, that above its value at the prediction, the loss to this one
OBJECTIVE, GAP, LOSS = "objective", "gap", "loss"
_COPIES = 6  # of the objective at all candidates by all models, while it is made and ranked


@dataclass(frozen=True)
class ObjectData:
    """What models of objects are fitted to."""

    X: Any
    y: Any
    outputs: StructuredOutputs  # y as it is read
    sample_weight: np.ndarray | None  # (N,)
    rows: np.ndarray  # (n,) the samples that count: of positive weight, and with a known output

    @property
    def n_samples(self):
        return len(self.outputs)

    def given_to(self, estimator, rows):
        """Outputs of some samples: read ones, which know the labels of all, where nothing between cuts them again."""
        return _safe_indexing(self.y, rows) if is_searched(estimator) else self.outputs[rows]

    @property
    def weights(self):
        """(N,) those of the samples."""
        return np.ones(self.n_samples) if self.sample_weight is None else self.sample_weight


# ---------------------------------------------------------------- what a model says of an output


@dataclass(frozen=True, eq=False)
class Judge:
    """A fitted predictor, perhaps behind steps: queries of inputs, and the objective of queries at outputs."""

    model: Any  # as the user gave it, fitted
    columns: Any = None  # samples that it knows, where inputs are values with all of them
    by: str = OBJECTIVE  # what outputs are judged by

    @property
    def predictor(self) -> StructuredPredictor:
        return innermost(self.model)[0]

    @property
    def rules(self) -> OutputRules:
        return self.predictor.space_.rules

    def inputs(self, X):
        """Inputs as the predictor takes them."""
        steps = innermost(self.model)[1]
        X = X if self.columns is None else X[:, self.columns]
        return self.predictor.machine_.check_inputs(X if steps is None else steps.transform(X))

    def predict(self, X):
        """Predictions in the user's form."""
        return self.model.predict(X if self.columns is None else X[:, self.columns])

    def queries(self, X):
        """(m, r) numbers, or the predictions, by which outputs are judged."""
        if self.by == OBJECTIVE:
            return self._asked_at(X)
        predictions, _ = read_outputs(self.predict(X), like=self.rules.outputs)
        if self.by == LOSS:
            return predictions
        numbers, (features, bias) = self._asked_at(X), self.predictor.scoring()[1](predictions)
        own = -np.einsum("ij,ij->i", numbers, features) - (0.0 if bias is None else bias)
        return np.hstack([numbers, own[:, None]])

    def _asked_at(self, X):
        return self.predictor.scoring()[0](self.inputs(X))

    def asked(self, coordinates):
        """Queries from coordinates, or weights of outputs, (..., r), of a model with the squared loss."""
        return 2 * coordinates if self.rules.loss is None else -coordinates

    def objective(self, queries, outputs):
        """(m, c) at outputs as they were read."""
        if self.by == LOSS:
            loss = self.rules.measure.resolve(outputs)
            return np.asarray(loss(loss.check_predictions(queries), loss.check(outputs)), dtype=float)
        features, bias = self.predictor.scoring()[1](outputs)
        if self.by == GAP:
            return _objective(queries[:, :-1], features, bias) - queries[:, -1:]
        return _objective(queries, features, bias)


def _objective(queries, features, bias):
    """Minus the scores (..., c) of queries (..., r)."""
    scores = queries @ features.T
    return -scores if bias is None else -scores - bias


# ---------------------------------------------------------------- models without some samples


class ObjectModels(ABC):
    """K models, each without some of the samples, and n samples that were left out by one of them each."""

    rules: OutputRules
    outputs: Any  # (n,) those of the samples left out
    rows: np.ndarray  # (n,) which of the samples given these are
    model_of: np.ndarray  # (n,) the model without sample i

    @property
    @abstractmethod
    def n_models(self) -> int: ...

    @abstractmethod
    def held_out(self, samples, outputs):
        """Objective (k, c) of some of the samples left out at outputs, by the model without each."""

    @abstractmethod
    def queries(self, X):
        """What ``at`` takes: something to be cut into rows by ``part``."""

    @abstractmethod
    def at(self, queries, rows, outputs):
        """Objective (b, K, c) of some queries at outputs, by every model."""

    def blocks(self, m, c):
        """Slices of m queries whose objective at c outputs fits in scikit-learn's working memory."""
        return row_blocks(m, self.n_models * c, _COPIES)


@dataclass(frozen=True, eq=False)
class RefittedObjects(ObjectModels):
    """Models that were fitted to parts of the samples."""

    judges: tuple
    held: tuple  # for each the queries of the samples that it leaves out
    rules: OutputRules
    outputs: Any
    rows: np.ndarray
    model_of: np.ndarray

    @property
    def n_models(self):
        return len(self.judges)

    def held_out(self, samples, outputs):
        out, starts = np.empty((len(samples), len(outputs))), np.searchsorted(self.model_of, range(self.n_models))
        for k in np.unique(self.model_of[samples]):
            here = self.model_of[samples] == k
            own = take(self.held[k], samples[here] - starts[k])
            out[here] = self.judges[k].objective(own, outputs)
        return out

    def queries(self, X):
        return [judge.queries(X) for judge in self.judges]

    def at(self, queries, rows, outputs):
        parts = [judge.objective(part[rows], outputs) for judge, part in zip(self.judges, queries, strict=True)]
        return np.stack(parts, axis=1)


@dataclass(frozen=True, eq=False)
class ObjectsWithoutEach(ObjectModels):
    """The models without one sample each, in closed form: alpha n and kernel are those of all samples."""

    judge: Judge
    models: Any  # of ``without_one``
    held: np.ndarray  # (n, r)
    rules: OutputRules
    outputs: Any
    rows: np.ndarray
    model_of: np.ndarray

    @property
    def n_models(self):
        return len(self.rows)

    def held_out(self, samples, outputs):
        return self.judge.objective(self.held[samples], outputs)

    def queries(self, X):
        return self.judge.inputs(X)

    def at(self, queries, rows, outputs):
        coordinates = self.models.coordinates_at(_some(queries, rows))  # (b, n, r)
        return self.judge.objective(self.judge.asked(coordinates), outputs)


def _some(X, rows):
    """Inputs in a slice."""
    return X[rows] if isinstance(X, np.ndarray) else _safe_indexing(X, np.arange(_num_samples(X))[rows])


# ---------------------------------------------------------------- makers


def refits_of_objects(estimator, data: ObjectData, splits, *, n_jobs=None, progress: Progress) -> list:
    """A copy of the estimator fitted to each part; splits : pairs (train, test) of samples."""
    work = (delayed(_refit)(estimator, data, train) for train, _ in splits)
    return run_jobs(progress.task("models without some samples", "model", len(splits), has_subtasks=True), work, n_jobs)


def _refit(estimator, data: ObjectData, train):
    X = _safe_indexing(data.X, train)
    weights = None if data.sample_weight is None else data.sample_weight[train]
    own = X[:, train] if get_tags(estimator).input_tags.pairwise else X
    model = clone(estimator)
    with propagate_callbacks(model):
        return fitted(model, own, data.given_to(estimator, train), weights)


def refitted_objects(models, data: ObjectData, splits, by) -> RefittedObjects:
    """What the models of parts say of the samples that they leave out."""
    pairwise = get_tags(models[0]).input_tags.pairwise
    judges = tuple(
        Judge(model, train if pairwise else None, by) for model, (train, _) in zip(models, splits, strict=True)
    )
    tests = [test for _, test in splits]
    rows = np.concatenate(tests)
    return RefittedObjects(
        judges=judges,
        held=tuple(judge.queries(_safe_indexing(data.X, test)) for judge, test in zip(judges, tests, strict=True)),
        rules=judges[0].rules,
        outputs=take(data.outputs.items, rows),
        rows=rows,
        model_of=np.repeat(np.arange(len(splits)), list(map(len, tests))),
    )


def objects_without_each(model, data: ObjectData) -> ObjectsWithoutEach:
    """The models without one sample each of a fitted predictor; see ``has_closed_form``."""
    judge = Judge(model)
    models = judge.predictor.machine_.leave_one_out_models()
    return ObjectsWithoutEach(
        judge=judge,
        models=models,
        held=judge.asked(models.held_out),
        rules=judge.rules,
        outputs=take(data.outputs.items, models.rows),
        rows=models.rows,
        model_of=np.arange(len(models.rows)),
    )


def has_closed_form(model, X) -> bool:
    """Whether the objective of all models without one sample follows from the model fitted to X.

    With an output kernel and a loss the decoder's weights are none of the coordinates that the formula is of.
    """
    predictor, steps = innermost(model)
    if not predictor.machine_.has_leave_one_out_models or predictor.space_.rules.by_both:
        return False
    return not learn_from_inputs(predictor, steps, X)
