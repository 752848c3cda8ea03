"""OperatorKernelRegressor: defaults, gaps, weights, scales, alpha, precision, solvers."""

import numpy as np

from hilbertlearn import OperatorKernelRegressor, losses
from hilbertlearn.core import solvers

from .case import ITERATED, Case
from .data import GAPS, NEW, NUMBERS, OPERATOR, VECTORS, WEIGHTS, X


def vector(**settings):
    return OperatorKernelRegressor(**{"kernel": "rbf", "gamma": 0.2, "alpha": 0.02, **settings})


def case(y=VECTORS, **settings):
    return Case(vector(**settings), X, y, NEW, **(ITERATED if "loss" in settings else {}))


def _residuals(model, new):
    return model.loo_residuals()


_HUBER = {"loss": losses.Huber(0.3), "tol": 1e-12, "max_iter": 20_000}
# A problem that each solver can solve.
_SOLVED = {
    "spectral": {"operator": OPERATOR},
    "columns": {"operator": OPERATOR, "tol": 1e-13},
    "splitting": _HUBER,
    "proximal_newton": {"loss": losses.Pinball(0.3), "tol": 1e-10},
    "active_rows": {**_HUBER, "loss": losses.EpsilonSVR(0.4)},
    "conjugate_gradient": {"tol": 1e-13},
    "proximal_gradient": _HUBER,
    "box_qp": {"loss": "hinge", "tol": 1e-12},
}

CASES = {
    "defaults": Case(OperatorKernelRegressor(), X, VECTORS, NEW),
    "defaults, one number": Case(OperatorKernelRegressor(), X, NUMBERS, NEW, uses=("kernels.AverageKernel",)),
    "defaults, gaps": Case(OperatorKernelRegressor(), X, GAPS, NEW),
    "defaults, weights": Case(OperatorKernelRegressor(), X, VECTORS, NEW, {"sample_weight": WEIGHTS}),
    "leave-one-out, gaps": Case(vector(), X, GAPS, NEW, asks=("predict", _residuals)),
    "leave-one-out, operator": Case(vector(operator=OPERATOR), X, VECTORS, NEW, asks=("predict", _residuals)),
    "gaps, alpha auto, operator": case(GAPS, operator=OPERATOR, alpha="auto"),
    "weights, gaps, huber": Case(vector(**_HUBER), X, GAPS, NEW, {"sample_weight": WEIGHTS}, **ITERATED),
    "alpha per output": case(alpha="auto", alpha_per_output=True),
    "alpha of a schedule": case(alpha="n^-1/2"),
    "float32": Case(
        vector(),
        X.astype(np.float32),
        VECTORS,
        NEW.astype(np.float32),
        rtol=2e-5,
        reason="solved in single precision",
    ),
    "refined": case(precision="refined"),
    **{f"solver {name}": case(solver=name, **_SOLVED[name]) for name in solvers.SOLVERS},
}
