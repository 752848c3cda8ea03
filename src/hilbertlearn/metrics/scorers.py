"""scikit-learn's scorers for functions in any container."""

from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.metrics import get_scorer

from ..data.functions import IrregularFunctions, has_points, read_functions, same_points


class FunctionalScorer(BaseEstimator):
    """A scorer of scikit-learn, for functions on a common grid.

    scikit-learn's scorers take arrays (n, m) without gaps, and fail for scikit-fda's containers, NaN and several curves
    a sample. This scorer computes the score of the observed values at each grid point, and returns the mean over
    points. Without gaps it is the score of the array of values.

    Parameters
    ----------
    scoring : str, default="r2"
        Name of a multi-output scorer of scikit-learn, such as "r2" or "neg_mean_squared_error".

    References
    ----------
    - scikit-learn's user guide, Metrics and scoring: quantifying the quality of predictions.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.model_selection import cross_val_score
    >>> from hilbertlearn import FunctionalRegressor, metrics
    >>> X, t = np.linspace(1, 2, 12)[:, None], np.linspace(0, 1, 20)
    >>> Y = np.exp(-X * t)
    >>> Y[0, :5] = np.nan  # not observed
    >>> model, scorer = FunctionalRegressor(gamma=1.0, alpha=1e-6), metrics.FunctionalScorer("neg_mean_squared_error")
    >>> (cross_val_score(model, X, Y, cv=3, scoring=scorer) > -1e-3).tolist()
    [True, True, True]
    """

    def __init__(self, scoring="r2"):
        self.scoring = scoring

    def __call__(self, estimator, X, y, sample_weight=None):
        true, predicted = _table(y, "y"), _table(estimator.predict(X), "the prediction")
        _check_alike(true, predicted)
        scorer, (_, T), (_, P) = get_scorer(self.scoring), true, predicted
        is_observed = np.isfinite(T)
        if is_observed.all():
            return _score(scorer, T, P, sample_weight)
        scores = [
            _score(scorer, T[rows, j], P[rows, j], None if sample_weight is None else np.asarray(sample_weight)[rows])
            for j, rows in enumerate(is_observed.T)
            if rows.any()
        ]
        if not scores:
            raise ValueError("y has no observed value to score; give at least one")
        return float(np.mean(scores))


def _table(functions, name):
    """Axes, None for arrays, and values (n, m) at all points and of all curves."""
    if not has_points(functions):
        values = np.asarray(functions, dtype=float)
        return None, values.reshape(len(values), -1)
    data, _ = read_functions(functions, name=name)
    if isinstance(data, IrregularFunctions):
        raise ValueError(
            f"scoring: {name} has functions without a common grid, which have no score point by point; use "
            "scoring=None, the model's own score, or metrics.integrated_squared_error"
        )
    return data.axes, data.values.reshape(len(data), -1)


def _check_alike(true, predicted):
    """Raise unless both have values at the same points."""
    (axes, T), (others, P) = true, predicted
    have_axes = axes is not None and others is not None
    if T.shape != P.shape or (have_axes and not all(map(same_points, axes, others))):
        raise ValueError(
            f"scoring: y and the prediction must have values at the same points, got {T.shape} and {P.shape}; give y "
            "on the grid of the training outputs, or use scoring=None, the model's own score"
        )


def _score(scorer, true, predicted, sample_weight):
    options = {} if sample_weight is None else {"sample_weight": sample_weight}
    return float(scorer(_FixedPredictor(predicted), None, true, **options))


class _FixedPredictor(RegressorMixin, BaseEstimator):
    """An estimator that returns given predictions, as scorers expect."""

    def __init__(self, predictions):
        self.predictions = predictions

    def predict(self, X):
        return self.predictions
