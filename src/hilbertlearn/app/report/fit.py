"""The fit: duality gap, settings, support, outliers, times and versions."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version

import numpy as np

from ... import __version__
from ...inspection import outlier_report
from .charts import POINTS, Axis, Chart, Series, View
from .parts import WORST, ReportTable
from .text import NONE, format_number, format_percent, format_seconds, format_setting

_SETTINGS = (
    "kernel_",
    "gamma_",
    "alpha_",
    "loss_",
    "operator_",
    "coupling_",
    "output_loss_",
    "output_kernel_",
    "decoder_",
)
_PACKAGES = ("numpy", "scipy", "scikit-learn")
_OUTLIER = 0.5  # share held back by the loss beyond which a sample has another colour


def fit_rows(model) -> tuple[list[tuple[str, str]], dict]:
    """Rows on the duality gap, settings, support and saturated samples, and facts."""
    rows: list[tuple[str, str]] = [("model", _layers(model))]
    facts: dict = {}
    gap, iterations = model.learnt_attribute("dual_gap_"), model.learnt_attribute("n_iter_")
    if gap is not None:
        facts |= {"dual_gap": float(np.max(gap)), "n_iter": int(np.max(iterations)) if iterations is not None else None}
        rows += _convergence_rows(model, gap, iterations)
    for name in _SETTINGS:
        value = model.learnt_attribute(name)
        if value is not None:
            rows.append((name.strip("_").replace("_", " "), format_setting(value)))
    support, saturated = model.learnt_attribute("support_"), model.learnt_attribute("saturated_")
    if support is not None:
        n = len(model.learnt_attribute("dual_coef_") if saturated is None else saturated)
        rows.append(("support", f"{format_number(len(support))} of {format_number(n)}"))
        facts |= {"n_support": len(support), "n_training": n}
    if saturated is not None and not model.predicts_quantiles:
        unit, count = "samples" if saturated.ndim == 1 else "points", int(saturated.sum())
        rows.append(("held back by the loss", f"{format_number(count)} of {format_number(saturated.size)} {unit}"))
        facts["n_held_back"] = count
    features = model.learnt_attribute("feature_map_")
    if features is not None:
        rows.append(("features instead of the kernel", format_setting(type(features).__name__)))
    return rows, facts


def _convergence_rows(model, gap, iterations):
    tol, solver = getattr(model.estimator, "tol", None), model.learnt_attribute("solver_")
    bound = "" if tol is None else f", tolerance {tol:.0e}".replace("e-0", "e-")
    solver_name = "" if solver is None else f" of {format_setting(solver)}"
    return [
        ("certified gap", f"{format_number(np.max(gap), 2)}{bound}: an upper bound of the distance to the optimum"),
        ("iterations", NONE if iterations is None else f"{format_number(np.max(iterations))}{solver_name}"),
    ]


def _layers(model):
    """Class names of the layers of a model, the outermost first."""
    layers = [model.outer, model.search, model.predictor, model.estimator]
    names = [type(layer).__name__ for layer in layers if layer is not None]
    return " around ".join(dict.fromkeys(names))


# ---------------------------------------------------------------- outliers


def outlier_columns(model, cutoff=5.0):
    """The table of ``outlier_report`` as columns and names, None if the model does not provide it.

    Quantiles have none: a sample has a residual for each level, and most of these are large.
    """
    if model.predicts_quantiles:
        return None
    try:
        report = outlier_report(model.estimator, cutoff=cutoff)
    except (TypeError, ValueError):  # an estimator of another package, or a fit in batches, which keeps no residuals
        return None
    return {name: np.asarray(report[name]) for name in report.columns}, [str(name) for name in report.index]


def outlier_items(model) -> tuple[list, dict]:
    """Outliers of the training samples: a chart in the style of ``plotting.plot_outliers``, a table, and facts."""
    table = outlier_columns(model)
    if table is None:
        return [], {}
    columns, names = table
    known = bool(np.isfinite(columns["leverage"]).any())
    x = columns["leverage"] if known else np.arange(1, len(names) + 1)
    y = columns["loo_residual"] if known else columns["residual"]
    is_outlier = columns["held_back"] >= _OUTLIER
    rows = np.arange(min(len(names), POINTS))
    series = [_dots("other samples", x, y, names, rows[~is_outlier[rows]], "blue")]
    if is_outlier.any():
        outliers = _dots(f"{format_percent(_OUTLIER)} or more held back", x, y, names, rows[is_outlier[rows]], "red")
        series.append(outliers)
    series.append(Series("median residual", "rule", y=[1.0], color="grey", dashed=True))
    log = bool((y > 0).all() and y.max() > 20 * np.median(y))
    residual = "leave-one-out residual" if known else "residual"
    axes = Axis("leverage" if known else "place in the report"), Axis(f"{residual} / median", log)
    chart = Chart("Training samples", *axes, [View("", series)])
    items = [chart, outlier_table(columns, names, by_position=_are_positions(model.estimator))]
    return items, {"outliers": names[:WORST]}


def _are_positions(estimator) -> bool:
    """Whether training samples are named by their positions."""
    first = np.zeros(1, dtype=int)
    return estimator.machine_.sample_names(first) is first


def _dots(name, x, y, names, rows, color):
    return Series(name, "points", x[rows], y[rows], names=[names[i] for i in rows], color=color)


def outlier_table(columns, names, by_position=False) -> ReportTable:
    """The first rows of ``outlier_report``; by_position : whether names are positions in the training data."""
    any_held_back = bool(np.any(columns["held_back"] > 0))
    head = ["held back"] * any_held_back + ["residual", "leave-one-out", "leverage"]
    order = ("residual", "loo_residual", "leverage")
    stretch = "start" in columns
    rows = []
    for i in range(min(WORST, len(names))):
        row = [format_percent(columns["held_back"][i])] * any_held_back + [
            format_number(columns[name][i]) for name in order
        ]
        if stretch:
            ends = columns["start"][i], columns["end"][i]
            row.append(" to ".join(dict.fromkeys(map(format_number, ends))) if columns["n_points"][i] else NONE)
        rows.append(row)
    note = "Residuals are in units of the median one."
    note += " Held back is the share of a residual that the loss ignores." * any_held_back
    note += " Samples are numbered by their position in the training data, from 0." * by_position
    title = "Training samples that deviate most"
    return ReportTable(title, head + ["deviates at"] * stretch, rows, names[: len(rows)], note)


# ---------------------------------------------------------------- times and versions


def time_rows(fit_seconds, predict_seconds, subject, facts) -> list[tuple[str, str]]:
    """Rows on durations."""
    rows = [] if fit_seconds is None else [("time of the fit", format_seconds(fit_seconds))]
    if "choice_seconds" in facts:
        rows.append(("time of the search", format_seconds(facts["choice_seconds"])))
    return [*rows, ("time of evaluation", f"{format_seconds(predict_seconds)} for {subject}")]


def package_versions() -> list[tuple[str, str]]:
    """Versions of the package, its dependencies, Python and the platform."""
    rows = [("hilbertlearn", __version__)]
    for name in _PACKAGES:
        try:
            rows.append((name, version(name)))
        except PackageNotFoundError:
            rows.append((name, NONE))
    return [*rows, ("Python", platform.python_version()), ("platform", platform.platform(terse=True))]
