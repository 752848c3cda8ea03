"""Objects: classes, rankings, sets of labels, texts, whatever has a loss; examples right and wrong."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np

from ... import metrics
from ...data.objects import concatenate_outputs, distinct, read_outputs, take
from .charts import Axis, Chart, View, edges_of, histogram, spread_out
from .coverage import of_sets
from .parts import NOTHING_TRUE, Judged, Meter, Part, Table, Tile
from .text import NONE, count, few, number, percent, short

_EXAMPLES = 40  # rows of the table of examples
_CLASSES = 12  # up to which there is a table of confusions
_LABELS = 40
_ERRORS = "zero-one loss"
_IN_SET = 4  # members of a set that are named


@dataclass(frozen=True)
class Kind:
    """What outputs are, in words, and how one of them is written."""

    name: str  # "class", "ranking", "label set", "histogram", "vector", "number", "text" or "object"
    labels: list[str] | None = None  # of rows
    classes: dict | None = None  # names by class, as they are read

    @classmethod
    def of(cls, model, targets) -> Kind:
        rules = model.space.rules
        outputs = rules.outputs  # as they are read: an array of rows, or a list
        if rules.classes is not None:
            return cls("class", classes=dict(zip(rules.classes, map(str, model.machine.classes_), strict=True)))
        if isinstance(outputs, np.ndarray):
            return cls._of_rows(outputs, targets)
        if all(isinstance(item, (set, frozenset)) for item in outputs):
            return cls("label set")
        return cls("text" if all(isinstance(item, str) for item in outputs) else "object")

    @classmethod
    def _of_rows(cls, rows, targets):
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
        """What is predicted, in words."""
        size = len(self.labels or ())
        return {
            "class": f"one of {count(len(self.classes or ()), 'class', 'classes')}",
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
            return short(self.classes[output])
        if self.name == "ranking":
            return short(" > ".join((self.labels or [])[j] for j in np.argsort(np.asarray(output), kind="stable")))
        if self.name == "label set":
            if self.labels is not None:
                own = [label for label, value in zip(self.labels, output, strict=True) if value > 0]
            else:
                own = sorted(map(str, output))
            return few(own, most=8) if own else "none"
        if self.name in ("histogram", "vector"):
            return few(np.asarray(output, dtype=float), number, most=8)
        if self.name == "number" or isinstance(output, (float, np.floating)):
            return number(output)
        return short(output)


def judge_objects(model, X, y, names, targets) -> Judged:
    rules = model.space.rules
    predicted, _ = read_outputs(model.predict(X), like=rules.outputs)
    kind = Kind.of(model, targets)
    sets = None if model.conformal is None else model.conformal.predict_set(X)
    if y is None:
        table = examples(kind, None, predicted, None, sets, names)
        return Judged(kind.goal, [], Part("Predictions", NOTHING_TRUE, [table]))
    true, known = read_outputs(y, like=rules.outputs)
    known = known if rules.no_label is None else known & (true != rules.no_label)
    rows = np.flatnonzero(known)
    if not len(rows):
        raise ValueError("y has no known output to judge predictions by; give at least one, or y=None")
    pair = take(true, rows), take(predicted, rows)
    losses = np.full(len(known), np.nan)
    losses[rows] = rules.pairwise_losses(pair[1], pair[0])
    tiles, facts = scores(kind, rules, losses[rows], *pair)
    items = [examples(kind, true, predicted, losses, sets, names), *pictures(kind, rules, losses[rows], *pair)]
    coverage, more, tile = None, {}, []
    if sets is not None:
        coverage, more, tile = of_sets(model, sets, _filled(true, predicted, known), rows)
    return Judged(
        kind.goal,
        tiles + tile,
        Part("Predicted and true", "Examples are in order of their loss, the worst first.", items),
        losses,
        _loss_name(rules),
        facts | more,
        coverage,
        outputs=[_outputs(kind, rules, known)],
    )


def scores(kind, rules, losses, true, predicted) -> tuple[list[Tile], dict]:
    """Tiles and facts on the losses (n,) of outputs that are known."""
    mean, loss_name, exact = float(np.mean(losses)), _loss_name(rules), exactly(true, predicted)
    facts: dict[str, Any] = {"score": -mean, "score_name": f"minus the mean {loss_name}", "loss": mean, "exact": exact}
    if kind.name == "class" and loss_name == _ERRORS:
        return [Tile("share of errors", number(mean), "0 is perfect")], facts
    tiles = [Tile(f"mean {loss_name}", number(mean), "0 is perfect")]
    if kind.name not in ("number", "vector", "histogram"):
        tiles.append(Tile("exactly right", percent(exact), f"of {count(len(losses), 'sample')}"))
    if kind.name == "ranking":
        facts["kendall_tau"] = float(metrics.kendall_tau(true, predicted))
        tiles.append(Tile("Kendall's tau", number(facts["kendall_tau"]), "1 is the true order, 0 is chance"))
    if kind.name == "label set" and kind.labels is not None:
        facts["f1"] = float(np.mean(metrics.f1_by_sample(true, predicted)))
        tiles.append(Tile("F1", number(facts["f1"]), "mean over samples; 1 is perfect"))
    return tiles, facts


def pictures(kind, rules, losses, true, predicted) -> list:
    """Tables by class or label, and the losses of the samples."""
    items: list = []
    if kind.name == "class" and len(kind.classes) <= _CLASSES:
        items.append(confusions(kind, true, predicted))
    elif kind.name == "label set" and kind.labels is not None:
        items.append(by_label(kind.labels, np.asarray(true), np.asarray(predicted)))
    if len(np.unique(losses)) > 2:
        bars = histogram("samples", losses, edges_of(losses))
        axes = Axis(_loss_name(rules)), Axis("share of samples")
        items.append(Chart("Losses of the samples", *axes, [View("", [bars])]))
    return items


def _filled(true, predicted, known):
    """Outputs with predictions in place of those that are not known, so that all can be asked for."""
    if isinstance(true, np.ndarray):
        return np.where(known.reshape(-1, *[1] * (true.ndim - 1)), true, predicted)
    return [one if seen else other for one, other, seen in zip(true, predicted, known, strict=True)]


def _loss_name(rules):
    """The loss in words."""
    if rules.loss is None:
        return "squared distance in the output kernel's space"
    name = type(rules.loss).__name__
    return {"ZeroOne": _ERRORS, "Hamming": "Hamming loss", "Kendall": "Kendall loss"}.get(name, f"{name} loss")


def exactly(true, predicted) -> float:
    """Share of outputs that were predicted exactly."""
    _, group = distinct(concatenate_outputs([true, predicted]))
    return float(np.mean(group[: len(true)] == group[len(true) :]))


# ---------------------------------------------------------------- tables


def examples(kind, true, predicted, losses, sets, names) -> Table:
    """Predictions beside the truth, from the largest loss to the smallest."""
    n = len(names)
    rows = np.arange(n)[:_EXAMPLES] if losses is None else _right_and_wrong(losses)
    head, cells = ["predicted"], [[kind.write(predicted[i])] for i in rows]
    if true is not None:
        head += ["true", "loss"]
        for i, own in zip(rows, cells, strict=True):
            own += [kind.write(true[i]) if np.isfinite(losses[i]) else NONE, number(losses[i])]
    if sets is not None and hasattr(sets, "sets"):
        head.append("set")
        for i, own in zip(rows, cells, strict=True):
            own.append(NONE if sets[i] is None else few(sets[i], kind.write, _IN_SET, between=" | "))
    note = f"{len(rows)} of {n} samples." if len(rows) < n else ""
    return Table("Examples", head, cells, [names[i] for i in rows], note, text=("predicted", "true", "set"))


def _right_and_wrong(losses):
    """Samples to show: the worst, and others down to those that are right."""
    order = spread_out(losses, len(losses))
    if len(order) <= _EXAMPLES:
        return order
    half = _EXAMPLES // 2
    others = np.linspace(half, len(order) - 1, _EXAMPLES - half).round().astype(int)
    return np.r_[order[:half], order[others]]


def confusions(kind, true, predicted) -> Table:
    """How often each class was predicted where each was true, those that training had not seen too."""
    pairs = Counter((kind.write(one), kind.write(other)) for one, other in zip(true, predicted, strict=True))
    names = list(dict.fromkeys([*map(short, kind.classes.values()), *sorted(one for one, _ in pairs)]))
    counts = np.array([[pairs[one, other] for other in names] for one in names])
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    rows = [[Meter(share, str(value)) for share, value in zip(*pair)] for pair in zip(shares, counts)]
    return Table("Predicted (across) where each class is true (down)", names, rows, names, first="true")


def by_label(labels, true, predicted) -> Table:
    """For each label how often it applies, is predicted, and is found."""
    rows = []
    for j in range(min(len(labels), _LABELS)):
        on, said = true[:, j] > 0, predicted[:, j] > 0
        found = float((on & said).sum() / on.sum()) if on.any() else float("nan")
        right = float((on & said).sum() / said.sum()) if said.any() else float("nan")
        meters = [Meter(share, percent(share)) for share in (found, right)]
        rows.append([percent(on.mean()), percent(said.mean()), *meters])
    head = ["true", "predicted", "found of the true", "right of the predicted"]
    return Table("By label", head, rows, labels[:_LABELS], first="label")


def _outputs(kind, rules, known) -> Table:
    share = float(np.mean(~known))
    row = [Meter(share, percent(share) if share else "none"), number(len(rules.outputs))]
    return Table("Outputs", ["missing", "different in training"], [row], [kind.name], first="kind")
