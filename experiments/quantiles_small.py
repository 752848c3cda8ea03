"""Quantiles of few samples: ours with default settings beside boosting, a forest and linear quantiles.

- ``hilbertlearn.QuantileRegressor()``.
- ``GradientBoostingRegressor(loss="quantile")`` of scikit-learn, default settings, a model for each level.
- ``RandomForestQuantileRegressor`` of the package quantile-forest, default settings, where it is installed.
- scikit-learn's linear ``QuantileRegressor(alpha=0.02)``, a model for each level.

Levels 0.05, 0.25, 0.5, 0.75 and 0.95; inputs standardised, the first output divided by its standard deviation in
training, two thirds for training, at most 300 rows. Settings of ours were tuned on four of the tables (``TUNED``); the
other four were fixed beforehand to confirm them. Results are means over splits of the pinball loss of test samples
(mean over levels), of the share of test outputs between the outer quantiles, ideally 0.9, and of processor seconds for
fit and prediction.

    python experiments/quantiles_small.py --data FOLDER [--quick] [--splits 5]

FOLDER holds multi_target/ and small_tables/.
"""

from __future__ import annotations

import importlib.util
import time
import warnings

import numpy as np
from common import arguments, figures_of, progress, smaller, write_csv
from sklearn.datasets import load_diabetes
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.linear_model import QuantileRegressor as LinearQuantiles

from hilbertlearn import QuantileRegressor
from hilbertlearn.metrics import pinball_loss

LEVELS = (0.05, 0.25, 0.5, 0.75, 0.95)
TUNED = ("swiss", "airquality", "oes97", "diabetes")
CONFIRMING = ("uscrime", "prestige", "slump", "atp7d")
SMALL = ("swiss", "airquality", "uscrime", "prestige")  # of small_tables
MOST = 300  # rows of a table


def read_table(name, folder):
    """Inputs (n, p) and the first output (n,) of a data set; folder : multi_target."""
    if name == "diabetes":
        X, y = load_diabetes(return_X_y=True)
    elif name in SMALL:
        with np.load(folder.parent / "small_tables" / "small_tables.npz", allow_pickle=True) as data:
            X, Y = data[f"{name}__X"].astype(float), data[f"{name}__Y"].astype(float)
        y = Y.reshape(len(X), -1)[:, 0]
    else:
        with np.load(folder / f"{name}.npz", allow_pickle=True) as data:
            X, y = data["X"].astype(float), data["Y"].astype(float)[:, 0]
    rows = np.sort(np.random.default_rng(0).permutation(len(y))[:MOST])
    return X[rows], y[rows]


def ours(X, y, X_test):
    return QuantileRegressor(LEVELS).fit(X, y).predict(X_test)


def by_level(make):
    """Quantiles of a model for each level, sorted."""

    def predict(X, y, X_test):
        return np.sort(np.column_stack([make(level).fit(X, y).predict(X_test) for level in LEVELS]), axis=1)

    return predict


def forest(X, y, X_test):
    from quantile_forest import RandomForestQuantileRegressor

    return RandomForestQuantileRegressor(random_state=0).fit(X, y).predict(X_test, quantiles=list(LEVELS))


METHODS = {
    "hilbertlearn": ours,
    "boosting": by_level(lambda level: GradientBoostingRegressor(loss="quantile", alpha=level, random_state=0)),
    "linear": by_level(lambda level: LinearQuantiles(quantile=level, alpha=0.02, solver="highs")),
}
if importlib.util.find_spec("quantile_forest") is not None:
    METHODS["forest"] = forest


def run(name, X, y, split, method):
    """One row of the results."""
    order = np.random.default_rng(100 + split).permutation(len(y))
    test, train = order[: len(y) // 3], order[len(y) // 3 :]
    varies = X[train].std(axis=0) > 0
    X = (X[:, varies] - X[train][:, varies].mean(axis=0)) / X[train][:, varies].std(axis=0)
    y = y / y[train].std()
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        quantiles = METHODS[method](X[train], y[train], X[test])
    seconds = time.process_time() - start
    inside = np.mean((quantiles[:, 0] <= y[test]) & (y[test] <= quantiles[:, -1]))
    loss = pinball_loss(y[test], quantiles, LEVELS)
    return {"data": name, "split": split, "method": method, "loss": loss, "covered": inside, "seconds": seconds}


def quick(folder):
    """Figures of a small piece: one table, without the forest, see ``common.figures_of``."""
    few = {name: method for name, method in METHODS.items() if name != "forest"}
    with smaller(__name__, METHODS=few, TUNED=(), CONFIRMING=("slump",)):
        return figures_of(main, ["loss", "covered"], "data", "method", data=folder)


def main():
    options = arguments(__doc__, data="multi_target", splits=5)
    splits = 1 if options.quick else options.splits
    tables = {name: read_table(name, options.data) for name in (*TUNED, *CONFIRMING)}
    cases = [(name, *tables[name], split, method) for name in tables for split in range(splits) for method in METHODS]
    rows = []
    for case in progress(cases, "quantiles_small"):
        rows.append(run(*case))
        write_csv("quantiles_small", rows)
    for name, (X, _) in tables.items():
        print(f"\n{name}: {len(X)} samples, {X.shape[1]} inputs, {splits} splits")
        for method in METHODS:
            own = [row for row in rows if (row["data"], row["method"]) == (name, method)]
            loss, covered, seconds = (np.mean([row[key] for row in own]) for key in ("loss", "covered", "seconds"))
            print(f"{method:16}{loss:10.4f}{covered:9.3f}{seconds:9.2f}")


if __name__ == "__main__":
    main()
