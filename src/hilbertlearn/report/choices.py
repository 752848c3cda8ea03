"""Settings that were left to the data: what was tried, and what was taken."""

from __future__ import annotations

import numpy as np

from .charts import ORDER, Axis, Chart, Series, View, is_wide
from .parts import Part, Table
from .text import NONE, count, number, seconds, setting

_BEST = 10  # settings in a table
_MOST = 8  # lines in a chart


def choices_part(model) -> tuple[Part | None, dict]:
    """Held-out errors of the settings tried, and facts; None where all were given."""
    items, facts = [], {}
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
    intro = "Errors on samples that the model in question had not seen; smaller is better."
    return Part("How settings were chosen", intro, items), facts


def trials_of(model) -> dict | None:
    """The columns of ``choice_``, None where there is none or nothing was tried."""
    try:
        table = model.learnt("choice_")
    except (AttributeError, ValueError):
        return None
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
    return [
        Series(f"chosen, alpha {number(alpha)}", "points", [x], [y], color="red"),
        Series("", "rule", x=[float(alpha)], color="red", faint=True),
    ]


def search_table(search) -> Table:
    """The best settings of a search of scikit-learn."""
    results = search.cv_results_
    order = np.argsort(results["rank_test_score"], kind="stable")[:_BEST]
    rows = [[_settings(results["params"][i]), number(results["mean_test_score"][i]), number(results["std_test_score"][i]),
             seconds(results["mean_fit_time"][i])] for i in order]  # fmt: skip
    return Table(
        "The best settings of the search", ["settings", "score", "over folds ±", "a fit"], rows, text=("settings",)
    )


# ---------------------------------------------------------------- kernel, gamma and alpha


def trial_items(model, table) -> list:
    """Errors over alpha and over gamma, and the best settings in a table."""
    trials = last_of_equals(table)
    stages = sorted({(method, int(n)) for method, n in zip(trials["method"], trials["n_samples"])},
                    key=lambda one: last_place(trials, one), reverse=True)  # fmt: skip
    over_alpha, over_gamma = [], []
    for stage in stages:
        here = {name: values[_at(trials, stage)] for name, values in trials.items()}
        label = f"{stage[0]}, {count(stage[1], 'sample')}"
        over_alpha.append(View(label, alpha_lines(model, here)))
        lines = gamma_lines(model, here)
        if lines:
            over_gamma.append(View(label, lines))
    choose = "how" if len(stages) > 1 else ""
    log = is_wide(trials["error"])
    note = "Each kernel with its best gamma."
    charts = [Chart("Over alpha", Axis("alpha", True), Axis("held-out error", log), over_alpha, note, choose)]
    if over_gamma:
        note = "Each gamma with its best alpha."
        choose = choose if len(over_gamma) > 1 else ""
        charts.append(Chart("Over gamma", Axis("gamma", True), Axis("held-out error", log), over_gamma, note, choose))
    return [*charts, best_table(trials, stages[0], len(table["alpha"]))]


def last_of_equals(table) -> dict:
    """Trials, of those tried again (with other weights of samples) the last."""
    keys = list(
        zip(map(str, table["kernel"]), map(str, table["gamma"]), table["alpha"], table["method"], table["n_samples"])
    )
    rows = np.array(sorted({key: i for i, key in enumerate(keys)}.values()))
    return {name: np.asarray(values)[rows] for name, values in table.items()}


def last_place(trials, stage) -> int:
    return int(_at(trials, stage)[-1])


def _at(trials, stage):
    """Positions of the trials by one method on so many samples."""
    return np.flatnonzero((trials["method"] == stage[0]) & (trials["n_samples"] == stage[1]))


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


def best_table(trials, stage, tried) -> Table:
    """The settings with the smallest errors of the last stage."""
    rows = _at(trials, stage)
    rows = rows[np.argsort(trials["error"][rows], kind="stable")][:_BEST]
    cells = [
        [
            setting(trials["kernel"][i]),
            NONE if _is_none(trials["gamma"][i]) else setting(trials["gamma"][i]),
            number(trials["alpha"][i]),
            number(trials["error"][i], 4),
            number(trials["standard_error"][i]),
            seconds(float(trials["seconds"][i])),
            str(trials["method"][i]),
        ]
        for i in rows
    ]
    note = f"The best {len(cells)} of {count(tried, 'setting')} tried in {seconds(float(np.sum(trials['seconds'])))}."
    head = ["kernel", "gamma", "alpha", "error", "standard error", "time", "method"]
    return Table("Best settings", head, cells, note=note, text=("kernel", "method"))
