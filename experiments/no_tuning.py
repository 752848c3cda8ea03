"""OperatorKernelRegressor without tuning against scikit-learn's KernelRidge tuned by GridSearchCV.

Ours: gamma by the median rule, alpha by closed-form leave-one-out. KernelRidge: alpha and gamma by 5 folds over a
grid of 9 x 7, outputs centred. Inputs are standardised for both. Test R2, averaged over outputs, on random test sets
of a third of the samples; the difference is paired over the splits.

    python experiments/no_tuning.py            10 splits
    python experiments/no_tuning.py --quick    2 splits

Prints the table of docs/results/defaults.md and writes one line per split to experiments/output/no_tuning.csv.
"""

import time

import numpy as np
from common import arguments, figures_of, smaller, table, with_error, write_csv
from sklearn.compose import TransformedTargetRegressor
from sklearn.datasets import load_diabetes, make_friedman1
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics import r2_score
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from hilbertlearn import OperatorKernelRegressor

ALPHAS, GAMMAS = np.geomspace(1e-4, 1e2, 9), np.geomspace(1e-3, 1, 7)


def diabetes():
    return load_diabetes(return_X_y=True)


def friedman_three_outputs():
    """Friedman's function of five out of ten inputs, a linear one and a product of sines; noise of deviation 1 each."""
    X, friedman = make_friedman1(n_samples=400, noise=1.0, random_state=0)
    noise = np.random.default_rng(0).normal(size=(2, len(X)))
    linear = 5 * X[:, :5] @ [1, -2, 3, -2, 1] + noise[0]
    sines = 8 * np.sin(np.pi * X[:, 0]) * np.sin(2 * np.pi * X[:, 1]) + noise[1]
    return X, np.column_stack([friedman, linear, sines])


def ours():
    return make_pipeline(StandardScaler(), OperatorKernelRegressor(gamma="median"))


def theirs():
    ridge = TransformedTargetRegressor(KernelRidge(kernel="rbf"), transformer=StandardScaler(with_std=False))
    grid = {
        "transformedtargetregressor__regressor__alpha": ALPHAS,
        "transformedtargetregressor__regressor__gamma": GAMMAS,
    }
    return GridSearchCV(make_pipeline(StandardScaler(), ridge), grid, cv=5, scoring="r2")


def run(n_splits):
    """One dictionary for each data set and split."""
    for name, data in [("diabetes", diabetes), ("Friedman, 3 outputs", friedman_three_outputs)]:
        X, Y = data()
        for split in range(n_splits):
            X_train, X_test, Y_train, Y_test = train_test_split(X, Y, test_size=1 / 3, random_state=split)
            row = {"data": name, "split": split}
            for who, model in [("ours", ours()), ("theirs", theirs())]:
                start = time.perf_counter()
                model.fit(X_train, Y_train)
                row[f"seconds_{who}"] = time.perf_counter() - start
                row[f"r2_{who}"] = r2_score(Y_test, model.predict(X_test))
            yield row


def quick(folder):
    """Figures of a small piece: a short run on few samples, see ``common.figures_of``."""
    with smaller(__name__, ALPHAS=ALPHAS[::4], GAMMAS=GAMMAS[::3]):
        return figures_of(main, ["r2_ours", "r2_theirs"], "data")


def main():
    rows = list(run(2 if arguments(__doc__).quick else 10))
    write_csv("no_tuning", rows)
    lines = []
    for name in dict.fromkeys(row["data"] for row in rows):
        mine = [row for row in rows if row["data"] == name]
        column = {key: np.array([row[key] for row in mine]) for key in mine[0] if key not in ("data", "split")}
        scores, seconds = ((column[f"{what}_ours"], column[f"{what}_theirs"]) for what in ("r2", "seconds"))
        cells = [with_error(values) for values in (*scores, scores[0] - scores[1])]
        lines.append([name, *cells, len(mine), f"{np.median(seconds[0]):.2f} / {np.median(seconds[1]):.2f}"])
    header = ["data", "median rule", "GridSearchCV over KernelRidge", "difference", "splits", "seconds per fit"]
    print(table(header, lines))


if __name__ == "__main__":
    main()
