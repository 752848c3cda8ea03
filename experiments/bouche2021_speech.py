"""Table 2 of Bouche et al. 2021: from the sound of synthesised words to eight trajectories of the vocal tract.

413 words, 300 to train on and 113 to test on, 10 random splits (the paper has one). Sound is 13 mel-frequency
cepstral coefficients; words are extended by reflection to the longest, and trajectories are mapped to [-1, 1]. The
input kernel is the sum of 13 Gaussian kernels of appendix C.3.2, of bandwidth 1 except for KE. Settings are selected
by 5 folds of the training words.

Errors are squared errors summed over the original points of each word, averaged over words: on this scale the numbers
are of the paper's size (on extended words they are about three times as large, as means over points about 100 times
smaller). The paper's per-channel numbers fit the names that the trajectories have by what they show (``channels``), not
those of the authors' loader.

- KE: Nadaraya-Watson, bandwidths 0.1 to 2 as in the paper; "KE, narrow" goes down to 0.005.
- KPL: 20, 30 or 40 principal components. 3BE is the same computation here: the paper replaces its random features by
  the same kernel, and principal components are orthonormal. The paper too finds equal numbers.
- FKRR: output kernel exp(-rate |s - t|), rate 0.1, 1, 10 or 30 (paper: 0.02 to 0.15, if they were not meant as widths).

Outputs are centred, except for KE. Penalties: 3 per decade from 1e-8 to 1e-3 (paper: 40 or 50 values from 1e-11 to
1e-5; the best are at or above its upper end).

    python experiments/bouche2021_speech.py --data FOLDER            about 8 minutes
    python experiments/bouche2021_speech.py --data FOLDER --quick    2 splits, 2 trajectories, fewer settings

FOLDER holds speech_vt/. Prints the table of docs/results/bouche2021.md, writes output/bouche2021_speech.csv and .png.
"""

import numpy as np
from bouche2021_dti import choose, choose_bandwidth, on_gram, predict
from common import arguments, figures_of, progress, save_figure, smaller, table, with_error, write_csv
from sklearn.utils import Bunch

from hilbertlearn import FunctionalRegressor, kernels, readers, spaces
from hilbertlearn.baselines import FunctionalKernelRidge, FunctionalNadarayaWatson
from hilbertlearn.metrics import functional_mse

N_TRAIN = 300
ALPHAS = np.geomspace(1e-3, 1e-8, 16)
PAPER = {  # KE, KPL, FKRR
    "LA": (9.699, 5.730, 5.780),
    "LP": (16.096, 6.643, 6.641),
    "TTCD": (14.381, 6.450, 6.447),
    "TTCL": (15.742, 6.701, 6.658),
    "TBCD": (10.946, 5.793, 5.791),
    "TBCL": (14.027, 5.134, 5.132),
    "VEL": (14.774, 8.584, 8.583),
    "GLO": (10.680, 4.102, 4.104),
}
METHODS = ("mean curve", "KE", "KE, narrow", "KPL", "FKRR", "default")
IN_PAPER = ("KE", "KPL", "FKRR")


def words(folder):
    """The 413 words."""
    data = readers.load_speech(folder)
    return Bunch(**{**data, "X": data.X[data.keep_413], "Y": data.Y[data.keep_413]})


def predictions(X, Y, seen, train, test, grams, quick):
    """Predictions for the test words by each method; ``seen`` is Y at the original points, NaN elsewhere."""
    out = {"mean curve": np.tile(Y[train].mean(axis=0), (len(test), 1))}
    cut = np.ix_(train, train), np.ix_(test, train)
    for name in ("KE", "KE, narrow"):
        K = choose_bandwidth(grams[name], train, Y, seen)
        out[name] = FunctionalNadarayaWatson("precomputed").fit(K[cut[0]], Y[train]).predict(K[cut[1]])
    K = grams["all"]
    components, rates = ((30,), (10.0,)) if quick else ((20, 30, 40), (0.1, 1.0, 10.0, 30.0))
    candidates = {
        "KPL": [(on_gram(spaces.PrincipalComponents(J)), K) for J in components],
        "FKRR": [(FunctionalKernelRidge("precomputed", output_gamma=rate, center=False).build(), K) for rate in rates],
    }
    for name, models in candidates.items():
        out[name] = predict(*choose(models, train, Y, seen, ALPHAS), Y, train, test)
    out["default"] = FunctionalRegressor().fit(X[train], Y[train]).predict(X[test])
    return out


def input_grams(X, train):
    """Gram matrices (n, n) of all words, scaled by the training words: of bandwidth 1, and those KE chooses from."""
    scales = kernels.ChannelSum().resolve(X[train]).scales

    def gram(bandwidth):
        return kernels.ChannelSum(bandwidth, scales)(X, X)

    paper = [gram(bandwidth) for bandwidth in (0.1, 0.2, 0.3, 0.5, 1.0, 2.0)]
    narrow = [gram(bandwidth) for bandwidth in np.geomspace(0.005, 0.08, 7)]
    return {"all": gram(1.0), "KE": paper, "KE, narrow": narrow + paper}


def run(data, splits, channels, quick):
    """One dictionary for each split, trajectory and method."""
    cases = [(split, channel) for split in range(splits) for channel in channels]
    grams = {}
    for split, channel in progress(cases, "speech"):
        order = np.random.RandomState(split).permutation(len(data.X))
        train, test = order[:N_TRAIN], order[N_TRAIN:]
        arrays = readers.prepare_speech(data, channel, train)
        if split not in grams:
            grams = {split: input_grams(arrays.X, train)}
        seen = np.where(arrays.observed, arrays.Y, np.nan)
        predicted = predictions(arrays.X, arrays.Y, seen, train, test, grams[split], quick)
        for method in METHODS:
            mse = functional_mse(seen[test], predicted[method])
            yield {"split": split, "channel": channel, "method": method, "mse": mse}


def plot(found, channels, name):
    import matplotlib.pyplot as plt

    figure, axis = plt.subplots(figsize=(9, 4))
    width = 0.8 / len(METHODS)
    colours = dict(
        zip(METHODS, ("lightgray", "tab:orange", "gold", "tab:blue", "tab:green", "tab:purple"), strict=True)
    )
    for k, method in enumerate(METHODS):
        places = np.arange(len(channels)) + (k - (len(METHODS) - 1) / 2) * width
        values = np.array([found[channel, method] for channel in channels])
        spread = values.std(axis=1, ddof=1) / np.sqrt(values.shape[1])
        axis.bar(places, values.mean(axis=1), width, yerr=spread, color=colours[method], label=method, capsize=1.5)
        if method in IN_PAPER:
            theirs = [PAPER[channel][IN_PAPER.index(method)] for channel in channels]
            axis.plot(places, theirs, "D", color="black", markersize=4, label="paper" if method == "KE" else None)
    axis.set_xticks(range(len(channels)), channels)
    axis.set(ylabel="test error (sum over points)", title="Speech inversion: means and standard errors over splits")
    axis.grid(axis="y", alpha=0.3)
    axis.set_axisbelow(True)
    axis.legend(frameon=False, fontsize=9, loc="upper left", bbox_to_anchor=(1, 1))
    save_figure(figure, name)


def quick(folder):
    """Figures of a small piece: a short run on few samples, see ``common.figures_of``."""
    with smaller(__name__, N_TRAIN=16, ALPHAS=ALPHAS[::5]):
        return figures_of(main, ["mse"], "channel", "method", data=folder)


def main():
    options = arguments(__doc__, data="speech_vt")
    channels = ("LA", "GLO") if options.quick else tuple(PAPER)
    splits = 2 if options.quick else 10
    rows = list(run(words(options.data), splits, channels, options.quick))
    name = "bouche2021_speech" + "_quick" * options.quick
    write_csv(name, rows)
    found = {}
    for row in rows:
        found.setdefault((row["channel"], row["method"]), []).append(row["mse"])
    lines = []
    for channel in (*channels, "Average"):
        cells = []
        for method in METHODS:
            same = [found[one, method] for one in (channels if channel == "Average" else (channel,))]
            ours = with_error(np.mean(same, axis=0), 2)
            if method in IN_PAPER:
                column = IN_PAPER.index(method)
                theirs = [PAPER[one][column] for one in (channels if channel == "Average" else (channel,))]
                ours += f" ({np.mean(theirs):.2f})"
            cells.append(ours)
        lines.append([channel, *cells])
    print(table(["", *(f"{method} (paper)" if method in IN_PAPER else method for method in METHODS)], lines))
    plot(found, channels, name)


if __name__ == "__main__":
    main()
