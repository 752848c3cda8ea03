"""Losses, with constants given and chosen, with outliers, gaps and operators."""

import numpy as np

from hilbertlearn import OperatorKernelRegressor, losses, outlier_report

from .case import ITERATED, Case
from .data import GAPS, NEW, NUMBERS, OPERATOR, OUTLIERS, SIGNS, VECTORS, X


class SquarePlusNorm(losses.Loss):
    """A loss of a user: ``||r||^2 / 2 + scale ||r||``."""

    def __init__(self, scale=1.0):
        self.scale = scale

    def value(self, r):
        return r**2 / 2 + self.scale * r

    def conjugate(self, r):
        return np.maximum(r - self.scale, 0.0) ** 2 / 2

    def conjugate_slope(self, r):
        return np.maximum(r - self.scale, 0.0)

    def prox_conjugate(self, r, step):
        return np.where(r <= self.scale, r, (r + step * self.scale) / (1 + step))


class SquaredHinge:
    """Another function of the margin: ``max(0, 1 - t)^2 / 2``."""

    def value(self, t):
        return np.maximum(1 - t, 0.0) ** 2 / 2

    def conjugate(self, b):
        return np.where(b >= 0, b**2 / 2 - b, np.inf)

    def prox_conjugate(self, b, step):
        return np.maximum((b + step) / (1 + step), 0.0)


_SOLVED = {"tol": 1e-12, "max_iter": 20_000}


def vector(loss, **settings):
    return OperatorKernelRegressor(
        **{"kernel": "rbf", "gamma": 0.2, "alpha": 0.02, "loss": loss, **_SOLVED, **settings}
    )


def case(loss, y=OUTLIERS, **settings):
    return Case(vector(loss, **settings), X, y, NEW, **ITERATED)


def defaults(loss, y=OUTLIERS):
    """Kernel, gamma, alpha and constants chosen."""
    return Case(OperatorKernelRegressor(loss=loss, **_SOLVED), X, y, NEW, **ITERATED)


def _outliers(model, new):
    return outlier_report(model)[["held_back", "residual", "loo_residual", "leverage"]]


CASES = {
    "huber, defaults": defaults("huber"),
    "huber, defaults, clean": defaults("huber", VECTORS),
    "huber, defaults, gaps": defaults("huber", GAPS),
    "huber, p=1": case(losses.Huber(0.3, p=1)),
    "huber, gaps, operator": case(losses.Huber(0.3), GAPS, operator=OPERATOR),
    "huber auto": Case(vector("huber"), X, OUTLIERS, NEW, asks=("predict", _outliers), needs=("pandas",), **ITERATED),
    "epsilon": case(losses.EpsilonInsensitive(0.3)),
    "epsilon svr": case(losses.EpsilonSVR(0.3)),
    "epsilon svr, defaults": defaults("epsilon_svr"),
    "norm, defaults": defaults("norm"),
    "power": case(losses.PowerNorm(1.5)),
    "log, defaults": defaults("log"),
    "exp": case(losses.ExpNorm(2.0), VECTORS),
    "ball": case(losses.Ball(0.8), VECTORS),
    "pinball, defaults": Case(OperatorKernelRegressor(loss="pinball", tol=1e-10), X, NUMBERS, NEW, **ITERATED),
    "hinge of vectors": case(losses.Hinge(targets=np.sign), VECTORS),
    "squared hinge": case(losses.Hinge(SquaredHinge()), SIGNS),
    "convolution": case(losses.InfConv(losses.EpsilonInsensitive(0.2), losses.Norm(1.0))),
    "loss of a user": case(SquarePlusNorm(0.5)),
}
