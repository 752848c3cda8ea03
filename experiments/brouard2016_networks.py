"""Table 3 and figure 5 of Brouard et al. 2016: links of a co-authorship network and of Cora, from words.

Authors of NIPS are linked by common papers and described by the words of their papers' abstracts (the paper: of full
texts). Co-authors then share the words of their common papers, which reveal the links, so there are three versions:

- "shared": the words of all papers of an author, as in the paper;
- "own": each paper's words count for one of its authors only (its other authors still are linked with that author);
- "separate": links and words are from different papers. Few authors and links remain.

Cora: papers, their words, and citations; as many papers are drawn as there are authors in "shared".

Words are weighted by tf-idf, rows have length 1, Gaussian kernel. Three quarters of the nodes are for training: 5, 10
or 20 % of them labelled (20 and 40 % in "separate"), the others unlabelled; the last quarter are test nodes.
Transductive: pairs of training nodes, not both labelled. Inductive (the paper's "semi-supervised"): pairs of two test
nodes. "labelled with test": pairs of a labelled node and a test node. Settings are selected on the labelled nodes
only, separately for AUC-ROC and AUC-PR: by leave-pair-out for ridge, by 5 folds for EM and PKMR. "ridge, penalty" has
a penalty on the mean of h over all training nodes, weight 1, and gamma and alpha of ridge. It replaces the paper's
penalty, the diffusion kernel exp(-L) of the graph of 10 % nearest neighbours, which tends to it if gamma is small and
the graph well connected; exp(-lambda_2), the distance between the two, is in the rows of figure 5 for the selected
gamma.

    python experiments/brouard2016_networks.py --data FOLDER            5 repetitions, 3 of figure 5, about 6 minutes
    python experiments/brouard2016_networks.py --data FOLDER --quick    1 repetition of some of it, below half a minute

Prints tables, writes output/brouard2016_table3.csv, brouard2016_figure5.csv and brouard2016_figure5.png; with --quick
the names end in _quick.
"""

from __future__ import annotations

import itertools
import time

import numpy as np
import scipy.linalg
from common import ALONE, arguments, figures_of, progress, save_figure, smaller, table, with_error, write_csv
from sklearn.base import clone
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.model_selection import KFold

from hilbertlearn import LinkPredictor, OperatorKernelRegressor, kernels
from hilbertlearn.baselines import EMKernelCompletion, KernelMatrixRegression, NaiveLinkPredictor
from hilbertlearn.data.graphs import laplacian
from hilbertlearn.metrics import link_average_precision, link_roc_auc
from hilbertlearn.readers import load_cora, load_nips_coauthorship, separate_papers, words_of_own_papers

SHARES = {"shared": (0.05, 0.1, 0.2), "own": (0.05, 0.1, 0.2), "separate": (0.2, 0.4), "Cora": (0.05, 0.1, 0.2)}
METRICS = {"roc_auc": link_roc_auc, "average_precision": link_average_precision}
ALPHAS = (1e-4, 1e-3, 1e-2, 1e-1)
WEIGHTS = (0.0, 1e-2, 1.0)
SETTINGS = ("transductive", "inductive", "labelled with test")


class MeanPenalty(kernels.Affinity):
    """The limit of the diffusion kernel of a graph whose nodes are all linked well: ``|sum_i h(x_i)|^2 / n``."""

    def smoother_matrix(self, W):
        return np.full(W.shape, 1 / W.shape[0])


PENALTIES = {"mean": MeanPenalty(None), "Laplacian": kernels.Affinity(0.1, "normalized")}


class Network:
    """Nodes in random order: labelled ones, unlabelled ones, test nodes; `size` of them, with a kernel by name."""

    def __init__(self, X, A, rep, size=None, kernel="rbf"):
        order = np.random.default_rng(rep).permutation(X.shape[0])[:size]
        self.X, self.A, self.kernel = X[order], A[order][:, order], kernel
        self.train = 3 * len(order) // 4

    def labelled(self, share):
        return round(share * self.train)

    def pairs(self, labelled, setting):
        """Mask of the pairs that count."""
        n = self.A.shape[0]
        mask = np.zeros((n, n), dtype=bool)
        if setting == "transductive":
            mask[: self.train, : self.train] = True
            mask[:labelled, :labelled] = False
        elif setting == "inductive":
            mask[self.train :, self.train :] = True
        else:
            mask[:labelled, self.train :] = True
        return np.triu(mask, 1)


def load(name, data, rep, size):
    network = counted(name, data, rep, size)
    network.X = TfidfTransformer(sublinear_tf=True).fit_transform(network.X)
    return network


def counted(name, data, rep, size):
    """The network with counts of words."""
    if name == "Cora":
        cora = load_cora(data / "cora")
        return Network(cora.X, cora.adjacency, rep, size)
    nips = load_nips_coauthorship(data / "nips_coauthorship")
    if name == "separate":
        separate = separate_papers(nips, random_state=rep)
        return Network(separate.X, separate.adjacency, rep)
    X = nips.author_word if name == "shared" else words_of_own_papers(nips.doc_author, nips.doc_word, rep)
    nodes = np.flatnonzero(nips.at_least_two_links & (np.asarray(X.sum(axis=1)).ravel() > 0))
    return Network(X[nodes], nips.adjacency[nodes][:, nodes], rep, size)


def all_scores(model, X, labelled):
    """Scores of all pairs; labelled nodes count as known where the model tells them apart."""
    S = model.pair_scores(X)
    S[:, :labelled] = model.decision_function(X)
    S[:labelled] = S[:, :labelled].T
    return S


def chosen(model, X, A, scoring):
    """The model with the alpha that is best over 5 folds of the labelled nodes: pairs with a node of the fold."""
    scores = np.zeros(len(ALPHAS))
    for train, test in KFold(5, shuffle=True, random_state=0).split(np.arange(X.shape[0])):
        order = np.r_[train, test]
        pairs = np.triu(np.ones((len(order), len(order)), dtype=bool), 1)
        pairs[: len(train), : len(train)] = False
        for k, alpha in enumerate(ALPHAS):
            fitted = clone(model).set_params(alpha=alpha).fit(X[order], A[train][:, train])
            score = METRICS[scoring](A[order][:, order], all_scores(fitted, X[order], len(train)), pairs)
            scores[k] += np.nan_to_num(score)
    return clone(model).set_params(alpha=ALPHAS[scores.argmax()])


def penalised(network, embedding, chosen, graph, weight):
    """h (n, d) at all nodes for a model of the training nodes with a penalty, otherwise as the chosen one."""
    targets = np.full((network.train, embedding.shape[1]), np.nan)
    targets[: len(embedding)] = embedding
    model = OperatorKernelRegressor(
        network.kernel,
        gamma=gamma_of(chosen),
        loss=chosen.loss,
        alpha=chosen.alpha_,
        center=False,
        graph=graph,
        manifold=weight,
    )
    return model.fit(network.X[: network.train], targets).predict(network.X)


def methods(network, labelled, scoring):
    """Pairs (method, function that fits it with what was chosen and gives the scores of all pairs)."""
    X, A, train = network.X, network.A[:labelled][:, :labelled], network.train
    naive = NaiveLinkPredictor(network.kernel)
    yield "naive", lambda: naive.fit(X[:train], A).pair_scores(X)
    for name, method in (("EM", EMKernelCompletion), ("PKMR", KernelMatrixRegression)):
        model = chosen(method(network.kernel), X[:labelled], A, scoring)
        yield name, lambda model=model: all_scores(model.fit(X[:train], A), X, labelled)
    ridge = LinkPredictor(network.kernel, gamma="auto", scoring=scoring, **ALONE).fit(X[:labelled], A)
    yield "ridge", lambda: fixed(ridge).fit(X[:labelled], A).pair_scores(X)
    yield "ridge, penalty", lambda: products(penalised(network, ridge.embedding_, ridge, PENALTIES["mean"], 1.0))
    cosine = clone(ridge).set_params(center=True, cosine=True).fit(X[:labelled], A)
    yield "ridge, centred, cosine", lambda: fixed(cosine).fit(X[:labelled], A).pair_scores(X)


def products(H):
    return H @ H.T


def fixed(model):
    """A model with the gamma and alpha that a fitted one has chosen."""
    return clone(model).set_params(gamma=gamma_of(model), alpha=model.alpha_)


def gamma_of(model):
    """The gamma in use; any for a kernel without one."""
    return "median" if model.gamma_ is None else model.gamma_


def rows_of_network(name, network, rep, shares):
    """One dictionary for each share of labelled nodes, method, setting and area."""
    for share, scoring in itertools.product(shares, METRICS):
        labelled = network.labelled(share)
        links = network.A[:labelled][:, :labelled].nnz // 2
        if links == 0:  # nothing to learn from
            continue
        for method, score in methods(network, labelled, scoring):
            start = time.process_time()
            scores = score()
            seconds = time.process_time() - start
            for setting in SETTINGS:
                value = METRICS[scoring](network.A, scores, network.pairs(labelled, setting))
                yield {
                    "network": name,
                    "repetition": rep,
                    "share": share,
                    "labelled": labelled,
                    "links": links,
                    "method": method,
                    "setting": setting,
                    "metric": scoring,
                    "value": 100 * value,
                    "seconds": seconds,
                }


def rows_of_table3(data, names, repetitions, size, shares):
    for name, rep in progress(itertools.product(names, range(repetitions)), "table 3"):
        yield from rows_of_network(name, load(name, data, rep, size), rep, shares or SHARES[name])


def rows_of_figure5(data, names, repetitions, size, shares, weights):
    """Transductive scores over the weight of the penalty."""
    for name, rep, share in progress(itertools.product(names, range(repetitions), shares), "figure 5"):
        network = load(name, data, rep, size)
        labelled = network.labelled(share)
        X, A = network.X[:labelled], network.A[:labelled][:, :labelled]
        ridge = LinkPredictor(gamma="auto", **ALONE).fit(X, A)
        margin = LinkPredictor(gamma="auto", loss="hinge", center=True, **ALONE).fit(X, A)
        distances = {model: distance(network, model.gamma_) for model in (ridge, margin)}
        for model, (penalty, graph), weight in itertools.product((ridge, margin), PENALTIES.items(), weights):
            scores = products(penalised(network, ridge.embedding_, model, graph, weight))
            for metric, score in METRICS.items():
                value = 100 * score(network.A, scores, network.pairs(labelled, "transductive"))
                facts = {"network": name, "repetition": rep, "share": share, "loss": model.loss, "penalty": penalty}
                yield {**facts, "weight": weight, "metric": metric, "value": value, "distance": distances[model]}


def distance(network, gamma):
    """How far the diffusion kernel of the graph of 10 % nearest neighbours is from its limit: ``exp(-lambda_2)``."""
    K = kernels.gram("rbf", network.X[: network.train], gamma=gamma)
    L = laplacian(kernels.Affinity(0.1).graph(K)).toarray()
    return float(np.exp(-scipy.linalg.eigh(L, eigvals_only=True, subset_by_index=(1, 1))[0]))


def picked(rows, **facts):
    return [row["value"] for row in rows if all(row[key] == value for key, value in facts.items())]


def table3(rows):
    lines = []
    for name, setting in itertools.product(dict.fromkeys(row["network"] for row in rows), SETTINGS):
        own = [row for row in rows if row["network"] == name and row["setting"] == setting]
        for method in dict.fromkeys(row["method"] for row in own):
            cells = []
            for share in sorted({row["share"] for row in own}):
                values = [picked(own, method=method, share=share, metric=metric) for metric in METRICS]
                cells.append(" / ".join(with_error(v, 1) for v in values))
            lines.append([name, setting, method, *cells, *[""] * (3 - len(cells))])
    columns = ("first share: ROC / PR", "second", "third")
    return table(["network", "setting", "method", *columns], lines)


def known_links(rows):
    """Numbers of labelled nodes and of links among them."""
    lines = []
    for name, share in dict.fromkeys((row["network"], row["share"]) for row in rows):
        own = {r["repetition"]: r for r in rows if (r["network"], r["share"]) == (name, share)}.values()
        links = sorted(row["links"] for row in own)
        nodes = next(iter(own))["labelled"]
        lines.append([name, f"{100 * share:g} %", nodes, f"{links[0]} to {links[-1]}", len(own)])
    return table(["network", "share", "labelled nodes", "links among them", "repetitions"], lines)


def figure5(rows):
    lines = []
    keys = dict.fromkeys((row["network"], row["loss"], row["penalty"], row["weight"]) for row in rows)
    for name, loss, penalty, weight in keys:
        own = [r for r in rows if (r["network"], r["loss"], r["penalty"], r["weight"]) == (name, loss, penalty, weight)]
        cells = []
        for share in sorted({row["share"] for row in own}):
            cells.append(" / ".join(with_error(picked(own, share=share, metric=metric), 1) for metric in METRICS))
        lines.append([name, loss, penalty, f"{weight:g}", *cells])
    shares = sorted({row["share"] for row in rows})
    return table(["network", "loss", "penalty", "weight", *(f"{100 * s:g} %: ROC / PR" for s in shares)], lines)


def plot_figure5(rows, weights, name):
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    names = list(dict.fromkeys(row["network"] for row in rows))
    shares = sorted({row["share"] for row in rows})
    figure, axes = pyplot.subplots(len(names), 4, figsize=(14, 3.3 * len(names)), sharex=True, squeeze=False)
    x = np.arange(len(weights))
    for line, network in zip(axes, names, strict=True):
        for axis, (loss, metric) in zip(line, itertools.product(("hinge", "squared"), METRICS), strict=True):
            for (k, share), (penalty, style) in itertools.product(
                enumerate(shares), zip(PENALTIES, ("o-", "x:"), strict=True)
            ):
                facts = {"network": network, "loss": loss, "metric": metric, "share": share, "penalty": penalty}
                values = np.array([picked(rows, weight=w, **facts) for w in weights])
                label = f"{100 * share:g} % labelled, {penalty}"
                axis.plot(x, values.mean(axis=1), style, color=f"C{k}", label=label, markersize=4)
            model = "margin" if loss == "hinge" else "ridge"
            axis.set(title=f"{network}, {model}", ylabel="AUC-ROC" if metric == "roc_auc" else "AUC-PR")
            axis.set_xticks(x, [f"{w:g}" for w in weights])
            axis.grid(alpha=0.3)
    axes[0, 0].legend(fontsize=6)
    for axis in axes[-1]:
        axis.set_xlabel("weight of the penalty")
    figure.tight_layout()
    save_figure(figure, name)


def quick(folder):
    """Figures of a small piece: a short run on few samples, see ``common.figures_of``."""
    with smaller(__name__, SHARES={"own": (0.2,), "Cora": (0.2,)}, ALPHAS=ALPHAS[1::2]):
        return figures_of(main, ["value"], "network", "method", "loss", "penalty", "metric", data=folder)


def main():
    options = arguments(__doc__, data="")
    end = "_quick" if options.quick else ""
    repetitions, few, size, shares, weights = 5, 3, 1458, None, WEIGHTS
    if end:
        repetitions, few, size, shares, weights = 1, 1, 700, (0.2,), (0.0, 1.0)
    rows = list(rows_of_table3(options.data, SHARES, repetitions, size, shares))
    write_csv(f"brouard2016_table3{end}", rows)
    print(known_links(rows), table3(rows), sep="\n\n", flush=True)
    rows = list(rows_of_figure5(options.data, ("shared", "Cora"), few, size, shares or (0.05, 0.1), weights))
    write_csv(f"brouard2016_figure5{end}", rows)
    print(figure5(rows))
    plot_figure5(rows, weights, f"brouard2016_figure5{end}")


if __name__ == "__main__":
    main()
