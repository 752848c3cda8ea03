"""The fit itself: its certificate, its settings, the samples in use and those that do not go with the others."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version

import numpy as np

from ... import __version__
from ...inspection import outlier_report
from .charts import POINTS, Axis, Chart, Series, View
from .parts import WORST, Table
from .text import NONE, number, percent, seconds, setting

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
_HELD = 0.5  # share held back from where on a sample has a colour of its own


def fit_rows(model) -> tuple[list[tuple[str, str]], dict]:
    """Convergence with the gap, settings, support, and what was held back."""
    rows: list[tuple[str, str]] = [("model", _layers(model))]
    facts: dict = {}
    gap, iterations = model.learnt("dual_gap_"), model.learnt("n_iter_")
    if gap is not None:
        facts |= {"dual_gap": float(np.max(gap)), "n_iter": int(np.max(iterations)) if iterations is not None else None}
        tol = getattr(model.machine, "tol", None)
        bound = "" if tol is None else f", asked for {tol:.0e}".replace("e-0", "e-")
        rows.append(("certified gap", f"{number(np.max(gap), 2)}{bound}: how far the fit is from the optimum at most"))
        solver = model.learnt("solver_")
        by = "" if solver is None else f" of {setting(solver)}"
        rows.append(("iterations", f"{number(np.max(iterations))}{by}" if iterations is not None else NONE))
    for name in _SETTINGS:
        value = model.learnt(name)
        if value is not None:
            rows.append((name.strip("_").replace("_", " "), setting(value)))
    support, held = model.learnt("support_"), model.learnt("saturated_")
    if support is not None:
        n = len(model.learnt("dual_coef_") if held is None else held)
        rows.append(("samples in use", f"{number(len(support))} of {number(n)}"))
        facts |= {"n_support": len(support), "n_training": n}
    if held is not None and not model.predicts_quantiles:
        what = "samples" if held.ndim == 1 else "points"
        rows.append(("held back by the loss", f"{number(held.sum())} of {number(held.size)} {what}"))
        facts["n_held_back"] = int(held.sum())
    features = model.learnt("feature_map_")
    if features is not None:
        rows.append(("features in place of the kernel", setting(type(features).__name__)))
    return rows, facts


def _layers(model):
    """The model in words, from the outside to the inside."""
    inside = [model.outer, model.search, model.predictor, model.machine]
    names = [type(one).__name__ for one in inside if one is not None]
    return " around ".join(dict.fromkeys(names))


# ---------------------------------------------------------------- outliers


def outliers_of(model, cutoff=5.0):
    """The table of ``outlier_report`` as columns and names, None where the model keeps nothing to make it of.

    Of quantiles neither: a sample has a residual for each level, all of them large for most.
    """
    if model.predicts_quantiles:
        return None
    try:
        report = outlier_report(model.machine, cutoff=cutoff)
    except (TypeError, ValueError):  # another's estimator, or one that keeps no residuals, as from a stream
        return None
    return {name: np.asarray(report[name]) for name in report.columns}, [str(one) for one in report.index]


def outlier_items(model) -> tuple[list, dict]:
    """Training samples that do not go with the others: a picture as ``plotting.plot_outliers``, and a table."""
    found = outliers_of(model)
    if found is None:
        return [], {}
    columns, names = found
    known = bool(np.isfinite(columns["leverage"]).any())
    x = columns["leverage"] if known else np.arange(1, len(names) + 1)
    y = columns["loo_residual"] if known else columns["residual"]
    held = columns["held_back"] >= _HELD
    rows = np.arange(min(len(names), POINTS))
    series = [_dots("went with the others", x, y, names, rows[~held[rows]], "blue")]
    if held.any():
        series.append(_dots(f"held back by {percent(_HELD)} or more", x, y, names, rows[held[rows]], "red"))
    series.append(Series("median residual", "rule", y=[1.0], color="grey", dashed=True))
    log = bool((y > 0).all() and y.max() > 20 * np.median(y))
    residual = "left-out residual" if known else "residual"
    chart = Chart("Training samples", Axis("leverage" if known else "place in the report"),
                  Axis(f"{residual} / median residual", log), [View("", series)])  # fmt: skip
    table = outlier_table(columns, names, by_position=_are_positions(model.machine))
    return [chart, table], {"outliers": names[:WORST]}


def _are_positions(machine) -> bool:
    """Whether training samples have no other names than their positions."""
    first = np.zeros(1, dtype=int)
    return machine.machine_.sample_names(first) is first


def _dots(name, x, y, names, rows, color):
    return Series(name, "points", x[rows], y[rows], names=[names[i] for i in rows], color=color)


def outlier_table(columns, names, by_position=False) -> Table:
    """The first rows of ``outlier_report``; by_position : whether names are positions in the training data."""
    held = bool(np.any(columns["held_back"] > 0))
    head = ["held back"] * held + ["residual", "without the sample", "leverage"]
    order = ("residual", "loo_residual", "leverage")
    stretch = "start" in columns
    rows = []
    for i in range(min(WORST, len(names))):
        row = [percent(columns["held_back"][i])] * held + [number(columns[name][i]) for name in order]
        if stretch:
            ends = columns["start"][i], columns["end"][i]
            row.append(" to ".join(dict.fromkeys(map(number, ends))) if columns["n_points"][i] else NONE)
        rows.append(row)
    note = "Residuals are in units of the median one."
    note += " Held back is the share that the loss left out of account." * held
    note += " Samples are numbered by their position in the training data, from 0." * by_position
    title = "Training samples that go least with the others"
    return Table(title, head + ["deviates at"] * stretch, rows, names[: len(rows)], note)


# ---------------------------------------------------------------- time and place


def time_rows(fit_seconds, predict_seconds, what, facts) -> list[tuple[str, str]]:
    """What took how long."""
    rows = [] if fit_seconds is None else [("time of the fit", seconds(fit_seconds))]
    if "choice_seconds" in facts:
        rows.append(("time of choosing settings", seconds(facts["choice_seconds"])))
    return [*rows, ("time of judging", f"{seconds(predict_seconds)} for {what}")]


def versions() -> list[tuple[str, str]]:
    """Of the package, of what it stands on, and of the machine."""
    rows = [("hilbertlearn", __version__)]
    for name in _PACKAGES:
        try:
            rows.append((name, version(name)))
        except PackageNotFoundError:
            rows.append((name, NONE))
    return [*rows, ("Python", platform.python_version()), ("platform", platform.platform(terse=True))]
