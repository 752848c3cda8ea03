"""Quantiles of several levels on real tables: ours with default settings, scikit-learn's tuned.

- ``hilbertlearn.QuantileRegressor()``, all outputs and levels jointly.
- scikit-learn's ``QuantileRegressor`` on Nystroem features (100 of the Gaussian kernel), for each output and level, its
  alpha and the kernel's gamma by the pinball loss over 3 folds.
- ``HistGradientBoostingRegressor(loss="quantile")``, for each output and level, learning rate and samples per leaf by
  the same folds.

Data sets: diabetes (scikit-learn's own), slump (3 outputs) and oes97 (the first 3 of 16 outputs), inputs
standardised, two thirds for training. Results are pinball losses of test samples, each output divided by its standard
deviation in training, mean over outputs, levels and splits with its standard error; then the share of test outputs
between the outer quantiles, ideally 0.9.

    python experiments/quantiles.py --data FOLDER [--quick] [--splits 5]

FOLDER holds multi_target/.
"""

from __future__ import annotations

import time
import warnings

import numpy as np
from common import arguments, figures_of, progress, smaller, write_csv
from sklearn.datasets import load_diabetes
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import QuantileRegressor as LinearQuantiles
from sklearn.metrics import make_scorer, mean_pinball_loss
from sklearn.model_selection import GridSearchCV, KFold, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from hilbertlearn import QuantileRegressor
from hilbertlearn.metrics import pinball_loss

LEVELS = (0.05, 0.25, 0.5, 0.75, 0.95)
FOLDS = KFold(3, shuffle=True, random_state=0)
OUTPUTS = 3


def tables(folder):
    """Name, inputs and outputs (n, d) of each data set."""
    X, y = load_diabetes(return_X_y=True)
    yield "diabetes", X, y[:, None]
    for name in ("slump", "oes97"):
        with np.load(folder / f"{name}.npz", allow_pickle=True) as data:
            yield name, data["X"].astype(float), data["Y"].astype(float)[:, :OUTPUTS]


def ours(X, Y, X_test):
    model = QuantileRegressor(LEVELS).fit(X, Y)
    return model.predict(X_test), {"alpha": model.alpha_, "coupling": model.coupling_, "kernel": str(model.kernel_)}


def by_column(make):
    """Quantiles of a model that is tuned for each output and level."""

    def predict(X, Y, X_test):
        found = np.empty((len(X_test), Y.shape[1], len(LEVELS)))
        for j, y in enumerate(Y.T):
            for k, level in enumerate(LEVELS):
                model, grid = make(X, level)
                scorer = make_scorer(mean_pinball_loss, alpha=level, greater_is_better=False)
                found[:, j, k] = GridSearchCV(model, grid, scoring=scorer, cv=FOLDS).fit(X, y).predict(X_test)
        return np.sort(found, axis=2), {}

    return predict


def on_features(X, level):
    features = Nystroem(n_components=min(100, len(X) // 2), random_state=0)
    model = make_pipeline(features, LinearQuantiles(quantile=level, solver="highs"))
    rate = 1 / X.shape[1]
    grid = {"nystroem__gamma": [0.03 * rate, 0.3 * rate], "quantileregressor__alpha": [1e-4, 1e-3, 1e-2, 0.05]}
    return model, grid


def boosting(X, level):
    model = HistGradientBoostingRegressor(
        loss="quantile", quantile=level, max_iter=100, max_leaf_nodes=8, random_state=0
    )
    return model, {"learning_rate": [0.03, 0.1], "min_samples_leaf": [5, 20]}


METHODS = {
    "hilbertlearn": ours,
    "QuantileRegressor on features": by_column(on_features),
    "HistGradientBoosting": by_column(boosting),
}


def run(name, X, Y, split, method):
    """One row of the results."""
    train, test = train_test_split(np.arange(len(X)), test_size=1 / 3, random_state=split)
    scaler = StandardScaler().fit(X[train])
    inputs, queries = np.nan_to_num(scaler.transform(X[train])), np.nan_to_num(scaler.transform(X[test]))
    spread = Y[train].std(axis=0)
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        quantiles, settings = METHODS[method](inputs, Y[train] / spread, queries)
    seconds = time.process_time() - start
    true, quantiles = Y[test] / spread, np.asarray(quantiles).reshape(len(test), Y.shape[1], len(LEVELS))
    covered = np.mean((quantiles[:, :, 0] <= true) & (true <= quantiles[:, :, -1]))
    loss = pinball_loss(true, quantiles, LEVELS)
    return {
        "data": name,
        "split": split,
        "method": method,
        "loss": loss,
        "covered": covered,
        "seconds": seconds,
    } | settings


def quick(folder):
    """Figures of a small piece: a short run on few samples, see ``common.figures_of``."""
    with smaller(__name__, LEVELS=(0.25, 0.75), OUTPUTS=1):
        return figures_of(main, ["loss", "covered"], "data", "method", data=folder)


def main():
    options = arguments(__doc__, data="multi_target", splits=5)
    splits = 1 if options.quick else options.splits
    every = [case for case in tables(options.data) if not options.quick or case[0] == "slump"]
    cases = [(name, X, Y, split, method) for split in range(splits) for name, X, Y in every for method in METHODS]
    rows = []
    for case in progress(cases, "quantiles"):
        rows.append(run(*case))
        write_csv("quantiles", rows)
    for name, _, Y in every:
        print(f"\n{name}: {len(Y)} samples, {Y.shape[1]} outputs, {splits} splits")
        print(f"{'':32}{'pinball loss':>18}{'covered':>9}{'seconds':>9}")
        for method in METHODS:
            own = [row for row in rows if (row["data"], row["method"]) == (name, method)]
            loss = np.array([row["loss"] for row in own])
            error = loss.std(ddof=1) / np.sqrt(len(loss)) if len(loss) > 1 else np.nan
            covered, seconds = (np.mean([row[key] for row in own]) for key in ("covered", "seconds"))
            print(f"{method:32}{loss.mean():10.4f} ± {error:.4f}{covered:9.3f}{seconds:9.1f}")


if __name__ == "__main__":
    main()
