"""Scorers of scikit-learn for functions in any container."""

from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.metrics import get_scorer

from ..data.functions import IrregularFunctions, has_points, read_functions, same_points


class FunctionalScorer(BaseEstimator):
    """A scorer of scikit-learn, for functions on a common grid.

    Scikit-learn's own scorers take arrays (n, m) without gaps and fail at scikit-fda's containers, at NaN and at
    several curves a sample. This one scores the values at each point of the grid, where they were observed, and gives
    the mean over points: without gaps what scikit-learn gives for the array of values.

    Parameters
    ----------
    scoring : str, default="r2"
        Name of a scorer of scikit-learn that goes with several outputs, such as "r2" or "neg_mean_squared_error".

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
        seen = np.isfinite(T)
        if seen.all():
            return _scored(scorer, T, P, sample_weight)
        scores = [
            _scored(scorer, T[own, j], P[own, j], None if sample_weight is None else np.asarray(sample_weight)[own])
            for j, own in enumerate(seen.T)
            if own.any()
        ]
        if not scores:
            raise ValueError("y has no observed value to score; give at least one")
        return float(np.mean(scores))


def _table(functions, name):
    """Axes, None if they are not known, and values (n, m) at all points and of all curves."""
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
    (axes, T), (others, P) = true, predicted
    known = axes is not None and others is not None
    if T.shape != P.shape or (known and not all(map(same_points, axes, others))):
        raise ValueError(
            f"scoring: y and the prediction must have values at the same points, got {T.shape} and {P.shape}; give y "
            "on the grid of the training outputs, or use scoring=None, the model's own score"
        )


def _scored(scorer, true, predicted, sample_weight):
    given = {} if sample_weight is None else {"sample_weight": sample_weight}
    return float(scorer(_Predicted(predicted), None, true, **given))


class _Predicted(RegressorMixin, BaseEstimator):
    """Predictions made elsewhere, in the form a scorer asks for."""

    def __init__(self, predictions):
        self.predictions = predictions

    def predict(self, X):
        return self.predictions
