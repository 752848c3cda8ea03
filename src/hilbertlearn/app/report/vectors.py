"""Evaluation of numbers and vectors: predicted against true, for each output."""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning

from ... import metrics
from ...spaces import read_vectors
from .charts import NUMBERS, POINTS, VIEWS, Axis, Chart, Series, View, select_drawn
from .coverage import interval_coverage
from .parts import NO_OUTPUTS, ModelEvaluation, ReportTable, SectionPart, Tile
from .summaries import outputs_table
from .text import format_count, format_number

_METRICS = {
    "R²": metrics.r2_score,
    "RMSE": metrics.root_mean_squared_error,
    "MAE": metrics.mean_absolute_error,
}
_METRICS_NOTE = "RMSE is the root mean squared error, MAE the mean absolute error, both in the units of the output."


def as_columns(values):
    """Numbers (n,) or (n, d) as (n, d)."""
    values = np.asarray(read_vectors(values), dtype=float)
    return values[:, None] if values.ndim == 1 else values


def evaluate_vectors(model, X, y, names, targets) -> ModelEvaluation:
    predicted = as_columns(model.predict(X))
    d = predicted.shape[1]
    targets = output_names(targets, d)
    true = None if y is None else as_columns(y)
    ends = None if model.conformal is None else model.conformal.predict_interval(X).reshape(len(predicted), d, 2)
    if true is None:
        part = SectionPart(
            "Predictions", NO_OUTPUTS, [outputs_table(list(predicted.T), targets, "Predicted", "output")]
        )
        return ModelEvaluation(_goal(model, targets), [], part)
    observed, true = true, mask_unpredicted(true, predicted)
    errors = sample_errors(true, predicted)
    by_output = scores_by_output(true, predicted)
    rows = [[format_number(values[j]) for values in by_output.values()] for j in range(d)]
    chart = scatter(true, predicted, ends, errors, names, targets)
    items: list = [chart, ReportTable("By output", list(by_output), rows, targets, _METRICS_NOTE, first="output")]
    r2 = by_output["R²"]
    score = float(np.nanmean(r2)) if np.isfinite(r2).any() else float("nan")
    facts = {"score": score, "score_name": "R²", "r2": dict(zip(targets, r2.tolist()))}
    facts["rmse"] = dict(zip(targets, by_output["RMSE"].tolist()))
    tiles = [Tile("R²" if d == 1 else "mean R²", format_number(score), "1 is perfect, 0 is the mean of each output")]
    coverage = None if ends is None else interval_coverage(model, X, y, true, ends, targets)
    intro = "Each dot is a sample; on the line the prediction is exact."
    return ModelEvaluation(
        _goal(model, targets),
        tiles,
        SectionPart("Predicted and true", intro, items),
        errors,
        "error, in standard deviations",
        facts,
        coverage,
        outputs=[outputs_table(list(observed.T), targets)],
    )


def mask_unpredicted(true, predicted):
    """Outputs, NaN where predictions are NaN: outputs without training values."""
    return np.where(np.isnan(predicted), np.nan, true)


def output_names(targets, d):
    """Names of d outputs."""
    if targets is None or len(targets) != d:
        return ["output"] if d == 1 else [f"output {j + 1}" for j in range(d)]
    return targets


def _goal(model, targets):
    if len(targets) == 1:
        return "one number" + ("" if targets == ["output"] else f", {targets[0]}")
    related = "related " if _relates(model.learnt_attribute("operator_")) else ""
    return f"{len(targets)} {related}numbers"


def _relates(operator) -> bool:
    """Whether an operator mixes outputs, which a diagonal one does not."""
    if isinstance(operator, np.ndarray):
        return bool(np.any(operator != np.diag(np.diag(operator))))
    return any(map(_relates, operator)) if isinstance(operator, (list, tuple)) else operator is not None


def scores_by_output(true, predicted) -> dict[str, np.ndarray]:
    """Scores (d,) by name, NaN for outputs with too few observations."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        return {name: np.asarray(f(true, predicted, multioutput="raw_values")) for name, f in _METRICS.items()}


def sample_errors(true, predicted):
    """Errors (n,) of samples: root mean square over observed outputs, in standard deviations of each output."""
    known = np.isfinite(true)
    counts = known.sum(axis=0)
    means = np.where(known, true, 0.0).sum(axis=0) / np.maximum(counts, 1)
    spread = np.sqrt(np.where(known, (true - means) ** 2, 0.0).sum(axis=0) / np.maximum(counts, 1))
    relative = np.where(known, (true - predicted) / np.where(spread > 0, spread, 1.0), 0.0)
    n_known = known.sum(axis=1)
    return np.where(n_known > 0, np.sqrt((relative**2).sum(axis=1) / np.maximum(n_known, 1)), np.nan)


def scatter(true, predicted, ends, errors, names, targets, middle="predicted", bars="interval") -> Chart:
    """Predicted (n, d) against true values, a view for each output; ends (n, d, 2) of intervals or None."""
    each = (2 if ends is None else 4) * min(len(targets), VIEWS)
    rows = select_drawn(errors, min(POINTS, NUMBERS // each))
    views = [
        View(target, _cloud(true[rows, j], predicted[rows, j], None if ends is None else ends[rows, j],
                            [names[i] for i in rows], bars))
        for j, target in enumerate(targets[:VIEWS])
    ]  # fmt: skip
    notes = []
    if len(rows) < len(true):
        notes.append(f"{format_count(len(rows), 'sample')} of {len(true)}: the largest errors, and others at random.")
    if len(targets) > VIEWS:
        notes.append(f"The first {VIEWS} of {len(targets)} outputs.")
    choose = "output" if len(targets) > 1 else ""
    return Chart("Predicted against true", Axis("true"), Axis(middle), views, " ".join(notes), choose, diagonal=True)


def _cloud(true, predicted, ends, names, bars) -> list[Series]:
    """Dots of one output; dots whose interval misses the truth are another series."""
    known = np.isfinite(true)
    if ends is None:
        return [_dots("samples", true, predicted, None, names, known, "blue")]
    inside = (ends[:, 0] <= true) & (true <= ends[:, 1])
    parts = [(f"inside the {bars}", known & inside, "blue"), (f"outside the {bars}", known & ~inside, "red")]
    return [_dots(name, true, predicted, ends, names, rows, color) for name, rows, color in parts if rows.any()]


def _dots(name, true, predicted, ends, names, rows, color):
    lower, upper = (None, None) if ends is None else (ends[rows, 0], ends[rows, 1])
    drawn_names = [name for name, is_drawn in zip(names, rows, strict=True) if is_drawn]
    return Series(name, "points", true[rows], predicted[rows], lower, upper, names=drawn_names, color=color)
