"""Figure 2 of Lambert et al. 2022: outliers in the training curves, squared loss against Huber losses.

Synthetic curves (appendix B.2), 100 to train on and 100 clean ones to test on. Above: curves with another Gaussian
process added (type 2), against their intensity and their share. Below: points replaced by noise (type 3), against the
share of curves and, all curves being corrupted, against the share of points. Alpha and kappa are selected by 5 folds
of the corrupted training set, by the median over folds of the squared error.

The text does not give the axes' values; their ranges are those of the authors' published configuration. The grids are
coarser than the paper's: 7 alphas instead of 10 from 1e-6 to 1e-3, 5 kappas instead of 25 from 1e-3 to 1e-1.

    python experiments/lambert2022_figure2.py            20 draws, about 25 minutes
    python experiments/lambert2022_figure2.py --quick    1 draw, 2 settings a panel

Prints the tables of docs/results/lambert2022.md and writes output/lambert2022_figure2.csv and .png.
"""

import numpy as np
from common import arguments, figures_of, progress, save_figure, smaller, table, with_error, write_csv
from lambert2022_common import COLOURS, NAMES, choose, synthetic, synthetic_model

from hilbertlearn import datasets, losses
from hilbertlearn.metrics import functional_nmse

CLEAN = (2, 0.0, 0.0)  # type of outlier, share of curves, intensity or share of points
PANELS = {
    "intensity ζ of 10 % global outliers": [(2, 0.1, zeta) for zeta in (0.0, 1.0, 2.0, 3.0, 4.0)],
    "share τ of global outliers, ζ = 3": [(2, tau, 3.0) for tau in (0.0, 0.05, 0.1, 0.15, 0.2)],
    "share τ of curves with local outliers, ξ = 0.1": [(3, tau, 0.1) for tau in (0.0, 0.25, 0.5, 0.75, 1.0)],
    "share ξ of points with outliers, all curves": [(3, 1.0, xi) for xi in (0.0, 0.1, 0.2, 0.3)],
}
VARIED = (2, 1, 1, 2)  # which number of the setting a panel varies
ALPHAS = np.geomspace(1e-3, 1e-6, 7)
KAPPAS = np.geomspace(1e-3, 1e-1, 5)


def distinct(setting):
    """One name for all settings without outliers."""
    return setting if setting[1] and setting[2] else CLEAN


def corrupted(Y, kind, share, strength, seed):
    if not share or not strength:
        return Y
    if kind == 2:
        return datasets.corrupt_curves(Y, share, intensity=strength, random_state=seed)[0]
    return datasets.corrupt_points(Y, share, points_fraction=strength, random_state=seed)[0]


def candidates(kappas):
    """Models to choose from, by loss."""
    return {
        "squared": [synthetic_model(losses.Squared())],
        "H2": [synthetic_model(losses.Huber(kappa, 2)) for kappa in kappas],
        "H1": [synthetic_model(losses.Huber(kappa, 1)) for kappa in kappas],
    }


def run(settings, draws, alphas, kappas):
    """One dictionary for each setting, draw and loss."""
    for (kind, share, strength), draw in progress([(s, d) for s in settings for d in range(draws)], "figure 2"):
        K, K_test, Y, Y_test = synthetic(draw)
        Y = corrupted(Y, kind, share, strength, draw)
        for loss, models in candidates(kappas).items():
            best, _ = choose(models, K, Y, alphas, folds=5, aggregate=np.median)
            nmse = functional_nmse(Y_test, best.fit(K, Y).predict(K_test))
            kappa = getattr(best.loss, "kappa", None)
            yield {
                "type": kind,
                "share": share,
                "strength": strength,
                "draw": draw,
                "loss": loss,
                "nmse": nmse,
                "alpha": best.alpha,
                "kappa": kappa,
            }


def results(rows):
    """Errors (draws,) by setting and loss."""
    out = {}
    for row in rows:
        out.setdefault(((row["type"], row["share"], row["strength"]), row["loss"]), []).append(row["nmse"])
    return {key: np.array(values) for key, values in out.items()}


def plot(panels, errors, name):
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(2, 2, figsize=(9, 6.5))
    for axis, varied, (title, settings) in zip(axes.flat, VARIED, panels.items(), strict=True):
        x = [setting[varied] for setting in settings]
        for loss in ("squared", "H2", "H1"):
            values = np.array([errors[distinct(setting), loss] for setting in settings])
            middle = values.mean(axis=1)
            spread = values.std(axis=1) / np.sqrt(max(values.shape[1] - 1, 1))
            axis.plot(x, middle, "o-", color=COLOURS[loss], label=NAMES[loss], markersize=4)
            axis.fill_between(x, middle - spread, middle + spread, color=COLOURS[loss], alpha=0.2, linewidth=0)
        axis.set(xlabel=title, ylabel="NMSE on clean test curves", yscale="log")
        axis.grid(alpha=0.3, which="both")
    axes[0, 0].legend(frameon=False)
    figure.suptitle("Robustness to global outliers (above) and local ones (below); mean ± standard error")
    figure.tight_layout()
    save_figure(figure, name)


def quick(folder):
    """Figures of a small piece: a short run on few samples, see ``common.figures_of``."""
    with smaller("lambert2022_common", N_TRAIN=20), smaller(__name__, ALPHAS=ALPHAS[::3], KAPPAS=KAPPAS[::4]):
        return figures_of(main, ["nmse"], "type", "share", "strength", "loss")


def main():
    quick = arguments(__doc__).quick
    panels = {title: settings[:: len(settings) - 1] if quick else settings for title, settings in PANELS.items()}
    settings = list(dict.fromkeys(distinct(s) for settings in panels.values() for s in settings))
    rows = list(run(settings, 1 if quick else 20, ALPHAS[::2] if quick else ALPHAS, KAPPAS[::2] if quick else KAPPAS))
    name = "lambert2022_figure2" + "_quick" * quick
    write_csv(name, rows)
    errors = results(rows)
    for title, varied in zip(panels, VARIED, strict=True):
        lines = []
        for setting in panels[title]:
            by_loss = [errors[distinct(setting), loss] for loss in ("squared", "H2", "H1")]
            ratio = by_loss[0].mean() / by_loss[2].mean()
            lines.append([f"{setting[varied]:g}", *(with_error(values, 4) for values in by_loss), f"{ratio:.1f}"])
        print(table([title, *(NAMES[loss] for loss in ("squared", "H2", "H1")), "squared / Huber p = 1"], lines), "\n")
    plot(panels, errors, name)


if __name__ == "__main__":
    main()
