"""Fits to blocks of rows on the workers of a Dask cluster, against one process with as many threads.

n = 200 000 rows of 10 inputs, d = 5 outputs, r = 300 landmarks, two workers of one thread each, data persisted there.
The squared loss at most 1.15 times one process that adds up the same moments, the Huber loss at most 1.5 times a fit
in memory. The references are our own fits with two threads: the benchmark measures communication and waiting, not the
algorithm.
"""

import os
from functools import partial

import numpy as np

from hilbertlearn import OperatorKernelRegressor
from hilbertlearn.features import Landmarks
from hilbertlearn.losses import Huber
from hilbertlearn.streams import from_arrays

from .timing import best_of, report

WORKERS = 2


def make(n, p, d):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, p))
    Y = np.sin(X @ rng.normal(size=(p, d)) / 3) + 0.1 * rng.normal(size=(n, d))
    outliers = rng.random(n) < 0.1
    Y[outliers] += 3 * rng.normal(size=(int(outliers.sum()), d))
    return X, Y


def main(n=200_000, p=10, d=5, r=300, blocks=8, repeats=3):
    import dask.array as da
    from distributed import Client, LocalCluster, wait

    X, Y = make(n, p, d)
    landmarks = Landmarks(points=X[:: max(1, n // r)][:r])  # the same for both: their choice is not what is measured
    options = {"n_workers": WORKERS, "processes": True, "threads_per_worker": 1, "dashboard_address": "127.0.0.1:0"}
    with LocalCluster(host="127.0.0.1", **options) as cluster, Client(cluster) as client:
        lazy = [da.from_array(part, chunks=(-(-n // blocks), -1)).persist() for part in (X, Y)]
        wait(lazy)
        client.rebalance()
        for name, loss, bound in (("squared", "squared", 1.15), ("Huber", Huber(0.5), 1.5)):
            model = OperatorKernelRegressor("rbf", gamma=0.05, alpha=1e-6, loss=loss, feature_map=landmarks)
            given = (from_arrays(X, Y), None) if loss == "squared" else (X, Y)
            whole, parts = model.fit(*given).n_iter_, model.fit(*lazy).n_iter_
            t_memory, t_dask = best_of(partial(model.fit, *given), partial(model.fit, *lazy), repeats=repeats)
            figures = {"seconds": t_dask, "n_iter": parts, "n_iter_in_memory": whole}
            what = {"n": n, "r": r, "loss": name, "ratio": t_dask / t_memory, "at_most": bound}
            report("distributed", f"one process, {os.cpu_count()} threads", **what, **figures)


if __name__ == "__main__":
    main()
