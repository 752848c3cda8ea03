"""Fits of data larger than memory: a million rows of a memory-mapped file, time over rows, robust losses.

n = 1 000 000 rows of 20 inputs, d = 5 outputs, r = 500 landmarks, in a separate process: below 2 GB of resident
memory, and at most 1.5 times the time of a plain loop over blocks that computes the same features and adds up ``Z'Z``
and ``Z'Y``. From 25 000 rows on, time is proportional to the rows: a slope of 1.0 +- 0.1 between logarithms. Huber
loss, n = 50 000, r = 300, d = 50, to a gap of 1e-5: at most 60 times one pass ``Z (Z' A)`` of features in memory.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from hilbertlearn.core.problem import Problem
from hilbertlearn.core.solvers import solve
from hilbertlearn.core.terms import FeatureGram, SeparableTerm
from hilbertlearn.features import RandomFeatures
from hilbertlearn.kernels import InputKernel
from hilbertlearn.losses import Huber

from .timing import best_of, report, seconds

FIT = """
import json, re, sys, time
from pathlib import Path
import numpy as np
from hilbertlearn import OperatorKernelRegressor, streams
from hilbertlearn.features import Landmarks

def peak():  # in bytes, on Linux; getrusage would begin with the peak of the parent process
    return int(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1]) * 1024

folder, n, r, repeats = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
X, Y = (np.load(folder / f"{name}.npy", mmap_mode="r")[:n] for name in "XY")

def fit(alpha=1e-6, rows=n):
    source = streams.from_arrays(X[:rows], Y[:rows])
    return OperatorKernelRegressor("rbf", gamma=0.02, alpha=alpha, feature_map=Landmarks(r)).fit(source)

def reference(features, rows=16384):
    ZZ, ZY = 0.0, 0.0
    for start in range(0, n, rows):
        Z = features(np.asarray(X[start : start + rows]))
        ZZ, ZY = ZZ + Z.T @ Z, ZY + Z.T @ Y[start : start + rows]

def timed(function, *arguments):
    start = time.perf_counter(), time.process_time()
    found = function(*arguments)
    return (time.perf_counter() - start[0], time.process_time() - start[1]), found

fit(rows=5500)  # whatever loads on first use
times = []
for _ in range(repeats):
    own, model = timed(fit)
    most = peak()
    made = model.feature_map_
    chosen, _ = timed(fit, "auto")
    times.append((own, chosen, timed(reference, lambda few: made.finish(made.values(few)))[0]))
given, chosen, bare = np.min(times, axis=0).tolist()
print(json.dumps({"peak": most, "given": given, "chosen": chosen, "bare": bare, "gap": model.dual_gap_}))
"""


def write_rows(folder, n, p, d):
    """Files of n rows, a block at a time."""
    rng = np.random.default_rng(0)
    X = np.lib.format.open_memmap(folder / "X.npy", "w+", float, (n, p))
    Y = np.lib.format.open_memmap(folder / "Y.npy", "w+", float, (n, d))
    mix = rng.normal(size=(p, d)) / 3
    for start in range(0, n, 50_000):
        rows = slice(start, min(start + 50_000, n))
        X[rows] = rng.normal(size=(rows.stop - start, p))
        Y[rows] = np.sin(X[rows] @ mix) + 0.1 * rng.normal(size=(rows.stop - start, d))
    X.flush()
    Y.flush()


def in_a_process(folder, n, r, repeats):
    run = [sys.executable, "-c", FIT, str(folder), str(n), str(r), str(repeats)]
    return json.loads(subprocess.run(run, capture_output=True, text=True, check=True).stdout)


def out_of_core(sizes, p, d, r, repeats):
    bare = "plain loop over blocks: features, Z'Z and Z'Y"
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_rows(folder, max(sizes), p, d)
        found = {n: in_a_process(folder, n, r, repeats) for n in sorted(sizes)}
    for n, one in found.items():
        report("streams", "2 GB of resident memory", n=n, r=r, ratio=one["peak"] / 2e9, at_most=1.0)
        for alpha, key in (("given", "given"), ("auto", "chosen")):
            ratio, of_processor = (own / other for own, other in zip(one[key], one["bare"], strict=True))
            figures = {"processor_ratio": of_processor, "seconds": one[key][0], "relative_gap": one["gap"]}
            report("streams", bare, n=n, r=r, alpha=alpha, ratio=ratio, at_most=1.5, **figures)
    first, last = min(sizes), max(sizes)
    growth, of_processor = (own / other for own, other in zip(found[last]["given"], found[first]["given"], strict=True))
    slopes = np.log([growth, of_processor]) / np.log(last / first)
    figures = {"sizes": list(found), "slope": float(slopes[0]), "processor_slope": float(slopes[1])}
    more = float(last / first) ** 0.1  # a slope of 1.1
    report("streams", "time as rows", ratio=growth * first / last, at_most=more, at_least=1 / more, **figures)


def robust(n, r, d, repeats):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 20))
    Y = np.sin(X @ rng.normal(size=(20, d)) / 4) + 0.1 * rng.normal(size=(n, d))
    outliers = rng.random(n) < 0.1
    Y[outliers] += 5 * rng.normal(size=(int(outliers.sum()), d))
    Y -= np.median(Y, axis=0)
    Z = RandomFeatures(r).fit(InputKernel("rbf", gamma=0.02), X)(X)
    A = rng.normal(size=(n, d))
    for alpha in (1e-3, 1e-5, 1e-7):

        def ours(alpha=alpha):
            return solve(Problem((SeparableTerm(FeatureGram(Z)),), Y, Huber(1.0), alpha * n), tol=1e-5)

        found = ours()
        t_pass, t_ours = best_of(lambda: Z @ (Z.T @ A), lambda: seconds(ours), repeats=repeats)
        figures = {"seconds": t_ours, "n_iter": found.n_iter, "relative_gap": found.gap}
        report("streams", "one pass Z (Z' A)", loss="Huber", alpha=alpha, ratio=t_ours / t_pass, at_most=60, **figures)


def main(
    sizes=(25_000, 100_000, 1_000_000),
    p=20,
    d=5,
    r=500,
    robust_n=50_000,
    robust_r=300,
    robust_d=50,
    repeats=2,
):
    robust(robust_n, robust_r, robust_d, 3 * repeats)
    out_of_core(sizes, p, d, r, repeats)


if __name__ == "__main__":
    main()
