"""Coverage and width of conformal sets on synthetic data: vectors and curves, with heavy tails, unequal noise and gaps.

Sets of level 0.9 around vectors (n = 100) and curves (n = 80), by each method, over 200 draws of samples and queries
together: the share of queries whose outputs are all inside. A second part has bands for curves of which 5 % are
replaced, with a robust loss and with ridge regression.
"""

from __future__ import annotations

import warnings

import numpy as np
from common import arguments, figures_of, progress, smaller, table, with_error, write_csv

from hilbertlearn import ConformalPredictor, FunctionalRegressor, OperatorKernelRegressor, losses

METHODS = ("split", "cv+", "jackknife+")
T = np.linspace(0, 1, 30)
QUERIES = 30
QUICK = 20, 3  # repetitions of a quick run


def noise(kind, shape, X, rng):
    """Errors of standard size about one: normal, of a t law with 2.5 degrees of freedom, or growing with the input."""
    if kind == "heavy tails":
        return rng.standard_t(2.5, size=shape)
    size = 0.3 + np.abs(X[:, :1]) * 1.5 if kind == "unequal noise" else 1.0
    return size * rng.normal(size=shape)


def vectors(n, kind, rng):
    """Inputs (n, 2) and three outputs of different units, with errors that are related."""
    X = rng.uniform(-1, 1, size=(n, 2))
    mixed = noise(kind, (n, 3), X, rng) @ np.array([[1, 0.5, 0.2], [0, 0.8, 0.3], [0, 0, 0.9]])
    Y = np.c_[np.sin(3 * X[:, 0]), 10 * X[:, 1] ** 2, X.prod(axis=1)] + mixed * [0.2, 2.0, 0.1]
    return X, with_gaps(Y, kind, rng)


def curves(n, kind, rng):
    """Inputs (n, 2) and curves (n, 30) with smooth errors that grow along the curve, and a little white noise."""
    X = rng.uniform(-1, 1, size=(n, 2))
    atoms = np.array([np.sin((k + 1) * np.pi * T) / (k + 1) for k in range(4)])
    Y = np.sin(2 * np.pi * (T + 0.3 * X[:, :1])) * (1 + X[:, 1:])
    Y = Y + 0.2 * (noise(kind, (n, 4), X, rng) @ atoms) * (0.5 + T) + 0.05 * rng.normal(size=(n, len(T)))
    return X, with_gaps(Y, kind, rng)


def with_gaps(Y, kind, rng):
    return np.where(rng.random(Y.shape) < 0.3, np.nan, Y) if kind == "gaps" else Y


def spoilt(Y, rng, share=0.05):
    """A copy in which some curves are others, far away."""
    wrong, rows = Y.copy(), rng.choice(len(Y), max(1, round(share * len(Y))), replace=False)
    waves = 1 + 0.5 * np.sin(2 * np.pi * T * rng.uniform(1, 3, size=(len(rows), 1)))
    wrong[rows] = rng.choice([-1, 1], size=(len(rows), 1)) * 4 * waves
    return wrong


def coverage(outputs, kind, method, seed, score="auto"):
    """Shares of queries whose outputs are inside, all at once and each by itself, of one draw."""
    rng, functions = np.random.default_rng(seed), outputs is curves
    X, Y = outputs(80 if functions else 100, kind, rng)
    new, true = outputs(QUERIES, kind, rng)
    if functions:  # gaps have a formula without an operator
        model = FunctionalRegressor("rbf", gamma=1.0, alpha=1e-3, operator=None if kind == "gaps" else "auto")
    else:
        model = OperatorKernelRegressor("rbf", gamma=1.0, alpha=1e-2)
    model = ConformalPredictor(model, method, 0.9, score, random_state=seed).fit(X, Y)
    ends = model.predict_interval(new)
    inside = (ends[..., 0] <= true) & (true <= ends[..., 1])
    return model.predict_region(new).contains(true).mean(), inside.sum() / np.isfinite(true).sum()


def robustness(seed):
    """Coverage of clean curves and mean width of bands by cv+, ridge regression then a robust fit."""
    rng = np.random.default_rng(seed)
    X, Y = curves(80, "normal", rng)
    Y, (new, true) = spoilt(Y, rng), curves(QUERIES, "normal", rng)
    found = []
    for loss in ("squared", losses.Huber()):
        model = FunctionalRegressor("rbf", gamma=1.0, loss=loss)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            band = ConformalPredictor(model, "cv+", random_state=seed, cv=5).fit(X, Y).predict_band(new)
        found += [band.contains(true).mean(), band.mean_width().mean()]
    return found


def quick(folder):
    """Figures of a small piece: a short run on few samples, see ``common.figures_of``."""
    with smaller(__name__, QUICK=(1, 1)):
        return figures_of(main, ["joint", "each"], "outputs", "kind", "method")


def main():
    args = arguments(__doc__, repetitions=200, robust=20)
    repetitions, robust = QUICK if args.quick else (args.repetitions, args.robust)
    rows, lines = [], []
    for outputs in (vectors, curves):
        for kind in ("normal", "heavy tails", "unequal noise", "gaps"):
            for method in METHODS:
                label = f"{outputs.__name__}, {kind}, {method}"
                found = np.array(
                    [coverage(outputs, kind, method, seed) for seed in progress(range(repetitions), label)]
                )
                lines.append([outputs.__name__, kind, method, *map(with_error, found.T)])
                print(*lines[-1], sep="  ", flush=True)
                names = ("outputs", "kind", "method", "joint", "each")
                rows.append(dict(zip(names, [*lines[-1][:3], *found.mean(axis=0)], strict=True)))
    print(table(["outputs", "noise", "method", "all outputs at once", "each output"], lines))
    found = np.array([robustness(seed) for seed in progress(range(robust), "5 % of the curves replaced")])
    names = ["ridge: coverage", "width", "Huber: coverage", "width", "ratio of widths"]
    print(table(names, [[*map(with_error, found.T), f"{found[:, 3].mean() / found[:, 1].mean():.2f}"]]))
    write_csv("conformal_coverage", rows)


if __name__ == "__main__":
    main()
