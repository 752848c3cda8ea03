"""Forecasts of curves: two years of the Pacific's temperature from the three years before.

Data: quarterly sea-surface temperatures of the region Nino 3, 1950 to 2015, included in PyWavelets. A sample is a
quarter; its input is the curve of the 12 quarters before it, its output the curve of the 8 quarters after it. Models
are fitted to quarters whose forecast ends before 1990, and tested on all quarters from 1990 on.

Consecutive samples share most of their values, so that leave-one-out errors are too optimistic, and the settings
selected by them may be too rough. For comparison, the second line of the table uses folds of contiguous years.

Prints tables and writes forecast.png beside this file. Needs PyWavelets; with scikit-fda its nearest neighbours are
shown too.
"""

import importlib.util
import os
import time
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pywt
from sklearn.ensemble import ExtraTreesRegressor
from sklearn.linear_model import RidgeCV
from sklearn.model_selection import KFold

from hilbertlearn import FunctionalRegressor, RegularizationPathCV, metrics

PICTURE = Path(__file__).with_name("forecast.png")
PAST, AHEAD, FIRST = 12, 8, 1990


class SameQuarters:
    """Repeats the observations of the same quarters of the year before."""

    def fit(self, X, Y):
        return self

    def predict(self, X):
        return np.tile(X[:, -4:], AHEAD // 4)


class Neighbours:
    """scikit-fda's nearest neighbours of curves."""

    def __init__(self, n_neighbors=10):
        from skfda.ml.regression import KNeighborsRegressor

        self.model = KNeighborsRegressor(n_neighbors=n_neighbors, weights="distance")

    def fit(self, X, Y):
        from skfda import FDataGrid

        self.model.fit(FDataGrid(X), FDataGrid(Y))
        return self

    def predict(self, X):
        from skfda import FDataGrid

        return self.model.predict(FDataGrid(X)).data_matrix[..., 0]


def windows():
    """Inputs (n, 12), outputs (n, 8) and the time at which each forecast begins (n,)."""
    times, temperature = pywt.data.nino()
    starts = np.arange(PAST, len(times) - AHEAD + 1)
    X = np.array([temperature[i - PAST : i] for i in starts])
    Y = np.array([temperature[i : i + AHEAD] for i in starts])
    return X, Y, times[starts]


def models():
    stretches = KFold(6)  # not shuffled: each fold is some six years
    out = {
        "FunctionalRegressor()": FunctionalRegressor(),
        "  alpha by stretches": RegularizationPathCV(FunctionalRegressor(), np.geomspace(1e-4, 10, 11), cv=stretches),
        "same quarters last year": SameQuarters(),
        "RidgeCV on values": RidgeCV(np.geomspace(1e-3, 1e4, 22), cv=stretches),
        "ExtraTrees on values": ExtraTreesRegressor(200, min_samples_leaf=3, random_state=0),
    }
    if importlib.util.find_spec("skfda") is not None:
        out["scikit-fda, 10 neighbours"] = Neighbours()
    return out


def main():
    X, Y, begins = windows()
    learn, judge = begins < FIRST - AHEAD / 4, begins >= FIRST
    gaps = Y.copy()
    gaps[np.random.default_rng(0).random(Y.shape) < 0.5] = np.nan
    print(f"{learn.sum()} training samples, {judge.sum()} forecasts from {FIRST} on")
    print(f"{'':28}{'R2':>7}{'1st year':>10}{'2nd year':>10}{'half missing':>14}{'seconds':>9}")
    forecasts = {}
    for name, model in models().items():
        start = time.perf_counter()
        forecasts[name] = forecast = model.fit(X[learn], Y[learn]).predict(X[judge])
        seconds = time.perf_counter() - start
        scores = [score(Y[learn], Y[judge], forecast, part) for part in (slice(None), slice(0, 4), slice(4, None))]
        try:
            incomplete = f"{score(Y[learn], Y[judge], model.fit(X[learn], gaps[learn]).predict(X[judge])):14.3f}"
        except ValueError:  # gaps are not supported
            incomplete = f"{'refused':>14}"
        print(f"{name:28}{scores[0]:7.3f}{scores[1]:10.3f}{scores[2]:10.3f}{incomplete}{seconds:9.2f}")
    best = max(forecasts, key=lambda name: score(Y[learn], Y[judge], forecasts[name]))
    print(f"best: {best.strip()}")
    draw(X[judge], Y[judge], begins[judge], forecasts)


def score(training, true, predicted, part=slice(None)):
    """1 - squared error / squared error of the mean training curve."""
    mean = np.broadcast_to(training.mean(axis=0), true.shape)
    error, total = (metrics.functional_nmse(true[:, part], f[:, part]) for f in (predicted, mean))
    return 1 - error / total


def draw(X, Y, begins, forecasts):
    """Forecasts begun in four winters."""
    figure, axes = plt.subplots(1, 4, figsize=(13, 3.4), sharey=True, layout="constrained")
    for axis, year in zip(axes, (1992, 1997, 2001, 2009), strict=True):
        i = np.flatnonzero(begins == year)[0]
        past, future = year + np.arange(-PAST, 0) / 4, year + np.arange(AHEAD) / 4
        axis.plot(past, X[i], color="0.6", label="observed before")
        axis.plot(future, Y[i], color="black", label="observed after")
        for name in ("FunctionalRegressor()", "RidgeCV on values", "scikit-fda, 10 neighbours"):
            if name in forecasts:
                axis.plot(future, forecasts[name][i], ".-", lw=1, label=name)
        axis.axvline(year - 0.125, color="0.8", lw=0.8)
        axis.set(title=f"from {year} on")
        axis.spines[["top", "right"]].set_visible(False)
    axes[0].set_ylabel("temperature, Nino 3")
    axes[-1].legend(frameon=False, fontsize=7)
    part = PICTURE.with_suffix(".part")
    figure.savefig(part, format="png", dpi=120)
    os.replace(part, PICTURE)
    print(f"wrote {PICTURE.name}")


if __name__ == "__main__":
    main()
