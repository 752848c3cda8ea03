"""Evaluation of an autoencoder: codes of samples, and reconstruction errors."""

from __future__ import annotations

import numpy as np

from .charts import POINTS, Axis, Chart, Series, View, select_drawn
from .parts import ModelEvaluation, SectionPart, Tile
from .text import format_count, format_number


def evaluate_codes(model, X, y, names, targets) -> ModelEvaluation:
    autoencoder = model.estimator
    codes, inputs = model.predictor.transform(X), _inputs(model, X)
    V, reconstructed = autoencoder.coordinates(inputs), autoencoder.inverse_transform(codes)
    squares = np.sum((V - reconstructed) ** 2, axis=1)
    error, total = float(squares.mean()), float(np.mean(np.sum(V**2, axis=1)))
    facts = {"score": -error, "score_name": "minus the reconstruction error", "kept": 1 - error / total}
    tiles = [
        Tile("reconstruction error", format_number(error), "mean squared distance in the kernel's space"),
        Tile("kept", format_number(1 - error / total), "share of the squared length that codes keep"),
    ]
    path = np.asarray(autoencoder.objective_path_)
    descent = Series("objective", "line", np.arange(len(path)), path)
    items = [
        code_chart(codes, squares, names),
        Chart("Descent", Axis("iteration"), Axis("objective", log=bool(path.min() > 0)), [View("", [descent])]),
    ]
    return ModelEvaluation(
        format_count(codes.shape[1], "number") + " that each sample can be reconstructed from",
        tiles,
        SectionPart("Codes", "Similar samples have similar codes.", items),
        squares,
        "squared reconstruction error",
        facts,
        verb="find",
    )


def _inputs(model, X):
    """Inputs of the last step of a pipeline."""
    return X if model.predictor is model.estimator else model.predictor[:-1].transform(X)


def code_chart(codes, errors, names) -> Chart:
    """The first code against each of the others, or against the error if there is only one."""
    rows = select_drawn(errors, POINTS)
    drawn_names = [names[i] for i in rows]
    if codes.shape[1] == 1:
        view = View("", [Series("samples", "points", codes[rows, 0], errors[rows], names=drawn_names)])
        return Chart("Codes", Axis("code 1"), Axis("reconstruction error"), [view])
    views = [
        View(f"code {j + 1}", [Series("samples", "points", codes[rows, 0], codes[rows, j], names=drawn_names)])
        for j in range(1, codes.shape[1])
    ]
    return Chart("Codes", Axis("code 1"), Axis("other code"), views, "", "code" if len(views) > 1 else "")
