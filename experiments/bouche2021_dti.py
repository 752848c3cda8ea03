"""Table 1 of Bouche et al. 2021: five methods on profiles of diffusion tensor imaging.

The right corticospinal tract (55 points, some not observed) is predicted from the corpus callosum (93 points) in the
first scans of 100 patients, 70 to train on and 30 to test on. All settings are selected by 5 folds of the training
set, by the error at observed points; errors are summed over observed points and averaged over curves, which is the
scale of the paper's numbers. The paper has one unspecified split; here there are 20 random splits.

- KE: Nadaraya-Watson, 20 bandwidths of the Gaussian kernel (paper: 100).
- 3BE: Fourier bases, ridge regression on 300 random Fourier features. All penalties are computed at once with the
  linear kernel of the features; one fit is ``TripleBasisRegressor``. The paper's bandwidths, 20 to 40, depend on a
  scale of the coefficients that it does not give; rates here are around one over the typical squared distance.
- KPL: wavelets (Daubechies and Coiflets, 4 or 5 scales) whose weights fall by 1, 1.2, 1.4 or 1.6 a scale, kernel
  exp(-||x - z||^2 / 0.9^2). "Projected" is the paper's way with values not observed (equation 13); "exact" minimises
  the error at observed values, with the dictionary selected for the other and one penalty per decade from 1e-6 to 1.
- KAM: 4 x 3 input kernels, 3 output kernels (paper: 4), 15 or 30 principal components (paper: 10, 15, 20, 30).
- FKRR: the kernel of KPL, output kernel exp(-rate |s - t|) on the 55 points (paper: 200). The paper's rates are 0.01 to
  1; here 0.1 to 30, since they may have been meant as widths.

Outputs are centred at the mean of the observed values, except for KE. For 3BE, KAM and FKRR gaps of the training
curves are filled by linear interpolation (paper: for the last two). Penalties: 3 per decade from 1e-9 to 1 (paper:
100 values). For reference: the mean training curve, and ``FunctionalRegressor()`` with default settings.

    python experiments/bouche2021_dti.py --data FOLDER            about 15 minutes
    python experiments/bouche2021_dti.py --data FOLDER --quick    2 splits, fewer settings

FOLDER holds dti/dti.npz. Prints the table of docs/results/bouche2021.md and writes output/bouche2021_dti.csv and .png.
"""

from itertools import product

import numpy as np
from common import arguments, figures_of, progress, save_figure, smaller, table, with_error, write_csv
from sklearn.base import clone
from sklearn.kernel_approximation import RBFSampler
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.model_selection import KFold

from hilbertlearn import FunctionalRegressor, datasets, kernels, readers, spaces
from hilbertlearn.baselines import FunctionalKernelRidge, FunctionalNadarayaWatson, KernelAdditiveRegressor
from hilbertlearn.metrics import functional_mse

N_TRAIN = 70
ALPHAS = np.geomspace(1, 1e-9, 28)
PAPER = {"KE": 0.251, "3BE": 0.249, "KPL, projected": 0.233, "KAM": 0.242, "FKRR": 0.238}
METHODS = ("mean curve", "KE", "3BE", "KPL, projected", "KPL, exact", "KAM", "FKRR", "default")


def error(Y, predicted):
    """Squared error summed over observed points, averaged over curves."""
    return np.nansum((Y - predicted) ** 2, axis=1).mean()


def errors_along(model, K, Y, seen, alphas):
    """Errors (n_alphas,) over 5 folds, of predictions of ``seen`` by the model fitted to Y minus its mean."""
    errors = []
    for train, test in KFold(5, shuffle=True, random_state=0).split(K):
        mean = np.nanmean(Y[train], axis=0)
        path = model.fit_path(K[np.ix_(train, train)], Y[train] - mean, alphas)
        errors.append([error(seen[test], mean + fitted.predict(K[np.ix_(test, train)])) for fitted in path])
    return np.mean(errors, axis=0)


def choose(candidates, train, Y, seen, alphas=ALPHAS):
    """The pair (model with its alpha, Gram matrix) of the smallest error over folds of the training samples.

    candidates : pairs of a model and the Gram matrix (n, n) of all samples; Y (n, m) is what models are fitted to
    """
    best, least = None, np.inf
    for model, K in candidates:
        curve = errors_along(model, K[np.ix_(train, train)], Y[train], seen[train], alphas)
        if curve.min() < least:
            best, least = (clone(model).set_params(alpha=alphas[curve.argmin()]), K), curve.min()
    return best


def predict(model, K, Y, train, test):
    """Predictions for test samples, fitted to the training ones around their mean."""
    mean = np.nanmean(Y[train], axis=0)
    return mean + model.fit(K[np.ix_(train, train)], Y[train] - mean).predict(K[np.ix_(test, train)])


def choose_bandwidth(grams, train, Y, seen):
    """The Gram matrix (n, n) with which Nadaraya-Watson has the smallest error over folds of the training samples."""
    model, least = FunctionalNadarayaWatson("precomputed"), []
    for K in grams:
        errors = []
        for rows, held in KFold(5, shuffle=True, random_state=0).split(train):
            a, b = train[rows], train[held]
            errors.append(error(seen[b], model.fit(K[np.ix_(a, a)], Y[a]).predict(K[np.ix_(b, a)])))
        least.append(np.mean(errors))
    return grams[np.argmin(least)]


def on_gram(space, operator="auto", irregular="exact", solver="auto"):
    settings = {"space": space, "operator": operator, "irregular": irregular, "solver": solver}
    return FunctionalRegressor("precomputed", center=False, tol=1e-5, **settings)


def random_features(X, frequency, gamma):
    """Random Fourier features (n, 300) of the Fourier coefficients of input curves."""
    coefficients = spaces.function_space(spaces.Fourier(2 * frequency + 1), X).encode_filled(X)
    return RBFSampler(gamma=gamma, n_components=300, random_state=0).fit_transform(coefficients)


def candidates_of(X, quick):
    """For each method the pairs of a model and a Gram matrix to choose from."""
    D = euclidean_distances(X, squared=True)
    K = np.exp(-D / 0.9**2)
    typical = np.median(D[D > 0]) / X.shape[1]  # of Fourier coefficients, whose distances are means over the points
    if quick:
        wavelets, decays, out, rates = [("db2", 4)], (1.0, 1.4), (10,), (1.0, 10.0)
        inputs, widths = [(10, 0.5)], [(0.05, 0.1, 0.1, 15)]
    else:
        wavelets = list(product(("db2", "db3", "coif1", "coif2"), (4, 5)))
        decays, out, rates = (1.0, 1.2, 1.4, 1.6), (5, 10, 20), (0.1, 0.3, 1.0, 3.0, 10.0, 30.0)
        inputs = list(product((5, 10, 20, 40), (0.03, 0.1, 0.3, 1.0, 3.0)))
        widths = list(product((0.01, 0.025, 0.05, 0.1), (0.03, 0.06, 0.1), (0.01, 0.05, 0.1), (15, 30)))
    features = {setting: random_features(X, setting[0], setting[1] / typical) for setting in inputs}
    additive = {pair: kernels.AdditiveKernel(*pair)(X, X) for pair in dict.fromkeys(width[:2] for width in widths)}
    return {
        "KE": [np.exp(-D / variance) for variance in np.linspace(0.02, 1, 5 if quick else 20)],
        "3BE": [(on_gram(spaces.Fourier(2 * f + 1), None), Z @ Z.T) for Z in features.values() for f in out],
        "KPL": [
            (on_gram(spaces.Wavelet(name, level, decay), irregular="projected_trapezoid"), K)
            for (name, level), decay in product(wavelets, decays)
        ],
        "KAM": [
            (
                KernelAdditiveRegressor(bandwidth_out=width, n_components=J)
                .build()
                .set_params(kernel="precomputed", center=False),
                additive[pair],
            )
            for *pair, width, J in widths
            for pair in [tuple(pair)]
        ],
        "FKRR": [(FunctionalKernelRidge("precomputed", output_gamma=rate, center=False).build(), K) for rate in rates],
    }


def run(data, splits, quick):
    """One dictionary for each split and method."""
    rows = data.first_ms_visit
    X, Y = datasets.fill_gaps(data.X[rows]), data.Y[rows]
    filled, candidates = datasets.fill_gaps(Y), candidates_of(X, quick)
    for split in progress(range(splits), "DTI"):
        order = np.random.RandomState(split).permutation(len(Y))
        train, test = order[:N_TRAIN], order[N_TRAIN:]
        cut = np.ix_(train, train), np.ix_(test, train)
        predicted = {"mean curve": np.tile(np.nanmean(Y[train], axis=0), (len(test), 1))}
        K = choose_bandwidth(candidates["KE"], train, Y, Y)
        predicted["KE"] = FunctionalNadarayaWatson("precomputed").fit(K[cut[0]], Y[train]).predict(K[cut[1]])
        for name in ("3BE", "KAM", "FKRR"):
            predicted[name] = predict(*choose(candidates[name], train, filled, Y), filled, train, test)
        projected, K = choose(candidates["KPL"], train, Y, Y)
        predicted["KPL, projected"] = predict(projected, K, Y, train, test)
        exact = clone(projected).set_params(irregular="exact", solver="conjugate_gradient")
        predicted["KPL, exact"] = predict(*choose([(exact, K)], train, Y, Y, ALPHAS[:19:3]), Y, train, test)
        predicted["default"] = FunctionalRegressor().fit(X[train], Y[train]).predict(X[test])
        for name in METHODS:
            yield {"split": split, "method": name, "mse": functional_mse(Y[test], predicted[name])}


def plot(found, name):
    import matplotlib.pyplot as plt

    figure, axis = plt.subplots(figsize=(8, 4))
    for place, method in enumerate(METHODS):
        values = np.array(found[method])
        axis.plot(np.full(len(values), place), values, "o", color="tab:blue", alpha=0.25, markersize=5, zorder=1)
        error_of_mean = values.std(ddof=1) / np.sqrt(len(values))
        axis.errorbar(place, values.mean(), error_of_mean, fmt="s", color="tab:blue", capsize=4, zorder=2)
        if method in PAPER:
            axis.plot(place + 0.25, PAPER[method], "D", color="tab:orange", zorder=2)
    axis.plot([], [], "o", color="tab:blue", alpha=0.25, label="one split")
    axis.errorbar([], [], [], fmt="s", color="tab:blue", capsize=4, label="mean and standard error")
    axis.plot([], [], "D", color="tab:orange", label="paper, one split")
    axis.set_xticks(range(len(METHODS)), [method.replace(", ", "\n") for method in METHODS])
    axis.set(ylabel="test error (sum over points)", title="DTI: split-to-split spread against differences of methods")
    axis.grid(axis="y", alpha=0.3)
    axis.legend(frameon=False, fontsize=9, ncols=3, loc="upper center", bbox_to_anchor=(0.5, -0.14))
    save_figure(figure, name)


def quick(folder):
    """Figures of a small piece: a short run on few samples, see ``common.figures_of``."""
    with smaller(__name__, N_TRAIN=16):
        return figures_of(main, ["mse"], "method", data=folder)


def main():
    options = arguments(__doc__, data="dti")
    rows = list(run(readers.load_dti(options.data), 2 if options.quick else 20, options.quick))
    name = "bouche2021_dti" + "_quick" * options.quick
    write_csv(name, rows)
    found = {method: np.array([row["mse"] for row in rows if row["method"] == method]) for method in METHODS}
    lines = [
        [
            method,
            f"{PAPER[method]:.3f}" if method in PAPER else "",
            with_error(values),
            f"{values.std(ddof=1):.3f}",
            with_error(values - found["KPL, projected"]),
        ]
        for method, values in found.items()
    ]
    print(table(["method", "paper", "ours", "deviation over splits", "difference to KPL, paired"], lines))
    plot(found, name)


if __name__ == "__main__":
    main()
