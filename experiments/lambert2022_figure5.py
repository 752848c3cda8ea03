"""Figure 5 of Lambert et al. 2022: effect of outliers on the Huber losses of p-norms, p from 1 to 2.

Robustness ratio (appendix C.1) of 100 synthetic curves (appendix B.2) against the same with outliers: on the left 10 %
of the curves have another Gaussian process added (type 2), by its intensity; on the right points of all curves are
replaced by noise (type 3), by their share. kappa is the best of seven quantiles of the clean curves' dual norms, for
each draw. No model is fitted.

The text gives neither the shares nor the levels of corruption: these are ours.

    python experiments/lambert2022_figure5.py            20 draws, about 5 minutes
    python experiments/lambert2022_figure5.py --quick    2 draws, 3 exponents

Prints the tables of docs/results/lambert2022.md and writes output/lambert2022_figure5.csv and .png.
"""

import numpy as np
from common import arguments, figures_of, progress, save_figure, smaller, table, with_error, write_csv
from lambert2022_common import N_TRAIN

from hilbertlearn import datasets
from hilbertlearn.metrics import robustness_ratio

EXPONENTS = (1.0, 1.05, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.8, 2.0)
SHARE = 0.1  # of curves with global outliers
PANELS = {"global": (1.0, 2.0, 3.0, 4.0), "local": (0.05, 0.1, 0.2, 0.3)}  # intensities, shares of points
LABELS = {"global": "10 % global outliers, intensity ζ", "local": "local outliers in all curves, share ξ of points"}
SYMBOLS = {"global": "ζ", "local": "ξ"}


def corrupted(Y, kind, level, seed):
    if kind == "global":
        return datasets.corrupt_curves(Y, SHARE, intensity=level, random_state=seed)[0]
    return datasets.corrupt_points(Y, 1.0, points_fraction=level, random_state=seed)[0]


def run(panels, exponents, draws):
    """One dictionary for each kind of outlier, level, draw and p."""
    settings = [(kind, level, draw) for kind, levels in panels.items() for level in levels for draw in range(draws)]
    for kind, level, draw in progress(settings, "figure 5"):
        Y = datasets.make_gaussian_process_curves(N_TRAIN, random_state=draw)[1]
        outliers = corrupted(Y, kind, level, draw)
        for p in exponents:
            ratio = robustness_ratio(Y, outliers, p, weights="equal")
            yield {"outliers": kind, "level": level, "draw": draw, "p": p, "ratio": ratio.value, "kappa": ratio.kappa}


def results(rows):
    """Ratios (draws,) by kind of outlier, level and p."""
    out = {}
    for row in rows:
        out.setdefault((row["outliers"], row["level"], row["p"]), []).append(row["ratio"])
    return {key: np.array(values) for key, values in out.items()}


def plot(panels, exponents, ratios, name):
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(9, 4.2))
    for axis, (kind, levels) in zip(axes, panels.items(), strict=True):
        for shade, level in zip(np.linspace(0.4, 0.9, len(levels)), levels, strict=True):
            values = np.array([ratios[kind, level, p] for p in exponents])
            middle, spread = values.mean(axis=1), values.std(axis=1) / np.sqrt(max(values.shape[1] - 1, 1))
            colour = plt.cm.viridis(1 - shade)
            axis.plot(exponents, middle, "o-", color=colour, label=f"{SYMBOLS[kind]} = {level:g}", markersize=4)
            axis.fill_between(exponents, middle - spread, middle + spread, color=colour, alpha=0.2, linewidth=0)
        axis.set(xlabel="p", ylabel="robustness ratio", title=LABELS[kind])
        axis.grid(alpha=0.3, which="both")
        axis.legend(frameon=False, ncol=len(levels), loc="upper center", bbox_to_anchor=(0.5, -0.16))
    figure.suptitle("What outliers add to the Huber loss of the p-norm; mean ± standard error, 1 is nothing")
    figure.tight_layout()
    save_figure(figure, name)


def quick(folder):
    """Figures of a small piece: a short run on few samples, see ``common.figures_of``."""
    with smaller(__name__, N_TRAIN=20, PANELS={"global": (2.0,), "local": (0.2,)}):
        return figures_of(main, ["ratio"], "outliers", "level", "p")


def main():
    quick = arguments(__doc__).quick
    exponents = (1.0, 1.5, 2.0) if quick else EXPONENTS
    rows = list(run(PANELS, exponents, 2 if quick else 20))
    name = "lambert2022_figure5" + "_quick" * quick
    write_csv(name, rows)
    ratios = results(rows)
    shown = [p for p in (1.0, 1.1, 1.2, 1.5, 2.0) if p in exponents]
    for kind, levels in PANELS.items():
        lines = []
        for level in levels:
            values = [ratios[kind, level, p] for p in shown]
            better = float(np.mean(values[0] < values[-1]))
            lines.append([f"{level:g}", *(with_error(own) for own in values), f"{better:.0%}"])
        print(table([LABELS[kind], *(f"p = {p:g}" for p in shown), "draws with p = 1 better than 2"], lines), "\n")
    plot(PANELS, exponents, ratios, name)


if __name__ == "__main__":
    main()
