"""Hidden links, and labels from few labelled nodes, in the small networks of networkx.

Links: a random fifth of the links is hidden, and every pair without a known link is scored. The measures compare the
scores of hidden links with those of pairs that are not linked. Nodes have no features. networkx's scores count common
neighbours in several ways; LinkPredictor learns the weights of such scores and others from the known links. The
fourth network links women to the events they attended, and only pairs of a woman and an event are scored: these have
no common neighbours, so that networkx's scores are all 0.

Labels: the karate club split into two parties; the parties of some members are known, and the others are predicted
from the links. ``manifold`` is the weight of the network's penalty, fixed at 1 here.

Prints tables, means of 10 draws with their standard errors, and writes networks.png beside this file. Needs networkx.
"""

import os
import time
from pathlib import Path

import matplotlib.pyplot as plt
import networkx as nx
import numpy as np
from matplotlib.patheffects import withStroke
from sklearn.neighbors import KNeighborsClassifier
from sklearn.semi_supervised import LabelSpreading

from hilbertlearn import LinkPredictor, StructuredPredictor, metrics

PICTURE = Path(__file__).with_name("networks.png")
DRAWS, HIDDEN = 10, 0.2
NETWORKS = {
    "Les Misérables": nx.les_miserables_graph,
    "karate club": nx.karate_club_graph,
    "Florentine families": nx.florentine_families_graph,
    "women and events": nx.davis_southern_women_graph,
}
INK, WARM, COOL = "#222222", "#d1495b", "#00798c"


# ---------------------------------------------------------------- links


def ours(adjacency):
    return LinkPredictor().fit(None, adjacency).pair_scores()


def theirs(score):
    """Scores (n, n) of a function of networkx that scores pairs of nodes."""

    def scores(adjacency):
        out = np.zeros(adjacency.shape)
        pairs = list(zip(*np.triu_indices(len(out), 1), strict=True))  # networkx iterates over them twice
        for u, v, value in score(nx.from_numpy_array(adjacency), pairs):
            out[u, v] = value
        return out

    return scores


METHODS = {
    "LinkPredictor()": ours,
    "Adamic-Adar": theirs(nx.adamic_adar_index),
    "resource allocation": theirs(nx.resource_allocation_index),
    "Jaccard": theirs(nx.jaccard_coefficient),
    "preferential attachment": theirs(nx.preferential_attachment),
}


def hide(adjacency, seed):
    """The adjacency matrix without a fifth of its links, and the mask of pairs i < j without a known link."""
    rng = np.random.default_rng(seed)
    links = np.argwhere(np.triu(adjacency))
    gone = links[rng.permutation(len(links))[: round(HIDDEN * len(links))]]
    known = adjacency.copy()
    known[gone[:, 0], gone[:, 1]] = known[gone[:, 1], gone[:, 0]] = 0
    return known, np.triu(known == 0, k=1)


def can_be_linked(network):
    """Mask (n, n) of the scored pairs: all pairs, or pairs of different kinds if there are two kinds of nodes."""
    kind = np.array([side or 0 for _, side in network.nodes(data="bipartite")])
    return kind[:, None] != kind if kind.any() else np.ones((len(kind), len(kind)), dtype=bool)


def links():
    """AUC, average precision and seconds (networks, methods, draws, 3)."""
    out = np.empty((len(NETWORKS), len(METHODS), DRAWS, 3))
    for i, network in enumerate(NETWORKS.values()):
        adjacency, possible = nx.to_numpy_array(network(), weight=None), can_be_linked(network())
        for draw in range(DRAWS):
            known, asked = hide(adjacency, draw)
            asked &= possible
            for j, method in enumerate(METHODS.values()):
                start = time.perf_counter()
                scores = method(known)
                seconds = time.perf_counter() - start
                quality = [f(adjacency, scores, asked) for f in (metrics.link_roc_auc, metrics.link_average_precision)]
                out[i, j, draw] = [*quality, seconds]
    return out


def with_error(values):
    """Mean over draws, with its standard error."""
    return f"{np.mean(values):.3f} ± {np.std(values, ddof=1) / np.sqrt(len(values)):.3f}"


def print_links(found):
    for k, title in enumerate(("Hidden links: area under ROC", "Hidden links: average precision")):
        print(f"\n{title:34}" + "".join(f"{name:>21}" for name in NETWORKS) + f"{'seconds':>9}")
        for j, name in enumerate(METHODS):
            cells = "".join(f"{with_error(found[i, j, :, k]):>21}" for i in range(len(NETWORKS)))
            print(f"{name:34}{cells}{found[:, j, :, 2].mean():9.3f}")
        means = found[..., k].mean(axis=2)
        print(f"{'best':34}" + "".join(f"{list(METHODS)[j].strip():>21.20}" for j in means.argmax(axis=1)))


# ---------------------------------------------------------------- labels


def by_structured(network, known, manifold=0.0):
    adjacency = nx.to_numpy_array(network, weight=None)  # weights are ignored by all methods
    X = adjacency + np.eye(len(network))
    return np.array(StructuredPredictor(graph=adjacency, manifold=manifold).fit(X, known).predict(X))


def by_spreading(network, known):
    adjacency = nx.to_numpy_array(network, weight=None)
    labels = np.array([-1 if label is None else label for label in known])
    model = LabelSpreading(lambda X, Z: adjacency)  # a kernel of indices, each of which is a node
    return model.fit(np.arange(len(labels))[:, None], labels).transduction_


def by_path(network, known):
    """The label of the nearest node that has one."""
    steps = np.array(nx.floyd_warshall_numpy(network, weight=None))
    seen = np.array([label is not None for label in known])
    nearest = KNeighborsClassifier(1, metric="precomputed").fit(
        steps[np.ix_(seen, seen)], [label for label in known if label is not None]
    )
    return nearest.predict(steps[:, seen])


LABELLERS = {
    "StructuredPredictor, manifold": lambda network, known: by_structured(network, known, manifold=1.0),
    "StructuredPredictor()": by_structured,
    "LabelSpreading": by_spreading,
    "nearest by path": by_path,
}
KNOWN = (1, 2, 4)  # labels of each party


def parties():
    network = nx.karate_club_graph()
    return network, np.array([int(club == "Officer") for _, club in network.nodes(data="club")])


def labels():
    """Shares of right labels among nodes without one, and seconds (numbers of labels, methods, draws, 2)."""
    network, truth = parties()
    out = np.empty((len(KNOWN), len(LABELLERS), DRAWS, 2))
    for i, number in enumerate(KNOWN):
        for draw in range(DRAWS):
            order = np.random.default_rng(draw).permutation(len(truth))
            seen = np.concatenate([order[truth[order] == party][:number] for party in (0, 1)])
            known = [int(truth[v]) if v in seen else None for v in range(len(truth))]
            asked = np.setdiff1d(order, seen)
            for j, method in enumerate(LABELLERS.values()):
                start = time.perf_counter()
                predicted = method(network, known)
                out[i, j, draw] = np.mean(predicted[asked] == truth[asked]), time.perf_counter() - start
    return out


def print_labels(found):
    heads = "".join(f"{f'{number} known of each':>21}" for number in KNOWN)
    print(f"\n{'Karate club: share right':34}{heads}{'seconds':>9}")
    for j, name in enumerate(LABELLERS):
        cells = "".join(f"{with_error(found[i, j, :, 0]):>21}" for i in range(len(KNOWN)))
        print(f"{name:34}{cells}{found[:, j, :, 1].mean():9.3f}")


# ---------------------------------------------------------------- picture


def draw_links(axis):
    """Les Misérables: known links, and as many predicted links as hidden ones, right and wrong."""
    network = nx.les_miserables_graph()
    adjacency = nx.to_numpy_array(network, weight=None)
    known, _ = hide(adjacency, 0)
    n_hidden, names = int((adjacency - known).sum() / 2), list(network)
    seen = nx.relabel_nodes(nx.from_numpy_array(known), dict(enumerate(names)))
    guessed = np.zeros(adjacency.shape, dtype=bool)
    for u, v, _ in LinkPredictor().fit(seen).predict_links(top_k=n_hidden):
        guessed[names.index(u), names.index(v)] = True
    hidden = np.triu(adjacency - known) > 0
    place = nx.kamada_kawai_layout(nx.from_numpy_array(adjacency))
    degree = adjacency.sum(axis=0)
    drawn = nx.from_numpy_array(known)
    nx.draw_networkx_edges(drawn, place, ax=axis, edge_color="0.85", width=0.7)
    for mask, colour, style, label in (
        (hidden & guessed, COOL, "-", "hidden, predicted"),
        (hidden & ~guessed, INK, ":", "hidden, not predicted"),
        (guessed & ~hidden, WARM, "-", "predicted wrongly"),
    ):
        pairs = np.argwhere(mask)
        nx.draw_networkx_edges(drawn, place, pairs, ax=axis, edge_color=colour, style=style, width=1.2)
        axis.plot([], [], color=colour, ls=style, label=f"{label} ({len(pairs)})")
    nx.draw_networkx_nodes(drawn, place, ax=axis, node_size=6 + 5 * degree, node_color="0.45", linewidths=0)
    for name in ("Valjean", "Gavroche", "Fantine", "Myriel"):
        text = axis.annotate(
            name, place[names.index(name)], xytext=(6, 6), textcoords="offset points", fontsize=8, weight="bold"
        )
        text.set_path_effects([withStroke(linewidth=2.5, foreground="white")])
    axis.legend(frameon=False, fontsize=8, loc="lower left")
    axis.set_title(f"Les Misérables: {n_hidden} links hidden, as many guessed", fontsize=10)
    axis.axis("off")


def points(axis, names, values, title):
    """Means over draws (names, draws), with standard errors; ours in colour."""
    means, errors = values.mean(axis=1), values.std(axis=1, ddof=1) / np.sqrt(values.shape[1])
    for row, (name, mean, error) in enumerate(zip(names, means, errors, strict=True)):
        colour = COOL if name.startswith(("Link", "Structured")) else "0.45"
        axis.errorbar(mean, row, xerr=error, fmt="o", color=colour, ms=6, lw=1.5)
    axis.set_yticks(range(len(names)), [name.strip() for name in names], fontsize=8)
    axis.set_xlim(0.4, 1)
    axis.set_ylim(len(names) - 0.5, -0.5)
    axis.grid(axis="x", color="0.92")
    axis.set_title(title, fontsize=10)
    axis.spines[["top", "right"]].set_visible(False)


def draw(found, named):
    figure = plt.figure(figsize=(13, 5), layout="constrained")
    grid = figure.add_gridspec(2, 3, width_ratios=[2, 1, 1])
    draw_links(figure.add_subplot(grid[:, 0]))
    for i, name in enumerate(("Les Misérables", "karate club", "women and events")):
        axis = figure.add_subplot(grid[i // 2, 1 + i % 2])
        points(axis, list(METHODS), found[list(NETWORKS).index(name), :, :, 0], f"{name}: AUC")
    points(figure.add_subplot(grid[1, 2]), list(LABELLERS), named[1, :, :, 0], "club, 2 labels per party: share right")
    part = PICTURE.with_suffix(".part")
    figure.savefig(part, format="png", dpi=120)
    os.replace(part, PICTURE)
    print(f"\nwrote {PICTURE.name}")


def main():
    print(f"{DRAWS} draws, {HIDDEN:.0%} of the links hidden; means and their standard errors")
    found, named = links(), labels()
    print_links(found)
    print_labels(named)
    draw(found, named)


if __name__ == "__main__":
    main()
