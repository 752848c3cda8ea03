"""Models fitted without some samples, whose outputs are rows of numbers.

The interface is the same for one model without the calibration part (split), one model per fold (cv+), and one
leave-one-out model per sample in closed form (jackknife+).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing, get_tags
from sklearn.utils.parallel import delayed

from .._utils.blocks import blocks_of, row_blocks
from .._utils.progress import Progress, run_jobs
from .._utils.statistics import mean_rows
from .output_form import OutputForm
from .samples import RowData
from .splits import groups_by_value
from .wrapped import ClosedFormMachine, leave_one_out_fit, select_columns, spreads

_COPIES = 6  # arrays as large as the predictions of all models that exist at the same time; for the memory estimate
_PAIRS_UP_TO = 200  # largest number of samples for scales from leave-two-out residuals: O(n^2 d) numbers
_SCALE_GROUPS = 10  # groups of samples with a common scale for more samples
_EXACT = 1e-10  # a fit with residuals up to this share of the spread of outputs interpolates

# residuals (n, d), outputs (n, d), weights (n,) of a model's training samples, and the model -> its scale
ScaleFunction = Callable[[Any, Any, Any, Any], Any]


@dataclass(frozen=True, eq=False, kw_only=True)
class RowModels(ABC):
    """K models, each fitted without some samples, and n calibration samples, each left out by one of the models."""

    form: OutputForm
    rows: np.ndarray  # (n,) positions of the calibration samples
    model_index: np.ndarray  # (n,) the model without calibration sample i
    out_of_fold: np.ndarray  # (n, d) its prediction of sample i
    scales: np.ndarray | None  # (k, ...) scales of residuals; None where the score has none
    scale_index: np.ndarray  # (K,) the scale of each model
    spreads: np.ndarray | None = None  # (n,) of the posterior at sample i by the model without it; None for ones

    @property
    def n_models(self) -> int:
        return len(self.scale_index)

    def blocks(self, X, size=0):
        """Rows, predictions (m, K, d) and spreads of every model there, within scikit-learn's working memory.

        Spreads are an array (m, K), or None for ones.

        size : number of columns that predictions are interpolated to, where it is larger than d
        """
        d = max(self.out_of_fold.shape[1], size) + (0 if self.spreads is None else 2)
        for rows, block in blocks_of(X, len(self.rows) * d, _COPIES):
            yield rows, self.predictions(block), None if self.spreads is None else self.spreads_at(block)

    @abstractmethod
    def predictions(self, X):
        """Predictions (m, K, d) of every model, in one block."""

    @abstractmethod
    def spreads_at(self, X):
        """Spreads (m, K) of the posterior of every model, in one block."""


@dataclass(frozen=True, eq=False, kw_only=True)
class RowRefits(RowModels):
    """Models fitted to parts of the samples."""

    models: tuple
    columns: tuple  # per model the training samples, where inputs are kernel values with all samples; None otherwise

    def predictions(self, X):
        values = [
            _predict(model, X, columns, self.form) for model, columns in zip(self.models, self.columns, strict=True)
        ]
        return np.stack(values, axis=1)

    def spreads_at(self, X):
        parts = zip(self.models, self.columns, strict=True)
        return np.stack([spreads(model, select_columns(X, columns)) for model, columns in parts], axis=1)


@dataclass(frozen=True, eq=False, kw_only=True)
class RowJackknife(RowModels):
    """Leave-one-out models in closed form."""

    machine: ClosedFormMachine

    def predictions(self, X):
        values = self.form.rows(self.machine.predict(X))
        return values.reshape(-1, self.n_models, values.shape[1])

    def spreads_at(self, X):
        return self.machine.spreads(X)


# ---------------------------------------------------------------- refits


def fit_row_refits(
    estimator,
    data: RowData,
    splits,
    learn_scale: ScaleFunction | None,
    *,
    follows_inputs=False,
    fit_part=None,
    n_jobs=None,
    progress: Progress,
) -> RowRefits:
    """Fit a copy of the estimator to each training part.

    splits : pairs (train, test) of sample positions
    learn_scale : None for a score without scale. It receives leave-one-out residuals of the training part where they
        have a closed form, and residuals of the fit otherwise; neither depends on the test part.
    follows_inputs : whether the score is relative to spreads of the posterior
    fit_part : fits a model to some positions in another way; None to clone the estimator, which then selects all its
        settings from the part
    """
    pairwise = fit_part is None and get_tags(estimator).input_tags.pairwise
    columns = tuple(train if pairwise else None for train, _ in splits)
    work = (
        delayed(_fit_split)(estimator, fit_part, data, split, part_columns, learn_scale, follows_inputs)
        for split, part_columns in zip(splits, columns, strict=True)
    )
    task = progress.task("models without some samples", "model", len(splits), has_subtasks=True)
    models, out_of_fold, scales, test_spreads = zip(*run_jobs(task, work, n_jobs), strict=True)
    return RowRefits(
        models=models,
        columns=columns,
        form=data.form,
        rows=np.concatenate([test for _, test in splits]),
        model_index=np.repeat(np.arange(len(splits)), [len(test) for _, test in splits]),
        out_of_fold=np.concatenate(out_of_fold),
        scales=None if learn_scale is None else np.stack(scales),
        scale_index=np.zeros(len(splits), dtype=int) if learn_scale is None else np.arange(len(splits)),
        spreads=np.concatenate(test_spreads) if follows_inputs else None,
    )


def _fit_split(estimator, fit_part, data: RowData, split, columns, learn_scale, follows_inputs):
    """The model of a training part, its predictions of the test part, its scale, and its spreads there."""
    train, test = split
    model = data.fit_copy(estimator, train, columns) if fit_part is None else fit_part(train)
    X_test = _safe_indexing(data.X, test)
    out_of_fold = _predict(model, X_test, columns, data.form)
    test_spreads = spreads(model, select_columns(X_test, columns)) if follows_inputs else None
    if learn_scale is None:
        return model, out_of_fold, None, test_spreads
    residuals = _training_residuals(model, select_columns(_safe_indexing(data.X, train), columns), data, train)
    scale = learn_scale(residuals, data.outputs[train].to_rows(), data.weights[train], model)
    return model, out_of_fold, scale, test_spreads


def _training_residuals(model, X, data: RowData, train):
    """Residuals (n, d) of a training part: leave-one-out where they have a closed form, of the fit otherwise.

    A fit that interpolates an output has no residuals there; then deviations from the mean replace all of them.
    """
    outputs = data.outputs[train]
    predictions = leave_one_out_fit(model, X, _safe_indexing(data.y, train))
    if predictions is not None:
        return outputs.residuals(data.form.rows(predictions))
    residuals, values = outputs.residuals(data.form.rows(model.predict(X))), outputs.to_rows()
    deviations = values - mean_rows(values, data.weights[train])
    sizes, spread = (np.fmax.reduce(np.abs(each), axis=0) for each in (residuals, deviations))
    return deviations if ((sizes <= _EXACT * spread) & (spread > 0)).any() else residuals


def _predict(model, X, columns, form: OutputForm):
    """Predictions (m, d) of a model; columns : as for ``select_columns``."""
    return form.rows(model.predict(select_columns(X, columns)))


# ---------------------------------------------------------------- jackknife


def row_jackknife(
    machine: ClosedFormMachine, data: RowData, learn_scale: ScaleFunction | None, follows_inputs=False
) -> RowJackknife:
    """The leave-one-out models of a fitted kernel machine; learn_scale, follows_inputs : see ``fit_row_refits``.

    The scale of the model without i comes from residuals of the other samples j, each by the model without i and j. For
    more than 200 samples it comes from the leave-one-out residuals of samples in other tenths than that of i. This is
    an approximation of order 1 / n, because the models behind these residuals know i.
    """
    form, n = data.form, len(machine.rows)
    out_of_fold = form.rows(machine.leave_one_out())
    outputs = data.outputs[machine.rows]
    scales, scale_index = None, np.zeros(n, dtype=int)
    if learn_scale is not None:
        if n <= _PAIRS_UP_TO:
            scale_index, parts = np.arange(n), _pair_residuals(machine, form, outputs, out_of_fold)
        else:
            scale_index = groups_by_value(outputs.to_rows(), out_of_fold, _SCALE_GROUPS)
            parts = _group_residuals(outputs, out_of_fold, scale_index)
        y, weights = outputs.to_rows(), machine.weights
        scales = np.stack([learn_scale(part[rows], y[rows], weights[rows], machine.machine) for part, rows in parts])
    in_use = np.flatnonzero(np.isin(machine.rows, data.rows))  # the machine may have samples that are not used here
    return RowJackknife(
        machine=machine,
        form=form,
        rows=machine.rows[in_use],
        model_index=in_use,
        out_of_fold=out_of_fold[in_use],
        scales=scales,
        scale_index=scale_index,
        spreads=machine.loo_spreads()[in_use] if follows_inputs else None,
    )


def _pair_residuals(machine: ClosedFormMachine, form: OutputForm, outputs, out_of_fold):
    """For each sample the residuals (n, d) of the others by models without both, and a mask of these others."""
    n = len(out_of_fold)
    for block in row_blocks(n, n * machine.n_coordinates, _COPIES):
        values = form.rows(machine.pair_changes(block))
        for i, change in zip(range(n)[block], values.reshape(-1, n, values.shape[1]), strict=True):
            yield outputs.residuals(out_of_fold - change), np.arange(n) != i


def _group_residuals(outputs, out_of_fold, groups):
    """For each group the leave-one-out residuals (n, d), and a mask of the samples of other groups."""
    residuals = outputs.residuals(out_of_fold)
    for group in range(groups.max() + 1):
        is_other = groups != group
        yield residuals, is_other if is_other.any() else ~is_other  # copies of one sample are one group
