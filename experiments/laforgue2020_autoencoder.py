"""Figure 7 of Laforgue et al. 2020: reconstruction error and sparsity of a kernel autoencoder against epsilon.

Molecules are given by a Tanimoto kernel alone. The first layer is linear in the kernel's space, 200 codes, the second
has a Gaussian kernel (bandwidth: the median distance between the codes at the start); alpha is 1e-6 for both. The
loss is epsilon-insensitive, and epsilon varies; 0 is the squared loss. With 5 folds, the error is the mean squared
distance between test molecules and their reconstructions in the kernel's space, where every molecule has norm 1, and
sparsity the share of training molecules with zero coefficients in the last layer.

The molecules differ from the paper's: 1068 compounds of the NCI-60 screen instead of 2303 of the same source. The
paper's number of gradient steps is not known. The descent is run to convergence, and also stopped after its first
iteration.

    python experiments/laforgue2020_autoencoder.py --data FOLDER            5 folds, 7 values, up to an hour
    python experiments/laforgue2020_autoencoder.py --data FOLDER --quick    250 molecules, 50 codes, 2 folds, seconds

Prints a table, writes output/laforgue2020_autoencoder.csv and output/laforgue2020_autoencoder.png; with --quick the
names end in _quick.
"""

from __future__ import annotations

import itertools
import time
import warnings

import numpy as np
from common import arguments, figures_of, progress, save_figure, smaller, table, with_error, write_csv
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import KFold

from hilbertlearn import KernelAutoencoder, kernels
from hilbertlearn.losses import EpsilonInsensitive, Squared
from hilbertlearn.readers import load_nci60_drugs

ALPHA, TOL, LONGEST = 1e-6, 1e-3, 200
FIRST, LAST = "first iteration", "end of the descent"
STOPS = {FIRST: 1, LAST: LONGEST}
QUICK = 50, (0.0, 0.2, 0.5, 0.8)  # codes and epsilons of a quick run


def held_out_error(model, G):
    """Mean squared distance of molecules, of norm 1, from their reconstructions; G (m, n) kernel values."""
    V, R = model.coordinates(G), model.inverse_transform(model.transform(G))
    return float(np.mean(1 - 2 * np.sum(V * R, axis=1) + np.sum(R**2, axis=1)))


def principal_error(K, train, test, n_components):
    """The same for the linear reconstruction by as many kernel principal components, not centred."""
    values, vectors = np.linalg.eigh(K[np.ix_(train, train)])
    scores = K[np.ix_(test, train)] @ vectors[:, -n_components:] / np.sqrt(values[-n_components:])
    return float(np.mean(1 - np.sum(scores**2, axis=1)))


def run(K, train, test, epsilon, n_components, max_iter):
    """Errors, sparsity and what the fit took."""
    loss = EpsilonInsensitive(epsilon) if epsilon > 0 else Squared()
    model = KernelAutoencoder(n_components, kernel="precomputed", loss=loss, alpha=ALPHA, tol=TOL, max_iter=max_iter)
    start = time.perf_counter()
    with warnings.catch_warnings():
        if max_iter < LONGEST:  # stopped on purpose
            warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(K[np.ix_(train, train)])
    return {
        "error": held_out_error(model, K[np.ix_(test, train)]),
        "training_error": model.reconstruction_error_,
        "sparsity": model.sparsity_,
        "iterations": model.n_iter_,
        "gap": model.dual_gap_,
        "seconds": round(time.perf_counter() - start, 1),
    }


def runs(K, folds, epsilons, n_components):
    """One dictionary for each fold, epsilon and end of the descent, and one for each fold's principal components."""
    for number, (train, test) in enumerate(folds):
        error = principal_error(K, train, test, n_components)
        yield {"fold": number, "stop": "principal components", "epsilon": "", "error": error}
    for epsilon, (number, (train, test)), stop in progress(
        itertools.product(epsilons, enumerate(folds), STOPS), "fits"
    ):
        found = run(K, train, test, epsilon, n_components, STOPS[stop])
        yield {"fold": number, "stop": stop, "epsilon": epsilon, **found}


def select(rows, stop, epsilon, what):
    """Values over the folds."""
    return np.array([row[what] for row in rows if row["stop"] == stop and row["epsilon"] == epsilon])


def summary(rows, epsilons):
    lines = []
    for stop in STOPS:
        squared = select(rows, stop, 0.0, "error")
        for epsilon in epsilons:
            error = select(rows, stop, epsilon, "error")
            lines.append(
                [
                    stop,
                    epsilon,
                    with_error(error, 4),
                    "" if epsilon == 0 else with_error(error - squared, 4),
                    f"{select(rows, stop, epsilon, 'training_error').mean():.4f}",
                    f"{100 * select(rows, stop, epsilon, 'sparsity').mean():.1f}",
                    f"{select(rows, stop, epsilon, 'iterations').mean():.0f}",
                    f"{select(rows, stop, epsilon, 'seconds').mean():.1f}",
                ]
            )
    header = ["stopped at", "ε", "test error", "minus ε = 0", "training error", "sparsity (%)", "iterations"]
    return table([*header, "seconds"], lines)


def plot(rows, epsilons, name):
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, 2, figsize=(10, 4), sharex=True)
    reference = np.mean([row["error"] for row in rows if row["epsilon"] == ""])
    axes[0].axhline(reference, color="grey", ls=":", lw=1, label="principal components, linear")
    for colour, stop in enumerate(STOPS):
        for axis, what in zip(axes, ("error", "sparsity"), strict=True):
            values = np.array([select(rows, stop, epsilon, what) for epsilon in epsilons])
            spread = values.std(axis=1, ddof=1) / np.sqrt(values.shape[1])
            axis.errorbar(epsilons, values.mean(axis=1), spread, marker="o", ms=3, color=f"C{colour}", label=stop)
    axes[0].set(xlabel="ε (0: squared loss)", ylabel="held-out squared error")
    axes[1].set(xlabel="ε", ylabel="training molecules left out", ylim=(-0.02, 1.02))
    axes[0].legend(fontsize=8)
    figure.tight_layout()
    save_figure(figure, name)


def quick(folder):
    """Figures of a small piece: a short run on few samples, see ``common.figures_of``."""
    with smaller(__name__, QUICK=(10, (0.0, 0.3))):
        return figures_of(main, ["error", "sparsity"], "stop", "epsilon", data=folder)


def main():
    options = arguments(__doc__, data="nci60_drugs", seed=0)
    paths = load_nci60_drugs(options.data).paths
    name, n_components, n_folds = "laforgue2020_autoencoder", 200, 5
    epsilons: tuple[float, ...] = (0.0, 0.1, 0.2, 0.3, 0.4, 0.6, 0.8)
    if options.quick:
        name, n_folds, (n_components, epsilons) = f"{name}_quick", 2, QUICK
        paths = paths[np.sort(np.random.default_rng(options.seed).permutation(paths.shape[0])[:250])]
    K = kernels.Tanimoto()(paths, paths)
    folds = list(KFold(n_folds, shuffle=True, random_state=options.seed).split(K))
    rows = list(runs(K, folds, epsilons, n_components))
    write_csv(name, rows)
    plot(rows, epsilons, name)
    print(f"largest relative duality gap {max(row['gap'] for row in rows if 'gap' in row):.1e}")
    linear = [row["error"] for row in rows if row["epsilon"] == ""]
    print(f"linear reconstruction by {n_components} principal components: {with_error(linear, 4)}\n")
    print(summary(rows, epsilons))


if __name__ == "__main__":
    main()
