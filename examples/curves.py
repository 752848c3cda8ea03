"""Curves from curves in scikit-fda's containers: epidemics from contact rates.

The data are simulated, since scikit-fda downloads its real curves. The logarithm of a town's contact rate over 120
days is a Gaussian process of scikit-fda; an SIR model gives the daily new cases per thousand people, observed with 10
% noise. Each draw has 80 training towns and 100 test towns; the test cases have no noise.

- All days: ``FDataGrid`` in, ``FDataGrid`` out.
- 8 days per town: training cases are a ``FDataIrregular``. The alternatives need all days, and use interpolation.
- A number from a curve: the share of people ever infected, from the contacts.

Prints tables, means over draws with standard errors, and writes curves.png beside this file. Needs scikit-fda.
"""

import os
import time
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import skfda
from skfda.misc.covariances import Gaussian
from skfda.ml.regression import HistoricalLinearRegression, KNeighborsRegressor, LinearRegression
from skfda.representation.basis import BSplineBasis
from sklearn.compose import TransformedTargetRegressor
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import RidgeCV
from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import StandardScaler

from hilbertlearn import FunctionalRegressor, OperatorKernelRegressor, kernels

PICTURE = Path(__file__).with_name("curves.png")
DRAWS, TRAIN, TEST, POINTS = 3, 80, 100, 8
DAYS = np.arange(0.0, 121.0, 2.0)
INK, WARM, COOL, GOLD = "#222222", "#d1495b", "#00798c", "#edae49"
ALPHAS = np.geomspace(1e-4, 1e4, 25)


# ---------------------------------------------------------------- data


def grid_of(values):
    return skfda.FDataGrid(values, DAYS)


def cases(contacts, recovery=0.1, first=2e-3, steps=20):
    """Daily new cases per thousand (n, days) of an SIR model with contact rates (n, days), by small Euler steps."""
    susceptible, infected = np.full(len(contacts), 1 - first), np.full(len(contacts), first)
    out, step = np.empty(contacts.shape), (DAYS[1] - DAYS[0]) / steps
    for day in range(len(DAYS)):
        out[:, day] = 1000 * contacts[:, day] * susceptible * infected
        for _ in range(steps):
            new = step * contacts[:, day] * susceptible * infected
            susceptible, infected = susceptible - new, infected + new - step * recovery * infected
    return out, 1 - susceptible


def towns(seed):
    """Contacts, cases with noise, true cases, all ``FDataGrid``, and shares of people ever infected (n,)."""
    process = skfda.datasets.make_gaussian_process(
        TRAIN + TEST,
        n_features=len(DAYS),
        start=DAYS[0],
        stop=DAYS[-1],
        cov=Gaussian(variance=0.05, length_scale=20),
        random_state=seed,
    )
    contacts = 0.2 * np.exp(process.data_matrix[..., 0])
    truth, share = cases(contacts)
    noise = 1 + 0.1 * np.random.default_rng(seed).normal(size=truth.shape)
    return grid_of(contacts), grid_of(truth * noise), grid_of(truth), share


# ---------------------------------------------------------------- models


class OnValues:
    """A regressor of scikit-learn on the values of curves."""

    def __init__(self, model):
        self.model = model

    def fit(self, X, Y):
        self.model.fit(X.data_matrix[..., 0], Y.data_matrix[..., 0] if isinstance(Y, skfda.FDataGrid) else Y)
        return self

    def predict(self, X):
        out = self.model.predict(X.data_matrix[..., 0])
        return grid_of(out) if out.ndim > 1 else out


class InBasis:
    """scikit-fda's linear model of a number, which needs curves in a basis."""

    def __init__(self, n_basis=12):
        self.basis = BSplineBasis((DAYS[0], DAYS[-1]), n_basis=n_basis)

    def fit(self, X, y):
        self.model = LinearRegression().fit(X.to_basis(self.basis), y)
        return self

    def predict(self, X):
        return self.model.predict(X.to_basis(self.basis))


def kernel_ridge():
    """Outputs are centred; alpha and gamma are selected by 5 folds."""
    settings = {"gamma": np.geomspace(1e-2, 10, 7), "alpha": np.geomspace(1e-4, 1, 5)}
    search = GridSearchCV(KernelRidge(kernel="rbf"), settings)
    return TransformedTargetRegressor(search, transformer=StandardScaler(with_std=False))


def on_logarithms(model):
    """Suits the growth of an epidemic, not its end: a few very large predictions dominate the score."""
    return TransformedTargetRegressor(model, func=np.log, inverse_func=np.exp, check_inverse=False)


def of_curves():
    return {
        "FunctionalRegressor()": FunctionalRegressor(),
        "RidgeCV on values": OnValues(RidgeCV(ALPHAS)),
        "RidgeCV on logarithms of cases": OnValues(on_logarithms(RidgeCV(ALPHAS))),
        "KernelRidge on values, searched": OnValues(kernel_ridge()),
        "scikit-fda, 5 neighbours": KNeighborsRegressor(n_neighbors=5, weights="distance"),
        "scikit-fda, historical linear": HistoricalLinearRegression(n_intervals=8),
    }


def of_numbers():
    return {
        "OperatorKernelRegressor, L2": OperatorKernelRegressor(kernels.L2(gamma="auto")),
        "RidgeCV on values": OnValues(RidgeCV(ALPHAS)),
        "KernelRidge on values, searched": OnValues(kernel_ridge()),
        "scikit-fda, 5 neighbours": KNeighborsRegressor(n_neighbors=5, weights="distance"),
        "scikit-fda, linear in splines": InBasis(),
    }


def interpolated(Y):
    """Curves on all days from a ``FDataIrregular``, constant before the first point and after the last."""
    ends = [*Y.start_indices[1:], len(Y.points)]
    parts = [slice(start, end) for start, end in zip(Y.start_indices, ends, strict=True)]
    return grid_of(np.array([np.interp(DAYS, Y.points[part, 0], Y.values[part, 0]) for part in parts]))


# ---------------------------------------------------------------- scores


def values(Y):
    return np.reshape(Y.data_matrix[..., 0] if isinstance(Y, skfda.FDataGrid) else Y, (TEST, -1))


def score(truth, predicted, training):
    """1 - squared error / squared error of the training mean, over all days."""
    mean = np.mean(training.data_matrix[..., 0] if isinstance(training, skfda.FDataGrid) else training, axis=0)
    return 1 - ((values(truth) - values(predicted)) ** 2).sum() / ((values(truth) - mean) ** 2).sum()


def judged(models, X, Y, X_test, truth, training):
    """{name: (score, seconds, prediction)}."""
    out = {}
    for name, model in models.items():
        start = time.perf_counter()
        predicted = model.fit(X, Y[name] if isinstance(Y, dict) else Y).predict(X_test)
        seconds = time.perf_counter() - start
        if isinstance(predicted, skfda.FDataIrregular):
            predicted = interpolated(predicted)
        elif isinstance(predicted, skfda.FDataGrid) and predicted.data_matrix.shape[1] != len(DAYS):
            predicted = predicted.to_grid(DAYS)
        out[name] = score(truth, predicted, training), seconds, predicted
    return out


def draw_once(seed):
    """For each of the three tasks {name: (score, seconds, prediction)}, and the data of the figure."""
    contacts, noisy, truth, share = towns(seed)
    learn, judge = slice(0, TRAIN), slice(TRAIN, None)
    X, Y = contacts[learn], noisy[learn]
    few = skfda.datasets.irregular_sample(Y, POINTS, random_state=seed)
    filled = dict.fromkeys(of_curves(), interpolated(few)) | {"FunctionalRegressor()": few}
    tasks = (
        judged(of_curves(), X, Y, contacts[judge], truth[judge], Y),
        judged(of_curves(), X, filled, contacts[judge], truth[judge], Y),
        judged(of_numbers(), X, share[learn], contacts[judge], share[judge], share[learn]),
    )
    return tasks, (few, contacts[judge], truth[judge])


def with_error(scores):
    return f"{np.mean(scores):.3f} ± {np.std(scores, ddof=1) / np.sqrt(len(scores)):.3f}"


def table(title, found):
    print(f"\n{title:44}{'R2':>16}{'seconds':>9}")
    for name in found[0]:
        scores, seconds = zip(*((row[name][0], row[name][1]) for row in found), strict=True)
        print(f"{name:44}{with_error(scores):>16}{np.mean(seconds):9.2f}")


def draw(tasks, seen):
    """Three towns of the first draw: contacts, and cases predicted from 8 days per town."""
    few, contacts, truth = seen
    figure, axes = plt.subplots(1, 4, figsize=(14, 3.8), layout="constrained")
    ends = [*few.start_indices[1:], len(few.points)]
    for k in range(5):
        part = slice(few.start_indices[k], ends[k])
        axes[0].plot(few.points[part, 0], few.values[part, 0], "o-", ms=4, lw=0.6)
    axes[0].set_title(f"What is known: {POINTS} days a town", fontsize=10)
    axes[0].set_ylabel("daily new cases per thousand")
    for town, axis in enumerate(axes[1:]):
        axis.plot(DAYS, truth.data_matrix[town, :, 0], color=INK, lw=1.8, label="truth")
        names = ("FunctionalRegressor()", "KernelRidge on values, searched", "scikit-fda, 5 neighbours")
        for name, colour in zip(names, (COOL, WARM, GOLD), strict=True):
            axis.plot(DAYS, tasks[1][name][2].data_matrix[town, :, 0], color=colour, lw=1.3, label=name)
        rate = axis.twinx()
        rate.fill_between(DAYS, contacts.data_matrix[town, :, 0], color="0.5", alpha=0.13, lw=0)
        rate.set(ylim=(0, 1), yticks=[])
        rate.spines[:].set_visible(False)
        axis.set_title(f"New town {town + 1} (shaded: its contacts)", fontsize=10)
    figure.legend(*axes[1].get_legend_handles_labels(), loc="outside lower center", ncols=4, frameon=False, fontsize=9)
    for axis in axes:
        axis.set_xlabel("day")
        axis.spines[["top", "right"]].set_visible(False)
    part = PICTURE.with_suffix(".part")
    figure.savefig(part, format="png", dpi=120)
    os.replace(part, PICTURE)
    print(f"\nwrote {PICTURE.name}")


def main():
    print(f"{TRAIN} training towns, {TEST} test towns; {DRAWS} draws, means and their standard errors")
    draws = [draw_once(seed) for seed in range(DRAWS)]
    titles = ("New cases, all days known", f"New cases, {POINTS} days a town known", "Share of people ever infected")
    for k, title in enumerate(titles):
        table(title, [tasks[k] for tasks, _ in draws])
    draw(*draws[0])


if __name__ == "__main__":
    main()
