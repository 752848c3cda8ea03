"""Accuracy of landmarks instead of the kernel matrix, and of methods to select them.

Rankings as vectors of ranks (pendigits, cpu-small), label sets as vectors of zeros and ones (delicious, 983 labels),
and the toy curves of Bouche et al. 2021. gamma of the Gaussian kernel is selected by `gamma="auto"` on the training
samples; the alpha of every model is selected by leave-one-out, with 1000 features. The exact model has the alpha of
the default landmarks; for delicious, whose kernel matrix is not computed, the reference is 4000 landmarks. Errors are
mean squared errors on test samples over the outputs' variance, mean over seeds of the landmarks.

    python experiments/landmarks.py --data FOLDER            about half an hour
    python experiments/landmarks.py --data FOLDER --quick    one seed, 250 features, no more than 3000 samples
    python experiments/landmarks.py --data FOLDER --only pendigits    one data set

Prints the table of docs/results/scale.md and writes output/landmarks.csv.
"""

from __future__ import annotations

import numpy as np
from common import arguments, figures_of, progress, smaller, table, write_csv
from sklearn.kernel_approximation import Nystroem
from sklearn.preprocessing import StandardScaler

from hilbertlearn import FunctionalRegressor, OperatorKernelRegressor, features
from hilbertlearn.datasets import make_frequency_curves

QUICK = 250, 3000  # features and samples of a quick run
CURVES = 6000, 5000  # how many, and how many of them to train on
MOST = 8000  # samples of an exact fit
WAYS = ("medoids", "pivoted", "leverage", "uniform", "Nystroem")


def rankings(name):
    def read(folder, rng):
        with np.load(folder / "label_ranking" / f"{name}.npz") as file:
            X, Y = StandardScaler().fit_transform(file["X"].astype(float)), file["ranks"].astype(float)
        order = rng.permutation(len(X))
        test = len(X) // 5
        train = order[test:][:MOST]
        return OperatorKernelRegressor, X[train], Y[train], X[order[:test]], Y[order[:test]]

    return read


def delicious(folder, rng):
    with np.load(folder / "multi_label" / "delicious.npz") as file:
        X, Y, X_test, Y_test = (np.asarray(file[f"{a}_{b}"], dtype=float) for b in ("train", "test") for a in "XY")
    return OperatorKernelRegressor, X, Y, X_test, Y_test


def curves(folder, rng):
    number, train = CURVES
    X, Y, _, _ = make_frequency_curves(number, noise_out=0.07, random_state=0)
    clean = make_frequency_curves(number, noise_out=0.0, random_state=0)[1]
    return FunctionalRegressor, X[:train], Y[:train], X[train:], clean[train:]


DATA = {
    "pendigits": rankings("pendigits"),
    "cpu-small": rankings("cpu-small"),
    "delicious": delicious,
    "toy curves": curves,
}


def setting(way, r, gamma, seed):
    if way == "Nystroem":
        return Nystroem(gamma=gamma, n_components=r, random_state=seed)
    return features.Landmarks(r, method=way, random_state=seed)


def error(model, X, Y):
    return float(np.mean((model.predict(X) - Y) ** 2) / np.mean((Y - Y.mean(axis=0)) ** 2))


def rate(model):
    """The gamma of a model; of an average that of the kernel with the largest share."""
    return model.gamma_ if np.isscalar(model.gamma_) else model.gamma_[int(np.argmax(model.kernel_.shares))]


def run(args):
    r, seeds = (QUICK[0], 1) if args.quick else (1000, args.seeds)
    for name, read in DATA.items() if not args.only else [(args.only, DATA[args.only])]:
        estimator, X, Y, X_test, Y_test = read(args.data, np.random.default_rng(0))
        if args.quick:
            X, Y = X[: QUICK[1]], Y[: QUICK[1]]
        first = estimator("rbf", feature_map=features.Landmarks(r), scale_inputs=False).fit(X, Y)
        gamma = rate(first)
        found = {"data": name, "samples": len(X), "gamma": gamma}
        several = [(way, seed) for way in WAYS for seed in range(1, seeds + 1)]
        rows: dict = {way: [] for way in WAYS}
        for way, seed in progress(several, name):
            model = estimator("rbf", gamma=gamma, feature_map=setting(way, r, gamma, seed)).fit(X, Y)
            rows[way].append(error(model, X_test, Y_test))
        found.update({way: np.mean(errors) for way, errors in rows.items()})
        if len(X) <= MOST:
            exact = estimator("rbf", gamma=gamma, alpha=first.alpha_, feature_map=None).fit(X, Y)
        else:
            exact = estimator("rbf", gamma=gamma, feature_map=features.Landmarks(4000)).fit(X, Y)
        found["reference"] = error(exact, X_test, Y_test)
        yield found


def quick(folder):
    """Figures of a small piece: a short run on few samples, see ``common.figures_of``."""
    with smaller(__name__, QUICK=(20, 3000), CURVES=(60, 40)):
        return figures_of(main, ["reference", *WAYS], "data", data=folder)


def main():
    args = arguments(__doc__, data="", seeds=3, only="")
    rows = list(run(args))
    write_csv("landmarks", rows)
    header = ["data", "samples", "exact, or 4000", *WAYS, "default / reference", "default / Nystroem"]
    lines = []
    for row in rows:
        ratios = [row["medoids"] / row["reference"], row["medoids"] / row["Nystroem"]]
        numbers = [f"{value:.4f}" for value in (row["reference"], *(row[way] for way in WAYS))]
        lines.append([row["data"], str(row["samples"]), *numbers, *(f"{ratio:.3f}" for ratio in ratios)])
    print(table(header, lines))


if __name__ == "__main__":
    main()
