"""Figures 3, 4, 6 and 12 to 14 of Laforgue et al. 2020: multi-label classification of yeast genes with robust losses.

1500 genes for training and 917 for testing, 103 features, 14 labels. Input kernel ``exp(-||x - z||^2)`` (the paper
says bandwidth 1), linear output kernel: the labels are regressed as vectors of 0 and 1, and predictions are
thresholded at 1/2. Nothing is centred. Losses of the vector of 14 residuals: squared (ridge), epsilon-insensitive
squared (epsilon-ridge), Huber, and epsilon-SVR.

- Figures 3, 4, 12 to 14: mean squared error by 5 folds of the training set, share of the training genes whose
  coefficients are zero (sparsity), and share whose coefficients are at the bound of the loss (saturation), over alpha
  for each epsilon or kappa.
- Figure 6: alpha and epsilon or kappa with the smallest cross-validated error, fitted to all 1500 genes; Hamming
  error on the 917. The test genes are not used for any selection.

Squared errors are per label: divided by 14. The grids are ours, the paper prints none but the range of epsilon, 1e-5 to
1.5.

    python experiments/laforgue2020_yeast.py --data FOLDER            5 folds, 21 alphas, about 10 minutes
    python experiments/laforgue2020_yeast.py --data FOLDER --quick    2 folds, 7 alphas, a quarter of a minute

Prints tables, writes output/laforgue2020_yeast.csv (errors over the grid), output/laforgue2020_yeast_test.csv (test
errors) and output/laforgue2020_yeast.png; with --quick the names end in _quick.
"""

from __future__ import annotations

import itertools

import numpy as np
from common import arguments, figures_of, progress, save_figure, table, with_error, write_csv
from sklearn.model_selection import KFold

from hilbertlearn import OperatorKernelRegressor, StructuredPredictor, kernels
from hilbertlearn.losses import EpsilonInsensitive, EpsilonSVR, Huber, Squared
from hilbertlearn.metrics import hamming_loss
from hilbertlearn.readers import load_yeast

GAMMA, TOL = 1.0, 1e-5
RIDGE, LOSSES = "ridge", ("ridge", "ε-ridge", "Huber", "ε-SVR")
EPSILONS = (1e-5, 0.1, 0.3, 0.6, 0.9, 1.2, 1.5)
KAPPAS = (0.1, 0.2, 0.4, 0.6, 0.8, 1.0, 1.5)
# finer where errors are smallest
ALPHAS = np.concatenate([np.geomspace(1, 1e-2, 5)[:-1], np.geomspace(1e-2, 1e-4, 13), np.geomspace(1e-4, 1e-6, 5)[1:]])
CUBE = np.array(list(itertools.product((0, 1), repeat=14)))  # every set of labels


def settings(epsilons, kappas):
    """Pairs (name of the loss, epsilon or kappa)."""
    pairs = [(RIDGE, None)]
    pairs += [("ε-ridge", epsilon) for epsilon in epsilons] + [("ε-SVR", epsilon) for epsilon in epsilons]
    return pairs + [("Huber", kappa) for kappa in kappas]


def loss_of(name, parameter):
    if name == RIDGE:
        return Squared()
    return {"ε-ridge": EpsilonInsensitive, "ε-SVR": EpsilonSVR, "Huber": Huber}[name](parameter)


def path(name, parameter, train, test, K, Y, alphas):
    """One dictionary for each alpha: error of the held-out fold, sparsity and saturation of the training genes."""
    model = OperatorKernelRegressor("precomputed", loss=loss_of(name, parameter), center=False, tol=TOL)
    for fitted in model.fit_path(K[np.ix_(train, train)], Y[train], alphas):
        predicted = fitted.predict(K[np.ix_(test, train)])
        yield {
            "loss": name,
            "parameter": "" if parameter is None else parameter,
            "alpha": float(fitted.alpha_),
            "mse": float(np.mean((predicted - Y[test]) ** 2)),
            "hamming": hamming_loss(Y[test], predicted > 0.5),
            "sparsity": 1 - len(fitted.support_) / len(train),
            "saturation": float(fitted.saturated_.mean()),
            "gap": fitted.dual_gap_,
        }


def held_out(X, Y, n_folds, alphas, pairs):
    """Rows for each fold, loss and alpha."""
    K = kernels.gram("rbf", X, gamma=GAMMA)
    folds = list(KFold(n_folds, shuffle=True, random_state=0).split(X))
    for (name, parameter), (number, (train, test)) in progress(itertools.product(pairs, enumerate(folds)), "paths"):
        for row in path(name, parameter, train, test, K, Y, alphas):
            yield {"fold": number, **row}


class Grid:
    """Held-out values by loss and parameter, averaged over folds."""

    def __init__(self, rows, alphas):
        self.rows, self.alphas = rows, list(alphas)

    def parameters(self, name):
        return list(dict.fromkeys(row["parameter"] for row in self.rows if row["loss"] == name))

    def folds(self, name, parameter, what="mse"):
        """Values (n_folds, n_alphas)."""
        found = [row[what] for row in self.rows if row["loss"] == name and row["parameter"] == parameter]
        return np.reshape(found, (-1, len(self.alphas)))

    def best(self, name, alphas=None):
        """Parameter and index of alpha with the smallest mean error, of all alphas or of some indices."""
        some = range(len(self.alphas)) if alphas is None else alphas
        errors = {p: self.folds(name, p).mean(axis=0) for p in self.parameters(name)}
        return min(itertools.product(errors, some), key=lambda pair: errors[pair[0]][pair[1]])


def held_out_summary(grid):
    """The lowest points of the figures: over all alphas, and for the smallest alpha."""
    lines = []
    for alphas in (None, [len(grid.alphas) - 1]):
        _, at = grid.best(RIDGE, alphas)
        ridge = grid.folds(RIDGE, "")[:, at]
        for name in LOSSES:
            parameter, i = grid.best(name, alphas)
            errors, sparsity, saturation = (
                grid.folds(name, parameter, what)[:, i] for what in ("mse", "sparsity", "saturation")
            )
            lines.append(
                [
                    "any" if alphas is None else f"{grid.alphas[-1]:.0e}",
                    name,
                    f"{grid.alphas[i]:.1e}",
                    parameter,
                    with_error(errors, 4),
                    "" if name == RIDGE else with_error(errors - ridge, 4),
                    f"{100 * sparsity.mean():.0f}",
                    f"{100 * saturation.mean():.0f}",
                ]
            )
    header = ["alpha allowed", "loss", "alpha", "ε or κ", "cross-validated error", "minus ridge"]
    return table([*header, "sparsity (%)", "saturation (%)"], lines)


def better_region(grid):
    """For each loss, the alphas with an epsilon or kappa near the best ridge, and the pairs clearly better than it."""
    limit = grid.folds(RIDGE, "").mean(axis=0).min()
    lines = []
    for name in LOSSES:
        errors = np.stack([grid.folds(name, parameter).mean(axis=0) for parameter in grid.parameters(name)])
        close = [alpha for alpha, column in zip(grid.alphas, errors.T, strict=True) if column.min() <= 1.02 * limit]
        span = f"{min(close):.1e} to {max(close):.1e}" if close else ""
        lines.append([name, span, int((errors < 0.999 * limit).sum()), errors.size])
    return table(["loss", "alphas within 2 % of the best ridge", "pairs better by 0.1 % or more", "pairs"], lines)


def test_rows(data, grid):
    """For each loss the chosen model, fitted to all training genes, and its errors on each test gene."""
    X, Y, X_test, Y_test = data.X[data.train], data.Y[data.train], data.X[~data.train], data.Y[~data.train]
    for name in progress(LOSSES, "test"):
        parameter, i = grid.best(name)
        same = {"gamma": GAMMA, "loss": loss_of(name, parameter), "alpha": grid.alphas[i], "tol": TOL}
        vectors = OperatorKernelRegressor(center=False, **same).fit(X, Y.astype(float)).predict(X_test)
        labels = StructuredPredictor(output_kernel="linear", candidates=CUBE, **same).fit(X, Y).predict(X_test)
        if (labels != (vectors > 0.5)).any():
            raise ArithmeticError(f"{name}: the nearest of all sets of labels is not the clamped prediction")
        yield {
            "loss": name,
            "parameter": parameter,
            "alpha": grid.alphas[i],
            "wrong": np.mean(labels != Y_test, axis=1),
            "mse": float(np.mean((vectors - Y_test) ** 2)),
        }


def test_summary(rows):
    ridge = next(row["wrong"] for row in rows if row["loss"] == RIDGE)
    lines = []
    for row in rows:
        difference = "" if row["loss"] == RIDGE else with_error(100 * (row["wrong"] - ridge), 2)
        hamming = with_error(100 * row["wrong"], 2)
        lines.append([row["loss"], f"{row['alpha']:.1e}", row["parameter"], hamming, difference, f"{row['mse']:.4f}"])
    return table(["loss", "alpha", "ε or κ", "Hamming error (%)", "minus ridge", "squared error"], lines)


def plot(grid, name):
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(2, 3, figsize=(13, 8), sharex=True)
    panels = (("ε-ridge", "ε", "sparsity"), ("ε-SVR", "ε", "sparsity"), ("Huber", "κ", "saturation"))
    for (top, bottom), (loss, symbol, share) in zip(axes.T, panels, strict=True):
        parameters = grid.parameters(loss)
        for k, parameter in enumerate(parameters):
            style = {"color": pyplot.get_cmap("viridis")(k / max(len(parameters) - 1, 1)), "label": parameter}
            top.plot(grid.alphas, grid.folds(loss, parameter).mean(axis=0), **style)
            bottom.plot(grid.alphas, grid.folds(loss, parameter, share).mean(axis=0), **style)
        top.plot(grid.alphas, grid.folds(RIDGE, "").mean(axis=0), "k--", lw=1)
        top.set(title=f"{loss} (dashed: ridge)", xscale="log", ylim=(0.135, 0.18), ylabel="held-out squared error")
        bottom.set(xlabel="alpha", ylabel=share, ylim=(-0.02, 1.02))
        bottom.legend(title=symbol, fontsize=8)
    figure.tight_layout()
    save_figure(figure, name)


def quick(folder):
    """Figures of a small piece: a short run on few samples, see ``common.figures_of``."""
    return figures_of(main, ["mse", "wrong"], "loss", "parameter", data=folder)


def main():
    options = arguments(__doc__, data="yeast_multilabel")
    data = load_yeast(options.data)
    name, n_folds, alphas, epsilons, kappas = "laforgue2020_yeast", 5, ALPHAS, EPSILONS, KAPPAS
    if options.quick:
        name, n_folds, alphas, epsilons, kappas = f"{name}_quick", 2, np.geomspace(1, 1e-6, 7), (0.3, 0.9), (0.4, 1.0)
    X, Y = data.X[data.train], data.Y[data.train].astype(float)
    rows = list(held_out(X, Y, n_folds, alphas, settings(epsilons, kappas)))
    write_csv(name, rows)
    grid = Grid(rows, alphas)
    plot(grid, name)
    tested = list(test_rows(data, grid))
    write_csv(f"{name}_test", [{**row, "wrong": float(row["wrong"].mean())} for row in tested])
    print(f"largest relative duality gap {max(row['gap'] for row in rows):.1e}\n")
    print(held_out_summary(grid), better_region(grid), test_summary(tested), sep="\n\n")


if __name__ == "__main__":
    main()
