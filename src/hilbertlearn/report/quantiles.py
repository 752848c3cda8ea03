"""Quantiles: what share of the outputs is below each, and intervals between them."""

from __future__ import annotations

import numpy as np

from ..functions import read_functions
from .charts import NUMBERS, VIEWS, Axis, Chart, Series, View, spread_out
from .coverage import of_bands, of_intervals
from .curves import grids_of
from .data import outputs_table
from .parts import Judged, Part, Table, Tile
from .text import listed, number, percent
from .vectors import as_columns, scatter, sizes_of_errors


def judge_quantiles(model, X, y, names, targets) -> Judged:
    levels = np.atleast_1d(model.machine.levels_)
    quantiles = np.asarray(model.predictor.predict(X), dtype=float)
    quantiles = quantiles.reshape(len(quantiles), -1, len(levels))
    d = quantiles.shape[1]
    functions = model.predicts_functions
    goal = (
        f"the {listed([percent(level, 0 if level * 100 == int(level * 100) else 1) for level in levels])} quantiles of "
    )
    goal += "whole curves" if functions else "one number" if d == 1 else f"{d} numbers"
    targets = (
        targets if targets and len(targets) == d else ["output"] if d == 1 else [f"output {j + 1}" for j in range(d)]
    )
    middle = int(np.argmin(np.abs(levels - 0.5)))
    if y is None:
        table = outputs_table(list(quantiles[:, :, middle].T), targets, f"Predicted, level {levels[middle]:g}")
        return Judged(goal, [], Part("Predictions", "No outputs were given to compare with.", [table]))
    true = _rows(model, y) if functions else as_columns(y)
    errors = sizes_of_errors(true, quantiles[:, :, middle])
    score = float(model.predictor.score(X, y))
    below = calibration(true, quantiles)
    charts: list = [fan(model, true, quantiles, levels, errors, names)] if functions else []
    if not functions:
        ends = quantiles[:, :, [0, -1]] if len(levels) > 1 else None
        bars = f"{percent(levels[0])} to {percent(levels[-1])} range"
        charts.append(scatter(true, quantiles[:, :, middle], ends, errors, names, targets,
                              f"predicted, level {levels[middle]:g}", bars))  # fmt: skip
    charts += [
        Chart(
            "Outputs below each quantile", Axis("level of the quantile"), Axis("share of outputs below it"),
            [View("", [Series("observed", "line", levels, below), Series("levels", "points", levels, below)])],
            "On the line quantiles hold what they say.", diagonal=True,
        ),
        below_table(levels, below),
    ]  # fmt: skip
    facts = {
        "score": score,
        "score_name": "share of the pinball loss saved",
        "below": dict(zip(map(float, levels), below)),
    }
    coverage, more, tile = None, {}, []
    if model.conformal is not None and functions:
        coverage, more, tile = of_bands(model, model.conformal.predict_band(X), y, None)
    elif model.conformal is not None:
        ends = np.asarray(model.conformal.predict_interval(X)).reshape(len(true), d, 2)
        coverage, more, tile = of_intervals(model, X, y, true, ends, targets)
    return Judged(
        goal,
        [Tile("pinball loss saved", number(score), "share of that of the plain quantiles"), *tile],
        Part("Predicted and true", "", charts),
        errors,
        "distance from the middle quantile, in standard deviations",
        facts | more,
        coverage,
        [] if functions else [outputs_table(list(true.T), targets)],
    )


def _rows(model, y):
    """Curves as rows (n, m)."""
    data, _ = read_functions(y, grids_of(model, y))
    return data.values.reshape(len(data.values), -1)


def calibration(true, quantiles):
    """Shares (n_levels,) of the observed outputs (n, d) that are at most their quantile (n, d, n_levels)."""
    seen = np.isfinite(true)
    return [float(np.mean(true[seen] <= quantiles[..., k][seen])) if seen.any() else float("nan")
            for k in range(quantiles.shape[-1])]  # fmt: skip


def below_table(levels, below) -> Table:
    rows = [[percent(share, 1)] for share in below]
    names = [percent(level, 1) for level in levels]
    return Table("Outputs below each quantile", ["observed"], rows, names, first="level")


def fan(model, true, quantiles, levels, errors, names) -> Chart:
    """Curves with their quantiles, a view for each: pairs of levels around the middle one are bands."""
    grid, number_of = model.space.grids[0], len(levels)
    rows = spread_out(errors, max(1, min(VIEWS, NUMBERS // (len(grid) * (number_of + 1)))))
    views = []
    for i in rows:
        series = [
            Series(f"{percent(levels[k])} to {percent(levels[-1 - k])}", "band", "grid", lower=quantiles[i, :, k],
                   upper=quantiles[i, :, -1 - k])
            for k in range(number_of // 2)
        ]  # fmt: skip
        if number_of % 2:
            series.append(Series(percent(levels[number_of // 2]), "line", "grid", quantiles[i, :, number_of // 2]))
        series.append(Series("true", "points", "grid", true[i], color="ink"))
        views.append(View(names[i], series, sample=True))
    note = "" if len(rows) == len(errors) else f"{len(rows)} of {len(errors)} curves, from the farthest to the nearest."
    return Chart("Curve by curve", Axis("t"), Axis("y(t)"), views, note, "sample", {"grid": grid})
