"""Figures 6 and 7 of Brouard et al. 2016: activities of molecules against lines of cancer cells, as related tasks.

Model 0 learns each line independently, model 1 measures errors by A1 = mu M + (1 - mu) I, model 2 has the operator A2
= (mu L_M + (1 - mu) I)^-1, where M are similarities of the lines in the training outputs; a further model learns the
operator with the function. Tanimoto kernel of paths, lambda_1 = 1, nothing centred, graph of the 50 nearest
neighbours with the Laplacian iterated 5 times, ten draws of 5, 10 and 20 % labelled molecules, error on the others.

The molecules differ from the paper's: 1068 of the NCI-60 screen, activities standardised within each molecule. The
figures are on the 50 lines with the fewest gaps and the 651 molecules measured against all of them. The rate gamma of
M maximises the evidence of the training outputs. Two further parts: alpha selected by cross-validation instead of
lambda_1 = 1, and all 1068 molecules with their gaps.

    python experiments/brouard2016_drugs.py --data FOLDER            ten draws, about four minutes
    python experiments/brouard2016_drugs.py --data FOLDER --quick    two draws, thinner grids, 300 molecules, seconds

Prints tables, writes output/brouard2016_drugs.csv, and output/brouard2016_drugs_figure6.png and _figure7.png; with
--quick the names end in _quick.
"""

from __future__ import annotations

import itertools

import numpy as np
from common import arguments, figures_of, progress, save_figure, smaller, table, with_error, write_csv

from hilbertlearn import OperatorKernelRegressor, kernels
from hilbertlearn.operators import LearnedOperator, TaskGraph
from hilbertlearn.readers import load_nci60_drugs

LINES = 50  # with the fewest gaps: 651 molecules were measured against all of these, 235 against 59
SHARES = (0.05, 0.1, 0.2)
MUS = {"model 1": (0.2, 0.4, 0.6, 0.8, 1.0), "model 2": (0.2, 0.4, 0.6, 0.8)}
LAMBDAS = (0.0, 1e-9, 1e-8, 1e-7, 1e-6)
GAMMAS = np.geomspace(0.3, 30, 21)  # of mean squared differences between lines
BEST = {"model 0": 0.0, "model 1": 1.0, "model 2": 0.8, "learnt operator": 0.0}  # mu of figure 7
GAPS_LAMBDA = 1e-9  # of the part with gaps


class Known:
    """A graph whose penalty was computed before: it is the same for all draws of labels."""

    def __init__(self, matrix):
        self.matrix = matrix

    def penalty(self, K):
        return self.matrix


def graph_of(K):
    penalty = kernels.Affinity(n_neighbors=min(50, len(K) - 1), smoother=("iterated", 5)).penalty(K)
    return Known(penalty.toarray())  # five times over, neighbours of neighbours are everyone


def evidence(K, Y, A):
    """Log likelihood of outputs Y (n, d) with covariance ``v (K x A + I)``, at its best v; constants left out."""
    inputs, U = np.linalg.eigh(K)
    outputs, E = np.linalg.eigh(A)
    variances = np.multiply.outer(inputs, outputs) + 1.0
    return -(Y.size * np.log(np.mean((U.T @ Y @ E) ** 2 / variances)) + np.log(variances).sum()) / 2


def best_gamma(K, Y):
    """The rate of the tasks' similarities with the largest evidence, for model 2 at the mu of figure 7."""
    matrices = (TaskGraph(mu=BEST["model 2"], gamma=gamma).matrix(Y) for gamma in GAMMAS)
    return float(GAMMAS[np.argmax([evidence(K, Y, A) for A in matrices])])


def settings(model, mu, gamma):
    """Arguments of the estimator; outputs are taken as they are, neither centred nor scaled."""
    plain = {"center": False, "scale": False}
    if model == "model 1":
        return {**plain, "output_metric": TaskGraph(mu=mu, form="similarity", gamma=gamma)}
    if model == "model 2":
        return {**plain, "operator": TaskGraph(mu=mu, gamma=gamma)}
    return {**plain, "operator": LearnedOperator() if model == "learnt operator" else None}


def errors(predicted, Y, A=None):
    """Mean over molecules of the squared error over lines, those not measured filled by the mean of the others.

    With A: of ``e' A e``, for molecules measured against all lines.
    """
    residuals = predicted - Y
    if A is not None:
        return float(np.mean(np.sum((residuals @ A) * residuals, axis=1)))
    return float(Y.shape[1] * np.mean(np.nanmean(residuals**2, axis=1)))


def labelled_only(Y, rows):
    known = np.full(Y.shape, np.nan)
    known[rows] = Y[rows]
    return known


def figures(K, graph, Y, rows, mus, lambdas):
    """All models on one draw of labelled molecules: one dictionary for each mu and lambda_2."""
    others = np.setdiff1d(np.arange(len(Y)), rows)
    gamma = best_gamma(K[np.ix_(rows, rows)], Y[rows])
    M = TaskGraph(mu=1.0, form="similarity", gamma=gamma).matrix(Y[rows])
    cells = [(model, mu) for model in BEST for mu in mus.get(model, (0.0,))]
    for (model, mu), lambda_2 in itertools.product(cells, lambdas):
        estimator = OperatorKernelRegressor(
            "precomputed",
            alpha=1 / len(rows),
            manifold=2 * lambda_2 / len(rows),
            graph=graph,
            **settings(model, mu, gamma),
        )
        predicted = estimator.fit(K, labelled_only(Y, rows)).predict(K[others])
        A1 = mu * M + (1 - mu) * np.eye(len(M)) if model == "model 1" else None
        yield {
            "part": "figures",
            "model": model,
            "mu": mu,
            "lambda_2": lambda_2,
            "gamma": gamma,
            "error": errors(predicted, Y[others]),
            "error_by_M": errors(predicted, Y[others], M),
            "error_of_paper": errors(predicted, Y[others], A1),
        }
    for mu in mus["model 2"]:
        estimator = OperatorKernelRegressor("precomputed", alpha=1 / len(rows), **settings("model 2", mu, "median"))
        predicted = estimator.fit(K[np.ix_(rows, rows)], Y[rows]).predict(K[np.ix_(others, rows)])
        yield {"part": "median gamma", "model": "model 2", "mu": mu, "error": errors(predicted, Y[others])}
    for name, constant in (("mean", Y[rows].mean(axis=0)), ("zero", 0.0)):
        error, by_M = (errors(np.zeros_like(Y[others]) + constant, Y[others], A) for A in (None, M))
        yield {"part": "figures", "model": name, "error": error, "error_by_M": by_M}


def chosen(K, Y, rows):
    """Supervised models with alpha by leave-one-out on the labelled molecules, by 5 folds for the learnt operator."""
    others = np.setdiff1d(np.arange(len(Y)), rows)
    gamma = best_gamma(K[np.ix_(rows, rows)], Y[rows])
    for model in ("model 0", "model 2", "learnt operator"):
        estimator = OperatorKernelRegressor("precomputed", **settings(model, BEST[model], gamma))
        predicted = estimator.fit(K[np.ix_(rows, rows)], Y[rows]).predict(K[np.ix_(others, rows)])
        found = {"lambda_1": estimator.alpha_ * len(rows), "error": errors(predicted, Y[others])}
        yield {"part": "alpha chosen", "model": model, "mu": BEST[model], "lambda_2": 0.0, "gamma": gamma, **found}


def gaps(K, graph, Y, rows):
    """Models that take gaps: trained on every measured activity, or on the molecules without gaps alone."""
    others = np.setdiff1d(np.arange(len(Y)), rows)
    whole = rows[np.isfinite(Y[rows]).all(axis=1)]
    gamma = best_gamma(K[np.ix_(whole, whole)], Y[whole])
    cells = [("without gaps", whole, 0.0), ("all measured", rows, 0.0), ("all measured", rows, GAPS_LAMBDA)]
    for model, (part, known, lambda_2) in itertools.product(("model 0", "model 2", "learnt operator"), cells):
        if model == "learnt operator" and lambda_2 > 0:
            continue  # ten times as long as the rest
        estimator = OperatorKernelRegressor(
            "precomputed",
            alpha=1 / len(known),
            manifold=2 * lambda_2 / len(known),
            graph=graph,
            **settings(model, BEST[model], gamma),
        )
        predicted = estimator.fit(K, labelled_only(Y, known)).predict(K[others])
        found = {"labelled": len(known), "error": errors(predicted, Y[others])}
        yield {"part": part, "model": model, "mu": BEST[model], "lambda_2": lambda_2, "gamma": gamma, **found}


def runs(K, Y, draws, seed, mus, lambdas):
    whole = np.flatnonzero(np.isfinite(Y).all(axis=1))
    K_whole, Y_whole = K[np.ix_(whole, whole)], Y[whole]
    graph_whole, graph = graph_of(K_whole), graph_of(K)
    for draw, share in progress(itertools.product(range(draws), SHARES), "draws"):
        rng = np.random.default_rng([seed, draw, round(100 * share)])
        rows = np.sort(rng.permutation(len(whole))[: round(share * len(whole))])
        any_rows = np.sort(rng.permutation(len(Y))[: round(share * len(Y))])
        parts = (
            figures(K_whole, graph_whole, Y_whole, rows, mus, lambdas),
            chosen(K_whole, Y_whole, rows),
            gaps(K, graph, Y, any_rows),
        )
        for row in itertools.chain(*parts):
            yield {"share": share, "draw": draw, **row}


def select(rows, what, **wanted):
    """Values over the draws, in order."""
    return np.array([row[what] for row in rows if all(row.get(key) == value for key, value in wanted.items())])


def percent(share):
    return f"{100 * share:.0f} %"


def figure_6(rows, mus, lambda_2):
    """The paper's measure of error over mu, at one lambda_2."""
    columns, lines = sorted({mu for values in mus.values() for mu in values}), []
    for model, share in itertools.product(mus, SHARES):
        cell = {"part": "figures", "share": share, "lambda_2": lambda_2}
        own = [select(rows, "error_of_paper", model="model 0", **cell)]
        own += [select(rows, "error_of_paper", model=model, mu=mu, **cell) for mu in columns]
        lines.append([model, percent(share), *(with_error(v, 2) if len(v) else "" for v in own)])
    return table(["model", "labelled", "μ = 0", *(f"{mu:g}" for mu in columns)], lines)


def by_median_rule(rows, mus):
    """Errors of model 2 with the other choice of gamma."""
    lines = []
    for share in SHARES:
        cell = {"part": "median gamma", "model": "model 2", "share": share}
        values = [select(rows, "error", mu=mu, **cell) for mu in mus["model 2"]]
        lines.append([percent(share), *(with_error(v, 2) for v in values)])
    return table(["labelled", *(f"μ = {mu:g}" for mu in mus["model 2"])], lines)


def figure_7(rows, lambdas, what):
    lines = []
    for share, (model, mu) in itertools.product(SHARES, BEST.items()):
        cells = [
            select(rows, what, part="figures", model=model, mu=mu, share=share, lambda_2=lambda_2)
            for lambda_2 in lambdas
        ]
        supervised = select(rows, what, part="figures", model="model 0", share=share, lambda_2=0.0)
        difference = "" if model == "model 0" else with_error(cells[0] - supervised, 2)
        lines.append([percent(share), model, *(with_error(v, 2) for v in cells), difference])
    header = ["labelled", "model", *(f"λ₂ = {value:g}" for value in lambdas), "minus model 0, λ₂ = 0"]
    return table(header, lines)


def constants(rows):
    lines = [
        [percent(share), *(with_error(select(rows, "error", model=name, share=share), 2) for name in ("zero", "mean"))]
        for share in SHARES
    ]
    return table(["labelled", "predicting zero", "predicting the training mean"], lines)


def gains_by_graph(rows, lambdas):
    """What unlabelled molecules bring: error minus that at lambda_2 = 0."""
    lines = []
    for share, (model, mu) in itertools.product(SHARES, BEST.items()):
        cell = {"part": "figures", "model": model, "mu": mu, "share": share}
        base = select(rows, "error", **cell, lambda_2=0.0)
        changes = [with_error(select(rows, "error", **cell, lambda_2=value) - base, 3) for value in lambdas[1:]]
        lines.append([percent(share), model, *changes])
    return table(["labelled", "model", *(f"λ₂ = {value:g}" for value in lambdas[1:])], lines)


def chosen_table(rows):
    lines = []
    for share in SHARES:
        base = select(rows, "error", part="alpha chosen", model="model 0", share=share)
        for model in ("model 0", "model 2", "learnt operator"):
            cell = {"part": "alpha chosen", "model": model, "share": share}
            error = select(rows, "error", **cell)
            difference = "" if model == "model 0" else with_error(error - base, 3)
            found = f"{np.median(select(rows, 'lambda_1', **cell)):.2g}"
            lines.append([percent(share), model, with_error(error, 2), difference, found])
    return table(["labelled", "model", "error", "minus model 0", "median λ₁"], lines)


def gaps_table(rows):
    lines = []
    for share, model in itertools.product(SHARES, ("model 0", "model 2", "learnt operator")):
        cells = [
            select(rows, "error", part=part, model=model, share=share, lambda_2=lambda_2)
            for part, lambda_2 in (("without gaps", 0.0), ("all measured", 0.0), ("all measured", GAPS_LAMBDA))
        ]
        texts = [with_error(v, 2) if len(v) else "" for v in cells]
        lines.append([percent(share), model, *texts, with_error(cells[1] - cells[0], 2)])
    header = [
        "labelled",
        "model",
        "molecules without gaps",
        "every measured activity",
        f"the same, λ₂ = {GAPS_LAMBDA:g}",
    ]
    return table([*header, "gain of using gaps"], lines)


def plot(rows, mus, lambdas, end):
    import matplotlib

    matplotlib.use("Agg")
    save_figure(draw_6(rows, mus, lambdas), f"brouard2016_drugs_figure6{end}")
    save_figure(draw_7(rows, lambdas), f"brouard2016_drugs_figure7{end}")


def draw_6(rows, mus, lambdas):
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(2, len(SHARES), figsize=(11, 6), sharex=True)
    for (model, values), line in zip(mus.items(), axes, strict=True):
        for share, axis in zip(SHARES, line, strict=True):
            for lambda_2 in lambdas:
                cell = {"part": "figures", "share": share, "lambda_2": lambda_2}
                curve = [select(rows, "error_of_paper", model="model 0", **cell)]
                curve += [select(rows, "error_of_paper", model=model, mu=mu, **cell) for mu in values]
                draw_curve(axis, [0.0, *values], curve, label=f"λ₂ = {lambda_2:g}")
            axis.set(title=f"{model}, {percent(share)} labelled")
        line[0].set(ylabel="the paper's squared error")
    for axis in axes[-1]:
        axis.set(xlabel="μ")
    axes[0, 0].legend(fontsize=7)
    figure.tight_layout()
    return figure


def draw_7(rows, lambdas):
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(2, len(SHARES), figsize=(11, 6), sharex=True)
    titles = {"error": "squared error", "error_by_M": "squared error by M"}
    for (what, title), line in zip(titles.items(), axes, strict=True):
        for share, axis in zip(SHARES, line, strict=True):
            for model, mu in BEST.items():
                cell = {"part": "figures", "model": model, "mu": mu, "share": share}
                curve = [select(rows, what, lambda_2=value, **cell) for value in lambdas]
                label = f"{model}, μ = {mu:g}" if mu else model
                draw_curve(axis, range(len(lambdas)), curve, label=label, ls="--" if model == "model 1" else "-")
            axis.set(title=f"{percent(share)} labelled")
            axis.set_xticks(range(len(lambdas)), [f"{value:g}" for value in lambdas])
        line[0].set(ylabel=title)
    for axis in axes[-1]:
        axis.set(xlabel="λ₂")
    axes[0, 0].legend(fontsize=7)
    figure.tight_layout()
    return figure


def draw_curve(axis, x, values, **style):
    """Means and standard errors of lists of values."""
    means = [v.mean() for v in values]
    spread = [v.std(ddof=1) / np.sqrt(len(v)) for v in values]
    axis.errorbar(x, means, spread, marker="o", ms=3, **style)


def quick(folder):
    """Figures of a small piece: a short run on few samples, see ``common.figures_of``."""
    with smaller(__name__, LINES=6, SHARES=(0.2, 0.4)):
        return figures_of(main, ["error"], "part", "model", "lambda_2", data=folder)


def main():
    options = arguments(__doc__, data="nci60_drugs", seed=0)
    data = load_nci60_drugs(options.data)
    paths, activity = data.paths, data.activity
    draws, mus, lambdas, end = 10, MUS, LAMBDAS, ""
    if options.quick:
        mus, lambdas = {"model 1": (0.4, 1.0), "model 2": (0.4, 0.8)}, (0.0, 1e-9)
        draws, end = 2, "_quick"
        some = np.random.default_rng(options.seed).permutation(len(activity))[:300]
        paths, activity = paths[some], activity[some]
    lines = np.argsort(np.isnan(data.activity).mean(axis=0), kind="stable")[:LINES]
    Y, K = activity[:, np.sort(lines)], kernels.Tanimoto()(paths, paths)
    rows = list(runs(K, Y, draws, options.seed, mus, lambdas))
    write_csv(f"brouard2016_drugs{end}", rows)
    plot(rows, mus, lambdas, end)
    whole = int(np.isfinite(Y).all(axis=1).sum())
    print(f"{LINES} lines, {len(Y)} molecules, {whole} without gaps, {100 * np.isnan(Y).mean():.1f} % not measured")
    print(f"gamma: {np.unique(select(rows, 'gamma', model='model 0', part='figures', lambda_2=0.0).round(2))}\n")
    print(constants(rows), "\n")
    for lambda_2 in (0.0, GAPS_LAMBDA):
        print(f"figure 6, the paper's error, lambda_2 = {lambda_2:g}\n\n{figure_6(rows, mus, lambda_2)}\n")
    print(f"model 2 with gamma by the median rule, squared error\n\n{by_median_rule(rows, mus)}\n")
    print(f"figure 7, squared error\n\n{figure_7(rows, lambdas, 'error')}\n")
    print(f"figure 7, squared error by M\n\n{figure_7(rows, lambdas, 'error_by_M')}\n")
    print(f"unlabelled molecules, difference of squared errors\n\n{gains_by_graph(rows, lambdas)}\n")
    print(f"alpha chosen\n\n{chosen_table(rows)}\n")
    print(f"gaps, all {len(Y)} molecules\n\n{gaps_table(rows)}")


if __name__ == "__main__":
    main()
