"""Figure 1 of Lambert et al. 2022: regularisation against insensitivity, accuracy against sparsity.

Synthetic curves (appendix B.2), 100 to train on, with Gaussian noise of standard deviation 0.5 at every point, and
100 to test on, without noise. The epsilon-insensitive losses with p = 2 (above) and p = inf (below) are fitted over
grids of alpha and epsilon; sparsity is the share of zero dual variables, of curves for p = 2 and of points for p =
inf. The text gives neither the grids nor the noise of the test curves; these are ours.

    python experiments/lambert2022_figure1.py            20 draws, about half a minute
    python experiments/lambert2022_figure1.py --quick    2 draws

Prints the table of docs/results/lambert2022.md and writes output/lambert2022_figure1.csv and .png.
"""

import numpy as np
from common import arguments, figures_of, progress, save_figure, smaller, table, with_error, write_csv
from lambert2022_common import NAMES, sparsity, synthetic, synthetic_model

from hilbertlearn import losses
from hilbertlearn.metrics import functional_nmse

NOISE = 0.5
ALPHAS = np.geomspace(1e-2, 1e-7, 11)
EPSILONS = {"eps2": (0.0, 0.1, 0.2, 0.25, 0.3, 0.4), "epsinf": (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)}
NORMS = {"eps2": 2, "epsinf": np.inf}


def run(draws):
    """One dictionary for each draw, loss, epsilon and alpha."""
    for draw in progress(range(draws), "figure 1"):
        K, K_test, Y, Y_test = synthetic(draw, NOISE)
        for loss, epsilons in EPSILONS.items():
            for epsilon in epsilons:
                model = synthetic_model(losses.EpsilonInsensitive(epsilon, NORMS[loss]))
                for fitted in model.fit_path(K, Y, ALPHAS):
                    yield {
                        "draw": draw,
                        "loss": loss,
                        "epsilon": epsilon,
                        "alpha": fitted.alpha_,
                        "nmse": functional_nmse(Y_test, fitted.predict(K_test)),
                        "sparsity": sparsity(fitted),
                    }


def results(rows, draws):
    """Arrays (alphas, draws) of errors and sparsities by loss and epsilon."""
    out = {}
    for row in rows:
        out.setdefault((row["loss"], row["epsilon"]), []).append((row["nmse"], row["sparsity"]))
    return {key: np.array(values).reshape(draws, len(ALPHAS), 2).T for key, values in out.items()}  # (2, alphas, draws)


def plot(found, name):
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(2, 2, figsize=(9, 6.5), sharex=True)
    for row, (loss, epsilons) in zip(axes, EPSILONS.items(), strict=True):
        colours = plt.get_cmap("viridis")(np.linspace(0, 0.9, len(epsilons)))
        for epsilon, colour in zip(epsilons, colours, strict=True):
            errors, zeros = found[loss, epsilon].mean(axis=-1)
            row[0].plot(ALPHAS, errors, "o-", color=colour, markersize=3, label=f"{epsilon:g}")
            row[1].plot(ALPHAS, 100 * zeros, "o-", color=colour, markersize=3)
        row[0].set(ylabel=f"NMSE, {NAMES[loss]}", xscale="log", yscale="log")
        row[1].set(ylabel="zero dual variables (%)", ylim=(-3, 103))
        row[0].legend(title="ε", frameon=False, ncols=2)
        for axis in row:
            axis.grid(alpha=0.3)
    for axis in axes[1]:
        axis.set_xlabel("regularisation α")
    figure.suptitle("ε-insensitive losses: error (left) and sparsity (right), means over draws")
    figure.tight_layout()
    save_figure(figure, name)


def quick(folder):
    """Figures of a small piece: a short run on few samples, see ``common.figures_of``."""
    few = {"eps2": (0.0, 0.25), "epsinf": (0.0, 0.4)}
    with smaller("lambert2022_common", N_TRAIN=20), smaller(__name__, ALPHAS=ALPHAS[::5], EPSILONS=few):
        return figures_of(main, ["nmse", "sparsity"], "loss", "epsilon")


def main():
    quick = arguments(__doc__).quick
    draws = 2 if quick else 20
    rows = list(run(draws))
    name = "lambert2022_figure1" + "_quick" * quick
    write_csv(name, rows)
    found = results(rows, draws)
    lines = []
    for (loss, epsilon), (errors, zeros) in found.items():
        best = errors.mean(axis=1).argmin()  # of the figure's curve
        values = f"{ALPHAS[best]:.0e}", with_error(errors[best], 4), with_error(100 * zeros[best], 1)
        lines.append([NAMES[loss], f"{epsilon:g}", *values])
    print(table(["loss", "ε", "lowest at α", "NMSE there", "sparsity there (%)"], lines))
    plot(found, name)


if __name__ == "__main__":
    main()
