"""Models without some samples: who was left out by which, what was predicted for them, and what each predicts.

Everything else in this room is the same for one model that leaves out a part (split), for folds (cv+), and for a model
without each sample in closed form (jackknife+).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import _safe_indexing, get_tags
from sklearn.utils.parallel import delayed

from .._utils.blocks import row_blocks
from .._utils.progress import Progress, propagate_callbacks, run_jobs
from .._utils.statistics import mean_rows
from ..machine.state import blocks_of
from .observed import AtOwnPoints, Rows
from .outputs import OutputForm
from .wrapped import KernelMachineBehind, fitted

_COPIES = 6  # of predictions by all models, while they are made and sorted
_PAIRS = 200  # samples up to which scales of models without one come from pairs left out
_GROUPS = 10  # of samples that share a scale beyond that
_DIGITS = 9  # of predictions, relative to the largest, that do not depend on the order of the samples
_EXACT = 1e-10  # residuals relative to the outputs' spread, up to which a fit goes through them

# residuals (n, d), outputs (n, d) and weights (n,) of the samples of a model, and the model -> its scale
Learn = Callable[[Any, Any, Any, Any], Any]


class LeavingOut(ABC):
    """K models, each without some of the samples, and n samples that were left out by one of them each."""

    models: Any
    columns: Any  # of models that were fitted, for each the samples that it knows, see ``among``
    rows: np.ndarray  # (n,) which of the samples given these are
    model_of: np.ndarray  # (n,) the model without sample i
    held_out: np.ndarray  # (n, d) what it predicts there
    scales: np.ndarray | None  # (k, ...) what models have learnt of the sizes of residuals; None for nothing
    scale_of: np.ndarray  # (K,) which of them a model has

    @property
    def n_models(self) -> int:
        return len(self.scale_of)

    def blocks(self, X, size=0):
        """Triples (rows, X there, predictions (m, K, d) of every model) within scikit-learn's working memory.

        size : of rows that predictions will be taken to, where these are larger
        """
        d = max(self.held_out.shape[1], size)
        for rows, some in blocks_of(X, len(self.rows) * d, _COPIES):
            yield rows, some, self.predictions(some)

    @abstractmethod
    def predictions(self, X):
        """Predictions (m, K, d) of every model; ``blocks`` knows how many queries fit."""


@dataclass(frozen=True, eq=False)
class Refits(LeavingOut):
    """Models that were fitted to parts of the samples."""

    models: tuple
    columns: tuple  # for each model the samples that it knows, where inputs are values with all of them; None else
    form: OutputForm
    rows: np.ndarray
    model_of: np.ndarray
    held_out: np.ndarray
    scales: np.ndarray | None
    scale_of: np.ndarray

    def predictions(self, X):
        values = [predicted(model, X, own, self.form) for model, own in zip(self.models, self.columns, strict=True)]
        return np.stack(values, axis=1)


@dataclass(frozen=True, eq=False)
class WithoutEach(LeavingOut):
    """The models without one sample each, in closed form: alpha n, kernel and operator are those of all samples."""

    behind: KernelMachineBehind
    models: Any  # of ``KernelMachine.without_one``
    form: OutputForm
    rows: np.ndarray
    model_of: np.ndarray
    held_out: np.ndarray
    scales: np.ndarray | None
    scale_of: np.ndarray

    def predictions(self, X):
        X = self.behind.inputs(X)
        coordinates = self.models.coordinates_at(X)  # (m, n, d)
        m, n, d = coordinates.shape
        return self._values(coordinates.reshape(m * n, d)).reshape(m, n, -1)

    def _values(self, coordinates):
        return self.form.rows(self.behind.machine.machine_.decode(coordinates))


# ---------------------------------------------------------------- makers


@dataclass(frozen=True)
class Data:
    """What models are fitted to."""

    X: Any
    y: Any
    values: Rows | AtOwnPoints  # what was seen of outputs
    form: OutputForm
    sample_weight: np.ndarray | None  # (N,)
    rows: np.ndarray  # (n,) the samples that count: of positive weight, and observed somewhere

    @property
    def n_samples(self) -> int:
        return len(self.values)

    @property
    def weights(self):
        """(N,) those of the samples."""
        return np.ones(self.n_samples) if self.sample_weight is None else self.sample_weight


def by_refits(
    estimator, data: Data, splits, learn: Learn | None, *, part=None, n_jobs=None, progress: Progress
) -> Refits:
    """A copy of the estimator fitted to each part.

    splits : pairs (train, test) of samples; what a copy chooses from the data it chooses from its own part alone
    part : makes the model of some samples in another way (``KernelMachine.fit_with_parts``); None for copies
    learn : makes a scale of the residuals of a part, None where none is needed. They are leave-one-out residuals where
        the fitted copy has them in closed form, and those of the fit elsewhere: both know nothing of the test part.
    """
    pairwise = part is None and get_tags(estimator).input_tags.pairwise
    fit = partial(_copy_fitted, estimator, data, pairwise) if part is None else part
    work = (delayed(_refit)(fit, data, train, test, pairwise, learn) for train, test in splits)
    task = progress.task("models without some samples", "model", len(splits), has_subtasks=True)
    models, held_out, scales = zip(*run_jobs(task, work, n_jobs), strict=True)
    return Refits(
        models=models,
        columns=tuple(train if pairwise else None for train, _ in splits),
        form=data.form,
        rows=np.concatenate([test for _, test in splits]),
        model_of=np.repeat(np.arange(len(splits)), [len(test) for _, test in splits]),
        held_out=np.concatenate(held_out),
        scales=None if learn is None else np.stack(scales),
        scale_of=np.zeros(len(splits), dtype=int) if learn is None else np.arange(len(splits)),
    )


def _copy_fitted(estimator, data: Data, pairwise, train):
    weights = None if data.sample_weight is None else data.sample_weight[train]
    model = clone(estimator)
    with propagate_callbacks(model):
        return fitted(model, _inputs(data, train, pairwise), _safe_indexing(data.y, train), weights)


def _inputs(data: Data, train, pairwise):
    """Inputs of a part; of values with all samples those with its own."""
    X = _safe_indexing(data.X, train)
    return among(X, train if pairwise else None)


def _refit(fit, data: Data, train, test, pairwise, learn):
    """The model of a part, its predictions of the others, and its scale."""
    model = fit(train)
    held_out = predicted(model, _safe_indexing(data.X, test), train if pairwise else None, data.form)
    if learn is None:
        return model, held_out, None
    residuals = _own_residuals(model, _inputs(data, train, pairwise), data, train)
    return model, held_out, learn(residuals, data.values[train].on_rows(), data.weights[train], model)


def _own_residuals(model, X, data: Data, train):
    """Residuals (n, d) of the samples of a part: each left out where that has a formula, of the fit elsewhere.

    A fit that goes through every output of a kind says nothing of their units: then deviations from the mean have to.
    """
    behind = KernelMachineBehind.of(model, X)
    if behind is None:
        seen = data.values[train]
        residuals, values = seen.residuals(data.form.rows(model.predict(X))), seen.on_rows()
        deviations = values - mean_rows(values, data.weights[train])
        sizes, spread = (np.fmax.reduce(np.abs(each), axis=0) for each in (residuals, deviations))
        return deviations if ((sizes <= _EXACT * spread) & (spread > 0)).any() else residuals
    coordinates = (
        behind.machine.machine_.encode(_safe_indexing(data.y, train)) - behind.machine.machine_.loo_coordinates()
    )
    return data.values[train].residuals(data.form.rows(behind.machine.machine_.decode(coordinates)))


def in_closed_form(behind: KernelMachineBehind, data: Data, learn: Learn | None) -> WithoutEach:
    """The models without one sample each of a fitted kernel machine; see ``by_refits`` for ``learn``.

    The scale of the model without i comes from residuals of the others, each left out of that model: pairs left out.
    Of many samples it comes from the leave-one-out residuals of those in other tenths than i, in which i has had a
    part among all the others: that is an approximation, of order 1 / n. The order of the samples has no part in it.
    """
    models, form = behind.without_one(), data.form
    held_out = form.rows(behind.machine.machine_.decode(models.held_out))
    seen, n = data.values[models.rows], len(models.rows)
    scales, scale_of = None, np.zeros(n, dtype=int)
    if learn is not None:
        scale_of = np.arange(n) if n <= _PAIRS else _groups(seen, held_out)
        of_groups = _left_out_with if n <= _PAIRS else _outside_groups
        parts = of_groups(behind.machine, models, form, seen, held_out, scale_of)
        outputs, weights = seen.on_rows(), models.weights
        scales = np.stack([learn(part[own], outputs[own], weights[own], behind.machine) for part, own in parts])
    own = np.flatnonzero(np.isin(models.rows, data.rows))  # a machine may have samples that do not count here
    return WithoutEach(
        replace(behind, models=None), models, form, models.rows[own], own, held_out[own], scales, scale_of
    )


def _left_out_with(machine, models, form, seen, held_out, groups):
    """For each sample the residuals (n, d) of the others, left out together with it, and which those are."""
    n, d = models.held_out.shape
    alone = models.models.residuals
    for block in row_blocks(n, n * d, _COPIES):
        changes = models.pairs(np.arange(n)[block]) - alone  # (b, n, d)
        values = form.rows(machine.space_.decode_differences(changes.reshape(-1, d)))
        for i, change in zip(range(n)[block], values.reshape(-1, n, values.shape[1]), strict=True):
            yield seen.residuals(held_out - change), np.arange(n) != i


def _outside_groups(machine, models, form, seen, held_out, groups):
    """For each group the residuals (n, d) of all samples left out alone, and which are not of the group."""
    residuals = seen.residuals(held_out)
    for group in range(groups.max() + 1):
        others = groups != group
        yield residuals, others if others.any() else ~others  # samples that are all copies of one have one group


def _groups(seen, held_out):
    """Numbers (n,) of about equal groups of samples, whatever their order: every tenth of the distinct ones.

    Samples are sorted by their outputs; those of equal outputs by their predictions, up to rounding.
    """
    outputs, size = seen.on_rows(), np.abs(held_out).max(axis=0)
    predictions = np.round(np.nan_to_num(held_out) / np.where(size > 0, size, 1.0), _DIGITS)
    keys = np.hstack([np.isnan(outputs), np.nan_to_num(outputs), predictions])
    return np.unique(keys, axis=0, return_inverse=True)[1].ravel() % _GROUPS


def predicted(model, X, columns, form: OutputForm):
    """Predictions (m, d) of a model; columns : as for ``among``."""
    return form.rows(model.predict(among(X, columns)))


def among(X, columns):
    """Inputs that are kernel values with all samples, as a model fitted to some takes them; columns : these, or None"""
    if columns is None:
        return X
    return _safe_indexing(np.asarray(X) if isinstance(X, (list, tuple)) else X, columns, axis=1)
