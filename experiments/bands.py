"""Widths of simultaneous bands for curves at level 0.9, against split conformal with its papers' modulation.

Four kinds of curves, 20 random splits each: the right corticospinal tract from the corpus callosum (DTI, 78 patients
to train on and 22 to test on), trajectories of the vocal tract from sound (speech, 298 words and 115), sums of bumps
from sums of cosines (``make_frequency_curves``, 78 and 200) and curves of Gaussian processes from others
(``make_gaussian_process_curves`` with noise 0.1, 78 and 200). With these numbers half of the training curves gives
the level exactly, so that rounding does not affect the reference.

- The reference, ``baselines.SplitConformalBand``: half of the samples train, half calibrate, and the width is
  proportional to the largest residual of the training half without the most extreme curves (Diquigiovanni, Fontana &
  Vantini 2022). A second reference has a constant width.
- "default": ``ConformalPredictor(model)`` with default settings, jackknife+ in closed form with a smooth scale.
- "default, level 0.93": the same for a higher level, for comparison if coverages differ by chance.
- Other methods and scores, on the first 3 splits, for speech of the first of three trajectories.

Models are ``FunctionalRegressor()`` for DTI and the synthetic curves, with kernel, alpha and operator selected from
the training samples; for speech the sum of 13 Gaussian kernels of Bouche et al. 2021, 30 principal components and a
selected alpha. Gaps of the training curves of DTI are filled by linear interpolation before anything else; test
curves count where they were observed. Coverage is the share of test curves that are inside at all points, and width
the mean over the domain and over test curves.

*Robust.* 78 curves of Gaussian processes of which 5 % are wrong (``corrupt_curves`` of intensity 3), and 200 clean
test curves: bands of ridge regression and of the Huber loss, both by cv+, for two levels.

    python experiments/bands.py --data FOLDER            about 25 minutes
    python experiments/bands.py --data FOLDER --quick    3 splits

FOLDER holds dti/ and speech_vt/. Prints the tables of docs/results/confidence.md, writes output/bands.csv and .png.
"""

import argparse
import os
from dataclasses import replace
from pathlib import Path

import bouche2021_speech
import numpy as np
from common import DATA, figures_of, progress, save_figure, smaller, table, with_error, write_csv
from sklearn.model_selection import KFold

from hilbertlearn import ConformalPredictor, FunctionalRegressor, datasets, kernels, readers, spaces
from hilbertlearn.baselines import SplitConformalBand

LEVEL, RAISED = 0.9, 0.93
N_TRAIN, N_WORDS, N_TEST = 78, 298, 200
CHANNELS = ("LA", "TTCL", "GLO")
QUICK = 3  # splits of a quick run
FOLDS = 10  # of cv+ around a robust fit
FEW = 3  # splits of the methods that are not the default, of speech for the first trajectory
REFERENCE, EVEN, DEFAULT = "split, papers' modulation", "split, constant width", "default"
OTHERS = {
    "jackknife+, constant": {"method": "jackknife+", "score": "constant"},
    "jackknife+, scale": {"method": "jackknife+", "score": "scale"},
    "jackknife+, trimmed": {"method": "jackknife+", "score": "trimmed"},
    "jackknife+, robust": {"method": "jackknife+", "score": "robust"},
    "cv+ (5 folds)": {"method": "cv+", "cv": 5},
    "split, halves": {"method": "split", "calibration": 0.5},
}


# ---------------------------------------------------------------- data


def dti(folder, split):
    data = readers.load_dti(folder / "dti")
    rows = data.first_ms_visit
    X, Y = datasets.fill_gaps(data.X[rows]), data.Y[rows]
    order = np.random.RandomState(split).permutation(len(Y))
    train, test = order[:N_TRAIN], order[N_TRAIN:]
    return FunctionalRegressor(), X[train], datasets.fill_gaps(Y[train]), X[test], Y[test]


def speech(folder, split, channel):
    data = bouche2021_speech.words(folder / "speech_vt")
    order = np.random.RandomState(split).permutation(len(data.X))
    train, test = order[:N_WORDS], order[N_WORDS:]
    words = readers.prepare_speech(data, channel, train)
    kernel = kernels.ChannelSum(1.0, kernels.ChannelSum().resolve(words.X[train]).scales)
    K = kernel(words.X, words.X[train])
    model = FunctionalRegressor("precomputed", space=spaces.PrincipalComponents(30))
    return model, K[train], words.Y[train], K[test], words.Y[test]


def bumps(split):
    X, Y, _, _ = datasets.make_frequency_curves(N_TRAIN + N_TEST, n_points_in=100, n_points_out=100, random_state=split)
    return FunctionalRegressor(), X[:N_TRAIN], Y[:N_TRAIN], X[N_TRAIN:], Y[N_TRAIN:]


def processes(split):
    X, Y, _, _ = datasets.make_gaussian_process_curves(N_TRAIN + N_TEST, noise_out=0.1, random_state=split)
    return FunctionalRegressor(), X[:N_TRAIN], Y[:N_TRAIN], X[N_TRAIN:], Y[N_TRAIN:]


def cases(folder, name, split):
    """Tuples (name, model, X, Y, X_test, Y_test) of a split."""
    if name == "speech":
        for channel in CHANNELS:
            yield f"speech, {channel}", *speech(folder, split, channel)
    else:
        yield name, *(dti(folder, split) if name == "DTI" else {"bumps": bumps, "processes": processes}[name](split))


# ---------------------------------------------------------------- widths


def measured(lower, upper, Y):
    """Mean width over an even grid, and share of curves inside at all observed points."""
    inside = ((lower <= Y) & (upper >= Y)) | np.isnan(Y)
    return {"width": float(np.mean(upper - lower)), "coverage": float(inside.all(axis=1).mean())}


def run(folder, names, splits):
    """One dictionary for each data set, split and method."""
    for name, split in progress([(name, split) for split in range(splits) for name in names], "bands"):
        for data, model, X, Y, X_test, Y_test in cases(folder, name, split):
            every = split < FEW and not data.endswith(CHANNELS[1:])
            for method, ends in bands(model, X, Y, X_test, split, every):
                yield {"data": data, "split": split, "method": method, **measured(*ends, Y_test)}


def set_level(model, level):
    """Change the level of a fitted predictor, whose scores do not depend on it."""
    model.sets_ = replace(model.sets_, calibration=replace(model.sets_.calibration, level=level))


def bands(model, X, Y, X_test, split, every=False):
    """Pairs (method, lower and upper ends) of the reference and the default, or of every method."""
    yield REFERENCE, SplitConformalBand(model, LEVEL, random_state=split).fit(X, Y).predict_band(X_test)
    even = SplitConformalBand(model, LEVEL, modulation="constant", random_state=split)
    yield EVEN, even.fit(X, Y).predict_band(X_test)
    default = ConformalPredictor(model, level=LEVEL, random_state=split).fit(X, Y)
    yield DEFAULT, ends_of(default, X_test)
    set_level(default, RAISED)
    yield f"{DEFAULT}, level {RAISED:g}", ends_of(default, X_test)
    if every:
        for method, settings in OTHERS.items():
            found = ConformalPredictor(model, level=LEVEL, random_state=split, **settings).fit(X, Y)
            yield method, ends_of(found, X_test)


def ends_of(predictor, X):
    band = predictor.predict_band(X)
    return band.lower, band.upper


def summary(rows):
    """Rows of the table: widths relative to the reference on the same splits, and both coverages."""
    found = {}
    for row in rows:
        found.setdefault((row["data"], row["method"]), []).append(row)
    for (data, method), own in found.items():
        splits = {row["split"] for row in own}
        peers = [row for row in found[data, REFERENCE] if row["split"] in splits]
        widths = [np.mean([row["width"] for row in some]) for some in (own, peers)]
        yield [
            data,
            method,
            len(splits),
            f"{widths[0] / widths[1]:.3f}",
            with_error([row["coverage"] for row in own]),
            f"{np.mean([row['coverage'] for row in peers]):.3f}",
        ]


# ---------------------------------------------------------------- robust


def robust(splits):
    """One dictionary for each split and loss."""
    for split in progress(range(splits), "robust"):
        _, X, Y, X_test, Y_test = processes(split)
        wrong = datasets.corrupt_curves(Y, 0.05, intensity=3.0, random_state=split)[0]
        for loss in ("squared", "huber"):
            model = FunctionalRegressor("linear", loss=loss, tol=1e-4)
            folds = KFold(FOLDS, shuffle=True, random_state=split)
            found = ConformalPredictor(model, "cv+", LEVEL, cv=folds).fit(X, wrong)
            for level in (LEVEL, RAISED):
                set_level(found, level)
                row = {"data": "robust", "split": split, "method": f"{loss}, level {level:g}"}
                yield {**row, **measured(*ends_of(found, X_test), Y_test)}


def robust_summary(rows):
    squared = np.mean([row["width"] for row in rows if row["method"] == f"squared, level {LEVEL:g}"])
    for loss in dict.fromkeys(row["method"] for row in rows):
        own = [row for row in rows if row["method"] == loss]
        width = [row["width"] for row in own]
        yield [loss, with_error(width), f"{np.mean(width) / squared:.3f}", with_error([r["coverage"] for r in own])]


# ---------------------------------------------------------------- picture


def figure(folder):
    """Bands of both kinds around two test curves of each data set."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    chosen = [next(cases(folder, name, 0)) for name in ("DTI", "speech", "bumps")]
    image, axes = plt.subplots(2, len(chosen), figsize=(11, 5), sharex=True, sharey="col", layout="constrained")
    for column, (name, model, X, Y, X_test, Y_test) in zip(axes.T, chosen, strict=True):
        found = dict(bands(model, X, Y, X_test, 0))
        t = np.linspace(0, 1, Y.shape[1])
        for axis, i in zip(column, (0, 1), strict=True):
            axis.fill_between(t, *(end[i] for end in found[REFERENCE]), color="0.85", label=REFERENCE)
            axis.fill_between(t, *(end[i] for end in found[DEFAULT]), color="tab:blue", alpha=0.4, label="default")
            axis.plot(t, Y_test[i], color="black", lw=1, label="test curve")
            axis.set_xlim(0, 1)
        column[0].set_title(name)
    axes[0, 0].legend(fontsize=8, loc="upper right")
    return image


def quick(folder):
    """Figures of a small piece: a short run on few samples, see ``common.figures_of``."""
    few = {"N_TRAIN": 18, "N_WORDS": 18, "N_TEST": 10, "QUICK": 1, "FOLDS": 2, "CHANNELS": ("LA",)}
    few |= {"OTHERS": {name: OTHERS[name] for name in ("jackknife+, constant", "split, halves")}}
    with smaller(__name__, **few):
        only = ["--only", "DTI", "speech", "robust"]
        return figures_of(main, ["width", "coverage"], "data", "method", data=folder, options=only)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="3 splits")
    parser.add_argument("--data", default=os.environ.get(DATA), help=f"folder that holds dti/ and speech_vt/ ({DATA})")
    parser.add_argument("--splits", type=int, default=20)
    parser.add_argument("--only", nargs="*", default=("DTI", "speech", "bumps", "processes", "robust"))
    given = parser.parse_args()
    if given.data is None:
        parser.error(f"--data is missing: give the folder that holds dti/ and speech_vt/, or set {DATA}")
    folder, splits = Path(given.data), QUICK if given.quick else given.splits
    names = [name for name in given.only if name != "robust"]
    rows = list(run(folder, names, splits)) if names else []
    wrong = list(robust(splits)) if "robust" in given.only else []
    write_csv("bands", rows + wrong)
    if rows:
        header = ["data", "bands", "splits", "width over the reference's", "coverage", "coverage of the reference"]
        print(table(header, summary(rows)))
    if wrong:
        print(table(["loss", "width", "over ridge's", "coverage of clean curves"], robust_summary(wrong)))
    if set(names) >= {"DTI", "speech", "bumps"}:
        save_figure(figure(folder), "bands")


if __name__ == "__main__":
    main()
