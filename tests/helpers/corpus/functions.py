"""FunctionalRegressor: spaces, gaps, points of their own, several curves, robust fits, other regressors."""

import numpy as np
from sklearn.linear_model import Ridge

from hilbertlearn import FunctionalRegressor, losses, outlier_report, spaces

from .case import ITERATED, Case
from .data import (
    CURVE_GAPS,
    CURVE_OUTLIERS,
    CURVES,
    IMAGES,
    IRREGULAR,
    NEW,
    SEVERAL,
    SQUARE,
    T,
    X,
)

_SOLVED = {"tol": 1e-12, "max_iter": 20_000}


def functional(**settings):
    return FunctionalRegressor(**{"kernel": "rbf", "gamma": 0.2, "alpha": 1e-3, "grid": T, **settings})


def case(y=CURVES, **settings):
    return Case(functional(**settings), X, y, NEW, **(ITERATED if "loss" in settings else {}))


def in_space(space, y=CURVES, **settings):
    return case(y, space=space, **settings)


def defaults(y, **settings):
    return Case(FunctionalRegressor(**settings), X, y, NEW)


def _deviating(model, new):
    """Where curves deviate, by the outlier report."""
    return outlier_report(model)[["held_back", "loo_residual", "start", "n_points"]]


def _between(model, new):
    """Predictions at other points than those of the grid."""
    return model.predict(new, np.linspace(0.05, 1.9, 7))


def _residuals(model, new):
    return model.loo_residuals()


CASES = {
    "defaults": defaults(CURVES),
    "defaults, gaps": defaults(CURVE_GAPS, grid=T),
    "defaults, irregular": Case(
        FunctionalRegressor(grid=T, tol=1e-12),
        X,
        IRREGULAR,
        NEW,
        rtol=1e-6,
        reason="an ill-conditioned iterative solve",
    ),
    "defaults, several": defaults(SEVERAL),
    "defaults, images": defaults(IMAGES, grid=SQUARE),
    "defaults, outliers, huber": Case(
        FunctionalRegressor(grid=T, loss="huber", **_SOLVED),
        X,
        CURVE_OUTLIERS,
        NEW,
        asks=("predict", _deviating),
        needs=("pandas",),
        **ITERATED,
    ),
    "fixed": Case(functional(), X, CURVES, NEW, asks=("predict", _between, _residuals)),
    "gaps": case(CURVE_GAPS, **_SOLVED),
    "Grid, equal weights": in_space(spaces.Grid("equal")),
    "Eigen": in_space(spaces.Eigen(n_components=5)),
    "BSpline": in_space(spaces.BSpline(6)),
    "PrincipalComponents": in_space(spaces.PrincipalComponents(3)),
    "Wavelet": Case(functional(space=spaces.Wavelet("db2", level=1)), X, CURVES, NEW, needs=("pywt",)),
    "Dictionary": in_space(spaces.Dictionary(spaces.Fourier(4), eigenvalues=[1.0, 0.5, 0.25, 0.1])),
    "dictionary of a function": in_space(spaces.Dictionary(lambda t: np.array([np.ones_like(t), t, np.sin(6 * t)]))),
    "Fourier, huber": in_space(spaces.Fourier(5), CURVE_OUTLIERS, loss=losses.Huber(0.3), **_SOLVED),
    "irregular, projected": in_space(spaces.Fourier(5), IRREGULAR, irregular="projected"),
    "irregular, huber": in_space(spaces.Fourier(4), IRREGULAR, loss=losses.Huber(0.3), **_SOLVED),
    "huber, p=1": case(CURVE_OUTLIERS, loss=losses.Huber(0.3, p=1), operator=None, **_SOLVED),
    "regressor": Case(FunctionalRegressor(grid=T, space=spaces.Fourier(5), regressor=Ridge(0.1)), X, CURVE_GAPS, NEW),
}
