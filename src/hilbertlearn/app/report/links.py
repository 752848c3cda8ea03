"""Evaluation of links: ranking of pairs by scores, and the likeliest new links."""

from __future__ import annotations

import numpy as np

from ...data.graphs import Pairs, is_networkx, read_known_graph, row_names
from ...metrics import link_average_precision, link_roc_auc
from .charts import Axis, Chart, Series, View, bin_edges, histogram
from .coverage import partner_coverage
from .parts import NO_OUTPUTS, Figures, ModelEvaluation, ReportTable, SectionPart, Tile
from .text import format_count, format_number, format_percent

_TOP = 25  # predicted links in a table
_STEPS = 200  # points of the precision curve


def evaluate_links(model, X, y, names, targets) -> ModelEvaluation:
    predictor = model.estimator
    first, second, linked, scores, node_names = _pairs(predictor, X, y, names)
    goal = "which pairs of nodes are linked"
    top = likely_links_table(predictor, X, names)
    if linked is None:
        return ModelEvaluation(goal, [], SectionPart("Predictions", NO_OUTPUTS, [top] if top else []))
    auc, precision = float(link_roc_auc(linked, scores)), float(link_average_precision(linked, scores))
    facts = {"score": auc, "score_name": "area under the ROC curve", "average_precision": precision}
    facts |= {"n_pairs": len(linked), "n_links": int(linked.sum())}
    tiles = [
        Tile("ROC AUC", format_number(auc), "probability that a linked pair scores above another; 0.5 is random"),
        Tile("average precision", format_number(precision), f"{format_percent(linked.mean(), 1)} of pairs are linked"),
    ]
    items: list = [score_chart(scores, linked), precision_chart(scores, linked)]
    pair_names = [f"{node_names[i]} – {node_names[j]}" for i, j in zip(first, second, strict=True)]
    items += [disagreement_table(scores, linked, pair_names)] + ([top] if top else [])
    intro = f"{format_count(len(linked), 'pair')} of nodes, {format_count(linked.sum(), 'link')} among them."
    rows = [("nodes", format_number(len(node_names))), ("links among the pairs", format_number(linked.sum()))]
    return ModelEvaluation(
        goal,
        tiles,
        SectionPart("Predicted and true", intro, items),
        facts=facts,
        coverage=_coverage(model, X, first, second, linked),
        unit="pair",
        outputs=[Figures(rows)],
    )


def _pairs(predictor, X, y, names):
    """Positions (m,), (m,) of the pairs, labels (m,) or None, scores (m,), names of nodes."""
    if isinstance(X, Pairs):
        linked = X.linked if y is None else np.asarray(y)
        return X.first, X.second, (linked > 0).astype(int), predictor.decision_function(X), names
    if y is None and not is_networkx(X):
        return None, None, None, None, names
    nodes = row_names(X) if X is not None and not is_networkx(X) else predictor.nodes_
    graph = read_known_graph(y.graph() if isinstance(y, Pairs) else X if y is None else y, "y", nodes=nodes)
    scores = predictor.pair_scores(None if is_networkx(X) else X)[np.ix_(graph.rows, graph.rows)]
    first, second = np.triu_indices(len(graph), k=1)
    known = ~np.asarray(graph.hidden.toarray(), dtype=bool)[first, second]
    first, second = first[known], second[known]
    linked = (np.asarray(graph.adjacency.toarray())[first, second] > 0).astype(int)
    return first, second, linked, scores[first, second], [names[i] for i in graph.rows]


def score_chart(scores, linked) -> Chart:
    """Shares of scores among linked pairs and among others."""
    edges = bin_edges(scores)
    series = [
        histogram("not linked", scores[linked == 0], edges, "grey"),
        histogram("linked", scores[linked == 1], edges, "blue"),
    ]
    label = "score, log odds of a link"
    return Chart(
        "Scores of pairs", Axis(label), Axis("share of each"), [View("", series)], "A good model separates the two."
    )


def precision_chart(scores, linked) -> Chart:
    """Share of links among the pairs with the highest scores."""
    order = np.argsort(-scores, kind="stable")
    counts = np.arange(1, len(order) + 1)
    share = np.cumsum(linked[order]) / counts
    n_links = linked.sum()
    steps = np.unique(np.geomspace(1, len(order), min(_STEPS, len(order))).round().astype(int)) - 1
    series = [
        Series("links among the first", "line", counts[steps], share[steps]),
        Series("all pairs", "rule", y=[n_links / len(order)], color="grey", dashed=True),
    ]
    return Chart("The likeliest pairs", Axis("first pairs, by their score", log=True), Axis("share that is linked"),
                 [View("", series)])  # fmt: skip


def disagreement_table(scores, linked, names) -> ReportTable:
    """Links with the lowest scores, and other pairs with the highest scores."""
    low = np.flatnonzero(linked == 1)
    low = low[np.argsort(scores[low], kind="stable")][:5]
    high = np.flatnonzero(linked == 0)
    high = high[np.argsort(-scores[high], kind="stable")][:5]
    rows = [[format_number(scores[i]), "linked" if linked[i] else "not linked"] for i in (*low, *high)]
    pair_names = [names[i] for i in (*low, *high)]
    head = ["score", "in the data"]
    return ReportTable(
        "Where model and data disagree most", head, rows, pair_names, first="pair", text=("in the data",)
    )


def likely_links_table(predictor, X, names) -> ReportTable | None:
    """The unlinked pairs with the highest scores: of the nodes of fit, or of new nodes X."""
    new = not (X is None or isinstance(X, Pairs) or is_networkx(X))
    links = predictor.predict_links(X if new else None, top_k=_TOP)
    if not links:
        return None
    node_names = dict(zip(row_names(X), names, strict=True)) if new else {}
    pairs = [" – ".join(str(node_names.get(node, node)) for node in pair) for *pair, _ in links]
    title = "Likeliest links among these nodes" if new else "Likeliest links that are not known"
    return ReportTable(title, ["score"], [[format_number(score)] for *_, score in links], pairs, first="pair")


def _coverage(model, X, first, second, linked):
    """Coverage of the links by sets of partners."""
    if model.conformal is None or not isinstance(X, Pairs):
        return None
    partners = model.conformal.predict_set()
    links = np.flatnonzero(linked)
    covered = np.asarray(partners.contains([(X.nodes[first[i]], X.nodes[second[i]]) for i in links]))
    return partner_coverage(model, covered, partners.sizes)
