"""Output operators of vectors and of functions."""

import numpy as np

from hilbertlearn import FunctionalRegressor, OperatorKernelRegressor, operators

from .case import Case
from .data import CURVES, GAPS, NEW, SEVERAL, VECTORS, T, X


def vector(operator, **settings):
    return OperatorKernelRegressor(
        **{"kernel": "rbf", "gamma": 0.2, "alpha": 0.02, "operator": operator, "tol": 1e-12, **settings}
    )


def case(operator, y=VECTORS, **settings):
    return Case(vector(operator, **settings), X, y, NEW)


def curves(operator, y=CURVES, grid=T, **settings):
    return Case(
        FunctionalRegressor("rbf", **{"gamma": 0.2, "alpha": 1e-3, "grid": grid, "operator": operator, **settings}),
        X,
        y,
        NEW,
    )


CASES = {
    "identity by name": case("identity"),
    "covariance, defaults": Case(OperatorKernelRegressor(operator="covariance"), X, VECTORS, NEW),
    "covariance, gaps": case("covariance", GAPS),
    "TaskGraph, given": case(operators.TaskGraph(np.array([[1, 0.5, 0], [0.5, 1, 0.2], [0, 0.2, 1]]), mu=0.6)),
    "TaskGraph, similarity": Case(
        OperatorKernelRegressor(
            "rbf", gamma=0.2, alpha=0.02, output_metric=operators.TaskGraph(mu=0.4, form="similarity")
        ),
        X,
        VECTORS,
        NEW,
    ),
    "task_similarity": Case(
        vector(operators.task_similarity(VECTORS) + np.eye(3)), X, VECTORS, NEW, uses=("operators.task_similarity",)
    ),
    "Decay": case(operators.Decay(1.5)),
    "LearnedOperator": case(operators.LearnedOperator(max_iter=5)),
    "LevelCoupling": case(operators.LevelCoupling(None, levels=[0.2, 0.5, 0.8], coupling=2.0)),
    "AxisProduct": curves(operators.AxisProduct(operators.Integral("rbf", 30.0), operators.Covariance()), SEVERAL),
}
