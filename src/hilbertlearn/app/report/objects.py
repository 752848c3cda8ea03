"""Evaluation of objects: classes, rankings, label sets, texts and other outputs with a loss."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np

from ... import metrics
from ...data.objects import concatenate_outputs, distinct, read_outputs, take
from .charts import Axis, Chart, View, bin_edges, histogram, select_evenly
from .coverage import set_coverage
from .parts import NO_OUTPUTS, Meter, ModelEvaluation, ReportTable, SectionPart, Tile
from .text import NONE, format_count, format_number, format_percent, join_first, shorten

_EXAMPLES = 40  # rows of the table of examples at most
_CLASSES = 12  # classes of a confusion matrix at most
_LABELS = 40  # rows of the table of labels at most
_ERRORS = "zero-one loss"
_IN_SET = 4  # members of a set in a cell


@dataclass(frozen=True)
class OutputKind:
    """The kind of outputs in words, and their text."""

    name: str  # "class", "ranking", "label set", "histogram", "vector", "number", "text" or "object"
    labels: list[str] | None = None  # of rows
    classes: dict | None = None  # name by class

    @classmethod
    def from_model(cls, model, targets) -> OutputKind:
        rules = model.space.rules
        outputs = rules.outputs  # an array of rows, or a list
        if rules.classes is not None:
            return cls("class", classes=dict(zip(rules.classes, map(str, model.estimator.classes_), strict=True)))
        if isinstance(outputs, np.ndarray):
            return cls._from_rows(outputs, targets)
        if all(isinstance(item, (set, frozenset)) for item in outputs):
            return cls("label set")
        return cls("text" if all(isinstance(item, str) for item in outputs) else "object")

    @classmethod
    def _from_rows(cls, rows, targets):
        if rows.ndim == 1:
            return cls("number")
        d = rows.shape[1]
        labels = targets if targets and len(targets) == d else [f"label {j + 1}" for j in range(d)]
        in_order = np.sort(rows, axis=1)
        if d > 1 and (in_order == in_order[0]).all() and (np.diff(in_order[0]) == 1).all():
            return cls("ranking" if d > 2 or in_order[0, 0] == 1 else "label set", labels)
        if np.isin(rows, (0, 1)).all():
            return cls("label set", labels)
        return cls("histogram" if (rows >= 0).all() and np.allclose(rows.sum(axis=1), 1) else "vector", labels)

    @property
    def goal(self):
        """The predicted output in words."""
        size = len(self.labels or ())
        return {
            "class": f"one of {format_count(len(self.classes or ()), 'class', 'classes')}",
            "ranking": f"an order of {size} labels",
            "label set": f"which of {size} labels apply" if size else "a set of labels",
            "histogram": f"shares of {size} kinds",
            "vector": f"{size} numbers",
            "number": "one number",
            "text": "a text",
            "object": "an object",
        }[self.name]

    def write(self, output):
        """One output as text."""
        if self.classes is not None and output in self.classes:
            return shorten(self.classes[output])
        if self.name == "ranking":
            return shorten(" > ".join((self.labels or [])[j] for j in np.argsort(np.asarray(output), kind="stable")))
        if self.name == "label set":
            if self.labels is not None:
                labels = [label for label, value in zip(self.labels, output, strict=True) if value > 0]
            else:
                labels = sorted(map(str, output))
            return join_first(labels, most=8) if labels else "none"
        if self.name in ("histogram", "vector"):
            return join_first(np.asarray(output, dtype=float), format_number, most=8)
        if self.name == "number" or isinstance(output, (float, np.floating)):
            return format_number(output)
        return shorten(output)


def evaluate_objects(model, X, y, names, targets) -> ModelEvaluation:
    rules = model.space.rules
    predicted, _ = read_outputs(model.predict(X), like=rules.outputs)
    kind = OutputKind.from_model(model, targets)
    sets = None if model.conformal is None else model.conformal.predict_set(X)
    if y is None:
        table = examples_table(kind, None, predicted, None, sets, names)
        return ModelEvaluation(kind.goal, [], SectionPart("Predictions", NO_OUTPUTS, [table]))
    true, known = read_outputs(y, like=rules.outputs)
    known = known if rules.no_label is None else known & (true != rules.no_label)
    rows = np.flatnonzero(known)
    if not len(rows):
        raise ValueError("y has no known output to evaluate predictions by; give at least one, or y=None")
    pair = take(true, rows), take(predicted, rows)
    losses = np.full(len(known), np.nan)
    losses[rows] = rules.pairwise_losses(pair[1], pair[0])
    tiles, facts = scores(kind, rules, losses[rows], *pair)
    items = [
        examples_table(kind, true, predicted, losses, sets, names),
        *object_charts(kind, rules, losses[rows], *pair),
    ]
    coverage = None if sets is None else set_coverage(model, sets, _filled(true, predicted, known), rows)
    return ModelEvaluation(
        kind.goal,
        tiles,
        SectionPart("Predicted and true", "Examples are in order of their loss, the worst first.", items),
        losses,
        _loss_name(rules),
        facts,
        coverage,
        outputs=[_outputs(kind, rules, known)],
    )


def scores(kind, rules, losses, true, predicted) -> tuple[list[Tile], dict]:
    """Tiles and facts on the losses (n,) of known outputs."""
    mean, loss_name, exact = float(np.mean(losses)), _loss_name(rules), exact_share(true, predicted)
    facts: dict[str, Any] = {"score": -mean, "score_name": f"minus the mean {loss_name}", "loss": mean, "exact": exact}
    if kind.name == "class" and loss_name == _ERRORS:
        return [Tile("share of errors", format_number(mean), "0 is perfect")], facts
    tiles = [Tile(f"mean {loss_name}", format_number(mean), "0 is perfect")]
    if kind.name not in ("number", "vector", "histogram"):
        tiles.append(Tile("exactly right", format_percent(exact), f"of {format_count(len(losses), 'sample')}"))
    if kind.name == "ranking":
        facts["kendall_tau"] = float(metrics.kendall_tau(true, predicted))
        tiles.append(Tile("Kendall's tau", format_number(facts["kendall_tau"]), "1 is the true order, 0 is chance"))
    if kind.name == "label set" and kind.labels is not None:
        facts["f1"] = float(np.mean(metrics.f1_by_sample(true, predicted)))
        tiles.append(Tile("F1", format_number(facts["f1"]), "mean over samples; 1 is perfect"))
    return tiles, facts


def object_charts(kind, rules, losses, true, predicted) -> list:
    """Tables by class or label, and a histogram of the losses."""
    items: list = []
    if kind.name == "class" and len(kind.classes) <= _CLASSES:
        items.append(confusion_table(kind, true, predicted))
    elif kind.name == "label set" and kind.labels is not None:
        items.append(label_table(kind.labels, np.asarray(true), np.asarray(predicted)))
    if len(np.unique(losses)) > 2:
        bars = histogram("samples", losses, bin_edges(losses))
        axes = Axis(_loss_name(rules)), Axis("share of samples")
        items.append(Chart("Losses of the samples", *axes, [View("", [bars])]))
    return items


def _filled(true, predicted, known):
    """Outputs, with predictions where they are unknown, so that sets of all samples can be compared."""
    if isinstance(true, np.ndarray):
        return np.where(known.reshape(-1, *[1] * (true.ndim - 1)), true, predicted)
    return [a if is_known else b for a, b, is_known in zip(true, predicted, known, strict=True)]


def _loss_name(rules):
    """The loss in words."""
    if rules.loss is None:
        return "squared distance in the output kernel's space"
    name = type(rules.loss).__name__
    return {"ZeroOne": _ERRORS, "Hamming": "Hamming loss", "Kendall": "Kendall loss"}.get(name, f"{name} loss")


def exact_share(true, predicted) -> float:
    """Share of exact predictions."""
    _, group = distinct(concatenate_outputs([true, predicted]))
    return float(np.mean(group[: len(true)] == group[len(true) :]))


# ---------------------------------------------------------------- tables


def examples_table(kind, true, predicted, losses, sets, names) -> ReportTable:
    """Predictions beside the truth, from the largest loss to the smallest."""
    n = len(names)
    rows = np.arange(n)[:_EXAMPLES] if losses is None else _example_rows(losses)
    head, cells = ["predicted"], [[kind.write(predicted[i])] for i in rows]
    if true is not None:
        head += ["true", "loss"]
        for i, row in zip(rows, cells, strict=True):
            row += [kind.write(true[i]) if np.isfinite(losses[i]) else NONE, format_number(losses[i])]
    if sets is not None and hasattr(sets, "sets"):
        head.append("set")
        for i, row in zip(rows, cells, strict=True):
            row.append(NONE if sets[i] is None else join_first(sets[i], kind.write, _IN_SET, between=" | "))
    note = f"{len(rows)} of {n} samples." if len(rows) < n else ""
    return ReportTable("Examples", head, cells, [names[i] for i in rows], note, text=("predicted", "true", "set"))


def _example_rows(losses):
    """Positions of examples: the largest losses, and others at even steps down to the smallest."""
    order = select_evenly(losses, len(losses))
    if len(order) <= _EXAMPLES:
        return order
    half = _EXAMPLES // 2
    even_steps = np.linspace(half, len(order) - 1, _EXAMPLES - half).round().astype(int)
    return np.r_[order[:half], order[even_steps]]


def confusion_table(kind, true, predicted) -> ReportTable:
    """Confusion matrix, with classes that training has not seen."""
    pairs = Counter((kind.write(a), kind.write(b)) for a, b in zip(true, predicted, strict=True))
    names = list(dict.fromkeys([*map(shorten, kind.classes.values()), *sorted(name for name, _ in pairs)]))
    counts = np.array([[pairs[a, b] for b in names] for a in names])
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    rows = [[Meter(share, str(value)) for share, value in zip(*pair)] for pair in zip(shares, counts)]
    return ReportTable("Predicted (across) where each class is true (down)", names, rows, names, first="true")


def label_table(labels, true, predicted) -> ReportTable:
    """Frequency, recall and precision of each label."""
    rows = []
    for j in range(min(len(labels), _LABELS)):
        applies, is_predicted = true[:, j] > 0, predicted[:, j] > 0
        recall = float((applies & is_predicted).sum() / applies.sum()) if applies.any() else float("nan")
        precision = float((applies & is_predicted).sum() / is_predicted.sum()) if is_predicted.any() else float("nan")
        meters = [Meter(share, format_percent(share)) for share in (recall, precision)]
        rows.append([format_percent(applies.mean()), format_percent(is_predicted.mean()), *meters])
    head = ["true", "predicted", "recall", "precision"]
    return ReportTable("By label", head, rows, labels[:_LABELS], first="label")


def _outputs(kind, rules, known) -> ReportTable:
    share = float(np.mean(~known))
    row = [Meter(share, format_percent(share) if share else "none"), format_number(len(rules.outputs))]
    return ReportTable("Outputs", ["missing", "different in training"], [row], [kind.name], first="kind")
