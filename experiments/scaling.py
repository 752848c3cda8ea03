"""Time over the number of samples and of features: measured slopes and derived slopes.

Each method is timed for a few sizes, the best of a few repetitions; slopes are slopes of logarithms:

- exact: one Cholesky factor of a rough kernel's matrix, n^3 / 3 operations and n^2 kernel values;
- adaptive rank: a smooth kernel with an operator, whose matrix has a low rank: n^2 kernel values and n r^2 operations;
- features: 500 landmarks, n r^2 operations; and against the number r of landmarks;
- robust: the Huber loss on 300 features, n r d operations per iteration, the same number of iterations for every n;
- blocks: the same as features from a source of rows, memory of a block;
- prediction on features, m r operations per output.

    python experiments/scaling.py            about five minutes
    python experiments/scaling.py --quick    a few seconds, inaccurate slopes

Prints the table of docs/scaling.md and writes output/scaling.csv.
"""

from __future__ import annotations

import time

import numpy as np
from common import arguments, figures_of, progress, smaller, table, write_csv

from hilbertlearn import OperatorKernelRegressor, losses, streams

P, D = 20, 5


def data(n):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, P))
    return X, np.sin(X @ rng.normal(size=(P, D)) / np.sqrt(P)) + 0.1 * rng.normal(size=(n, D))


def regressor(**settings):
    return OperatorKernelRegressor("rbf", **{"gamma": 1 / (4 * P), "alpha": 1e-5, **settings})


def exact(n):
    X, Y = data(n)
    model = regressor(feature_map=None, gamma=1.0)
    return lambda: model.fit(X, Y)


def adaptive(n):
    X, Y = data(n)
    model = regressor(feature_map=None, gamma=0.1, operator=np.eye(D) + 0.5)
    return lambda: model.fit(X[:, :2], Y)


def on_features(n, r=500):
    X, Y = data(n)
    model = regressor(feature_map=r)
    return lambda: model.fit(X, Y)


def robust(n):
    X, Y = data(n)
    model = regressor(feature_map=300, loss=losses.Huber(0.3), alpha=1e-4, tol=1e-4)
    return lambda: model.fit(X, Y)


def in_blocks(n):
    X, Y = data(n)
    model, source = regressor(feature_map=500), streams.from_arrays(X, Y)
    return lambda: model.fit(source)


def prediction(m):
    X, Y = data(m)
    model = regressor(feature_map=500).fit(X[:2000], Y[:2000])
    return lambda: model.predict(X)


WAYS = {
    # name: what is timed, for which sizes, against what, the slope that is derived
    "exact": (exact, (2000, 4000, 8000), "n", "2 to 3"),
    "adaptive rank": (adaptive, (2000, 4000, 8000), "n", "1 to 2"),
    "features": (on_features, (10_000, 20_000, 40_000, 80_000), "n", "1"),
    "features, landmarks": (lambda r: on_features(20_000, r), (250, 500, 1000), "r", "1 to 2"),
    "robust on features": (robust, (10_000, 20_000, 40_000), "n", "1"),
    "blocks": (in_blocks, (10_000, 20_000, 40_000, 80_000), "n", "1"),
    "prediction on features": (prediction, (10_000, 20_000, 40_000), "m", "1"),
}


def best(function, repeats):
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return min(times)


def run(quick):
    cases = [(name, size) for name, (_, sizes, _, _) in WAYS.items() for size in sizes]
    for name, size in progress(cases, "scaling"):
        own = size // 10 if quick and size > 1000 else size
        timed = WAYS[name][0](own)
        timed()  # warm
        yield {"way": name, "size": own, "seconds": best(timed, 1 if quick else 3)}


def quick(folder):
    """Figures of a small piece: a short run on few samples, see ``common.figures_of``."""
    few = {name: (make, tuple(size // 10 for size in sizes), *rest) for name, (make, sizes, *rest) in WAYS.items()}
    with smaller(__name__, WAYS=few):  # times differ from run to run: the figures are the sizes that were timed
        return figures_of(main, ["size"], "way")


def main():
    args = arguments(__doc__)
    rows = list(run(args.quick))
    write_csv("scaling", rows)
    lines = []
    for name, (_, _, against, derived) in WAYS.items():
        own = [row for row in rows if row["way"] == name]
        sizes, seconds = (np.array([row[key] for row in own]) for key in ("size", "seconds"))
        slope = np.polyfit(np.log(sizes), np.log(seconds), 1)[0]
        shown = ", ".join(f"{s:.2g}" for s in seconds)
        lines.append([name, f"{against} = {', '.join(map(str, sizes))}", shown, f"{slope:.2f}", derived])
    print(table(["way", "sizes", "seconds", "slope", "derived"], lines))


if __name__ == "__main__":
    main()
