"""RegularizationPathCV: leave-one-out and folds, grids of constants of losses, rules, scorers."""

from sklearn.model_selection import KFold

from hilbertlearn import FunctionalRegressor, OperatorKernelRegressor, RegularizationPathCV, losses, metrics

from .case import ITERATED, Case
from .data import CURVES, GAPS, NEW, OUTLIERS, VECTORS, T, X

VECTOR = OperatorKernelRegressor("rbf", gamma=0.2)
ROBUST = OperatorKernelRegressor("rbf", gamma=0.2, loss=losses.Huber(0.3), tol=1e-12)
_ALPHAS = [1e-4, 1e-3, 1e-2, 1e-1]


def case(estimator=VECTOR, y=VECTORS, alphas=_ALPHAS, options=None, **settings):
    return Case(RegularizationPathCV(estimator, alphas, **settings), X, y, NEW, options or {})


def robust(**settings):
    """Folds are solved to ten times the tolerance."""
    return Case(RegularizationPathCV(ROBUST, **settings), X, OUTLIERS, NEW, **ITERATED)


CASES = {
    "defaults": Case(RegularizationPathCV(), X, VECTORS, NEW),
    "leave-one-out, gaps": case(y=GAPS),
    "one standard error": case(rule="one_standard_error", aggregate="median"),
    "huber": robust(alphas=_ALPHAS, cv=KFold(4)),
    "constants of a loss": robust(alphas=_ALPHAS, loss_params={"kappa": [0.1, 0.5]}, cv=KFold(3)),
    "constants auto": robust(alphas=[1e-2, 1e-1], loss_params={"kappa": "auto"}, cv=KFold(3)),
    "curves by a scorer": case(
        FunctionalRegressor("rbf", gamma=0.2, grid=T),
        CURVES,
        cv=KFold(3),
        scoring=metrics.FunctionalScorer("r2"),
    ),
}
