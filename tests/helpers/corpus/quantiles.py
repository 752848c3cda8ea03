"""QuantileRegressor: levels, couplings, order of quantiles, vectors, curves, gaps."""

import numpy as np

from hilbertlearn import QuantileRegressor

from .case import Case
from .data import CURVES, GAPS, NEW, NUMBERS, VECTORS, T, X

_SOLVED = {"tol": 1e-8, "max_iter": 20_000}
_ITERATED = {"rtol": 1e-5, "reason": "a loss without curvature: predictions are known to the root of the gap"}


def quantiles(levels=(0.2, 0.5, 0.8), **settings):
    return QuantileRegressor(
        levels, **{"kernel": "rbf", "gamma": 0.2, "alpha": 0.02, "coupling": 1.0, **_SOLVED, **settings}
    )


def case(y=NUMBERS, levels=(0.2, 0.5, 0.8), options=None, **settings):
    return Case(quantiles(levels, **settings), X, y, NEW, options or {}, **_ITERATED)


CASES = {
    "defaults": Case(QuantileRegressor(**_SOLVED), X, NUMBERS, NEW, **_ITERATED),
    "defaults, vectors": Case(
        QuantileRegressor((0.25, 0.75), **_SOLVED), X, np.c_[NUMBERS, CURVES[:, 5]], NEW, **_ITERATED
    ),
    "three levels": case(),
    "levels that share nothing": case(coupling=np.inf),
    "in order": Case(quantiles(non_crossing=True), X, NUMBERS, NEW, uses=("losses.NonCrossingPinball",), **_ITERATED),
    "vectors, covariance": case(VECTORS, levels=(0.3, 0.7), operator="covariance"),
    "vectors, gaps": case(GAPS, levels=(0.3, 0.7), operator=None),
    "curves": case(CURVES[:, ::2], levels=(0.3, 0.7), grid=T[::2], operator=None, alpha=0.1),
}
