"""Evaluation of curves: predicted and true, errors along the curve, and bands."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...data.functions import IrregularFunctions, has_points, read_functions
from ...metrics import integrated_squared_error
from .charts import NUMBERS, POINTS, VIEWS, Axis, Chart, Series, View, select_drawn, select_evenly
from .coverage import band_coverage, coverage_chart
from .parts import NO_OUTPUTS, Figures, Meter, ModelEvaluation, ReportTable, SectionPart, Tile
from .text import format_count, format_number, format_percent
from .vectors import mask_unpredicted

_BINS = 20  # bins of the domain for means along irregularly sampled curves


@dataclass(frozen=True)
class SampledCurve:
    """One of the curves of a sample: points (m,), and values (m,), NaN where not observed."""

    points: np.ndarray
    values: np.ndarray


@dataclass(frozen=True)
class BandEnds:
    """Lower and upper ends (n, m, p) of bands on a grid (m,)."""

    band: Any  # of the conformal predictor
    grid: np.ndarray
    lower: np.ndarray
    upper: np.ndarray

    @classmethod
    def from_model(cls, model, X) -> BandEnds | None:
        """The ends of the bands, None without a conformal predictor or for functions of several variables."""
        if model.conformal is None or len(model.space.grids) > 1:
            return None
        band = model.conformal.predict_band(X)
        (grid,) = band.form.axes or model.space.grids
        return cls(band, grid, *(np.reshape(rows, (len(rows), len(grid), model.space.n_curves)) for rows in band.ends))


@dataclass(frozen=True)
class CurveComparison:
    """True curves, and predictions at their points."""

    data: Any  # true curves
    predicted: Any  # in the same form
    irregular: bool

    @classmethod
    def from_model(cls, model, X, y) -> CurveComparison:
        data, _ = read_functions(y, missing_grids(model, y), origins=model.space.layout.origins)
        irregular = isinstance(data, IrregularFunctions)
        if irregular:
            predicted, _ = read_functions(model.predict(X, grid=list(data.points)), name="predictions")
            pairs = zip(data.values, predicted.values, strict=True)
            masked = [mask_unpredicted(true, values.reshape(true.shape)) for true, values in pairs]
            data = IrregularFunctions(data.points, masked, data.domain)
        else:
            axes = data.axes if len(data.axes) > 1 else data.axes[0]
            predicted = read_on_grid(model.predict(X, grid=axes), data.axes)
            data = replace(data, values=mask_unpredicted(data.values, predicted.values))
        return cls(data, predicted, irregular)

    def curves(self, source, c) -> list[SampledCurve]:
        """Curve c of all samples; source : "data" or "predicted"."""
        data = getattr(self, source)
        if self.irregular:
            columns = [values if values.ndim == 1 else values[:, c] for values in data.values]
            return [SampledCurve(points, values) for points, values in zip(data.points, columns, strict=True)]
        return [SampledCurve(data.axes[0], values[:, c]) for values in data.values]

    @property
    def n_curves(self):
        return self.data.n_curves if self.irregular else self.data.values.shape[-1]

    @property
    def n_variables(self):
        return 1 if self.irregular else len(self.data.axes)

    def errors(self):
        """Root mean squared errors (n,) of samples over their domain, NaN where nothing was observed."""
        axes, n = None if self.irregular else self.data.axes, len(self.data)
        values = (self.data, self.predicted) if self.irregular else (self.data.values, self.predicted.values)
        rows = [slice(i, i + 1) for i in range(n)]
        return np.sqrt([integrated_squared_error(values[0][row], values[1][row], axes) for row in rows])


def missing_grids(model, y):
    """The grids of y, None if y has its own points."""
    if hasattr(model.estimator, "grids_of"):
        return model.estimator.grids_of(y)
    return None if has_points(y) else model.space.grids


def evaluate_curves(model, X, y, names, targets) -> ModelEvaluation:
    space = model.space
    channels = targets if targets and len(targets) == space.n_curves > 1 else curve_names(space.n_curves)
    ends = BandEnds.from_model(model, X)
    goal = "whole curves" if len(space.grids) == 1 else f"functions of {len(space.grids)} variables"
    goal = goal if space.n_curves == 1 else f"{space.n_curves} {goal} for each sample"
    if y is None:
        pictures = curve_chart(None, predict_on_grid(model, X), ends, np.zeros(len(names)), names, channels)
        return ModelEvaluation(goal, [], SectionPart("Predictions", NO_OUTPUTS, [pictures] if pictures else []))
    truth = CurveComparison.from_model(model, X, y)
    errors = truth.errors()
    score = float(model.predictor.score(X, y))
    facts = {"score": score, "score_name": "share explained", "rmse": float(np.sqrt(np.nanmean(errors**2)))}
    tiles = [
        Tile("share explained", format_number(score), "1 is perfect, 0 is the mean curve of the training data"),
        Tile("typical error", format_number(np.nanmedian(errors)), "median over curves of the root mean squared error"),
    ]
    if truth.n_variables > 1:
        items: list = [points_chart(truth, errors, names)]
    else:
        pictured = predict_on_grid(model, X) if truth.irregular else truth.predicted
        items = [curve_chart(truth, pictured, ends, errors, names, channels), error_chart(truth, channels)]
    intro = "Curves are in order of their error, the worst first." if truth.n_variables == 1 else ""
    return ModelEvaluation(
        goal,
        tiles,
        SectionPart("Predicted and true", intro, items),
        errors,
        "root mean squared error",
        facts,
        _coverage(model, X, y, ends, truth, np.isfinite(errors)),
        outputs=[gaps_table(truth, channels), *gaps_chart(truth, channels)],
    )


def _coverage(model, X, y, ends, truth, known):
    """Coverage of bands of the known (n,) curves."""
    if model.conformal is None:
        return None
    if ends is None:
        return band_coverage(model, model.conformal.predict_band(X), y, known, None)
    return band_coverage(model, ends.band, y, known, inside_chart(model, ends, truth))


def curve_names(number_of_curves):
    return [""] if number_of_curves == 1 else [f"curve {c + 1}" for c in range(number_of_curves)]


def predict_on_grid(model, X):
    """Predictions on the grid of the model."""
    predicted = model.predict(X, grid=model.space.grids if len(model.space.grids) > 1 else model.space.grids[0])
    return read_on_grid(predicted, model.space.grids)


def read_on_grid(predicted, axes):
    """Predictions on one grid, read from any form."""
    data, _ = read_functions(predicted, axes, "predictions")
    if not isinstance(data, IrregularFunctions):
        return data
    values = np.stack([row if row.ndim == 2 else row[:, None] for row in data.values])
    return read_functions(values, axes)[0]


# ---------------------------------------------------------------- charts


def curve_chart(truth, pictured, ends, errors, names, channels) -> Chart | None:
    """True and predicted curves, a view for each; None for functions of several variables.

    pictured : predictions on a grid
    """
    if len(pictured.axes) > 1:
        return None
    grid = pictured.axes[0]
    rows = select_evenly(errors, max(1, min(VIEWS, NUMBERS // (4 * len(grid) * len(channels)))))
    true = None if truth is None else [truth.curves("data", c) for c in range(len(channels))]
    views = []
    for i in rows:
        error = "" if truth is None or np.isnan(errors[i]) else f", error {format_number(errors[i])}"
        for c, channel in enumerate(channels):
            series = []
            if ends is not None:
                series.append(Series("band", "band", "band", lower=ends.lower[i, :, c], upper=ends.upper[i, :, c]))
            series.append(Series("predicted", "line", "grid", pictured.values[i, :, c]))
            if true is not None:
                series.append(_true(true[c][i], "" if truth.irregular else "grid"))
            views.append(View(" · ".join(filter(None, [names[i] + error, channel])), series, sample=True))
    shared = {"grid": grid} | ({} if ends is None else {"band": ends.grid})
    note = ""
    if len(rows) < len(errors):
        note = f"{len(rows)} of {len(errors)} curves, from the largest error to the smallest."
    return Chart("Curve by curve", Axis("t"), Axis("y(t)"), views, note, "sample", shared)


def _true(curve: SampledCurve, shared) -> Series:
    """A true curve as a line, or as dots if it has gaps."""
    dots = not shared or np.isnan(curve.values).any()
    return Series(
        "true", "points" if dots else "line", shared or curve.points, curve.values, color="ink", dashed=not dots
    )


def observed_points(truth, c):
    """Observed points (k,) of curve c of all samples, with true and predicted values (k,)."""
    true, predicted = truth.curves("data", c), truth.curves("predicted", c)
    points = np.concatenate([curve.points for curve in true])
    y, z = (np.concatenate([curve.values for curve in curves]) for curves in (true, predicted))
    observed = np.isfinite(y)
    return points[observed], y[observed], z[observed]


def means_along_curve(truth, points, *values):
    """Means of values (k,) along the curve: grid (m,), counts (m,), and means (m,) of each of the values."""
    if truth.irregular:
        edges = np.linspace(points.min(), points.max(), _BINS + 1)
        group, grid = np.clip(np.digitize(points, edges) - 1, 0, _BINS - 1), (edges[:-1] + edges[1:]) / 2
    else:
        grid = truth.data.axes[0]
        group = np.searchsorted(grid, points)
    counts = np.bincount(group, minlength=len(grid))
    sums = (np.bincount(group, weights=weights, minlength=len(grid)) for weights in values)
    return grid, counts, *(np.divide(sum_, counts, out=np.full(len(grid), np.nan), where=counts > 0) for sum_ in sums)


def error_chart(truth, channels) -> Chart:
    """Root mean squared errors and standard deviations along the curve."""
    views = []
    for c, channel in enumerate(channels):
        points, y, z = observed_points(truth, c)
        grid, _, squares, means, second_moments = means_along_curve(truth, points, (y - z) ** 2, y, y**2)
        spread = np.sqrt(np.maximum(second_moments - means**2, 0.0))
        views.append(
            View(
                channel,
                [
                    Series("error of the predictions", "line", grid, np.sqrt(squares)),
                    Series("spread of the curves", "line", grid, spread, color="grey", dashed=True),
                ],
            )
        )
    note = "Where the error is as large as the spread, nothing has been learnt beyond the mean curve."
    choose = "curve" if len(channels) > 1 else ""
    return Chart("Error along the curve", Axis("t"), Axis("root mean square"), views, note, choose)


def inside_chart(model, ends, truth) -> Chart:
    """Share of curves inside the band at each point."""
    points, inside = [], []
    for c in range(truth.n_curves):
        for i, curve in enumerate(truth.curves("data", c)):
            known = np.isfinite(curve.values)
            t, y = curve.points[known], curve.values[known]
            low, high = (np.interp(t, ends.grid, side[i, :, c]) for side in (ends.lower, ends.upper))
            points.append(t)
            inside.append((low <= y) & (y <= high))
    grid, _, shares = means_along_curve(truth, np.concatenate(points), np.concatenate(inside).astype(float))
    return coverage_chart(grid, shares, float(model.conformal.level))


def points_chart(truth, errors, names) -> Chart:
    """Predicted against true values at single points, for functions of several variables."""
    n = len(truth.data)
    y, z = (curves.values.reshape(n, -1) for curves in (truth.data, truth.predicted))
    sample = np.repeat(np.arange(n), y.shape[1])
    observed = np.flatnonzero(np.isfinite(y.ravel()))
    rows = observed[select_drawn(np.abs(y - z).ravel()[observed], POINTS)]
    dots = Series("points", "points", y.ravel()[rows], z.ravel()[rows], names=[names[i] for i in sample[rows]])
    note = f"{format_count(len(rows), 'point')} of {format_number(len(observed))} that were observed."
    return Chart("Predicted against true, at single points", Axis("true"), Axis("predicted"), [View("", [dots])], note,
                 diagonal=True)  # fmt: skip


def gaps_table(truth, channels) -> ReportTable | Figures:
    """Missing values and ranges of the curves."""
    rows = []
    for c in range(len(channels)):
        curves = truth.curves("data", c) if truth.n_variables == 1 else _flat(truth, c)
        values = np.concatenate([curve.values for curve in curves])
        known = values[np.isfinite(values)]
        share = 1 - len(known) / max(len(values), 1)
        partial = np.mean([np.isnan(curve.values).any() for curve in curves])
        sizes = [np.isfinite(curve.values).sum() for curve in curves]
        span = " to ".join(dict.fromkeys(format_number(size) for size in (min(sizes), max(sizes))))
        ends = [format_number(f(known)) if len(known) else format_number(np.nan) for f in (np.min, np.median, np.max)]
        rows.append([Meter(share, format_percent(share) if share else "none"), format_percent(partial), span, *ends])
    head = ["missing", "curves with gaps", "points per curve", "smallest", "median", "largest"]
    if len(channels) == 1:
        (cells,) = rows
        return Figures(list(zip(head, [cells[0].text, *cells[1:]], strict=True)), "Curves")
    return ReportTable("Curves", head, rows, channels, first="output")


def gaps_chart(truth, channels) -> list[Chart]:
    """The missing share along the curve, if a common grid has gaps."""
    if truth.irregular or truth.n_variables > 1 or not np.isnan(truth.data.values).any():
        return []
    shares = np.isnan(truth.data.values).mean(axis=0)
    views = [
        View(channel, [Series("missing", "line", truth.data.axes[0], shares[:, c])])
        for c, channel in enumerate(channels)
    ]
    choose = "curve" if len(channels) > 1 else ""
    return [Chart("Missing along the curve", Axis("t"), Axis("share of curves"), views, "", choose)]


def _flat(truth, c):
    return [SampledCurve(np.arange(values[..., c].size), values[..., c].ravel()) for values in truth.data.values]
