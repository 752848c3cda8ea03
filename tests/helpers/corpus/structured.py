"""StructuredPredictor: output losses and their decoders, output kernels, candidates, losses of the embedding."""

import numpy as np
from sklearn.linear_model import Ridge

from hilbertlearn import StructuredPredictor, kernels, losses, output_losses, spaces

from .case import ITERATED, Case
from .data import (
    CLASSES,
    DIRECTIONS,
    HISTOGRAMS,
    LABEL_SETS,
    NEW,
    NUMBERS,
    RANKINGS,
    RATINGS,
    SETS,
    SIGNS,
    VECTORS,
    WEIGHTS,
    WORDS,
    X,
)

_TEXTS = [word + "abcd"[i % 4] * (i % 3) for i, word in enumerate(WORDS)]
_COSTS = np.array([[0.0, 1.0, 3.0], [2.0, 0.0, 1.0], [4.0, 1.0, 0.0]])


def structured(**settings):
    return StructuredPredictor(**{"kernel": "rbf", "gamma": 0.2, "alpha": 0.02, **settings})


def case(y, output_loss, asks=("predict",), **settings):
    return Case(structured(output_loss=output_loss, **settings), X, y, NEW, asks=asks)


def embedded(y, output_kernel, asks=("predict", "predict_scores"), **settings):
    loose = ITERATED if "loss" in settings else {}
    return Case(structured(output_kernel=output_kernel, **settings), X, y, NEW, asks=asks, **loose)


def defaults(y, **settings):
    return Case(StructuredPredictor(**settings), X, y, NEW)


def best_two(model, new):
    return [written for row in model.predict_topk(new, 2) for written in row]


def symmetric_difference(Z, Y):
    """An output loss of sets, a function of the user's."""
    return np.array([[len(z ^ y) for y in Y] for z in Z], dtype=float)


def most_weight(weights, outputs, loss):
    """A decoder of the user: the output with the largest weight."""
    return [outputs[i] for i in weights.argmax(axis=1)]


def _tree():
    import networkx as nx

    return nx.Graph([("root", "ab"), ("ab", "abc"), ("ab", "abd"), ("root", "xyz")])


_SCORED = ("predict", "predict_scores")
CASES = {
    "defaults, classes": defaults(CLASSES),
    "defaults, texts": defaults(_TEXTS),
    "defaults, label sets": defaults(LABEL_SETS),
    "defaults, rankings": defaults(RANKINGS, output_loss="kendall"),
    "defaults, output kernel": defaults(WORDS, output_kernel=kernels.NGrams(2)),
    "zero_one, weights": Case(
        structured(output_loss="zero_one"), X, CLASSES, NEW, {"sample_weight": WEIGHTS}, asks=_SCORED
    ),
    "hamming": case(LABEL_SETS, "hamming", (*_SCORED, best_two)),
    "f1": case(LABEL_SETS, "f1", _SCORED),
    "jaccard": case(SETS, "jaccard", _SCORED),
    "rank": case(RATINGS, "rank"),
    "kendall": case(RANKINGS, "kendall", _SCORED),
    "spearman": case(RANKINGS, "spearman", _SCORED),
    "hellinger": case(HISTOGRAMS, "hellinger"),
    "chi2": case(HISTOGRAMS, "chi2"),
    "wasserstein1d": case(HISTOGRAMS, "wasserstein1d"),
    "squared_error": case(VECTORS, "squared_error"),
    "absolute": case(NUMBERS, "absolute"),
    "huber": case(NUMBERS, output_losses.Huber(0.5)),
    "cauchy": case(NUMBERS, output_losses.Cauchy(0.5)),
    "geman_mcclure": case(NUMBERS, "geman_mcclure"),
    "fair": case(NUMBERS, "fair"),
    "l2_l1": case(NUMBERS, "l2_l1"),
    "pinball": case(NUMBERS, output_losses.Pinball(0.8)),
    "epsilon_absolute": case(NUMBERS, output_losses.EpsilonAbsolute(0.2)),
    "hinge": case(SIGNS, "hinge"),
    "logistic": case(SIGNS, "logistic"),
    "edit": case(_TEXTS, "edit", _SCORED),
    "diffusion, sphere": case(DIRECTIONS, output_losses.Diffusion(0.3)),
    "CostMatrix": case(CLASSES, output_losses.CostMatrix(_COSTS), _SCORED),
    "Hierarchy": Case(
        lambda: structured(output_loss=output_losses.Hierarchy(_tree())),
        X,
        WORDS,
        NEW,
        asks=_SCORED,
        needs=("networkx",),
    ),
    "KernelLoss": case(WORDS, output_losses.KernelLoss(kernels.NGrams(2)), _SCORED),
    "CustomLoss": case(SETS, output_losses.CustomLoss(symmetric_difference), _SCORED),
    "sum of losses": case(LABEL_SETS, output_losses.Hamming() + 0.5 * output_losses.F1(), _SCORED),
    "decoder of a user": case(WORDS, "zero_one", decoder=most_weight),
    "output kernel, gaussian decoder": Case(
        structured(output_kernel=kernels.NamedKernel("rbf", 0.3), decoder="gaussian"),
        X,
        VECTORS,
        NEW,
        rtol=1e-6,
        reason="the decoder climbs a sum of Gaussians by iterations",
    ),
    "output kernel, hinge": embedded(WORDS, kernels.NGrams(2), loss="hinge", tol=1e-12),
    "output kernel, huber": embedded(WORDS, kernels.NGrams(2), loss=losses.Huber(0.2), tol=1e-12),
    "output kernel and loss": embedded(LABEL_SETS, "linear", output_loss="hamming"),
    "OutputKernel, rank": embedded(_TEXTS, spaces.OutputKernel(kernels.NGrams(2), rank=4)),
    "regressor": embedded(WORDS, kernels.NGrams(2), regressor=Ridge(0.1)),
}
