"""Alternatives of scikit-learn for each task, and the scores of the comparison."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.compose import TransformedTargetRegressor
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.ensemble import ExtraTreesClassifier, ExtraTreesRegressor, HistGradientBoostingRegressor
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LogisticRegression, QuantileRegressor, RidgeCV
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from ...data.functions import IrregularFunctions
from ...metrics import d2_pinball, f1_by_sample, hamming_loss, kendall_tau
from .tasks import LEVELS

_ALPHAS = np.logspace(-4, 1, 6)
_RATES = np.logspace(-2, 0.5, 6)  # gamma of Gaussian kernels, times the number of inputs
_POINTS = 51  # of the grid for the interpolation of irregular curves
_TREES = 200  # of forests; twice as many double their time


class Alternatives(ABC):
    """The estimators of scikit-learn for one task, the conversion of outputs and predictions, and a score.

    The higher a score, the better.
    """

    score_name: str

    def __init__(self, outputs, loss, levels):
        """outputs : of all samples; loss, levels : settings of the model, or None"""
        self.loss, self.levels = loss, levels

    @abstractmethod
    def score(self, truth, predictions) -> float:
        """The score of predictions in the form of the outputs."""

    def decoded_score(self, truth, predictions) -> float:
        """The score of predictions of an alternative."""
        return self.score(truth, self.decode(predictions, truth))

    def estimators(self, n_features):
        """Pairs (name, estimator of scikit-learn)."""
        return _regressors(n_features)

    def targets(self, outputs):
        """Outputs in the form of the alternatives."""
        return outputs

    def scored(self, outputs, training):
        """The outputs of a test part that are scored, given those of the training part."""
        return outputs

    def decode(self, predictions, truth):
        """Predictions in the form of the outputs."""
        return predictions


class VectorAlternatives(Alternatives):
    """Outputs (n,) or (n, d). The score is R2, or for robust losses its analogue with absolute errors."""

    pooled = False  # whether errors are summed over outputs before the division, as for points of a curve

    def __init__(self, outputs, loss, levels):
        super().__init__(outputs, loss, levels)
        self.power = 2 if loss in (None, "squared") else 1
        self.score_name = "R2" if self.power == 2 else "D2 absolute"
        centre = np.nanmean if self.power == 2 else np.nanmedian
        self.spread = _by_output(np.nanmean, np.abs(outputs - _by_output(centre, outputs)) ** self.power)

    def targets(self, outputs):
        means = _by_output(np.nanmean, outputs)
        return np.where(np.isfinite(outputs), outputs, np.where(np.isfinite(means), means, 0.0))

    def scored(self, outputs, training):
        """The outputs, NaN for columns without training values, which nothing can be learnt about."""
        return np.where(np.isfinite(training).any(axis=0), outputs, np.nan)

    def score(self, truth, predictions):
        errors = np.abs(truth - np.asarray(predictions)) ** self.power
        scored = np.isfinite(errors).any(axis=0) & (self.spread > 0)
        means = np.nanmean(np.where(scored, errors, 0.0), axis=0)
        if self.pooled:
            return float(1 - np.sum(means[scored]) / np.sum(self.spread[scored]))
        return float(np.mean((1 - means / np.where(scored, self.spread, 1.0))[scored]))


def _by_output(mean, values):
    """``np.nanmean`` or ``np.nanmedian`` over samples; NaN, without a warning, for outputs without values."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        return mean(values, axis=0)


class CurveAlternatives(VectorAlternatives):
    """Curves (n, m) on a grid."""

    pooled = True


class IrregularCurveAlternatives(Alternatives):
    """Irregularly sampled curves, which alternatives get by linear interpolation."""

    score_name = "R2"

    def __init__(self, outputs, loss, levels):
        super().__init__(outputs, loss, levels)
        self.grid = np.linspace(outputs.domain[0], outputs.domain[1], _POINTS)
        mean = self.targets(outputs).mean(axis=0)
        self.spread = self._error(outputs, [np.interp(points, self.grid, mean) for points in outputs.points])

    def targets(self, outputs):
        rows = []
        for points, values in zip(outputs.points, outputs.values, strict=True):
            order = np.argsort(points)
            observed = order[np.isfinite(values[order])]
            rows.append(np.interp(self.grid, points[observed], values[observed]))
        return np.array(rows)

    def decode(self, predictions, truth):
        values = [np.interp(points, self.grid, row) for points, row in zip(truth.points, predictions, strict=True)]
        return IrregularFunctions(truth.points, values, truth.domain)

    def score(self, truth, predictions):
        return 1 - self._error(truth, predictions.values) / self.spread

    def _error(self, truth, values):
        return float(np.nanmean((np.concatenate(truth.values) - np.concatenate(values)) ** 2))


class RankingAlternatives(Alternatives):
    """Ranks (n, labels). Alternatives regress them, and predictions are sorted."""

    score_name = "Kendall's tau"

    def decode(self, predictions, truth):
        return np.argsort(np.argsort(predictions, axis=1, kind="stable"), axis=1)

    def score(self, truth, predictions):
        return float(kendall_tau(truth, predictions))


class LabelSetAlternatives(Alternatives):
    """Zeros and ones (n, labels). Alternatives regress them, and predictions are cut at one half."""

    @property
    def score_name(self):
        return "F1" if self.loss in ("f1", "jaccard") else "labels right"

    def targets(self, outputs):
        return outputs.astype(float)

    def decode(self, predictions, truth):
        return (np.asarray(predictions) > 0.5).astype(int)

    def score(self, truth, predictions):
        if self.score_name == "F1":
            return float(f1_by_sample(truth, predictions))
        return float(1 - hamming_loss(truth, predictions))


class ClassAlternatives(Alternatives):
    """Classes, or texts, (n,)."""

    score_name = "share right"

    def estimators(self, n_features):
        neighbours = GridSearchCV(KNeighborsClassifier(), {"n_neighbors": [3, 5, 10]}, cv=3)
        kernel = GridSearchCV(SVC(), {"C": np.logspace(-1, 3, 5), "gamma": _RATES / n_features}, cv=3)
        return [
            ("most frequent", DummyClassifier()),
            ("LogisticRegression", LogisticRegression(max_iter=1000)),
            ("SVC, GridSearchCV", kernel),
            ("extra trees", ExtraTreesClassifier(_TREES, random_state=0)),
            ("k neighbours", neighbours),
        ]

    def targets(self, outputs):
        return outputs.astype(str)

    def score(self, truth, predictions):
        return float(np.mean(np.asarray(truth).astype(str) == np.asarray(predictions, dtype=object).astype(str)))


class QuantileAlternatives(Alternatives):
    """Quantiles (n, levels) or (n, d, levels) of numbers."""

    score_name = "D2 pinball"

    def __init__(self, outputs, loss, levels):
        super().__init__(outputs, loss, LEVELS if levels is None else tuple(levels))

    def estimators(self, n_features):
        return [
            ("constant", QuantilesByLevel(DummyRegressor(strategy="quantile"), self.levels)),
            ("QuantileRegressor, linear", QuantilesByLevel(QuantileRegressor(alpha=1e-3), self.levels)),
            ("gradient boosting", QuantilesByLevel(HistGradientBoostingRegressor(loss="quantile"), self.levels)),
        ]

    def score(self, truth, predictions):
        return d2_pinball(truth, predictions, self.levels)


class QuantilesByLevel(RegressorMixin, BaseEstimator):
    """One regressor for each output and level, fitted to the rows where the output is known."""

    def __init__(self, regressor, levels):
        self.regressor, self.levels = regressor, levels

    def fit(self, X, y):
        self.single_, columns = y.ndim == 1, y.reshape(len(y), -1).T
        self.models_ = [[self._fit_one(X, column, level) for level in self.levels] for column in columns]
        return self

    def _fit_one(self, X, column, level):
        known = np.isfinite(column)
        return clone(self.regressor).set_params(quantile=level).fit(X[known], column[known])

    def predict(self, X):
        quantiles = [np.column_stack([model.predict(X) for model in row]) for row in self.models_]
        return quantiles[0] if self.single_ else np.stack(quantiles, axis=1)


def tuned_kernel_ridge(n_features):
    """scikit-learn's kernel ridge regression, outputs centred, alpha and gamma by 5 folds; for standardised inputs."""
    kernel = TransformedTargetRegressor(KernelRidge(kernel="rbf"), transformer=StandardScaler(with_std=False))
    grid = {"regressor__alpha": _ALPHAS, "regressor__gamma": _RATES / n_features}
    return GridSearchCV(kernel, grid, scoring="neg_mean_squared_error")


def _regressors(n_features):
    neighbours = GridSearchCV(KNeighborsRegressor(weights="distance"), {"n_neighbors": [3, 5, 10]}, cv=3)
    return [
        ("mean", DummyRegressor()),
        ("RidgeCV", make_pipeline(StandardScaler(), RidgeCV(np.logspace(-3, 4, 15)))),
        ("KernelRidge, GridSearchCV", tuned_kernel_ridge(n_features)),
        ("extra trees", ExtraTreesRegressor(_TREES, random_state=0)),
        ("k neighbours", neighbours),
    ]


_BY_TASK: dict[str, type[Alternatives]] = {
    "vector": VectorAlternatives,
    "functional": CurveAlternatives,
    "ranking": RankingAlternatives,
    "multilabel": LabelSetAlternatives,
    "structured": ClassAlternatives,
    "quantiles": QuantileAlternatives,
}


def alternatives_for(task, outputs, loss=None, levels=None) -> Alternatives:
    """The alternatives for a task."""
    irregular = isinstance(outputs, IrregularFunctions)
    return (IrregularCurveAlternatives if irregular else _BY_TASK[task])(outputs, loss, levels)
