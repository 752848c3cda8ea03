"""Tables 8 and 9 and figures 3, 4 and 8 of Brouard et al. 2016: links of random networks, with inputs made from them.

Networks of 700 nodes. Inputs are the first kernel principal components of the network's diffusion kernel, with a
Gaussian kernel. 5, 10 or 20 % of the nodes are labelled: the links among them are known. Scores are of all other
pairs. Each repetition has a new network and new labelled nodes. gamma and alpha are selected on the labelled nodes
only, by the leave-pair-out area under the ROC curve.

- ridge: the squared loss. Output kernel: the diffusion kernel of the labelled nodes' own links ("labelled"), or that
  of the whole network, restricted to them ("whole": it includes paths through other nodes).
- left_out: ridge with gamma and alpha selected by leave-one-node-out, compared with leave-pair-out, at density 0.01.
- margin: the hinge, without centring and with both kernels centred.
- margin, penalty (table 8b): all nodes are given to fit, with the penalty of figures 3 and 4. gamma, alpha and the
  weight of the penalty are selected jointly, with the penalty, once by the area under each of the two curves.
- Figures 3 and 4: all nodes are given to fit, with a penalty on the values of h at them. The paper's penalty is the
  diffusion kernel exp(-L) itself, L the Laplacian of the input Gram matrix, where one would expect I - exp(-L): both
  are tried, with the gamma and alpha of the model without penalty (of the centred one for the margin).

    python experiments/brouard2016_synthetic.py                 10 repetitions, 3 of the slow parts, 25 minutes
    python experiments/brouard2016_synthetic.py --only table8   or left_out, table8b, table9, figure3, figure8
    python experiments/brouard2016_synthetic.py --quick         1 repetition of some of it, a minute

Prints tables, writes output/brouard2016_left_out.csv, _table8.csv, _table8b.csv, _table9.csv and _figure3.csv,
brouard2016_figure3.png (figures 3 and 4) and brouard2016_figure8.png; with --quick the names end in _quick.
"""

from __future__ import annotations

import itertools
from functools import partial

import numpy as np
from common import ALONE, arguments, figures_of, progress, save_figure, smaller, table, with_error, write_csv

from hilbertlearn import LinkPredictor, OperatorKernelRegressor, kernels
from hilbertlearn.datasets import kernel_pca_inputs, make_erdos_renyi, make_mixture_network
from hilbertlearn.metrics import link_average_precision, link_roc_auc

SHARES = (0.05, 0.1, 0.2)
INERTIAS = (0.75, 0.85, 0.95, 1.0)
BETAS = {0.007: 1.75, 0.01: 0.9, 0.02: 0.3}  # from table 8's numbers of components
MIXTURES = ((0.02, 5e-4), (0.02, 1e-3), (0.03, 5e-4), (0.03, 1e-3))
MIXTURE_BETAS = {  # by the mean degree, as for networks without classes; read off table 9, with its scores in sight
    "degree": (1.75, 1.75, 0.9, 0.9),
    "read off": (4.0, 3.5, 3.5, 2.0),
}
WEIGHTS = (0.0, 1e-4, 1e-2, 1.0)  # of the penalty
JOINT_WEIGHTS, JOINT_GAMMAS = (1e-2, 1.0), (1.0, 4.0, 16.0)  # chosen together; gamma relative to the median rule
CHOSEN_BY = {"roc_auc": "ROC", "average_precision": "PR"}
# the paper's AUC-ROC, then AUC-PR, at 5, 10 and 20 %
PAPER = {
    ("ridge", 0.007, 0.75): (92.3, 95.9, 97.7, 12.9, 21.9, 30.0),
    ("ridge", 0.007, 0.85): (92.1, 95.6, 97.9, 14.2, 22.7, 35.3),
    ("ridge", 0.007, 0.95): (92.2, 95.6, 97.8, 15.4, 24.7, 36.1),
    ("ridge", 0.007, 1.0): (92.1, 95.6, 97.7, 15.5, 25.0, 36.2),
    ("ridge", 0.01, 0.75): (90.3, 94.8, 97.1, 14.1, 22.8, 32.5),
    ("ridge", 0.01, 0.85): (90.5, 94.9, 97.6, 15.0, 23.6, 35.1),
    ("ridge", 0.01, 0.95): (90.6, 95.4, 98.0, 15.7, 25.6, 39.2),
    ("ridge", 0.01, 1.0): (90.5, 95.6, 98.1, 15.7, 26.0, 39.5),
    ("ridge", 0.02, 0.75): (82.6, 91.2, 95.4, 15.3, 26.7, 38.2),
    ("ridge", 0.02, 0.85): (83.0, 90.6, 94.6, 16.1, 26.3, 36.3),
    ("ridge", 0.02, 0.95): (82.8, 91.2, 95.1, 16.0, 28.0, 40.8),
    ("ridge", 0.02, 1.0): (82.8, 91.1, 95.0, 16.0, 27.9, 40.5),
    ("margin", 0.007, 0.95): (90.5, 93.1, 95.3, 12.5, 18.9, 26.5),
    ("margin", 0.01, 0.95): (87.3, 91.3, 94.1, 12.5, 17.9, 24.7),
    ("margin", 0.02, 0.95): (77.3, 81.7, 87.0, 12.8, 17.8, 24.4),
    ("ridge", MIXTURES[0], 0.95): (86.6, 93.2, 96.6, 3.8, 12.7, 21.2),
    ("ridge", MIXTURES[1], 0.95): (88.8, 93.1, 97.4, 8.9, 17.0, 31.3),
    ("ridge", MIXTURES[2], 0.95): (84.2, 84.5, 88.8, 3.6, 3.8, 6.1),
    ("ridge", MIXTURES[3], 0.95): (86.8, 91.7, 94.8, 6.9, 14.8, 22.3),
    ("margin", MIXTURES[0], 0.95): (85.1, 85.2, 85.2, 2.8, 2.8, 2.7),
    ("margin", MIXTURES[1], 0.95): (85.2, 85.5, 85.6, 3.8, 3.9, 3.9),
    ("margin", MIXTURES[2], 0.95): (83.6, 83.7, 83.7, 3.3, 3.4, 3.3),
    ("margin", MIXTURES[3], 0.95): (84.3, 84.2, 84.2, 4.1, 4.0, 4.0),
}


PENALTIES = {
    "exp(-L)": kernels.Affinity(None, ("diffusion_kernel", 1)),
    "I - exp(-L)": kernels.Affinity(None, ("diffusion", 1)),
}


class Task:
    """A network with its labelled nodes first."""

    def __init__(self, data, inertia, share, rep):
        order = np.random.default_rng(rep).permutation(data.adjacency.shape[0])
        self.X = (data.X if inertia == 0.95 else kernel_pca_inputs(data.output_kernel, inertia))[order]
        self.A = data.adjacency[order][:, order]
        self.beta, self.labelled = data.beta, round(share * len(order))
        self.pairs = np.triu(np.ones(self.A.shape, dtype=bool), 1)
        self.pairs[: self.labelled, : self.labelled] = False
        first = order[: self.labelled]
        self.whole = data.output_kernel[np.ix_(first, first)]
        self.facts = {"inertia": inertia, "components": self.X.shape[1], "share": share, "repetition": rep}

    def fit(self, output_kernel="labelled", gamma="auto", **settings):
        """A model of the labelled nodes alone, unless it has a penalty."""
        K = self.whole if output_kernel == "whole" else "diffusion"
        n = self.labelled
        model = LinkPredictor(gamma=gamma, output_kernel=K, beta=self.beta, **{**ALONE, **settings})
        return model.fit(self.X if "manifold" in settings else self.X[:n], self.A[:n][:, :n])

    def row(self, scores, model, **facts):
        return {
            **facts,
            **self.facts,
            "roc": 100 * link_roc_auc(self.A, scores, self.pairs),
            "pr": 100 * link_average_precision(self.A, scores, self.pairs),
            "alpha": model.alpha_,
            "gamma": model.gamma_,
        }


def supervised(task, methods, **facts):
    settings = {
        "ridge, labelled": {},
        "ridge, whole": {"output_kernel": "whole"},
        "ridge, whole, cosine": {"output_kernel": "whole", "cosine": True},
        "margin, centred": {"loss": "hinge", "center": True},
        "margin, centred, cosine": {"loss": "hinge", "center": True, "cosine": True},
    }
    for method in methods:
        model = task.fit(**settings[method])
        yield task.row(model.pair_scores(task.X), model, method=method, **facts)


def one_left_out(K, Y, penalty):
    """What the squared loss predicts for each sample from all others (n, d), from ``G = (K + penalty I)^-1``."""
    G = np.linalg.inv(K + penalty * np.eye(len(K)))
    own = G.diagonal().copy()
    np.fill_diagonal(G, 0.0)
    return -(G @ Y) / own[:, None]


def by_one_left_out(task, alphas, gammas):
    """Ridge with the gamma and alpha that are best by the scores ``<h(x_i), h(x_j)>``, each h without its own node."""
    n, pairs = task.labelled, task.fit()
    X, A, median = task.X[:n], task.A[:n][:, :n], kernels.resolve_gamma("rbf", "median", task.X[:n])

    def value(setting):
        gamma, alpha = setting
        H = one_left_out(kernels.gram("rbf", X, gamma=gamma), pairs.embedding_, alpha * n)
        return np.nan_to_num(link_roc_auc(A, H @ H.T))

    gamma, alpha = max(itertools.product(median * np.array(gammas), alphas), key=value)
    for method, model in (("one node", task.fit(gamma=gamma, alpha=alpha)), ("pairs", pairs)):
        yield task.row(model.pair_scores(task.X), model, method=method, network=0.01)


def margin_with_penalty(task, weights, gammas, **facts):
    """The margin with the penalty exp(-L), all chosen together by pairs left out, for each of the two areas."""
    median = kernels.resolve_gamma("rbf", "median", task.X)
    for scoring, area in CHOSEN_BY.items():
        best, most = None, -np.inf
        for weight, factor in itertools.product(weights, gammas):
            settings = {"loss": "hinge", "graph": PENALTIES["exp(-L)"], "manifold": weight, "scoring": scoring}
            model = task.fit(gamma=factor * median, **settings)
            value = np.nan_to_num(model.cv_score_)  # no links: nothing to choose by
            best, most = (model, value) if value > most else (best, most)
        scores = best.pair_scores(task.X)
        yield task.row(scores, best, method="margin, penalty", by=area, weight=best.manifold, left_out=most, **facts)


def semi_supervised(task, weights, **facts):
    """Models with all nodes, for each penalty and weight."""
    ridge = task.fit()
    margin = task.fit(loss="hinge", center=True)  # without centring nothing can be chosen
    targets = np.full((len(task.X), ridge.embedding_.shape[1]), np.nan)
    targets[: task.labelled] = ridge.embedding_
    for (name, graph), weight in itertools.product(PENALTIES.items(), weights):
        for loss, chosen in (("squared", ridge), ("hinge", margin)):
            model = OperatorKernelRegressor(
                gamma=chosen.gamma_, loss=loss, alpha=chosen.alpha_, center=False, graph=graph, manifold=weight
            )
            H = model.fit(task.X, targets).predict(task.X)
            method = "ridge" if loss == "squared" else "margin"
            yield task.row(H @ H.T, chosen, method=method, penalty=name, weight=weight, **facts)


def rows_of_table8(repetitions, few, shares, inertias):
    for (density, beta), rep in progress(itertools.product(BETAS.items(), range(repetitions)), "table 8"):
        data = make_erdos_renyi(density=density, beta=beta, random_state=rep)
        for inertia, share in itertools.product(inertias, shares):
            if inertia != 0.95 and rep >= few:
                continue
            methods = ["ridge, whole"] + ["ridge, labelled"] * (inertia == 0.95)
            if inertia == 0.95 and rep < few:
                methods += ["ridge, whole, cosine", "margin, centred", "margin, centred, cosine"]
            yield from supervised(Task(data, inertia, share, rep), methods, table=8, network=density)


def rows_of_left_out(repetitions, shares):
    alphas, gammas = np.logspace(-8, 1, 19), 4.0 ** np.arange(-3, 4)  # as LinkPredictor
    for rep, share in progress(itertools.product(range(repetitions), shares), "left out"):
        data = make_erdos_renyi(density=0.01, beta=BETAS[0.01], random_state=rep)
        yield from by_one_left_out(Task(data, 0.95, share, rep), alphas, gammas)


def rows_of_table8b(repetitions, shares, weights, gammas):
    for (density, beta), rep in progress(itertools.product(BETAS.items(), range(repetitions)), "table 8b"):
        data = make_erdos_renyi(density=density, beta=beta, random_state=rep)
        for share in shares:
            yield from margin_with_penalty(Task(data, 0.95, share, rep), weights, gammas, table="8b", network=density)


def rows_of_table9(repetitions, few, shares):
    for rep, choice in progress(itertools.product(range(repetitions), MIXTURE_BETAS), "table 9"):
        for (p_intra, p_inter), beta in zip(MIXTURES, MIXTURE_BETAS[choice], strict=True):
            if choice == "degree" and rep >= few:
                continue
            data = make_mixture_network(p_intra=p_intra, p_inter=p_inter, beta=beta, random_state=rep)
            methods = ["ridge, labelled", "ridge, whole"]
            if choice == "read off" and rep < few:
                methods.append("margin, centred")
            facts = {"table": 9, "network": (p_intra, p_inter), "beta": choice}
            for share in shares:
                yield from supervised(Task(data, 0.95, share, rep), methods, **facts)


def rows_of_figure3(repetitions, shares, weights):
    for (density, beta), rep in progress(itertools.product(BETAS.items(), range(repetitions)), "figure 3"):
        data = make_erdos_renyi(density=density, beta=beta, random_state=rep)
        for share in shares:
            yield from semi_supervised(Task(data, 0.95, share, rep), weights, table="figure 3", network=density)


def picked(rows, **facts):
    """Values of rows with these facts, by share of labelled nodes: two dictionaries, roc and pr."""
    found = [row for row in rows if all(row.get(key) == value for key, value in facts.items())]
    shares = sorted({row["share"] for row in found})
    return [{s: np.array([row[what] for row in found if row["share"] == s]) for s in shares} for what in ("roc", "pr")]


def line(rows, paper, **facts):
    """Cells of a table: mean ± standard error and the paper's figure, for each share, roc then pr."""
    cells = []
    for values, published in zip(picked(rows, **facts), (paper[:3], paper[3:]) if paper else ((), ()), strict=True):
        known = dict(zip(SHARES, published, strict=False))
        cells += [with_error(v, 1) + (f" ({known[s]})" if s in known else "") for s, v in values.items()]
    return cells


def header(shares):
    return [f"{what} {100 * share:g} %" for what in ("ROC", "PR") for share in shares]


def table8(rows, shares):
    lines = []
    for density, inertia in dict.fromkeys((row["network"], row["inertia"]) for row in rows):
        some = [row for row in rows if (row["network"], row["inertia"]) == (density, inertia)]
        for method in dict.fromkeys(row["method"] for row in some):
            paper = None if "cosine" in method else PAPER.get((method.split(",")[0], density, inertia))
            components = np.mean([row["components"] for row in some])
            cells = line(some, paper, method=method)
            lines.append([density, f"{100 * inertia:g}", f"{components:.0f}", method, *cells])
    return table(["density", "inertia", "components", "model", *header(shares)], lines)


def left_out(rows, shares):
    lines = [[method, *line(rows, None, method=method)] for method in ("one node", "pairs")]
    return table(["left out", *header(shares)], lines)


def table8b(rows, shares):
    lines = []
    for density, by in itertools.product(BETAS, CHOSEN_BY.values()):
        lines.append([density, by, *line(rows, PAPER["margin", density, 0.95], network=density, by=by)])
    return table(["density", "selected by", *header(shares)], lines)


def table9(rows, shares):
    lines = []
    for network, choice in itertools.product(MIXTURES, MIXTURE_BETAS):
        some = [row for row in rows if (row["network"], row["beta"]) == (network, choice)]
        for method in dict.fromkeys(row["method"] for row in some):
            paper = PAPER[method.split(",")[0], network, 0.95]
            lines.append([*network, choice, method, *line(some, paper, method=method)])
    return table(["p_intra", "p_inter", "beta", "model", *header(shares)], lines)


def figure3(rows, shares, weights):
    lines = []
    for density, method, penalty, weight in itertools.product(BETAS, ("ridge", "margin"), PENALTIES, weights):
        cells = line(rows, None, network=density, method=method, penalty=penalty, weight=weight)
        lines.append([density, method, penalty, f"{weight:g}", *cells])
    return table(["density", "model", "penalty", "weight", *header(shares)], lines)


def plot_figure3(rows, shares, weights, name):
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(len(BETAS), 4, figsize=(14, 8.5), sharex=True, squeeze=False)
    x = np.arange(len(weights))
    for lines, density in zip(axes, BETAS, strict=True):
        for axis, (method, what) in zip(lines, itertools.product(("margin", "ridge"), (0, 1)), strict=True):
            for k, share in enumerate(shares):
                for penalty, style in zip(PENALTIES, ("o-", "x:"), strict=True):
                    facts = {"network": density, "method": method, "penalty": penalty}
                    values = np.array([picked(rows, weight=w, **facts)[what][share] for w in weights])
                    error = values.std(axis=1) / np.sqrt(max(values.shape[1] - 1, 1))
                    label = f"{100 * share:g} % labelled, {penalty}"
                    axis.errorbar(x, values.mean(axis=1), error, fmt=style, color=f"C{k}", label=label, markersize=4)
            axis.set(title=f"{method}, density {density}", ylabel="AUC-PR" if what else "AUC-ROC")
            axis.set_xticks(x, [f"{w:g}" for w in weights])
            axis.grid(alpha=0.3)
    axes[0, 0].legend(fontsize=6)
    for axis in axes[-1]:
        axis.set_xlabel("weight of the penalty")
    figure.tight_layout()
    save_figure(figure, name)


def figure8(name):
    """True and predicted links of a mixture, nodes by class; the threshold is that of the labelled nodes."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    data = make_mixture_network(p_intra=0.02, p_inter=5e-4, beta=1.75, random_state=0)
    order = np.random.default_rng(0).permutation(len(data.target))
    task = Task(data, 0.95, 0.2, 0)
    model = task.fit()
    back = np.argsort(order)
    truth, found = data.adjacency.toarray() > 0, model.predict_links(task.X[back]).toarray()
    same = data.target[:, None] == data.target
    f1 = 2 * (truth & found).sum() / (truth.sum() + found.sum())
    within = [100 * same[links].mean() for links in (truth, found)]
    print(
        f"figure 8: {truth.sum() // 2} links, {found.sum() // 2} predicted with 20 % of the nodes labelled, F1 {f1:.2f}"
        f", within a class {within[0]:.0f} % of the true and {within[1]:.0f} % of the predicted"
    )
    figure, axes = pyplot.subplots(1, 2, figsize=(9, 4.6))
    for axis, links, title in zip(axes, (truth, found), ("true links", "predicted by ridge"), strict=True):
        axis.spy(links, markersize=0.6, color="k")
        axis.set(title=title, xticks=[], yticks=[])
    figure.tight_layout()
    save_figure(figure, name)


def quick(folder):
    """Figures of a small piece: a short run on few samples, see ``common.figures_of``."""
    few = {
        "make_erdos_renyi": partial(make_erdos_renyi, 120),
        "make_mixture_network": partial(make_mixture_network, 80),
    }
    few |= {"MIXTURES": MIXTURES[:1], "MIXTURE_BETAS": {name: betas[:1] for name, betas in MIXTURE_BETAS.items()}}
    with smaller(__name__, **few, BETAS={0.01: 0.9}, SHARES=(0.2, 0.5)):
        return figures_of(main, ["roc", "pr"], "network", "method", "weight")


def main():
    options = arguments(__doc__, only="")
    end = "_quick" if options.quick else ""
    if end:
        repetitions, few, shares, inertias, weights = 1, 1, SHARES[1:2], (0.95,), (0.0, 1.0)
        joint = ((1.0,), JOINT_GAMMAS[1:2])
    else:
        repetitions, few, shares, inertias, weights = 10, 3, SHARES, INERTIAS, WEIGHTS
        joint = (JOINT_WEIGHTS, JOINT_GAMMAS)
    parts = {
        "left_out": (lambda: rows_of_left_out(repetitions, shares), lambda rows: left_out(rows, shares)),
        "table8": (lambda: rows_of_table8(repetitions, few, shares, inertias), lambda rows: table8(rows, shares)),
        "table8b": (lambda: rows_of_table8b(few, shares, *joint), lambda rows: table8b(rows, shares)),
        "table9": (lambda: rows_of_table9(repetitions, few, shares), lambda rows: table9(rows, shares)),
        "figure3": (lambda: rows_of_figure3(few, shares, weights), lambda rows: figure3(rows, shares, weights)),
    }
    if options.only not in ("", "figure8", *parts):
        raise SystemExit(f"--only: unknown part {options.only!r}; known: {', '.join(parts)}, figure8")
    for name, (computed, printed) in parts.items():
        if options.only in ("", name):
            rows = list(computed())
            write_csv(f"brouard2016_{name}{end}", rows)
            print(printed(rows), flush=True)
            if name == "figure3":
                plot_figure3(rows, shares, weights, f"brouard2016_figure3{end}")
    if options.only in ("", "figure8"):
        figure8(f"brouard2016_figure8{end}")


if __name__ == "__main__":
    main()
