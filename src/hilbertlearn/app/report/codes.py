"""Codes of an autoencoder: where samples are, and how well they are rebuilt."""

from __future__ import annotations

import numpy as np

from .charts import POINTS, Axis, Chart, Series, View, drawn
from .parts import Judged, Part, Tile
from .text import count, number


def judge_codes(model, X, y, names, targets) -> Judged:
    machine = model.machine
    codes, inputs = model.predictor.transform(X), _inputs(model, X)
    V, rebuilt = machine.coordinates(inputs), machine.inverse_transform(codes)
    squares = np.sum((V - rebuilt) ** 2, axis=1)
    error, total = float(squares.mean()), float(np.mean(np.sum(V**2, axis=1)))
    facts = {"score": -error, "score_name": "minus the reconstruction error", "kept": 1 - error / total}
    tiles = [
        Tile("reconstruction error", number(error), "mean squared distance in the kernel's space"),
        Tile("kept", number(1 - error / total), "share of the squared length that codes keep"),
    ]
    path = np.asarray(machine.objective_path_)
    descent = Series("objective", "line", np.arange(len(path)), path)
    items = [
        code_chart(codes, squares, names),
        Chart("Descent", Axis("iteration"), Axis("objective", log=bool(path.min() > 0)), [View("", [descent])]),
    ]
    return Judged(
        count(codes.shape[1], "number") + " that each sample can be rebuilt from",
        tiles,
        Part("Codes", "Near codes are samples that are alike.", items),
        squares,
        "squared distance from its reconstruction",
        facts,
        verb="find",
    )


def _inputs(model, X):
    """Inputs as the estimator at the end of a pipeline takes them."""
    return X if model.predictor is model.machine else model.predictor[:-1].transform(X)


def code_chart(codes, errors, names) -> Chart:
    """The first code against each of the others, or against the error where there is one."""
    rows = drawn(errors, POINTS)
    own = [names[i] for i in rows]
    if codes.shape[1] == 1:
        view = View("", [Series("samples", "points", codes[rows, 0], errors[rows], names=own)])
        return Chart("Codes", Axis("code 1"), Axis("reconstruction error"), [view])
    views = [
        View(f"code {j + 1}", [Series("samples", "points", codes[rows, 0], codes[rows, j], names=own)])
        for j in range(1, codes.shape[1])
    ]
    return Chart("Codes", Axis("code 1"), Axis("other code"), views, "", "code" if len(views) > 1 else "")
