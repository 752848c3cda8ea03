"""The search for settings: cross-validated errors and the selected settings."""

from __future__ import annotations

import numpy as np

from .charts import ORDER, Axis, Chart, Series, View, needs_log_axis
from .parts import ReportTable, SectionPart
from .text import NONE, format_count, format_number, format_seconds, format_setting

_BEST = 10  # rows of a table of settings
_LINES = 8  # lines in a chart at most
_SAME = 1e-6  # relative difference of errors of one setting that is only rounding


def search_part(model) -> tuple[SectionPart | None, dict]:
    """Cross-validated errors of the settings, and facts; None if all settings were given."""
    items: list = []
    facts: dict = {}
    if hasattr(model.search, "errors_"):
        items += path_items(model.search)
        facts |= {"path_alpha": float(model.search.alpha_), "path_error": float(np.min(model.search.errors_))}
    elif hasattr(model.search, "cv_results_"):
        items.append(grid_search_table(model.search))
    table = search_results(model)
    if table is not None:
        items += search_items(model, table)
        facts |= {"n_tried": len(table["alpha"]), "choice_seconds": float(np.sum(table["seconds"]))}
    if not items:
        return None, facts
    intro = "By cross-validation on the training samples."
    return SectionPart("Selected settings", intro, items), facts


def search_results(model) -> dict | None:
    """The columns of ``search_results_``, None if there was no search."""
    table = model.learnt_attribute("search_results_")
    return table if isinstance(table, dict) and len(table.get("alpha", ())) else None


# ---------------------------------------------------------------- a path over alpha


def path_items(path) -> list:
    """Errors of a ``RegularizationPathCV`` over alpha, one line for each setting of the loss."""
    order = np.argsort(path.alphas_)
    alphas = np.asarray(path.alphas_)[order]
    errors, spread = (
        np.asarray(values)[order].reshape(len(order), -1) for values in (path.errors_, path.standard_errors_)
    )
    loss_names = [""] if path.loss_grid_ is None else [_settings(params) for params in path.loss_grid_]
    selected = 0 if path.loss_grid_ is None else path.loss_grid_.index(path.loss_params_)
    nearest = int(np.argmin(np.abs(np.log(alphas / path.alpha_))))
    single = len(loss_names) == 1
    series = []
    if single:
        low, high = errors[:, 0] - spread[:, 0], errors[:, 0] + spread[:, 0]
        series.append(Series("± 1 standard error", "band", alphas, lower=low, upper=high))
    for j in [*(k for k in range(len(loss_names)) if k != selected), selected]:
        name = f"{path.aggregate} cross-validated error" if single else loss_names[j]
        color = "blue" if j == selected else "grey"
        series.append(Series(name, "line", alphas, errors[:, j], color=color, faint=j != selected))
    series += _marks(path.alpha_, alphas[nearest], errors[nearest, selected])
    log = needs_log_axis(errors)
    best = np.dstack(np.unravel_index(np.argsort(errors, axis=None), errors.shape))[0][:_BEST]
    rows = [
        [
            format_number(alphas[i]),
            *([] if single else [loss_names[j]]),
            format_number(errors[i, j]),
            format_number(spread[i, j]),
        ]
        for i, j in best
    ]
    head = ["alpha", *([] if single else ["loss"]), "error", "standard error"]
    note = f"Over {format_count(path.n_splits_, 'sample or fold', 'samples or folds')}."
    axes = Axis("alpha", True), Axis("cross-validated error", log)
    chart = Chart("Cross-validated error along the path", *axes, [View("", series)], note)
    return [chart, ReportTable("The best of the path", head, rows, text=("loss",))]


def _settings(params):
    return ", ".join(f"{name} {format_setting(value)}" for name, value in params.items())


def _marks(alpha, x, y):
    """The selected alpha as a line and, if (x, y) is its trial, a dot."""
    name = f"chosen, alpha {format_number(alpha)}"
    if not np.isclose(x, alpha, rtol=_SAME, atol=0):
        return [Series(name, "rule", x=[float(alpha)], color="red")]
    return [
        Series(name, "points", [x], [y], color="red"),
        Series("", "rule", x=[float(alpha)], color="red", faint=True),
    ]


def grid_search_table(search) -> ReportTable:
    """The best settings of a search of scikit-learn."""
    results = search.cv_results_
    order = np.argsort(results["rank_test_score"], kind="stable")[:_BEST]
    numbers = ("mean_test_score", "std_test_score")
    rows = [
        [_settings(results["params"][i]), *(format_number(results[name][i]) for name in numbers),
         format_seconds(results["mean_fit_time"][i])]
        for i in order
    ]  # fmt: skip
    return ReportTable(
        "The best settings of the search",
        ["settings", "score", "over folds ±", "a fit"],
        rows,
        note="Scores: larger is better.",
        text=("settings",),
    )


# ---------------------------------------------------------------- kernel, gamma and alpha


def search_items(model, table) -> list:
    """Errors over alpha and over gamma, and the best settings in a table."""
    stages = comparable_stages(table)
    over_alpha = [View(label, alpha_lines(model, stage)) for label, stage in stages]
    over_gamma = [View(label, lines) for label, stage in stages if (lines := gamma_lines(model, stage))]
    choose = "how" if len(stages) > 1 else ""
    log = needs_log_axis(table["error"])
    note = "Each kernel with its best gamma."
    charts = [Chart("Over alpha", Axis("alpha", True), Axis("cross-validated error", log), over_alpha, note, choose)]
    if over_gamma:
        single = len(over_gamma) == 1
        note = "Each gamma with its best alpha" + (f", {over_gamma[0].label}." if single else ".")
        choose = "" if single else choose
        charts.append(
            Chart("Over gamma", Axis("gamma", True), Axis("cross-validated error", log), over_gamma, note, choose)
        )
    return [*charts, best_table(stages[0][1], table)]


def comparable_stages(table) -> list[tuple[str, dict]]:
    """Stages of the search whose errors can be compared, the last first: pairs of a label and columns.

    Stages differ by the method or the number of samples. A setting that returns with another error, because of other
    weights of samples or another operator, begins a new round.
    """
    last_rounds: dict[tuple, tuple[int, dict]] = {}  # by method and number of samples: round, errors by settings
    stages: dict[tuple, list[int]] = {}  # positions of trials
    for i, error in enumerate(table["error"]):
        how, settings = _trial(table, i)
        turn, errors = last_rounds.get(how, (1, {}))
        if not np.isclose(errors.get(settings, error), error, rtol=_SAME, atol=0):
            turn, errors = turn + 1, {}
        errors[settings] = error
        last_rounds[how] = (turn, errors)
        stages.setdefault((*how, turn), []).append(i)
    labelled = []
    for (method, n, turn), rows in sorted(stages.items(), key=lambda item: -item[1][-1]):
        label = f"{method}, {format_count(n, 'sample')}" + (f", round {turn}" if last_rounds[method, n][0] > 1 else "")
        labelled.append((label, {name: np.asarray(values)[rows] for name, values in table.items()}))
    return labelled


def _trial(table, i):
    """Method and number of samples of trial i, and its settings."""
    how = str(table["method"][i]), int(table["n_samples"][i])
    return how, (format_setting(table["kernel"][i]), str(table["gamma"][i]), float(table["alpha"][i]))


def _kernels(stage):
    """Names of kernels by their smallest error, and positions of their trials."""
    names = np.array([format_setting(kernel) for kernel in stage["kernel"]])
    errors = {name: stage["error"][names == name].min() for name in names}
    return [(name, np.flatnonzero(names == name)) for name in sorted(errors, key=errors.__getitem__)[:_LINES]]


def alpha_lines(model, stage) -> list[Series]:
    """For each kernel the errors over alpha with its best gamma."""
    series = []
    for (name, rows), color in zip(_kernels(stage), _colors()):
        gamma = stage["gamma"][rows[np.argmin(stage["error"][rows])]]
        trials = np.array([i for i in rows if str(stage["gamma"][i]) == str(gamma)])
        trials = trials[np.argsort(stage["alpha"][trials])]
        label = name if _is_none(gamma) else f"{name}, gamma {format_setting(gamma)}"
        series.append(Series(label, "line", stage["alpha"][trials], stage["error"][trials], color=color))
    alpha = model.learnt_attribute("alpha_")
    if np.ndim(alpha) == 0:
        nearest = int(np.argmin(_distance(stage, alpha, model)))
        series += _marks(alpha, stage["alpha"][nearest], stage["error"][nearest])
    return series


def _distance(stage, alpha, model):
    """Distances of trials from the selected settings: kernel and gamma first, then log(alpha)."""
    kernel, gamma = format_setting(model.learnt_attribute("kernel_")), str(model.learnt_attribute("gamma_"))
    differences = np.array(
        [(format_setting(k) != kernel) + (str(g) != gamma) for k, g in zip(stage["kernel"], stage["gamma"])]
    )
    return 1e3 * differences + np.abs(np.log(stage["alpha"].astype(float) / alpha))


def gamma_lines(model, stage) -> list[Series]:
    """For each kernel with a gamma the errors over it, with its best alpha."""
    series = []
    for (name, rows), color in zip(_kernels(stage), _colors()):
        best: dict[float, float] = {}
        for i in rows:
            gamma = stage["gamma"][i]
            if isinstance(gamma, (int, float, np.number)):
                best[float(gamma)] = min(best.get(float(gamma), np.inf), float(stage["error"][i]))
        if len(best) > 1:
            gammas = sorted(best)
            series.append(Series(name, "line", gammas, [best[gamma] for gamma in gammas], color=color))
    gamma = model.learnt_attribute("gamma_")
    if series and isinstance(gamma, (int, float, np.number)):
        series.append(Series(f"chosen, gamma {format_number(gamma)}", "rule", x=[float(gamma)], color="red"))
    return series


def _colors():
    return [*(color for color in ORDER if color != "red"), *["grey"] * _LINES]


def _is_none(gamma):
    return gamma is None or (isinstance(gamma, float) and np.isnan(gamma))


def best_table(stage, table) -> ReportTable:
    """The settings with the smallest errors of the last stage."""
    rows = np.argsort(stage["error"], kind="stable")[:_BEST]
    cells = [
        [
            format_setting(stage["kernel"][i]),
            NONE if _is_none(stage["gamma"][i]) else format_setting(stage["gamma"][i]),
            format_number(stage["alpha"][i]),
            format_number(stage["error"][i], 4),
            format_number(stage["standard_error"][i]),
            format_seconds(float(stage["seconds"][i])),
            str(stage["method"][i]),
        ]
        for i in rows
    ]
    took = format_seconds(float(np.sum(table["seconds"])))
    note = f"The best {len(cells)} of {format_count(len(table['alpha']), 'setting')} tried in {took}."
    head = ["kernel", "gamma", "alpha", "error", "standard error", "time", "method"]
    return ReportTable("Best settings", head, cells, note=note, text=("kernel", "method"))
