"""Figure 4 of Lambert et al. 2022: test error of the Huber losses over alpha and kappa, with outliers.

Synthetic curves (appendix B.2), 100 to train on and 100 clean ones to test on. Left: 10 % of the curves with another
Gaussian process of intensity 3 added (type 2). Right: a tenth of the points of every curve replaced by noise (type
3). Nothing is selected: the figure shows every pair of parameters, and the squared loss. The text gives neither the
grids nor the amount of outliers; these are ours.

    python experiments/lambert2022_figure4.py            20 draws, about a minute
    python experiments/lambert2022_figure4.py --quick    1 draw

Prints the table of docs/results/lambert2022.md and writes output/lambert2022_figure4.csv and .png.
"""

import numpy as np
from common import arguments, figures_of, progress, save_figure, smaller, table, write_csv
from lambert2022_common import NAMES, synthetic, synthetic_model

from hilbertlearn import datasets, losses
from hilbertlearn.metrics import functional_nmse

ALPHAS = np.geomspace(1e-2, 1e-6, 9)
KAPPAS = np.geomspace(1e-3, 10**-0.5, 6)
OUTLIERS = {"type 2 (global)": "global", "type 3 (local)": "local"}


def corrupted(Y, kind, seed):
    if kind == "global":
        return datasets.corrupt_curves(Y, 0.1, intensity=3.0, random_state=seed)[0]
    return datasets.corrupt_points(Y, 1.0, points_fraction=0.1, random_state=seed)[0]


def run(draws):
    """One dictionary for each draw, kind of outlier, loss, kappa (infinite for the squared loss) and alpha."""
    settings = {("squared", np.inf): losses.Squared()}
    settings |= {("H2", kappa): losses.Huber(kappa, 2) for kappa in KAPPAS}
    settings |= {("H1", kappa): losses.Huber(kappa, 1) for kappa in KAPPAS}
    for draw in progress(range(draws), "figure 4"):
        K, K_test, clean, Y_test = synthetic(draw)
        for kind in OUTLIERS.values():
            Y = corrupted(clean, kind, draw)
            for (loss, kappa), setting in settings.items():
                for fitted in synthetic_model(setting).fit_path(K, Y, ALPHAS):
                    nmse = functional_nmse(Y_test, fitted.predict(K_test))
                    yield {
                        "draw": draw,
                        "outliers": kind,
                        "loss": loss,
                        "kappa": kappa,
                        "alpha": fitted.alpha_,
                        "nmse": nmse,
                    }


def results(rows, draws):
    """Mean errors (alphas,) by kind of outlier, loss and kappa."""
    out = {}
    for row in rows:
        out.setdefault((row["outliers"], row["loss"], row["kappa"]), []).append(row["nmse"])
    return {key: np.array(values).reshape(draws, len(ALPHAS)).mean(axis=0) for key, values in out.items()}


def plot(found, name):
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(2, 2, figsize=(9, 6.5), sharex=True, sharey="col")
    colours = plt.get_cmap("viridis")(np.linspace(0, 0.9, len(KAPPAS)))
    for column, (title, kind) in zip(axes.T, OUTLIERS.items(), strict=True):
        for axis, loss in zip(column, ("H2", "H1"), strict=True):
            for kappa, colour in zip(KAPPAS, colours, strict=True):
                label = f"{kappa:.1g}"
                axis.plot(ALPHAS, found[kind, loss, kappa], "o-", color=colour, markersize=3, label=label)
            axis.plot(ALPHAS, found[kind, "squared", np.inf], "k--", label=NAMES["squared"])
            axis.set(xscale="log", yscale="log", ylabel=f"NMSE, {NAMES[loss]}")
            axis.grid(alpha=0.3)
        column[0].set_title(f"outliers of {title}")
        column[1].set_xlabel("regularisation α")
    axes[0, 0].legend(title="κ", frameon=False, fontsize=8)
    figure.tight_layout()
    save_figure(figure, name)


def quick(folder):
    """Figures of a small piece: a short run on few samples, see ``common.figures_of``."""
    with smaller("lambert2022_common", N_TRAIN=20), smaller(__name__, ALPHAS=ALPHAS[::4], KAPPAS=KAPPAS[::3]):
        return figures_of(main, ["nmse"], "outliers", "loss")


def main():
    quick = arguments(__doc__).quick
    draws = 1 if quick else 20
    rows = list(run(draws))
    name = "lambert2022_figure4" + "_quick" * quick
    write_csv(name, rows)
    found = results(rows, draws)
    lines = []
    for title, kind in OUTLIERS.items():
        for loss in ("squared", "H2", "H1"):
            best = min((key for key in found if key[:2] == (kind, loss)), key=lambda key: found[key].min())
            errors = found[best]
            kappa = "" if loss == "squared" else f"{best[2]:.1g}"
            lines.append([title, NAMES[loss], f"{errors.min():.4f}", f"{ALPHAS[errors.argmin()]:.0e}", kappa])
    print(table(["outliers", "loss", "lowest mean NMSE", "at α", "κ"], lines))
    plot(found, name)


if __name__ == "__main__":
    main()
