"""Evaluation of quantiles: shares of outputs below them, and coverage."""

from __future__ import annotations

import numpy as np

from ...data.functions import read_functions
from .charts import NUMBERS, VIEWS, Axis, Chart, Series, View, select_evenly
from .coverage import band_coverage, interval_coverage
from .curves import missing_grids
from .parts import NO_OUTPUTS, ModelEvaluation, ReportTable, SectionPart, Tile
from .summaries import outputs_table
from .text import format_number, format_percent, join_words
from .vectors import as_columns, mask_unpredicted, output_names, sample_errors, scatter


def evaluate_quantiles(model, X, y, names, targets) -> ModelEvaluation:
    levels = np.atleast_1d(model.estimator.levels_)
    quantiles = np.asarray(model.predictor.predict(X), dtype=float)
    quantiles = quantiles.reshape(len(quantiles), -1, len(levels))
    d, functions = quantiles.shape[1], model.predicts_functions
    targets, middle = output_names(targets, d), quantiles[:, :, np.argmin(np.abs(levels - 0.5))]
    goal = f"the {join_words([level_name(level) for level in levels])} quantile{'s' * (len(levels) > 1)} of "
    goal += "whole curves" if functions else "one number" if d == 1 else f"{d} numbers"
    if y is None:
        table = outputs_table(list(middle.T), targets, "Predicted, middle quantile")
        return ModelEvaluation(goal, [], SectionPart("Predictions", NO_OUTPUTS, [table]))
    observed = _rows(model, y) if functions else as_columns(y)
    true = mask_unpredicted(observed, middle)
    errors, score = sample_errors(true, middle), float(model.predictor.score(X, y))
    below = shares_below(true, quantiles)
    if functions:
        picture = fan_chart(model, true, quantiles, levels, errors, names)
    else:
        ends = quantiles[:, :, [0, -1]] if len(levels) > 1 else None
        bars = f"{level_name(levels[0])} to {level_name(levels[-1])} range"
        picture = scatter(true, middle, ends, errors, names, targets, "middle quantile", bars)
    facts = {"score": score, "score_name": "share of the pinball loss saved"}
    facts |= {"below": dict(zip(map(float, levels), below))}
    return ModelEvaluation(
        goal,
        [Tile("pinball loss saved", format_number(score), "share of the loss of constant quantiles")],
        SectionPart("Predicted and true", "", [picture, below_chart(levels, below), below_table(levels, below)]),
        errors,
        "from the middle quantile, in s.d.",
        facts,
        _coverage(model, X, y, true, targets),
        outputs=[] if functions else [outputs_table(list(observed.T), targets)],
    )


def _coverage(model, X, y, true, targets):
    """Coverage of conformal sets around quantiles."""
    if model.conformal is None:
        return None
    if model.predicts_functions:
        return band_coverage(model, model.conformal.predict_band(X), y, np.isfinite(true).any(axis=1), None)
    ends = np.asarray(model.conformal.predict_interval(X)).reshape(*true.shape, 2)
    return interval_coverage(model, X, y, true, ends, targets)


def level_name(level):
    """A level as per cent, with as many digits as it has."""
    return f"{100 * level:.4g} %"


def _rows(model, y):
    """Curves as rows (n, m)."""
    data, _ = read_functions(y, missing_grids(model, y), origins=model.space.layout.origins)
    return data.values.reshape(len(data.values), -1)


def shares_below(true, quantiles):
    """Shares (n_levels,) of the observed outputs (n, d) that are at most their quantile (n, d, n_levels)."""
    known = np.isfinite(true)
    return [float(np.mean(true[known] <= quantiles[..., k][known])) if known.any() else float("nan")
            for k in range(quantiles.shape[-1])]  # fmt: skip


def below_chart(levels, below) -> Chart:
    """Shares of outputs below each quantile over its level."""
    series = [Series("observed", "line", levels, below), Series("levels", "points", levels, below)]
    axes = Axis("level of the quantile"), Axis("share of outputs below it")
    note = "Calibrated quantiles are on the line."
    return Chart("Outputs below each quantile", *axes, [View("", series)], note, diagonal=True)


def below_table(levels, below) -> ReportTable:
    rows = [[format_percent(share, 1)] for share in below]
    names = [level_name(level) for level in levels]
    return ReportTable("Outputs below each quantile", ["observed"], rows, names, first="level")


def fan_chart(model, true, quantiles, levels, errors, names) -> Chart:
    """Curves with their quantiles, a view for each: pairs of levels around the middle one are bands."""
    grid, number_of = model.space.grids[0], len(levels)
    rows = select_evenly(errors, max(1, min(VIEWS, NUMBERS // (len(grid) * (number_of + 1)))))
    views = []
    for i in rows:
        series = [
            Series(f"{level_name(levels[k])} to {level_name(levels[-1 - k])}", "band", "grid", lower=quantiles[i, :, k],
                   upper=quantiles[i, :, -1 - k])
            for k in range(number_of // 2)
        ]  # fmt: skip
        if number_of % 2:
            series.append(Series(level_name(levels[number_of // 2]), "line", "grid", quantiles[i, :, number_of // 2]))
        series.append(Series("true", "points", "grid", true[i], color="ink"))
        views.append(View(names[i], series, sample=True))
    note = "" if len(rows) == len(errors) else f"{len(rows)} of {len(errors)} curves, from the farthest to the nearest."
    return Chart("Curve by curve", Axis("t"), Axis("y(t)"), views, note, "sample", {"grid": grid})
