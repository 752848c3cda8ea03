"""Quantiles: what share of the outputs is below each, and intervals between them."""

from __future__ import annotations

import numpy as np

from ...data.functions import read_functions
from .charts import NUMBERS, VIEWS, Axis, Chart, Series, View, spread_out
from .coverage import of_bands, of_intervals
from .curves import grids_of
from .data import outputs_table
from .parts import NOTHING_TRUE, Judged, Part, Table, Tile
from .text import listed, number, percent
from .vectors import as_columns, compared, output_names, scatter, sizes_of_errors


def judge_quantiles(model, X, y, names, targets) -> Judged:
    levels = np.atleast_1d(model.machine.levels_)
    quantiles = np.asarray(model.predictor.predict(X), dtype=float)
    quantiles = quantiles.reshape(len(quantiles), -1, len(levels))
    d, functions = quantiles.shape[1], model.predicts_functions
    targets, middle = output_names(targets, d), quantiles[:, :, np.argmin(np.abs(levels - 0.5))]
    goal = f"the {listed([level_name(level) for level in levels])} quantile{'s' * (len(levels) > 1)} of "
    goal += "whole curves" if functions else "one number" if d == 1 else f"{d} numbers"
    if y is None:
        table = outputs_table(list(middle.T), targets, "Predicted, middle quantile")
        return Judged(goal, [], Part("Predictions", NOTHING_TRUE, [table]))
    given = _rows(model, y) if functions else as_columns(y)
    true = compared(given, middle)
    errors, score = sizes_of_errors(true, middle), float(model.predictor.score(X, y))
    below = calibration(true, quantiles)
    if functions:
        picture = fan(model, true, quantiles, levels, errors, names)
    else:
        ends = quantiles[:, :, [0, -1]] if len(levels) > 1 else None
        bars = f"{level_name(levels[0])} to {level_name(levels[-1])} range"
        picture = scatter(true, middle, ends, errors, names, targets, "middle quantile", bars)
    facts = {"score": score, "score_name": "share of the pinball loss saved"}
    facts |= {"below": dict(zip(map(float, levels), below))}
    coverage, more, tile = _coverage(model, X, y, true, targets)
    return Judged(
        goal,
        [Tile("pinball loss saved", number(score), "share of that of the plain quantiles"), *tile],
        Part("Predicted and true", "", [picture, below_chart(levels, below), below_table(levels, below)]),
        errors,
        "from the middle quantile, in s.d.",
        facts | more,
        coverage,
        outputs=[] if functions else [outputs_table(list(given.T), targets)],
    )


def _coverage(model, X, y, true, targets):
    """Part, facts and tiles on what conformal sets around quantiles hold."""
    if model.conformal is None:
        return None, {}, []
    if model.predicts_functions:
        return of_bands(model, model.conformal.predict_band(X), y, np.isfinite(true).any(axis=1), None)
    ends = np.asarray(model.conformal.predict_interval(X)).reshape(*true.shape, 2)
    return of_intervals(model, X, y, true, ends, targets)


def level_name(level):
    """A level as per cent, with as many digits as it has."""
    return f"{100 * level:.4g} %"


def _rows(model, y):
    """Curves as rows (n, m)."""
    data, _ = read_functions(y, grids_of(model, y), origins=model.space.layout.origins)
    return data.values.reshape(len(data.values), -1)


def calibration(true, quantiles):
    """Shares (n_levels,) of the observed outputs (n, d) that are at most their quantile (n, d, n_levels)."""
    seen = np.isfinite(true)
    return [float(np.mean(true[seen] <= quantiles[..., k][seen])) if seen.any() else float("nan")
            for k in range(quantiles.shape[-1])]  # fmt: skip


def below_chart(levels, below) -> Chart:
    """Shares of outputs below each quantile over its level."""
    series = [Series("observed", "line", levels, below), Series("levels", "points", levels, below)]
    axes = Axis("level of the quantile"), Axis("share of outputs below it")
    note = "On the line quantiles hold what they say."
    return Chart("Outputs below each quantile", *axes, [View("", series)], note, diagonal=True)


def below_table(levels, below) -> Table:
    rows = [[percent(share, 1)] for share in below]
    names = [level_name(level) for level in levels]
    return Table("Outputs below each quantile", ["observed"], rows, names, first="level")


def fan(model, true, quantiles, levels, errors, names) -> Chart:
    """Curves with their quantiles, a view for each: pairs of levels around the middle one are bands."""
    grid, number_of = model.space.grids[0], len(levels)
    rows = spread_out(errors, max(1, min(VIEWS, NUMBERS // (len(grid) * (number_of + 1)))))
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
