"""Table 1 of Laforgue et al. 2020, on other data: molecules from mass spectra, top-k accuracy with robust losses.

The paper has 6974 spectra with fingerprints of 7593 bits and candidate sets, of which no copy was found. They are
replaced by two smaller data sets:

- 490 spectra with a given kernel and fingerprints of 286 bits, 462 of them distinct (``metabolite_fp490``). There are
  no candidate sets and no names: molecules are distinguished by their fingerprints alone.
- 120 candidate sets with the scores of another model (``metabolite_candidates``), without spectra: nothing can be
  trained, they show the effect of the rule for ties.

Regression is in the space of the output kernel ``exp(-0.72 (t(y, y) + t(z, z) - 2 t(y, z)))``, t the Tanimoto kernel;
nothing is centred. The 5 folds share no molecule, so that no test molecule occurs in training. Candidates are ordered
by ``2 <phi(z), h(x)> - k(z, z)``, and they are either the molecules of the test fold (about 92) or all 462. Ties
count on average (``metrics.top_k_accuracy``).

- Selected: alpha and epsilon or kappa by 3 folds, again by molecule, of each training set: the largest mean of the
  top-1, top-10 and top-20 accuracies among the molecules of the validation fold.
- In hindsight, as in the paper: for a given alpha the epsilon or kappa with the best test accuracies.

    python experiments/laforgue2020_metabolites.py --data FOLDER            2 partitions in 5 folds, 7 minutes
    python experiments/laforgue2020_metabolites.py --data FOLDER --quick    1 partition, thin grid, under a minute

FOLDER holds metabolite_fp490/ and metabolite_candidates/. Prints tables, writes output/laforgue2020_metabolites.csv
and .png; with --quick the names end in _quick.
"""

from __future__ import annotations

import itertools

import numpy as np
from common import arguments, figures_of, progress, save_figure, smaller, table, with_error, write_csv
from sklearn.model_selection import GroupKFold

from hilbertlearn import StructuredPredictor, kernels
from hilbertlearn.losses import EpsilonInsensitive, Huber, Squared
from hilbertlearn.metrics import top_k_accuracy
from hilbertlearn.readers import load_metabolite_candidates, load_metabolite_fingerprints

OUTPUT_KERNEL, TOL = kernels.TanimotoGaussian(0.72), 1e-4
TOP = (1, 10, 20)
LOSSES = ("ridge", "ε-ridge", "Huber")
POOLS = ("held out", "all")
EPSILONS, KAPPAS = (0.05, 0.1, 0.3), (0.01, 0.03, 0.1)
ALPHAS = (3e-3, 1e-3, 3e-4, 1e-4, 1e-5, 1e-6)


def settings(epsilons, kappas):
    """Pairs (name of the loss, epsilon or kappa)."""
    return [("ridge", ""), *(("ε-ridge", epsilon) for epsilon in epsilons), *(("Huber", kappa) for kappa in kappas)]


def loss_of(name, parameter):
    return {"ridge": Squared, "ε-ridge": EpsilonInsensitive, "Huber": Huber}[name](*([parameter] if parameter else []))


def accuracies(scores, molecules):
    """Top-k accuracies of scores (m, 462) of all molecules, among those of the queries and among all."""
    own, position = np.unique(molecules, return_inverse=True)
    found = {("held out", k): top_k_accuracy(position, scores[:, own], k) for k in TOP}
    return found | {("all", k): top_k_accuracy(molecules, scores, k) for k in TOP}


def path(name, parameter, train, test, data, alphas):
    """One dictionary for each alpha: top-k accuracies, sparsity and saturation.

    All candidates have k(z, z) = 1.
    """
    model = StructuredPredictor("precomputed", output_kernel=OUTPUT_KERNEL, loss=loss_of(name, parameter), tol=TOL)
    for fitted in model.fit_path(data.K[np.ix_(train, train)], data.Y[train], alphas):
        predicted = data.K[np.ix_(test, train)] @ fitted.dual_coef_
        scores = 2 * predicted @ fitted.space_.coordinates(data.distinct).T - 1
        found = accuracies(scores, data.molecules[test])
        yield {
            "loss": name,
            "parameter": parameter,
            "alpha": float(fitted.alpha_),
            **{f"top-{k}, {pool}": value for (pool, k), value in found.items()},
            "sparsity": 1 - len(fitted.support_) / len(train),
            "saturation": float(fitted.saturated_.mean()),
            "gap": fitted.dual_gap_,
        }


def folds(n_folds, rows, data, seed):
    """Pairs (train, test) of sample numbers; no molecule is in both."""
    splits = GroupKFold(n_folds, shuffle=True, random_state=seed).split(rows, groups=data.molecules[rows])
    return [(rows[train], rows[test]) for train, test in splits]


def runs(data, partitions, alphas, pairs, n_inner):
    """Rows of test folds (inner = "") and of the folds of their training sets."""
    parts = [
        (seed, i, *fold) for seed in partitions for i, fold in enumerate(folds(5, np.arange(len(data.K)), data, seed))
    ]
    for (seed, i, train, test), (name, parameter) in progress(itertools.product(parts, pairs), "paths"):
        same = {"partition": seed, "fold": i}
        for row in path(name, parameter, train, test, data, alphas):
            yield {**same, "inner": "", **row}
        for j, (part, rest) in enumerate(folds(n_inner, train, data, seed)):
            for row in path(name, parameter, part, rest, data, alphas):
                yield {**same, "inner": j, **row}


def quality(rows):
    """Mean of the top-1, top-10 and top-20 accuracies among held-out molecules."""
    return float(np.mean([[row[f"top-{k}, held out"] for k in TOP] for row in rows]))


def grouped(rows, *keys):
    groups: dict = {}
    for row in rows:
        groups.setdefault(tuple(row[key] for key in keys), []).append(row)
    return groups


def chosen(rows, name):
    """The test rows, one a fold, of the alpha and parameter that are best on the folds of the training set."""
    out = []
    for own in grouped([row for row in rows if row["loss"] == name], "partition", "fold").values():
        inner = grouped([row for row in own if row["inner"] != ""], "parameter", "alpha")
        best = max(inner, key=lambda pair: quality(inner[pair]))
        out += [row for row in own if row["inner"] == "" and (row["parameter"], row["alpha"]) == best]
    return out


def hindsight(rows, name, alpha):
    """The test rows, one a fold, of the parameter that is best on them."""
    own = grouped([r for r in rows if r["loss"] == name and r["inner"] == "" and r["alpha"] == alpha], "parameter")
    return max(own.values(), key=quality)


def percent(rows, column, minus=None):
    values = np.array([row[column] for row in rows])
    base = 0.0 if minus is None else np.array([row[column] for row in minus])
    return with_error(100 * (values - base), 1)


def chosen_table(rows, pool):
    """Accuracies of the chosen models, and paired differences to ridge."""
    ridge = chosen(rows, "ridge")
    lines = []
    for name in LOSSES:
        picked = chosen(rows, name)
        minus = ["", "", ""] if name == "ridge" else [percent(picked, f"top-{k}, {pool}", ridge) for k in TOP]
        lines.append([name, *(percent(picked, f"top-{k}, {pool}") for k in TOP), " / ".join(minus).strip(" /")])
    return table([f"selected, among {pool}", *(f"top-{k} (%)" for k in TOP), "minus ridge"], lines)


def hindsight_table(rows, alphas):
    ridge = {alpha: quality(hindsight(rows, "ridge", alpha)) for alpha in alphas}
    lines = []
    for alpha in (alphas[-1], max(ridge, key=lambda alpha: ridge[alpha])):
        base = hindsight(rows, "ridge", alpha)
        for name in LOSSES:
            picked = hindsight(rows, name, alpha)
            minus = "" if name == "ridge" else " / ".join(percent(picked, f"top-{k}, held out", base) for k in TOP)
            shares = [f"{100 * np.mean([row[what] for row in picked]):.0f}" for what in ("sparsity", "saturation")]
            values = (percent(picked, f"top-{k}, held out") for k in TOP)
            lines.append([f"{alpha:.0e}", name, picked[0]["parameter"], *values, minus, " / ".join(shares)])
    header = ["alpha", "loss", "ε or κ (hindsight)", *(f"top-{k} (%)" for k in TOP)]
    return table([*header, "minus ridge", "sparsity / saturation (%)"], lines)


def ties_table(path):
    """Top-k accuracies of the given scores of candidate sets under the three rules."""
    data = load_metabolite_candidates(path)
    lines = []
    for ties in ("average", "best", "worst"):
        found = (100 * top_k_accuracy(data.true_index, data.scores, k, ties=ties) for k in TOP)
        lines.append([ties, *(f"{value:.1f}" for value in found)])
    chance = (100 * np.mean([min(k / len(s), 1) for s in data.scores]) for k in TOP)
    lines.append(["(a constant score, average)", *(f"{value:.1f}" for value in chance)])
    return table(["ties, 120 candidate sets", *(f"top-{k} (%)" for k in TOP)], lines)


def plot(rows, alphas, name):
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    tested = grouped([row for row in rows if row["inner"] == ""], "loss", "parameter")
    figure, axes = pyplot.subplots(2, 3, figsize=(13, 7), sharex=True, sharey="col")
    for line, loss in zip(axes, ("ε-ridge", "Huber"), strict=True):
        curves = {"ridge": tested["ridge", ""]} | {p: own for (other, p), own in tested.items() if other == loss}
        for axis, k in zip(line, TOP, strict=True):
            for i, (label, own) in enumerate(curves.items()):
                means = [100 * np.mean([r[f"top-{k}, held out"] for r in own if r["alpha"] == a]) for a in alphas]
                colour = "k" if i == 0 else pyplot.get_cmap("viridis")((i - 1) / max(len(curves) - 2, 1))
                axis.plot(alphas, means, color=colour, ls="--" if i == 0 else "-", marker="o", ms=3, label=label)
            axis.set(xscale="log", title=f"{loss}, top-{k}")
        line[0].set(ylabel="accuracy (%), among held-out molecules")
        line[0].legend(title="κ" if loss == "Huber" else "ε", fontsize=7)
    for axis in axes[-1]:
        axis.set(xlabel="alpha")
    figure.tight_layout()
    save_figure(figure, name)


def quick(folder):
    """Figures of a small piece: a short run on few samples, see ``common.figures_of``."""
    with smaller(__name__, TOP=(1, 3, 5)):
        return figures_of(main, [f"top-{k}, {pool}" for k in (1, 3) for pool in POOLS], "loss", "alpha", data=folder)


def main():
    options = arguments(__doc__, data="metabolite_fp490")
    data = load_metabolite_fingerprints(options.data)
    data.distinct, molecules = np.unique(data.Y, axis=0, return_inverse=True)
    data.molecules = molecules.ravel()
    name, partitions, alphas, n_inner, pairs = "laforgue2020_metabolites", (0, 1), ALPHAS, 3, settings(EPSILONS, KAPPAS)
    if options.quick:
        name, partitions, alphas, n_inner = f"{name}_quick", (0,), (1e-3, 1e-4, 1e-6), 2
        pairs = settings((0.1,), (0.1,))
    rows = list(runs(data, partitions, alphas, pairs, n_inner))
    write_csv(name, rows)
    plot(rows, alphas, name)
    print(f"largest relative duality gap {max(row['gap'] for row in rows):.1e}\n")
    print(*(chosen_table(rows, pool) for pool in POOLS), sep="\n\n", end="\n\n")
    print(hindsight_table(rows, alphas), ties_table(options.data.parent / "metabolite_candidates"), sep="\n\n")


if __name__ == "__main__":
    main()
