"""Settings that were left to the data: what was tried, and what was taken."""

from __future__ import annotations

import numpy as np

from .charts import ORDER, Axis, Chart, Series, View, is_wide
from .parts import Part, Table
from .text import NONE, count, number, seconds, setting

_BEST = 10  # settings in a table
_MOST = 8  # lines in a chart
_SAME = 1e-6  # relative difference between errors of one setting that is rounding


def choices_part(model) -> tuple[Part | None, dict]:
    """Held-out errors of the settings tried, and facts; None where all were given."""
    items: list = []
    facts: dict = {}
    if hasattr(model.search, "errors_"):
        items += path_items(model.search)
        facts |= {"path_alpha": float(model.search.alpha_), "path_error": float(np.min(model.search.errors_))}
    elif hasattr(model.search, "cv_results_"):
        items.append(search_table(model.search))
    table = trials_of(model)
    if table is not None:
        items += trial_items(model, table)
        facts |= {"n_tried": len(table["alpha"]), "choice_seconds": float(np.sum(table["seconds"]))}
    if not items:
        return None, facts
    intro = "By samples that the model in question had not seen."
    return Part("How settings were chosen", intro, items), facts


def trials_of(model) -> dict | None:
    """The columns of ``search_results_``, None where there is none or nothing was tried."""
    table = model.learnt("search_results_")
    return table if isinstance(table, dict) and len(table.get("alpha", ())) else None


# ---------------------------------------------------------------- a path over alpha


def path_items(path) -> list:
    """Errors of a ``RegularizationPathCV`` over alpha, one line for each setting of the loss."""
    order = np.argsort(path.alphas_)
    alphas = np.asarray(path.alphas_)[order]
    errors, spread = (np.asarray(one)[order].reshape(len(order), -1) for one in (path.errors_, path.standard_errors_))
    named = [""] if path.loss_grid_ is None else [_settings(one) for one in path.loss_grid_]
    chosen = 0 if path.loss_grid_ is None else path.loss_grid_.index(path.loss_params_)
    at = int(np.argmin(np.abs(np.log(alphas / path.alpha_))))
    single = len(named) == 1
    series = []
    if single:
        low, high = errors[:, 0] - spread[:, 0], errors[:, 0] + spread[:, 0]
        series.append(Series("± 1 standard error", "band", alphas, lower=low, upper=high))
    for j in [*(k for k in range(len(named)) if k != chosen), chosen]:
        name = f"{path.aggregate} held-out error" if single else named[j]
        color = "blue" if j == chosen else "grey"
        series.append(Series(name, "line", alphas, errors[:, j], color=color, faint=j != chosen))
    series += _marks(path.alpha_, alphas[at], errors[at, chosen])
    log = is_wide(errors)
    best = np.dstack(np.unravel_index(np.argsort(errors, axis=None), errors.shape))[0][:_BEST]
    rows = [
        [number(alphas[i]), *([] if single else [named[j]]), number(errors[i, j]), number(spread[i, j])]
        for i, j in best
    ]
    head = ["alpha", *([] if single else ["loss"]), "error", "standard error"]
    chart = Chart("Held-out error along the path", Axis("alpha", True), Axis("held-out error", log), [View("", series)],
                  f"Over {count(path.n_splits_, 'sample or fold', 'samples or folds')}.")  # fmt: skip
    return [chart, Table("The best of the path", head, rows, text=("loss",))]


def _settings(params):
    return ", ".join(f"{name} {setting(value)}" for name, value in params.items())


def _marks(alpha, x, y):
    """What was chosen: a line at its alpha and, if it was tried here, its error."""
    name = f"chosen, alpha {number(alpha)}"
    if not np.isclose(x, alpha, rtol=_SAME, atol=0):
        return [Series(name, "rule", x=[float(alpha)], color="red")]
    return [
        Series(name, "points", [x], [y], color="red"),
        Series("", "rule", x=[float(alpha)], color="red", faint=True),
    ]


def search_table(search) -> Table:
    """The best settings of a search of scikit-learn."""
    results = search.cv_results_
    order = np.argsort(results["rank_test_score"], kind="stable")[:_BEST]
    numbers = ("mean_test_score", "std_test_score")
    rows = [
        [_settings(results["params"][i]), *(number(results[name][i]) for name in numbers),
         seconds(results["mean_fit_time"][i])]
        for i in order
    ]  # fmt: skip
    return Table(
        "The best settings of the search",
        ["settings", "score", "over folds ±", "a fit"],
        rows,
        note="Scores: larger is better.",
        text=("settings",),
    )


# ---------------------------------------------------------------- kernel, gamma and alpha


def trial_items(model, table) -> list:
    """Errors over alpha and over gamma, and the best settings in a table."""
    stages = stages_of(table)
    over_alpha = [View(label, alpha_lines(model, here)) for label, here in stages]
    over_gamma = [View(label, lines) for label, here in stages if (lines := gamma_lines(model, here))]
    choose = "how" if len(stages) > 1 else ""
    log = is_wide(table["error"])
    note = "Each kernel with its best gamma."
    charts = [Chart("Over alpha", Axis("alpha", True), Axis("held-out error", log), over_alpha, note, choose)]
    if over_gamma:
        single = len(over_gamma) == 1
        note = "Each gamma with its best alpha" + (f", {over_gamma[0].label}." if single else ".")
        choose = "" if single else choose
        charts.append(Chart("Over gamma", Axis("gamma", True), Axis("held-out error", log), over_gamma, note, choose))
    return [*charts, best_table(stages[0][1], table)]


def stages_of(table) -> list[tuple[str, dict]]:
    """Trials whose errors can be compared with each other, the last first: pairs of a label and columns.

    Others are by another method, or on so many samples; or settings were tried again with another error: under other
    weights of the samples, or with another operator.
    """
    names = [_round(table, i) for i in range(len(table["alpha"]))]
    rounds = np.zeros(len(names), dtype=int)
    seen: dict[tuple, tuple[int, dict]] = {}
    for i, (place, key) in enumerate(names):
        number_of, errors = seen.get(place, (1, {}))
        if not np.isclose(errors.get(key, table["error"][i]), table["error"][i], rtol=_SAME, atol=0):
            number_of, errors = number_of + 1, {}
        errors[key], rounds[i] = table["error"][i], number_of
        seen[place] = (number_of, errors)
    stages: dict[tuple, list[int]] = {}
    for i, (place, _) in enumerate(names):
        stages.setdefault((*place, rounds[i]), []).append(i)
    found = []
    for (method, n, turn), rows in sorted(stages.items(), key=lambda item: -item[1][-1]):
        label = f"{method}, {count(n, 'sample')}" + (f", round {turn}" if seen[method, n][0] > 1 else "")
        found.append((label, {name: np.asarray(values)[rows] for name, values in table.items()}))
    return found


def _round(table, i):
    """How trial i was judged, and what was tried."""
    place = str(table["method"][i]), int(table["n_samples"][i])
    return place, (setting(table["kernel"][i]), str(table["gamma"][i]), float(table["alpha"][i]))


def _kernels(here):
    """Names of kernels, that with the smallest error first, and where each was tried."""
    names = np.array([setting(kernel) for kernel in here["kernel"]])
    found = sorted({name: here["error"][names == name].min() for name in names}.items(), key=lambda pair: pair[1])
    return [(name, np.flatnonzero(names == name)) for name, _ in found[:_MOST]]


def alpha_lines(model, here) -> list[Series]:
    """For each kernel the errors over alpha with its best gamma."""
    series = []
    for (name, rows), color in zip(_kernels(here), _colors()):
        gamma = here["gamma"][rows[np.argmin(here["error"][rows])]]
        own = np.array([i for i in rows if str(here["gamma"][i]) == str(gamma)])
        own = own[np.argsort(here["alpha"][own])]
        label = name if _is_none(gamma) else f"{name}, gamma {setting(gamma)}"
        series.append(Series(label, "line", here["alpha"][own], here["error"][own], color=color))
    alpha = model.learnt("alpha_")
    if np.ndim(alpha) == 0:
        near = int(np.argmin(_distance(here, alpha, model)))
        series += _marks(alpha, here["alpha"][near], here["error"][near])
    return series


def _distance(here, alpha, model):
    """How far trials are from what was chosen: other kernels and rates are far, then it is alpha that counts."""
    kernel, gamma = setting(model.learnt("kernel_")), str(model.learnt("gamma_"))
    other = np.array([(setting(k) != kernel) + (str(g) != gamma) for k, g in zip(here["kernel"], here["gamma"])])
    return 1e3 * other + np.abs(np.log(here["alpha"].astype(float) / alpha))


def gamma_lines(model, here) -> list[Series]:
    """For each kernel with a gamma the errors over it, with its best alpha."""
    series = []
    for (name, rows), color in zip(_kernels(here), _colors()):
        best: dict[float, float] = {}
        for i in rows:
            gamma = here["gamma"][i]
            if isinstance(gamma, (int, float, np.number)):
                best[float(gamma)] = min(best.get(float(gamma), np.inf), float(here["error"][i]))
        if len(best) > 1:
            at = sorted(best)
            series.append(Series(name, "line", at, [best[gamma] for gamma in at], color=color))
    gamma = model.learnt("gamma_")
    if series and isinstance(gamma, (int, float, np.number)):
        series.append(Series(f"chosen, gamma {number(gamma)}", "rule", x=[float(gamma)], color="red"))
    return series


def _colors():
    return [*(color for color in ORDER if color != "red"), *["grey"] * _MOST]


def _is_none(gamma):
    return gamma is None or (isinstance(gamma, float) and np.isnan(gamma))


def best_table(here, table) -> Table:
    """The settings with the smallest errors of the last stage."""
    rows = np.argsort(here["error"], kind="stable")[:_BEST]
    cells = [
        [
            setting(here["kernel"][i]),
            NONE if _is_none(here["gamma"][i]) else setting(here["gamma"][i]),
            number(here["alpha"][i]),
            number(here["error"][i], 4),
            number(here["standard_error"][i]),
            seconds(float(here["seconds"][i])),
            str(here["method"][i]),
        ]
        for i in rows
    ]
    took = seconds(float(np.sum(table["seconds"])))
    note = f"The best {len(cells)} of {count(len(table['alpha']), 'setting')} tried in {took}."
    head = ["kernel", "gamma", "alpha", "error", "standard error", "time", "method"]
    return Table("Best settings", head, cells, note=note, text=("kernel", "method"))
