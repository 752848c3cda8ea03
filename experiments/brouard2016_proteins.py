"""Tables 4 and 5 of Brouard et al. 2016: links between known proteins and new ones, and the time it takes.

5 folds of the nodes. The graph of the training nodes is known; pairs of a test node with a training node are scored.
The paper's 1242 proteins with their annotations are not available. They are replaced by 150 yeast proteins with a
given kernel, from which little can be learnt; the friends of a Facebook user; and the 400 papers of Cora with most
citations. Binary features are encoded as the paper encodes annotations, by -ln of the share of nodes that have them,
and made of length 1; the kernel is Gaussian with gamma by the median rule. All methods share it, except for the
trees, which use the features (for proteins: the kernel values with the training proteins).

Parameters are selected by 4 folds of the training nodes, as in the paper, by pairs of a validation node and a
training node, separately for the two areas. "default" is LinkPredictor without any setting but the kernel: all its
scores are combined. Its other rows have the scores of h alone. The trees have fixed parameters.

    python experiments/brouard2016_proteins.py --data FOLDER            FOLDER holds yeast_ppi/, facebook_ego/, cora/
    python experiments/brouard2016_proteins.py --data FOLDER --quick    2 folds, 80 nodes of each

Prints the tables of docs/results/brouard2016.md, writes output/brouard2016_proteins.csv and .png. Seconds are those of
the processor: set OPENBLAS_NUM_THREADS=1 and OMP_NUM_THREADS=1.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
from common import ALONE, arguments, figures_of, progress, save_figure, smaller, table, write_csv
from sklearn.base import clone
from sklearn.ensemble import ExtraTreesRegressor
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import KFold, ParameterGrid
from sklearn.preprocessing import normalize

from hilbertlearn import LinkPredictor, kernels, readers
from hilbertlearn.baselines import (
    EMKernelCompletion,
    KernelCCALinks,
    KernelMatrixRegression,
    KernelMetricLearning,
    LocalLinkModel,
    NaiveLinkPredictor,
)
from hilbertlearn.metrics import link_average_precision, link_roc_auc

FOLDS, INNER_FOLDS, CORA_NODES, QUICK_NODES = 5, 4, 400, 80
MEASURES = {"roc_auc": link_roc_auc, "average_precision": link_average_precision}
LABELS = {"yeast": "yeast, 150 proteins", "facebook": "Facebook, 347 friends", "cora": "Cora, 400 papers"}
PAPER = {  # integrated kernel: AUC-ROC, AUC-PR, seconds
    "naive": ("67.7 ± 1.5", "8.0 ± 1.7", "0.05"),
    "kCCA": ("85.7 ± 1.6", "9.9 ± 0.4", "144.60"),
    "kML": ("84.5 ± 1.5", "7.8 ± 1.6", "18.28"),
    "local": ("83.0 ± 0.5", "22.6 ± 6.6", "141.64"),
    "OK3, extra-trees": ("86.9 ± 1.6", "26.8 ± 2.4", "638.53"),
    "ridge": ("91.2 ± 1.2", "22.2 ± 1.6", "0.49"),
}


@dataclass
class Network:
    """Nodes with a Gram matrix K (n, n), and features (n, p) if there are any, and their links (n, n)."""

    K: np.ndarray
    adjacency: np.ndarray
    features: np.ndarray | None = None

    def first(self, n):
        features = None if self.features is None else self.features[:n]
        return Network(self.K[:n, :n], self.adjacency[:n, :n], features)

    def inputs(self, rows, train, trees):
        """What a method sees of some nodes."""
        if not trees or self.features is None:
            return self.K[np.ix_(rows, train)]
        return self.features[rows]

    def links(self, rows, columns):
        return self.adjacency[np.ix_(rows, columns)]


def annotated(features, adjacency):
    """A network from 0/1 features."""
    share = features.mean(axis=0)
    encoded = normalize(features[:, share > 0] * -np.log(share[share > 0]))
    return Network(rbf_kernel(encoded, gamma=kernels.resolve_gamma("rbf", "median", encoded)), adjacency, encoded)


def networks(folder):
    proteins = readers.load_yeast_ppi(folder / "yeast_ppi")
    yield "yeast", Network(proteins.K, proteins.adjacency.toarray())
    friends = readers.load_facebook_ego(folder / "facebook_ego", ego=0)
    yield "facebook", annotated(friends.X, friends.adjacency.toarray())
    papers = readers.load_cora(folder / "cora")
    degrees = np.asarray(papers.adjacency.sum(axis=0)).ravel()
    kept = np.argsort(-degrees, kind="stable")[:CORA_NODES]
    yield "cora", annotated(papers.X[kept].toarray(), papers.adjacency[kept][:, kept].toarray())


def methods():
    """For each name an estimator and what its parameters are chosen from."""
    given = {"kernel": "precomputed"}
    outputs = [
        {"output_kernel": ["diffusion"], "beta": [1.0]},
        {"output_kernel": ["normalized_laplacian"], "beta": [10.0]},
    ]
    alphas = np.logspace(-4, -1, 4)
    sizes = [5, 20, 80]
    turned = {"center": True, "cosine": True}
    trees = ExtraTreesRegressor(50, max_features="sqrt", random_state=0)
    return {
        "naive": (NaiveLinkPredictor(**given), [{}]),
        "kCCA": (
            KernelCCALinks(**given),
            [{**output, "alpha": [1e-4, 1e-2, 1.0], "n_components": sizes} for output in outputs],
        ),
        "kML": (KernelMetricLearning(**given), [{"alpha": alphas, "n_components": sizes}]),
        "local": (LocalLinkModel(**given), [{"C": [1.0, 10.0]}]),
        "PKMR": (KernelMatrixRegression(**given), [{**output, "alpha": alphas} for output in outputs]),
        "EM": (EMKernelCompletion(**given), [{**output, "alpha": alphas} for output in outputs]),
        "OK3, extra-trees": (LinkPredictor(regressor=trees, **ALONE), [{}]),
        "ridge": (LinkPredictor(**given, **ALONE), [{**output, "alpha": alphas} for output in outputs]),
        "default": (LinkPredictor(**given), None),
        "ridge, centred, cosine": (
            LinkPredictor(**given, **{**ALONE, **turned}),
            [{**output, "alpha": alphas} for output in outputs],
        ),
        "margin, centred, cosine": (
            LinkPredictor(**given, **{**ALONE, **turned}, loss="hinge"),
            [{**output, "alpha": [1e-4, 1e-3, 1e-2]} for output in outputs],
        ),
    }


def areas(model, network, train, test):
    """Both areas (%) for the pairs of a test node with a training node."""
    trees = getattr(model, "regressor", None) is not None
    model = clone(model).fit(network.inputs(train, train, trees), network.links(train, train))
    scores = model.decision_function(network.inputs(test, train, trees))
    links = network.links(test, train)
    return {name: 100 * measure(links, scores, "all") for name, measure in MEASURES.items()}


def chosen(model, grid, network, train, seed):
    """For each area the parameters that are best for it on folds of the training nodes."""
    if grid is None:
        return {name: {"scoring": name} for name in MEASURES}
    candidates = list(ParameterGrid(grid))
    if len(candidates) == 1:
        return dict.fromkeys(MEASURES, candidates[0])
    totals = {name: np.zeros(len(candidates)) for name in MEASURES}
    for fit, held_out in KFold(INNER_FOLDS, shuffle=True, random_state=seed).split(train):
        for i, parameters in enumerate(candidates):
            found = areas(clone(model).set_params(**parameters), network, train[fit], train[held_out])
            for name, value in found.items():
                totals[name][i] += value
    return {name: candidates[int(total.argmax())] for name, total in totals.items()}


def evaluated(model, grid, network, train, test, seed):
    """Areas on the test nodes, and seconds with the parameters given and with the choice for one area."""
    start = time.process_time()
    best = chosen(model, grid, network, train, seed)
    choice = time.process_time() - start
    row = {}
    for name, parameters in best.items():
        start = time.process_time()
        row[name] = areas(clone(model).set_params(**parameters), network, train, test)[name]
        row.setdefault("seconds", time.process_time() - start)
        row[f"parameters_{name}"] = " ".join(f"{key}={value}" for key, value in parameters.items())
    return {**row, "seconds_with_choice": choice + row["seconds"]}


def run(folder, quick, seed):
    """One dictionary for each network, fold and method."""
    rows = []
    for data, network in networks(folder):
        network = network.first(QUICK_NODES) if quick else network
        folds = list(KFold(FOLDS, shuffle=True, random_state=seed).split(network.K))[: 2 if quick else FOLDS]
        jobs = [(fold, method) for fold in range(len(folds)) for method in methods()]
        for fold, method in progress(jobs, f"{data:8}"):
            found = evaluated(*methods()[method], network, *folds[fold], seed)
            rows.append({"data": data, "fold": fold, "method": method, **found})
    return rows


def select(rows, data, method, key):
    return np.array([row[key] for row in rows if row["data"] == data and row["method"] == method])


def spread(values):
    return f"{values.mean():.1f} ± {values.std(ddof=1):.1f}"


def tables(rows):
    """Table 4 with both areas, and table 5."""
    quality, times = [], []
    for method in methods():
        paper = PAPER.get(method, ("",) * 3)
        cells = [spread(select(rows, data, method, key)) for data in LABELS for key in MEASURES]
        quality.append([method, *cells, *paper[:2]])
        cells = [
            f"{select(rows, data, method, key).mean():.2f}"
            for data in LABELS
            for key in ("seconds", "seconds_with_choice")
        ]
        times.append([method, *cells, paper[2]])
    names = [*LABELS, "paper"]
    quality = table(["method", *(f"{data} {area}" for data in names for area in ("ROC", "PR"))], quality)
    seconds = [f"{data}{what}" for data in LABELS for what in ("", ", with choice")]
    return quality + "\n\n" + table(["method", *seconds, "paper"], times)


def differences(rows):
    """Ridge less each other method, paired over folds: mean and standard deviation."""
    lines = []
    for method in methods():
        if method != "ridge":
            gains = [
                spread(select(rows, data, "ridge", key) - select(rows, data, method, key))
                for data in LABELS
                for key in MEASURES
            ]
            lines.append([method, *gains])
    return table(["ridge less", *(f"{data} {area}" for data in LABELS for area in ("ROC", "PR"))], lines)


def plot(rows, name):
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    order = list(methods())[::-1]
    figure, axes = pyplot.subplots(2, len(LABELS), figsize=(11, 6.4), sharey=True, layout="constrained")
    for line, (key, title) in zip(
        axes, {"roc_auc": "AUC-ROC (%)", "average_precision": "AUC-PR (%)"}.items(), strict=True
    ):
        for axis, data in zip(line, LABELS, strict=True):
            for height, method in enumerate(order):
                values = select(rows, data, method, key)
                colour = "tab:red" if method.startswith(("ridge", "margin")) else "tab:blue"
                axis.plot(values, np.full(len(values), height), ".", color=colour, alpha=0.35, ms=5)
                axis.plot(values.mean(), height, "o", color=colour, ms=6)
            axis.set(yticks=range(len(order)), yticklabels=order, xlabel=title)
            axis.grid(axis="x", alpha=0.3)
            if key == "roc_auc":
                axis.set_title(LABELS[data], fontsize=10)
                axis.axvline(50, color="black", lw=0.8, ls=":")
    save_figure(figure, name)


def quick(folder):
    """Figures of a small piece: a short run on few samples, see ``common.figures_of``."""
    with smaller(__name__, FOLDS=2, INNER_FOLDS=2, QUICK_NODES=24):
        return figures_of(main, ["roc_auc", "average_precision"], "data", "method", data=folder)


def main():
    given = arguments(__doc__, data="yeast_ppi", seed=0)
    rows = run(given.data.parent, given.quick, given.seed)
    name = "brouard2016_proteins" + "_quick" * given.quick
    write_csv(name, rows)
    print(tables(rows), differences(rows), sep="\n\n")
    plot(rows, name)


if __name__ == "__main__":
    main()
