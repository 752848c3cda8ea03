"""Real tables for ``defaults.py``: several outputs, rankings and label sets, with tuned alternatives."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import ExtraTreesRegressor
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics import make_scorer
from sklearn.model_selection import GridSearchCV, KFold, ParameterGrid, cross_val_predict, train_test_split
from sklearn.preprocessing import StandardScaler

from hilbertlearn import OperatorKernelRegressor, StructuredPredictor
from hilbertlearn.metrics import f1_by_sample, kendall_tau

TABLES = ("andro", "slump", "edm", "atp7d", "oes97", "osales", "scpf", "sf2")
RANKINGS = ("iris", "bodyfat", "wisconsin", "vowel", "segment")
SETS = ("birds", "medical", "enron")
RIDGE = ("regressor__alpha", "regressor__gamma")  # settings of KernelRidge that are chosen
QUICK_SPLITS = 2
THRESHOLDS = np.linspace(0.05, 0.95, 19)
FOLDS = KFold(5, shuffle=True, random_state=0)  # shuffled: samples may come in an order


@dataclass
class Case:
    """One fit to compare: training and test data, our model with nothing set, and peers.

    score : function (Y_test, predicted) -> number
    peers : by name, functions without arguments that return what ``measure`` does
    """

    data: str
    split: int
    model: Any
    X: Any
    Y: Any
    X_test: Any
    Y_test: Any
    score: Any
    peers: dict = field(default_factory=dict)

    def measure(self, model):
        """Score, seconds of processor time of the fit, and chosen settings of a model."""
        start = time.process_time()
        model.fit(self.X, self.Y)
        seconds = time.process_time() - start
        score = float(self.score(self.Y_test, model.predict(self.X_test)))
        return {"score": score, "seconds": seconds, "settings": chosen(model)}


def chosen(model):
    """Settings that a model or a search chose, as far as they are numbers."""
    found = {name: getattr(model, f"{name}_", None) for name in ("alpha", "gamma", "threshold")}
    found["kappa"] = getattr(getattr(model, "loss_", None), "kappa", None)
    found |= {name.split("__")[-1]: value for name, value in getattr(model, "best_params_", {}).items()}
    return {name: float(value) for name, value in found.items() if isinstance(value, (int, float))}


# ---------------------------------------------------------------- data


def multi_target(folder, quick):
    for name, split, X, X_test, Y, Y_test in thirds(folder / "multi_target", TABLES, "Y", quick):
        score = partial(relative_error, center=Y.mean(axis=0))
        case = Case(name, split, OperatorKernelRegressor(), X, Y, X_test, Y_test, score)
        search = tuned_ridge(X, quick, partial(standardised_score, scale=Y.std(axis=0)))
        yield with_peers(case, {"KernelRidge": search, "extra trees": trees(split, quick)})


def label_ranking(folder, quick):
    for name, split, X, X_test, ranks, ranks_test in thirds(folder / "label_ranking", RANKINGS, "ranks", quick):
        model = StructuredPredictor(output_loss="kendall")
        case = Case(name, split, model, X, ranks, X_test, ranks_test, kendall_tau)
        # peers predict values, and values have the order of their ranks
        search = tuned_ridge(X, quick, kendall_tau, with_std=False)
        yield with_peers(case, {"KernelRidge": search, "extra trees": trees(split, quick)})


def multi_label(folder, quick):
    for name in SETS[:1] if quick else SETS:
        X_all, Y_all, X_test, Y_test = read(folder / "multi_label", name, "X_train", "Y_train", "X_test", "Y_test")
        words = np.isin(X_all, (0, 1)).all(axis=0)
        n, parts = len(X_all), 1 if quick else 3
        some = [np.random.default_rng(seed).permutation(n)[: 2 * n // 3] for seed in range(parts)]
        for split, rows in enumerate([np.arange(n), *some]):
            title = name if split == 0 else f"{name}, two thirds"
            arrays = standardised(X_all[rows], X_test, keep=words)
            model = StructuredPredictor(output_loss="f1")
            case = Case(title, split, model, arrays[0], Y_all[rows], arrays[1], Y_test, f1_by_sample)
            ridges, forest = ridge_candidates(case.X, quick), [trees(split, quick)]
            peers = {
                "KernelRidge": LabelSets(ridges),
                "KernelRidge, threshold": LabelSets(ridges, THRESHOLDS),
                "extra trees": LabelSets(forest),
                "extra trees, threshold": LabelSets(forest, THRESHOLDS),
            }
            yield with_peers(case, peers)


def with_peers(case, models):
    case.peers = {name: partial(case.measure, model) for name, model in models.items()}
    return case


def thirds(folder, names, outputs, quick):
    """Name, split, training and test inputs, training and test outputs, for each table and held-out third."""
    for name in names[:2] if quick else names:
        X, Y = read(folder, name, "X", outputs)
        for split in range(QUICK_SPLITS if quick else 3):
            X_train, X_test, Y_train, Y_test = train_test_split(X, Y, test_size=1 / 3, random_state=split)
            yield name, split, *standardised(X_train, X_test), Y_train, Y_test


def read(folder, name, *keys):
    with np.load(folder / f"{name}.npz", allow_pickle=False) as file:
        return tuple(file[key].astype(float) for key in keys)


def standardised(X, X_test, keep=None):
    """Both by mean and deviation of the training part. Gaps become its means; columns of the mask keep stay."""
    mean = np.nanmean(X, axis=0)
    X, X_test = (np.where(np.isnan(Z), mean, Z) for Z in (X, X_test))
    scale = X.std(axis=0)
    scale[scale <= 1e-12 * np.abs(mean)] = np.inf  # a constant is 0, also where the test part has other values
    if keep is not None:
        mean, scale = np.where(keep, 0.0, mean), np.where(keep, 1.0, scale)
    return (X - mean) / scale, (X_test - mean) / scale


def relative_error(Y, predicted, center):
    """aRRMSE: root of the squared errors over those of the center, averaged over outputs."""
    return np.mean(np.sqrt(((Y - predicted) ** 2).sum(axis=0) / ((Y - center) ** 2).sum(axis=0)))


def standardised_score(Y, predicted, scale):
    """Minus the squared error of outputs over their scale; an output that is constant in training does not count."""
    return -np.mean(((Y - predicted) / np.where(scale > 0, scale, np.inf)) ** 2)


# ---------------------------------------------------------------- peers


def ridge_grid(X, quick):
    """alpha and gamma of KernelRidge; gamma is around one over the summed variance of X (n_features, standardised)."""
    size = 3 if quick else 6
    gammas = np.geomspace(1e-3, 1e2, size) / X.var(axis=0).sum()
    return dict(zip(RIDGE, (np.geomspace(1e-6, 10, size), gammas), strict=True))


def ridge(with_std=True):
    """KernelRidge has no constant, so outputs are centred; they are also scaled unless they are alike."""
    return TransformedTargetRegressor(KernelRidge(kernel="rbf"), transformer=StandardScaler(with_std=with_std))


def tuned_ridge(X, quick, score, with_std=True):
    """KernelRidge by GridSearchCV over alpha and gamma, by a score of which larger is better."""
    return GridSearchCV(ridge(with_std), ridge_grid(X, quick), scoring=make_scorer(score), cv=FOLDS)


def ridge_candidates(X, quick):
    """One KernelRidge for each pair of the grid."""
    return [ridge(with_std=False).set_params(**settings) for settings in ParameterGrid(ridge_grid(X, quick))]


def trees(seed, quick):
    return ExtraTreesRegressor(20 if quick else 200, random_state=seed)


class LabelSets(BaseEstimator):
    """Label sets: the labels whose predicted values reach a threshold.

    Of all candidates and thresholds it takes the pair with the largest F1 of predictions out of fold.
    """

    def __init__(self, candidates, thresholds=(0.5,)):
        self.candidates, self.thresholds = candidates, thresholds

    def fit(self, X, Y):
        pairs = [(model, float(threshold)) for model in self.candidates for threshold in self.thresholds]
        best = np.argmax(list(self._scores(X, Y))) if len(pairs) > 1 else 0  # one pair needs no folds
        model, self.threshold_ = pairs[best]
        self.best_params_ = {key: value for key, value in model.get_params().items() if key in RIDGE}
        self.model_ = clone(model).fit(X, Y)
        return self

    def _scores(self, X, Y):
        for model in self.candidates:
            held_out = cross_val_predict(model, X, Y, cv=FOLDS)
            yield from (f1_by_sample(Y, held_out >= threshold) for threshold in self.thresholds)

    def predict(self, X):
        return (self.model_.predict(X) >= self.threshold_).astype(float)
