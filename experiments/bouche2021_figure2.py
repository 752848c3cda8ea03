"""Figure 2 of Bouche et al. 2021: kernel projection learning (KPL) when output values are missing.

The toy data and the model of figure 1, noise of standard deviation 0.02 (appendix C.1.2; section 5.1 says 0.07). Of
each training curve 0 to 90 % of the 200 values, drawn at random, are not observed; training sets of 20, 50, 100, 250
and 500 curves. Two methods to fit the observed values:

- "projected_trapezoid": inner products with the dictionary are averages over the observed values (the paper, equation
  13), weighted by the trapezoid rule;
- "exact": minimises the squared error at the observed values.

alpha is selected from 16 values between 1e-8 and 1e-3 (the paper: 100) by 5 folds of the training set, by the error
at observed values. Errors are those of 300 noise-free test curves, fully observed.

    python experiments/bouche2021_figure2.py            3 draws, about 10 minutes
    python experiments/bouche2021_figure2.py --quick    1 draw, 2 sizes, 3 shares

Prints the table of docs/results/bouche2021.md and writes output/bouche2021_figure2.csv and .png.
"""

import numpy as np
from bouche2021_figure1 import N_TRAIN, kpl, toy
from common import arguments, figures_of, progress, save_figure, smaller, table, with_error, write_csv

from hilbertlearn import RegularizationPathCV, datasets
from hilbertlearn.metrics import functional_nmse

NOISE = 0.02
ALPHAS = np.geomspace(1e-8, 1e-3, 16)
WAYS = {"projected_trapezoid": "spectral", "exact": "conjugate_gradient"}  # with their solvers
SHOWN = (0.0, 0.3, 0.6, 0.9)  # shares of the table


def observed_error(model, X, Y):
    """Minus the mean squared error at observed values."""
    return -functional_nmse(Y, model.predict(X))


def run(draws, sizes, shares):
    """One dictionary for each draw, size, share of missing values and way."""
    cases = [(draw, size, share) for draw in range(draws) for size in sizes for share in shares]
    for draw, size, share in progress(cases, "figure 2"):
        X, Y, clean, grid = toy(NOISE, draw)
        gaps, _ = datasets.drop_points(Y[:size], share, random_state=draw)
        for way, solver in WAYS.items():
            solver = solver if share else "auto"  # complete curves are the same to both
            model = kpl(grid, irregular=way, solver=solver, tol=1e-5)
            path = RegularizationPathCV(model, ALPHAS, cv=5, scoring=observed_error).fit(X[:size], gaps)
            yield {
                "draw": draw,
                "size": size,
                "missing": share,
                "way": way,
                "alpha": path.alpha_,
                "mse": functional_nmse(clean[N_TRAIN:], path.predict(X[N_TRAIN:])),
            }


def errors(rows, **where):
    """Errors over the draws of the rows that have these entries."""
    return [row["mse"] for row in rows if all(row[key] == value for key, value in where.items())]


def plot(rows, sizes, shares, name):
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(9, 4), sharex=True, sharey=True)
    colours = plt.get_cmap("viridis")(np.linspace(0, 0.9, len(sizes)))
    titles = {"projected_trapezoid": "averages over observed values (eq. 13)", "exact": "error at observed values"}
    for axis, way in zip(axes, WAYS, strict=True):
        for size, colour in zip(sizes, colours, strict=True):
            curve = [np.mean(errors(rows, size=size, missing=share, way=way)) for share in shares]
            axis.plot(100 * np.array(shares), curve, "o-", color=colour, markersize=3, label=f"N = {size}")
        axis.set(xlabel="missing values (%)", yscale="log", title=titles[way])
        axis.grid(alpha=0.3)
    axes[0].set_ylabel("test MSE")
    axes[1].legend(frameon=False, fontsize=9, loc="upper left", bbox_to_anchor=(1, 1))
    figure.suptitle("KPL with missing output values")
    figure.tight_layout()
    save_figure(figure, name)


def quick(folder):
    """Figures of a small piece: a short run on few samples, see ``common.figures_of``."""
    with smaller("bouche2021_figure1", N_TRAIN=100, N_TEST=20), smaller(__name__, N_TRAIN=100, ALPHAS=ALPHAS[::8]):
        return figures_of(main, ["mse"], "size", "missing", "way")


def main():
    quick = arguments(__doc__).quick
    sizes = (20, 100) if quick else (20, 50, 100, 250, 500)
    shares = (0.0, 0.6, 0.9) if quick else tuple(np.round(np.arange(10) / 10, 1))
    rows = list(run(1 if quick else 3, sizes, shares))
    name = "bouche2021_figure2" + "_quick" * quick
    write_csv(name, rows)
    lines = []
    for size in sizes:
        for way in WAYS:
            found = [errors(rows, size=size, missing=share, way=way) for share in SHOWN if share in shares]
            lines.append([size, way, *(with_error(1000 * np.array(values), 2) for values in found)])
    shown = [f"{100 * share:.0f} % missing" for share in SHOWN if share in shares]
    print("1000 MSE on noise-free test curves\n")
    print(table(["N", "way", *shown], lines))
    plot(rows, sizes, shares, name)


if __name__ == "__main__":
    main()
