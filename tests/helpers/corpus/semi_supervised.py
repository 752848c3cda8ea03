"""Samples without outputs under the penalty of a graph."""

import numpy as np

from hilbertlearn import FunctionalRegressor, OperatorKernelRegressor, StructuredPredictor, kernels, losses

from .case import ITERATED, Case
from .data import CLASSES, CURVES, LINKS, NEW, UNLABELLED, T, X

_CURVES = np.where(np.arange(24)[:, None] % 3 == 1, np.nan, CURVES)
_CLASSES = np.where(np.arange(24) % 3 == 1, -1, CLASSES)


def vector(**settings):
    return OperatorKernelRegressor(**{"kernel": "rbf", "gamma": 0.2, "alpha": 0.02, "manifold": 0.1, **settings})


def case(**settings):
    return Case(vector(**settings), X, UNLABELLED, NEW, **(ITERATED if "loss" in settings else {}))


CASES = {
    "defaults": Case(OperatorKernelRegressor(manifold=0.1), X, UNLABELLED, NEW),
    "given graph": case(graph=LINKS),
    "Affinity, diffusion": case(graph=kernels.Affinity(None, ("diffusion", 0.5))),
    "huber": case(loss=losses.Huber(0.3), tol=1e-12),
    "curves": Case(
        FunctionalRegressor("rbf", gamma=0.2, alpha=1e-3, grid=T, manifold=0.1, space="fourier"), X, _CURVES, NEW
    ),
    "classes": Case(StructuredPredictor("rbf", gamma=0.2, alpha=0.02, manifold=0.1), X, _CLASSES, NEW, score=False),
}
