"""What one would use of scikit-learn for each task, and the scores by which it is compared."""

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
_RATES = np.logspace(-2, 0.5, 6)  # of Gaussian kernels, over the number of inputs
_POINTS = 51  # of the grid that irregular curves are interpolated on
_TREES = 200


class Peers(ABC):
    """Alternatives for one task: outputs in the form that they take, predictions in the form of the outputs, a score.

    The higher a score, the better.
    """

    score_name: str

    def __init__(self, outputs, loss, levels):
        """outputs : of all samples; loss, levels : settings of the model, or None"""
        self.loss, self.levels = loss, levels

    @abstractmethod
    def score(self, truth, predictions) -> float:
        """How good predictions are."""

    def decoded_score(self, truth, predictions) -> float:
        """How good predictions of alternatives are, as they come."""
        return self.score(truth, self.decode(predictions, truth))

    def estimators(self, n_features):
        """Pairs (name, estimator of scikit-learn)."""
        return _regressors(n_features)

    def targets(self, outputs):
        """Outputs as estimators take them."""
        return outputs

    def scored(self, outputs, training):
        """Outputs of a test part that are scored, given those of the training part."""
        return outputs

    def decode(self, predictions, truth):
        """Predictions in the form of the outputs."""
        return predictions


class Numbers(Peers):
    """Outputs (n,) or (n, d): the share of their variance, or for robust losses of their absolute deviation."""

    pooled = False  # whether errors of all outputs are summed, as those of points of a curve are

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
        """The same, NaN for outputs that no training sample has: nothing can be learnt of them."""
        return np.where(np.isfinite(training).any(axis=0), outputs, np.nan)

    def score(self, truth, predictions):
        errors = np.abs(truth - np.asarray(predictions)) ** self.power
        seen = np.isfinite(errors).any(axis=0) & (self.spread > 0)
        means = np.nanmean(np.where(seen, errors, 0.0), axis=0)
        if self.pooled:
            return float(1 - np.sum(means[seen]) / np.sum(self.spread[seen]))
        return float(np.mean((1 - means / np.where(seen, self.spread, 1.0))[seen]))


def _by_output(mean, values):
    """``np.nanmean`` or ``np.nanmedian`` over samples; NaN, without a warning, for outputs that no sample has."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        return mean(values, axis=0)


class Curves(Numbers):
    """Curves (n, m) on a grid."""

    pooled = True


class IrregularCurves(Peers):
    """Curves at points of their own, which alternatives get by linear interpolation."""

    score_name = "R2"

    def __init__(self, outputs, loss, levels):
        super().__init__(outputs, loss, levels)
        self.grid = np.linspace(outputs.domain[0], outputs.domain[1], _POINTS)
        mean = self.targets(outputs).mean(axis=0)
        self.spread = self._error(outputs, [np.interp(own, self.grid, mean) for own in outputs.points])

    def targets(self, outputs):
        rows = []
        for points, values in zip(outputs.points, outputs.values, strict=True):
            order = np.argsort(points)
            seen = order[np.isfinite(values[order])]
            rows.append(np.interp(self.grid, points[seen], values[seen]))
        return np.array(rows)

    def decode(self, predictions, truth):
        values = [np.interp(own, self.grid, row) for own, row in zip(truth.points, predictions, strict=True)]
        return IrregularFunctions(truth.points, values, truth.domain)

    def score(self, truth, predictions):
        return 1 - self._error(truth, predictions.values) / self.spread

    def _error(self, truth, values):
        return float(np.nanmean((np.concatenate(truth.values) - np.concatenate(values)) ** 2))


class Rankings(Peers):
    """Ranks (n, labels); alternatives regress them, and labels are sorted by what they predict."""

    score_name = "Kendall's tau"

    def decode(self, predictions, truth):
        return np.argsort(np.argsort(predictions, axis=1, kind="stable"), axis=1)

    def score(self, truth, predictions):
        return float(kendall_tau(truth, predictions))


class LabelSets(Peers):
    """Zeros and ones (n, labels); alternatives regress them, cut at one half."""

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


class Classes(Peers):
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


class QuantileLevels(Peers):
    """Quantiles (n, levels) or (n, d, levels) of numbers."""

    score_name = "D2 pinball"

    def __init__(self, outputs, loss, levels):
        super().__init__(outputs, loss, LEVELS if levels is None else tuple(levels))

    def estimators(self, n_features):
        return [
            ("constant", _EachLevel(DummyRegressor(strategy="quantile"), self.levels)),
            ("QuantileRegressor, linear", _EachLevel(QuantileRegressor(alpha=1e-3), self.levels)),
            ("gradient boosting", _EachLevel(HistGradientBoostingRegressor(loss="quantile"), self.levels)),
        ]

    def score(self, truth, predictions):
        return d2_pinball(truth, predictions, self.levels)


class _EachLevel(RegressorMixin, BaseEstimator):
    """A regressor of quantiles for each output and level; rows where an output is missing are left out of its own."""

    def __init__(self, regressor, levels):
        self.regressor, self.levels = regressor, levels

    def fit(self, X, y):
        self.single_, columns = y.ndim == 1, y.reshape(len(y), -1).T
        self.models_ = [[self._fitted(X, column, level) for level in self.levels] for column in columns]
        return self

    def _fitted(self, X, column, level):
        seen = np.isfinite(column)
        return clone(self.regressor).set_params(quantile=level).fit(X[seen], column[seen])

    def predict(self, X):
        out = np.stack([np.column_stack([one.predict(X) for one in row]) for row in self.models_], axis=1)
        return out[:, 0] if self.single_ else out


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


_OF_TASK: dict[str, type[Peers]] = {
    "vector": Numbers,
    "functional": Curves,
    "ranking": Rankings,
    "multilabel": LabelSets,
    "structured": Classes,
    "quantiles": QuantileLevels,
}


def peers_of(task, outputs, loss=None, levels=None) -> Peers:
    """The alternatives for a task."""
    irregular = isinstance(outputs, IrregularFunctions)
    return (IrregularCurves if irregular else _OF_TASK[task])(outputs, loss, levels)
