"""``LinkPredictor()`` with default settings against heuristics, on seven networks: hidden pairs, and new nodes.

Hidden pairs: a fifth of all pairs of nodes, drawn at random, linked or not, is hidden, and scored. New nodes: a fifth
of the nodes. If nodes have features, only the features of new nodes are known, and their pairs with each other and
with known nodes are scored. Otherwise the links of a new node to half of the known nodes are known, and its other
pairs are scored.

Three networks have features: the friends of a Facebook user (0/1), Cora's papers and the authors of NIPS (words, by
tf-idf). The other four are included in networkx and have none; in the fourth only pairs of a woman and an event are
linked, but no method has this information.

Heuristics: Adamic-Adar, resource allocation, Katz with half of the largest weight, and the raw similarity of features:
cosines, and distances, which order pairs as a Gaussian kernel does. Without features, cosines of rows of the adjacency
matrix, with 1 for the node itself.

    python experiments/networks.py --data FOLDER            10 draws, about half an hour, one thread
    python experiments/networks.py --data FOLDER --quick    2 draws of the small networks, seconds

Prints tables and writes output/networks.csv; with --quick the name ends in _quick.
"""

from __future__ import annotations

import itertools
import time

import networkx
import numpy as np
import scipy.sparse
from common import arguments, figures_of, progress, smaller, table, write_csv
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.metrics.pairwise import cosine_similarity, euclidean_distances

from hilbertlearn import LinkPredictor
from hilbertlearn.data.graphs import structural_similarity
from hilbertlearn.metrics import link_average_precision, link_roc_auc
from hilbertlearn.readers import load_cora, load_facebook_ego, load_nips_coauthorship

SMALL = {
    "Les Misérables": networkx.les_miserables_graph,
    "karate club": networkx.karate_club_graph,
    "women and events": networkx.davis_southern_women_graph,
    "Florentine families": networkx.florentine_families_graph,
}
SHARE = 0.2
OURS, BY_GRAPH = "LinkPredictor()", ("adamic_adar", "resource_allocation", "katz")
METRICS = {"AUC": link_roc_auc, "AP": link_average_precision}
TASKS = ("hidden pairs", "new nodes")
QUICK = tuple(SMALL)  # networks of a quick run


def load(name, data):
    """Features or None, and the adjacency matrix (n, n), sparse."""
    if name in SMALL:
        return None, networkx.to_scipy_sparse_array(SMALL[name](), weight=None, dtype=float, format="csr")
    if name == "Facebook":
        ego = load_facebook_ego(data / "facebook_ego", 0)
        return ego.X.astype(float), ego.adjacency
    if name == "Cora":
        cora = load_cora(data / "cora")
        return TfidfTransformer(sublinear_tf=True).fit_transform(cora.X), cora.adjacency
    nips = load_nips_coauthorship(data / "nips_coauthorship")
    nodes = np.flatnonzero(nips.at_least_two_links & (nips.author_word.sum(axis=1) > 0))
    words = TfidfTransformer(sublinear_tf=True).fit_transform(nips.author_word[nodes])
    return words, nips.adjacency[nodes][:, nodes]


def hidden_pairs(n, rng):
    """Mask (n, n), symmetric: a fifth of the pairs."""
    drawn = np.triu(rng.random((n, n)) < SHARE, k=1)
    return drawn | drawn.T


def half_of_new(n, rng):
    """Mask (n, n), symmetric: pairs of a fifth of the nodes, but for those with half of the others."""
    new = np.isin(np.arange(n), rng.permutation(n)[: round(SHARE * n)])
    kept = (rng.random((n, n)) < 0.5) & new[:, None] & ~new
    return (new[:, None] | new) & ~(kept | kept.T) & ~np.eye(n, dtype=bool)


def of_known(X, A, hidden):
    """Scores (n, n) by method, of a network with hidden pairs."""
    W = A.toarray()
    W[hidden] = np.nan
    start = time.perf_counter()
    scores = {OURS: LinkPredictor().fit(X, W).pair_scores()}
    seconds = time.perf_counter() - start
    seen = scipy.sparse.csr_array(np.nan_to_num(W))
    scores |= {name: structural_similarity(name, seen).block(slice(None), slice(None)) for name in BY_GRAPH}
    scores |= {"cosine": cosine_similarity(seen + scipy.sparse.eye_array(len(W)))} if X is None else raw(X)
    return scores, seconds


def of_new(X, A, new, known):
    """Scores (new, known + new) by method, of new nodes of which the features are known."""
    start = time.perf_counter()
    model = LinkPredictor().fit(X[known], A[known][:, known])
    scores = {OURS: np.hstack([model.decision_function(X[new]), model.pair_scores(X[new])])}
    seconds = time.perf_counter() - start
    columns = np.r_[known, new]
    scores |= {name: S[np.ix_(new, columns)] for name, S in raw(X).items()}
    return scores, seconds


def raw(X):
    """Similarities (n, n) of features."""
    return {"cosine": cosine_similarity(X), "distance": -euclidean_distances(X)}


def rows_of(name, data, draws):
    X, A = load(name, data)
    n = A.shape[0]
    for draw, task in itertools.product(range(draws), TASKS):
        rng = np.random.default_rng(draw)
        if task == "hidden pairs" or X is None:
            hidden = (hidden_pairs if task == "hidden pairs" else half_of_new)(n, rng)
            scores, seconds = of_known(X, A, hidden)
            truth, counted = A, np.triu(hidden, k=1)
        else:
            order = rng.permutation(n)
            new, known = np.split(order, [round(SHARE * n)])
            scores, seconds = of_new(X, A, new, known)
            truth = A[new][:, np.r_[known, new]]
            counted = np.ones(truth.shape, dtype=bool)
            counted[:, len(known) :] = np.triu(counted[:, len(known) :], k=1)
        for (method, found), (metric, score) in itertools.product(scores.items(), METRICS.items()):
            yield {
                "network": name,
                "task": task,
                "draw": draw,
                "method": method,
                "metric": metric,
                "value": score(truth, found, counted),
                "seconds": seconds if method == OURS else np.nan,
            }


def cell(values):
    """Mean over draws with its standard error; draws without a link do not count."""
    values = values[np.isfinite(values)]
    return f"{values.mean():.3f} ± {values.std(ddof=1) / np.sqrt(len(values)):.3f}"


def tables(rows):
    """For each task and metric a table of networks and methods, and the difference from the best heuristic."""
    for task, metric in itertools.product(TASKS, METRICS):
        own = [row for row in rows if row["task"] == task and row["metric"] == metric]
        methods = list(dict.fromkeys(row["method"] for row in own))
        lines = []
        for network in dict.fromkeys(row["network"] for row in own):
            values = {
                method: np.array([row["value"] for row in own if (row["network"], row["method"]) == (network, method)])
                for method in methods
            }
            values = {method: found for method, found in values.items() if len(found)}
            best = max((method for method in values if method != OURS), key=lambda method: np.nanmean(values[method]))
            shown = [cell(values[method]) if method in values else "" for method in methods]
            lines.append([network, *shown, f"{cell(values[OURS] - values[best])} ({best})"])
        print(f"\n{task}: {metric}\n")
        print(table(["network", *methods, "ours minus the best"], lines))
    seconds = {(row["network"], row["task"]): row["seconds"] for row in rows if row["method"] == OURS}
    print("\nseconds of a fit:", ", ".join(f"{name}, {task} {value:.2g}" for (name, task), value in seconds.items()))


def quick(folder):
    """Figures of a small piece: a short run on few samples, see ``common.figures_of``."""
    with smaller(__name__, QUICK=("karate club", "Facebook")):
        return figures_of(main, ["value"], "network", "task", "method", "metric", data=folder)


def main():
    options = arguments(__doc__, data="")
    end, draws, names = ("_quick", 2, QUICK) if options.quick else ("", 10, [*SMALL, "Facebook", "NIPS", "Cora"])
    rows = [row for name in progress(names, "networks") for row in rows_of(name, options.data, draws)]
    write_csv(f"networks{end}", rows)
    tables(rows)


if __name__ == "__main__":
    main()
