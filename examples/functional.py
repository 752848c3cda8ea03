"""Curves from curves with a robust loss: half of the points are missing, and some of the others are wrong.

The curves are those of Lambert et al. 2022: inputs and outputs are mixtures of four Gaussian processes each, with the
same coefficients. In every training output 10 % of the points are replaced by uniform draws, and half of the
remaining points are missing. The test curves are clean.

Prints a table and writes functional.png beside this file.
"""

import os
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from hilbertlearn import FunctionalRegressor, datasets, losses, metrics

PICTURE = Path(__file__).with_name("functional.png")
SETTINGS = {"gamma": 0.01, "alpha": 1e-5}


def curves(seed=0, n_train=100):
    """X, Y of training (noisy, with gaps), X, Y of test (clean), and the mask of outlying training points."""
    X, Y, _, grid = datasets.make_gaussian_process_curves(2 * n_train, random_state=seed)
    noisy, wrong = datasets.corrupt_points(Y[:n_train], 1.0, points_fraction=0.1, random_state=seed)
    missing = np.random.default_rng(seed).random(noisy.shape) < 0.5
    noisy[missing] = np.nan
    return X[:n_train], noisy, X[n_train:], Y[n_train:], grid, wrong & ~missing


def main():
    X, Y, X_test, Y_test, grid, wrong = curves()
    models = {
        "squared": FunctionalRegressor(grid=grid, loss="squared", **SETTINGS),
        "Huber, whole curves (p = 2)": FunctionalRegressor(grid=grid, loss=losses.Huber(0.05), **SETTINGS),
        "Huber, single points (p = 1)": FunctionalRegressor(grid=grid, loss=losses.Huber(0.05, p=1), **SETTINGS),
    }
    print(f"{len(Y)} training curves, {np.isnan(Y).mean():.0%} of the points missing, {wrong.sum()} outliers left")
    print(f"{'loss':30} {'squared error':>14} {'score':>7} {'gap':>9}")
    for name, model in models.items():
        model.fit(X, Y)
        error = metrics.integrated_squared_error(Y_test, model.predict(X_test), grid)
        print(f"{name:30} {error:14.5f} {model.score(X_test, Y_test):7.3f} {model.dual_gap_:9.1e}")
    found, right = model.saturated_, np.isfinite(Y) & ~wrong
    print(f"at the bound: {found[wrong].mean():.0%} of the outliers, {found[right].mean():.0%} of other points")
    draw(models, X, Y, X_test, Y_test, grid, found)


def draw(models, X, Y, X_test, Y_test, grid, found):
    fine = np.linspace(grid[0], grid[-1], 400)
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4), sharey=True)
    left.plot(grid, Y[0], ".", color="0.5", label="observed")
    left.plot(grid[found[0]], Y[0][found[0]], "o", mfc="none", color="tab:red", label="at the bound (saturated_)")
    left.plot(fine, models["Huber, single points (p = 1)"].predict(X[:1], grid=fine)[0], label="Huber, p = 1")
    left.set(title="A training curve", xlabel="t", ylabel="y(t)")
    right.plot(grid, Y_test[0], color="black", lw=1, label="truth")
    for name in ("squared", "Huber, single points (p = 1)"):
        right.plot(fine, models[name].predict(X_test[:1], grid=fine)[0], label=name)
    right.set(title="A test curve, predicted at 400 points", xlabel="t")
    for axis in (left, right):
        axis.legend(frameon=False, fontsize=9)
        axis.spines[["top", "right"]].set_visible(False)
    part = PICTURE.with_suffix(".part")
    figure.savefig(part, format="png", dpi=120, bbox_inches="tight")
    os.replace(part, PICTURE)
    print(f"wrote {PICTURE.name}")


if __name__ == "__main__":
    main()
