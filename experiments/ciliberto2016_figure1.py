"""Figure 1 of Ciliberto et al. 2016: regression with outliers by the loss trick and the Cauchy loss.

x is uniform on [-1, 1], y = sin(6 pi x) plus noise of variance 0.1, plus with probability 0.1 an error uniform on
[-3, 3]. Compared with kernel ridge regression and the robust Nadaraya-Watson estimator, all with Gaussian kernels and
without centring. All parameters (gamma, alpha, the width c of the Cauchy loss) are selected by 5 folds of the
training data, for all three methods by the cross-validated mean absolute error, outliers included: unlike the
methods' own losses it is comparable between widths, and outliers have little influence on it. Reported is the mean
absolute distance to sin(6 pi x) over 1000 new points.

    python experiments/ciliberto2016_figure1.py            30 draws, about 10 minutes on a free core
    python experiments/ciliberto2016_figure1.py --quick    5 draws, up to 200 samples

Prints the table of docs/results/ciliberto2016.md and writes output/ciliberto2016_figure1.csv and .png.
"""

from itertools import product

import numpy as np
from common import arguments, figures_of, progress, save_figure, smaller, table, with_error, write_csv
from scipy.linalg import eigh
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import KFold

from hilbertlearn import StructuredPredictor, datasets
from hilbertlearn.baselines import RobustNadarayaWatson
from hilbertlearn.decoders.scalar import decode_scalar
from hilbertlearn.output_losses import Cauchy

GAMMAS = np.geomspace(3, 1000, 8)
LOCAL_GAMMAS = np.geomspace(10, 10000, 13)  # of Nadaraya-Watson, which needs narrower kernels
ALPHAS = np.logspace(-7, -1, 7)
WIDTHS = (0.3, 0.6, 1.0, 2.0)
N_TEST = 1000
QUICK = 5, [50, 100, 200]  # draws and sizes of a quick run
PAPER = {  # mean and standard deviation over 100 draws
    50: {"loss trick": (0.39, 0.17), "nadaraya-watson": (0.45, 0.18), "ridge": (0.62, 0.13)},
    100: {"loss trick": (0.21, 0.04), "nadaraya-watson": (0.29, 0.04), "ridge": (0.47, 0.09)},
    200: {"loss trick": (0.12, 0.02), "nadaraya-watson": (0.24, 0.03), "ridge": (0.33, 0.04)},
    500: {"loss trick": (0.08, 0.01), "nadaraya-watson": (0.22, 0.02), "ridge": (0.31, 0.03)},
    1000: {"loss trick": (0.07, 0.01), "nadaraya-watson": (0.21, 0.02), "ridge": (0.19, 0.02)},
}
LABELS = {
    "loss trick": "loss trick, Cauchy",
    "nadaraya-watson": "robust Nadaraya-Watson",
    "ridge": "kernel ridge",
}


def held_out_errors(X, y, folds):
    """For each method a dictionary from its parameters to its mean absolute error, summed over folds."""
    errors = {method: {} for method in LABELS}

    def add(method, parameters, predicted, true):
        errors[method][parameters] = errors[method].get(parameters, 0.0) + np.abs(predicted - true).mean()

    for train, test in folds:
        known, true = y[train], y[test]
        for gamma in GAMMAS:
            values, vectors = eigh(rbf_kernel(X[train], gamma=gamma))
            rotated = rbf_kernel(X[test], X[train], gamma=gamma) @ vectors
            for alpha in ALPHAS:  # one eigenbasis gives the weights of all alphas
                W = (rotated / (np.maximum(values, 0.0) + len(train) * alpha)) @ vectors.T
                add("ridge", (gamma, alpha), W @ known, true)
                for c in WIDTHS:
                    add("loss trick", (gamma, alpha, c), decode_scalar(W, known, Cauchy(c)), true)
        for gamma, c in product(LOCAL_GAMMAS, WIDTHS):
            model = RobustNadarayaWatson(gamma=gamma, output_loss=Cauchy(c)).fit(X[train], known)
            add("nadaraya-watson", (gamma, c), model.predict(X[test]), true)
    return errors


def model_of(method, n, gamma, *others):
    if method == "ridge":
        return KernelRidge(kernel="rbf", gamma=gamma, alpha=n * others[0])
    if method == "nadaraya-watson":
        return RobustNadarayaWatson(gamma=gamma, output_loss=Cauchy(others[0]))
    return StructuredPredictor(gamma=gamma, alpha=others[0], output_loss=Cauchy(others[1]))


def fitted(X, y, seed):
    """For each method its model with the chosen parameters, fitted to all training data, and these parameters."""
    errors = held_out_errors(X, y, KFold(5, shuffle=True, random_state=seed).split(X))
    for method, by_parameters in errors.items():
        chosen = min(by_parameters, key=by_parameters.get)
        yield method, model_of(method, len(X), *chosen).fit(X, y), chosen


def run(draws, sizes):
    """One dictionary for each draw, size and method."""
    for draw, n in progress(list(product(range(draws), sizes)), "figure 1"):
        X, y, _, _ = datasets.make_robust_regression(n, random_state=draw)
        X_test, _, clean, _ = datasets.make_robust_regression(N_TEST, random_state=10_000 + draw)
        for method, model, chosen in fitted(X, y, draw):
            yield {
                "draw": draw,
                "n": n,
                "method": method,
                "error": np.abs(model.predict(X_test) - clean).mean(),
                "gamma": chosen[0],
                "alpha": None if method == "nadaraya-watson" else chosen[1],
                "c": None if method == "ridge" else chosen[-1],
            }


def errors_of(rows, n, method):
    return np.array([row["error"] for row in rows if row["n"] == n and row["method"] == method])


def plot(rows, sizes, name):
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(12, 4))
    X, y, _, outlier = datasets.make_robust_regression(200, random_state=0)
    grid = np.linspace(-1, 1, 500)[:, None]
    left.plot(X[~outlier], y[~outlier], ".", color="0.7", markersize=4)
    left.plot(X[outlier], y[outlier], "x", color="0.4", markersize=4, label="outliers")
    left.plot(grid, np.sin(6 * np.pi * grid), "k--", linewidth=1, label="sin(6πx)")
    colours = dict(zip(LABELS, ("tab:blue", "tab:green", "tab:orange"), strict=True))
    for method, model, _ in fitted(X, y, 0):
        left.plot(grid, model.predict(grid), color=colours[method], linewidth=1.2, label=LABELS[method])
    left.set(xlabel="x", ylabel="y", title="One draw, n = 200")
    left.legend(frameon=False, fontsize=8, ncols=2, loc="upper center", bbox_to_anchor=(0.5, -0.15))
    for method, label in LABELS.items():
        values = [errors_of(rows, n, method) for n in sizes]
        means = [value.mean() for value in values]
        right.errorbar(sizes, means, [value.std(ddof=1) for value in values], color=colours[method], label=label)
        paper = [PAPER[n][method][0] for n in sizes]
        right.plot(sizes, paper, ":", marker=".", color=colours[method], linewidth=1)
    right.plot([], [], "k:", linewidth=1, label="paper")
    right.set(xlabel="training samples", ylabel="mean absolute distance", xscale="log", yscale="log")
    right.set_xticks(sizes, sizes)
    right.set_yticks([0.07, 0.1, 0.2, 0.5], ["0.07", "0.1", "0.2", "0.5"])
    right.minorticks_off()
    right.set_title("Mean and standard deviation over draws")
    right.legend(frameon=False, fontsize=8)
    right.grid(alpha=0.3)
    save_figure(figure, name)


def quick(folder):
    """Figures of a small piece: a short run on few samples, see ``common.figures_of``."""
    few = {"GAMMAS": GAMMAS[::5], "LOCAL_GAMMAS": LOCAL_GAMMAS[::8], "ALPHAS": ALPHAS[::4], "WIDTHS": WIDTHS[1::2]}
    with smaller(__name__, **few, QUICK=(2, [50]), N_TEST=50):
        return figures_of(main, ["error"], "n", "method")


def main():
    given = arguments(__doc__, draws=30)
    quick = given.quick
    draws, sizes = QUICK if quick else (given.draws, list(PAPER))
    rows = list(run(draws, sizes))
    name = "ciliberto2016_figure1" + "_quick" * quick
    write_csv(name, rows)
    lines = []
    for n in sizes:
        errors = {method: errors_of(rows, n, method) for method in LABELS}
        cells = [f"{with_error(errors[method])} ({PAPER[n][method][0]:.2f})" for method in LABELS]
        mean, spread = PAPER[n]["loss trick"]
        distance = (errors["loss trick"].mean() - mean) / spread
        lines.append([n, *cells, f"{errors['loss trick'].std(ddof=1):.3f} ({spread:.2f})", f"{distance:+.1f}"])
    header = ["n", *(f"{label}: ours (paper)" for label in LABELS.values())]
    print(table([*header, "standard deviation, loss trick", "ours − paper, in its standard deviations"], lines))
    for method in ("nadaraya-watson", "ridge"):
        gains = [errors_of(rows, n, "loss trick") - errors_of(rows, n, method) for n in sizes]
        print(f"- loss trick less {LABELS[method]}, paired: " + ", ".join(map(with_error, gains)))
    plot(rows, sizes, name)


if __name__ == "__main__":
    main()
