"""Links: how well scores tell linked pairs from others, and the likeliest new ones."""

from __future__ import annotations

import numpy as np

from ...data.graphs import Pairs, is_networkx, read_known_graph, row_names
from ...metrics import link_average_precision, link_roc_auc
from .charts import Axis, Chart, Series, View, edges_of, histogram
from .coverage import of_partners
from .parts import NOTHING_TRUE, Figures, Judged, Part, Table, Tile
from .text import count, number, percent

_TOP = 25  # predicted links in a table
_STEPS = 200  # points of a curve


def judge_links(model, X, y, names, targets) -> Judged:
    machine = model.machine
    first, second, linked, scores, called = _pairs(machine, X, y, names)
    goal = "which pairs of nodes are linked"
    top = likeliest(machine, X, names)
    if linked is None:
        return Judged(goal, [], Part("Predictions", NOTHING_TRUE, [top] if top else []))
    auc, precision = float(link_roc_auc(linked, scores)), float(link_average_precision(linked, scores))
    facts = {"score": auc, "score_name": "area under the ROC curve", "average_precision": precision}
    facts |= {"n_pairs": len(linked), "n_links": int(linked.sum())}
    tiles = [
        Tile("ROC AUC", number(auc), "chance that a linked pair scores above one that is not; 0.5 is a coin"),
        Tile("average precision", number(precision), f"{percent(linked.mean(), 1)} of the pairs are linked"),
    ]
    items: list = [score_chart(scores, linked), precision_chart(scores, linked)]
    pair_names = [f"{called[i]} – {called[j]}" for i, j in zip(first, second, strict=True)]
    items += [strange(scores, linked, pair_names)] + ([top] if top else [])
    coverage, more, tile = _coverage(model, X, first, second, linked)
    intro = f"{count(len(linked), 'pair')} of nodes, {count(linked.sum(), 'link')} among them."
    rows = [("nodes", number(len(called))), ("links among the pairs", number(linked.sum()))]
    return Judged(
        goal, tiles + tile, Part("Predicted and true", intro, items), None, "", facts | more, coverage,
        unit="pair", outputs=[Figures(rows)],
    )  # fmt: skip


def _pairs(machine, X, y, names):
    """Positions (m,), (m,) of the pairs judged, whether they are linked (m,) or None, scores (m,), names of nodes."""
    if isinstance(X, Pairs):
        linked = X.linked if y is None else np.asarray(y)
        return X.first, X.second, (linked > 0).astype(int), machine.decision_function(X), names
    if y is None and not is_networkx(X):
        return None, None, None, None, names
    nodes = row_names(X) if X is not None and not is_networkx(X) else machine.nodes_
    graph = read_known_graph(y.graph() if isinstance(y, Pairs) else X if y is None else y, "y", nodes=nodes)
    scores = machine.pair_scores(None if is_networkx(X) else X)[np.ix_(graph.rows, graph.rows)]
    first, second = np.triu_indices(len(graph), k=1)
    seen = ~np.asarray(graph.hidden.toarray(), dtype=bool)[first, second]
    first, second = first[seen], second[seen]
    linked = (np.asarray(graph.adjacency.toarray())[first, second] > 0).astype(int)
    return first, second, linked, scores[first, second], [names[i] for i in graph.rows]


def score_chart(scores, linked) -> Chart:
    """Shares of scores among linked pairs and among others."""
    edges = edges_of(scores)
    series = [
        histogram("not linked", scores[linked == 0], edges, "grey"),
        histogram("linked", scores[linked == 1], edges, "blue"),
    ]
    label = "score, log odds of a link"
    return Chart("Scores of pairs", Axis(label), Axis("share of each"), [View("", series)], "Apart is good.")


def precision_chart(scores, linked) -> Chart:
    """Share of links among the pairs with the highest scores."""
    order = np.argsort(-scores, kind="stable")
    number_of = np.arange(1, len(order) + 1)
    share = np.cumsum(linked[order]) / number_of
    found = np.cumsum(linked)[-1]
    some = np.unique(np.geomspace(1, len(order), min(_STEPS, len(order))).round().astype(int)) - 1
    series = [
        Series("links among the first", "line", number_of[some], share[some]),
        Series("all pairs", "rule", y=[found / len(order)], color="grey", dashed=True),
    ]
    return Chart("The likeliest pairs", Axis("first pairs, by their score", log=True), Axis("share that is linked"),
                 [View("", series)])  # fmt: skip


def strange(scores, linked, names) -> Table:
    """Links with the lowest scores, and pairs without one with the highest: where model and data disagree most."""
    low = np.flatnonzero(linked == 1)
    low = low[np.argsort(scores[low], kind="stable")][:5]
    high = np.flatnonzero(linked == 0)
    high = high[np.argsort(-scores[high], kind="stable")][:5]
    rows = [[number(scores[i]), "linked" if linked[i] else "not linked"] for i in (*low, *high)]
    called = [names[i] for i in (*low, *high)]
    head = ["score", "in the data"]
    return Table("Where model and data disagree most", head, rows, called, first="pair", text=("in the data",))


def likeliest(machine, X, names) -> Table | None:
    """The pairs with the highest scores: of nodes of fit that are not known to be linked, or among new nodes X."""
    new = not (X is None or isinstance(X, Pairs) or is_networkx(X))
    found = machine.predict_links(X if new else None, top_k=_TOP)
    if not found:
        return None
    called = dict(zip(row_names(X), names, strict=True)) if new else {}
    pairs = [" – ".join(str(called.get(node, node)) for node in pair) for *pair, _ in found]
    title = "Likeliest links among these nodes" if new else "Likeliest links that are not known"
    return Table(title, ["score"], [[number(score)] for *_, score in found], pairs, first="pair")


def _coverage(model, X, first, second, linked):
    """How many of the links judged are among the partners that conform: part, facts, tiles."""
    if model.conformal is None or not isinstance(X, Pairs):
        return None, {}, []
    partners = model.conformal.predict_set()
    links = np.flatnonzero(linked)
    held = np.asarray(partners.contains([(X.nodes[first[i]], X.nodes[second[i]]) for i in links]))
    return of_partners(model, held, partners.sizes)
