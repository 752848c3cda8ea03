"""Coverage and width of the default confidence sets with few samples: selected settings, against the best ones given.

``ConformalPredictor()`` around vectors of one and of three outputs, curves and rankings, at 20 to 300 samples, with six
kinds of noise; one fit for all levels. "Selected once" has the settings that the model of all samples has selected, as
numbers; ``--once 0`` leaves it out. "Best" has the kernel's rate and alpha with the smallest error on new data, which
nobody knows.

A second part has 4 to 30 groups of 20 samples with a common offset, queries from new groups, also under a known shift
of the inputs; kernel and alpha given.
"""

from __future__ import annotations

import copy
import warnings
from dataclasses import replace

import numpy as np
from common import arguments, figures_of, progress, smaller, table, write_csv

from hilbertlearn import ConformalPredictor, FunctionalRegressor, OperatorKernelRegressor, StructuredPredictor

LEVELS = (0.5, 0.8, 0.9, 0.95)
KINDS = ("normal", "unequal", "heavy tails", "skewed", "rounded", "outliers")
SIZES = (20, 30, 50, 100, 300)
QUERIES = 100
PILOTS, NEW = 10, 300  # draws, and queries of each, that find the best settings
RATES, ALPHAS = 2.0 ** np.arange(-8, 3, 2), 10.0 ** np.arange(-7, 0.1, 0.5)
T = np.linspace(0, 1, 20)
GROUPS, GROUP_SIZE = (4, 6, 10, 30), 20
QUICK = {
    "GROUPS": (4, 10),
    "KINDS": ("normal",),
    "SIZES": (20,),
    "PILOTS": 1,
    "RATES": RATES[3:5],
    "ALPHAS": ALPHAS[8:12:3],
}


def noise(kind, X, d, rng):
    """Errors (n, d) of size about 0.3; "rounded" ones are added by ``rounded``."""
    shape = len(X), d
    if kind == "unequal":
        return 0.6 * np.abs(X[:, :1]) * rng.normal(size=shape)
    if kind == "heavy tails":
        return 0.2 * rng.standard_t(3, size=shape)
    if kind == "skewed":
        return 0.3 * (rng.exponential(size=shape) - 1)
    if kind == "outliers":
        return np.where(rng.random((len(X), 1)) < 0.05, 3.0, 0.25) * rng.normal(size=shape)
    return 0.3 * rng.normal(size=shape)


def rounded(Y, kind):
    return np.round(2 * Y) / 2 if kind == "rounded" else Y


def vectors(n, kind, rng, d=1):
    """Inputs (n, 3) and outputs (n,), or (n, 3)."""
    X = rng.uniform(-1, 1, size=(n, 3))
    means = np.c_[np.sin(3 * X[:, 0]) + X[:, 1] ** 2 + X[:, 0] * X[:, 2], X @ [1, -1, 0.5], np.cos(2 * X[:, 1])]
    Y = rounded(means[:, :d] + noise(kind, X, d, rng), kind)
    return X, Y[:, 0] if d == 1 else Y


def three_outputs(n, kind, rng):
    return vectors(n, kind, rng, d=3)


def curves(n, kind, rng):
    """Inputs (n, 3) and curves (n, 20) with smooth errors and a little white noise."""
    X = rng.uniform(-1, 1, size=(n, 3))
    means = np.sin(2 * np.pi * (T + 0.3 * X[:, :1])) * (1 + X[:, 1:2]) + X[:, 2:] * T
    atoms = np.array([np.sin((k + 1) * np.pi * T) for k in range(3)])
    Y = means + noise(kind, X, 3, rng) @ atoms + 0.05 * rng.normal(size=(n, len(T)))
    return X, rounded(Y, kind)


def rankings(n, kind, rng):
    """Inputs (n, 3) and rankings (n, 4) of the utilities of four items."""
    X = rng.uniform(-1, 1, size=(n, 3))
    utilities = np.c_[np.sin(3 * X[:, 0]), X[:, 1], X[:, 0] * X[:, 2], X[:, 2]] + noise(kind, X, 4, rng)
    return X, (-utilities).argsort(axis=1).argsort(axis=1) + 1


OUTPUTS = {"one output": vectors, "three outputs": three_outputs, "curves": curves, "rankings": rankings}


def estimator(name, *kernel, **settings):
    """The estimator of a kind of outputs."""
    if name == "rankings":
        return StructuredPredictor(*kernel, output_loss="kendall", **settings)
    return (FunctionalRegressor if name == "curves" else OperatorKernelRegressor)(*kernel, **settings)


def best_settings(name, kind, n):
    """Rate of the kernel and alpha with the smallest error on new data."""
    errors = np.zeros((len(RATES), len(ALPHAS)))
    for seed in range(PILOTS):
        rng = np.random.default_rng(10_000 + seed)
        (X, y), (new, true) = OUTPUTS[name](n, kind, rng), OUTPUTS[name](NEW, kind, rng)
        for i, rate in enumerate(RATES):
            for j, alpha in enumerate(ALPHAS):
                model = estimator(name, "rbf", gamma=rate, alpha=alpha).fit(X, y)
                errors[i, j] -= model.score(new, true)
    i, j = np.unravel_index(np.argmin(errors), errors.shape)
    return {"gamma": float(RATES[i]), "alpha": float(ALPHAS[j])}


def at_level(model, level):
    """The fitted conformal predictor at another level."""
    model = copy.copy(model)
    model.sets_ = replace(model.sets_, calibration=replace(model.sets_.calibration, level=level))
    return model


def evaluate(name, model, new, true):
    """For each level the share of queries that are covered, and the mean width or size of the sets."""
    found = []
    for level in LEVELS:
        one = at_level(model, level)
        if name == "rankings":
            sets = one.predict_set(new)
            found.append((np.mean(sets.contains(true)), np.mean(sets.sizes)))
        elif name == "curves":
            band = one.predict_band(new)
            found.append((np.mean(band.contains(true)), np.mean(band.mean_width())))
        else:
            low, high = np.moveaxis(one.predict_interval(new), -1, 0)
            found.append((np.mean((low <= true) & (true <= high)), np.mean(high - low)))
    return np.array(found)


def one_draw(name, kind, n, best, seed, with_once=True):
    """Coverage and width (3, levels, 2): default, settings selected once or NaN, best settings."""
    rng = np.random.default_rng(seed)
    (X, y), (new, true) = OUTPUTS[name](n, kind, rng), OUTPUTS[name](QUERIES, kind, rng)
    default = ConformalPredictor(estimator(name), level=LEVELS[0]).fit(X, y)
    models = [default, ConformalPredictor(estimator(name, "rbf", **best), "jackknife+", level=LEVELS[0]).fit(X, y)]
    if with_once:
        fitted = default.estimator_
        once = {"alpha": fitted.alpha_} | ({"gamma": fitted.gamma_} if isinstance(fitted.kernel_, str) else {})
        given = estimator(name, fitted.kernel_, **once)
        models.insert(1, ConformalPredictor(given, "jackknife+", level=LEVELS[0]).fit(X, y))
    found = [evaluate(name, model, new, true) for model in models]
    return np.array(found if with_once else [found[0], np.full_like(found[0], np.nan), found[1]])


def grouped(n_groups, is_shifted, seed):
    """Coverage of samples of new groups at level 0.9, the share of infinite intervals, and the width of the others."""
    rng = np.random.default_rng(seed)
    group = np.repeat(np.arange(n_groups + 20), GROUP_SIZE)
    centres, offsets = rng.normal(size=(2, n_groups + 20))
    X = (0.5 * centres[group] + 0.9 * rng.normal(size=len(group)))[:, None]
    y = np.sin(2 * X[:, 0]) + offsets[group] * (1 + 0.5 * (X[:, 0] > 0)) + 0.3 * rng.normal(size=len(group))
    ratios = 1 / (1 + np.exp(-2 * X[:, 0])) if is_shifted else None  # of densities: more queries with large inputs
    known, new = group < n_groups, group >= n_groups
    weights, query_weights = (None, None) if ratios is None else (ratios[known], ratios[new])
    model = ConformalPredictor(OperatorKernelRegressor("rbf", gamma=0.5, alpha=0.05), level=0.9)
    model.fit(X[known], y[known], weights, groups=group[known])
    low, high = model.predict_interval(X[new], query_weights).T
    inside, finite = (low <= y[new]) & (y[new] <= high), np.isfinite(high - low)
    width = np.mean((high - low)[finite]) if finite.any() else np.inf
    return np.average(inside, weights=query_weights), 1 - finite.mean(), width


def groups_table(repetitions):
    """Print coverage with groups; return its rows."""
    rows, lines = [], []
    for is_shifted in (False, True):
        for n_groups in GROUPS:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of groups that are too few, and infinite intervals
                found = np.array([grouped(n_groups, is_shifted, seed) for seed in range(repetitions)])
            kind = "shift of the inputs" if is_shifted else "no shift"
            share, infinite = found[:, 0].mean(), found[:, 1].mean()
            error = found[:, 0].std() / np.sqrt(repetitions)
            rows.append({"outputs": "groups", "kind": kind, "n": n_groups, "level": 0.9, "default": share})
            lines.append([kind, n_groups, f"{share:.3f} ± {error:.3f}", f"{infinite:.2f}", f"{found[:, 2].min():.2f}"])
    print(table(["queries", "groups", "coverage of new groups", "infinite intervals", "smallest mean width"], lines))
    return rows


def quick(folder):
    """Figures of a small piece: a short run on few samples, see ``common.figures_of``."""
    with smaller(__name__, **QUICK):
        return figures_of(main, ["default", "ratio"], "outputs", "kind", "n", "level")


def main():
    args = arguments(__doc__, repetitions=200, group_draws=100, once=1, outputs="", kinds="", sizes="")
    repetitions = 2 if args.quick else args.repetitions
    names = args.outputs.split(",") if args.outputs else list(OUTPUTS)
    kinds = args.kinds.split(",") if args.kinds else KINDS
    sizes = [int(n) for n in args.sizes.split(",")] if args.sizes else SIZES
    rows, lines = [], []
    for name in names:
        for kind in kinds:
            for n in sizes:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # of rates at the end of the grid, in samples that are few
                    best = best_settings(name, kind, n)
                    seeds = progress(range(repetitions), f"{name}, {kind}, {n} samples")
                    found = np.array([one_draw(name, kind, n, best, seed, bool(args.once)) for seed in seeds])
                means = found.mean(axis=0)
                error = found[:, 0, :, 0].std(axis=0) / np.sqrt(len(found))
                for k, level in enumerate(LEVELS):
                    default, once, given = means[:, k, 0]
                    ratio = means[0, k, 1] / means[2, k, 1]
                    key = {"outputs": name, "kind": kind, "n": n, "level": level}
                    rows.append(key | {"default": default, "once": once, "best": given, "ratio": ratio})
                shares = [" ".join(f"{share:.3f}" for share in means[i, :, 0]) for i in range(3)]
                ratios = " ".join(f"{ratio:.2f}" for ratio in means[0, :, 1] / means[2, :, 1])
                lines.append([name, kind, n, *shares, f"{error[2]:.3f}", ratios])
                print(*lines[-1], sep=" | ", flush=True)
    levels = ", ".join(map(str, LEVELS))
    header = ["outputs", "noise", "n", f"default at {levels}", "selected once", "best settings"]
    print(table([*header, "standard error at 0.9", "width of default / best"], lines))
    rows += groups_table(2 if args.quick else args.group_draws)
    write_csv("coverage_small", rows)


if __name__ == "__main__":
    main()
