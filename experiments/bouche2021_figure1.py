"""Figure 1 of Bouche et al. 2021: kernel projection learning (KPL) against noise on the output curves.

Toy data of appendix C.1: sums of 4 of 10 cosines as inputs, bumps at their frequencies as outputs, 500 curves to
train on and 300 to test on. The dictionary is the true one, 10 B-splines; Gaussian kernel exp(-||x - z||^2 / 20^2)
between the vectors of 200 points; nothing is centred. For each of 50 noise levels, of standard deviation 0 to 1.5,
alpha is selected from 100 values between 1e-8 and 1e-3 by leave-one-out in closed form (the paper: 5 folds).

The paper does not say whether its test curves are noisy: errors are given for both. Its signal-to-noise ratio is the
mean of |y observed| over the noise level, which cannot fall below 0.8, that of noise alone; the figure has the mean of
|y| without noise instead.

    python experiments/bouche2021_figure1.py            5 draws, about a minute
    python experiments/bouche2021_figure1.py --quick    2 draws, 10 noise levels

Prints the table of docs/results/bouche2021.md and writes output/bouche2021_figure1.csv and .png.
"""

import numpy as np
from common import arguments, figures_of, progress, save_figure, smaller, table, with_error, write_csv

from hilbertlearn import FunctionalRegressor, RegularizationPathCV, datasets, spaces
from hilbertlearn.metrics import functional_nmse

N_TRAIN, N_TEST = 500, 300
GAMMA = 1 / 20**2
ALPHAS = np.geomspace(1e-8, 1e-3, 100)
SHOWN = (0.0, 0.15, 0.3, 0.6, 0.9, 1.5)  # noise levels of the table


def toy(noise, seed):
    """Inputs (800, 200), noisy and noise-free outputs (800, 200), and their grid; the first 500 are for training."""
    X, Y, _, grid = datasets.make_frequency_curves(N_TRAIN + N_TEST, noise_out=noise, random_state=seed)
    return X, Y, datasets.make_frequency_curves(N_TRAIN + N_TEST, noise_out=0.0, random_state=seed)[1], grid


def kpl(grid, **settings):
    """Projection learning on the B-splines that the outputs are made of."""
    width = 2 / (grid[-1] - grid[0])
    space = spaces.BSpline(10, width=width)
    return FunctionalRegressor("rbf", gamma=GAMMA, space=space, grid=grid, center=False, **settings)


def run(draws, levels):
    """One dictionary for each draw and noise level."""
    for draw in progress(range(draws), "figure 1"):
        for noise in levels:
            X, Y, clean, grid = toy(noise, draw)
            train, test = slice(N_TRAIN), slice(N_TRAIN, None)
            path = RegularizationPathCV(kpl(grid), ALPHAS).fit(X[train], Y[train])
            predicted = path.predict(X[test])
            yield {
                "draw": draw,
                "noise": noise,
                "snr": np.abs(clean[train]).mean() / noise if noise else np.inf,
                "snr_observed": np.abs(Y[train]).mean() / noise if noise else np.inf,
                "alpha": path.alpha_,
                "mse": functional_nmse(clean[test], predicted),
                "mse_noisy": functional_nmse(Y[test], predicted),
                "variance": np.mean(clean[test] ** 2),
            }


def plot(rows, levels, name):
    import matplotlib.pyplot as plt

    column = {key: np.array([row[key] for row in rows]).reshape(-1, len(levels)) for key in rows[0]}
    noisy = np.asarray(levels) > 0
    figure, axis = plt.subplots(figsize=(6.5, 4))
    x = column["snr"].mean(axis=0)[noisy]
    for key, text, colour in (
        ("mse_noisy", "noisy test curves", "tab:orange"),
        ("mse", "noise-free test curves", "tab:blue"),
    ):
        values = column[key][:, noisy]
        axis.fill_between(x, values.min(axis=0), values.max(axis=0), color=colour, alpha=0.25, linewidth=0)
        axis.plot(x, values.mean(axis=0), color=colour, label=text)
    axis.plot(x, np.asarray(levels)[noisy] ** 2, "k--", linewidth=1, label="variance of the noise")
    axis.axhline(column["variance"].mean(), color="black", linewidth=1, linestyle=":", label="predicting zero")
    axis.set(xlabel="signal-to-noise ratio (noise falls to the right)", ylabel="test MSE", xscale="log", yscale="log")
    axis.set_xticks([0.06, 0.1, 0.2, 0.5, 1, 2], ["0.06", "0.1", "0.2", "0.5", "1", "2"], minor=False)
    axis.set_xticks([], minor=True)
    axis.set_title("KPL against noise on the outputs: mean and range over draws", fontsize=11)
    axis.grid(alpha=0.3)
    axis.legend(frameon=False, fontsize=9, loc="upper left", bbox_to_anchor=(1, 1))
    save_figure(figure, name)


def quick(folder):
    """Figures of a small piece: a short run on few samples, see ``common.figures_of``."""
    with smaller(__name__, N_TRAIN=30, N_TEST=20, ALPHAS=ALPHAS[::20]):
        return figures_of(main, ["mse", "mse_noisy"], "noise")


def main():
    quick = arguments(__doc__).quick
    levels = np.linspace(0, 1.5, 11 if quick else 51)
    rows = list(run(2 if quick else 5, levels))
    name = "bouche2021_figure1" + "_quick" * quick
    write_csv(name, rows)
    lines = []
    for noise in SHOWN:
        mine = [row for row in rows if np.isclose(row["noise"], noise)]
        ratios = [np.mean([row[key] for row in mine]) for key in ("snr", "snr_observed")]
        alpha = np.median([row["alpha"] for row in mine])
        errors = [with_error([1000 * row[key] for row in mine]) for key in ("mse", "mse_noisy")]
        lines.append([f"{noise:g}", *(f"{ratio:.2f}" for ratio in ratios), f"{alpha:.1e}", *errors])
    header = [
        "σ",
        "SNR",
        "SNR, paper's",
        "α (median)",
        "1000 MSE, noise-free test curves",
        "1000 MSE, noisy test curves",
    ]
    print(table(header, lines))
    plot(rows, levels, name)


if __name__ == "__main__":
    main()
