"""Axes: given ones are drawn on, new ones are made, labels and settings stay."""

import builtins
from types import SimpleNamespace

import numpy as np
import pytest

from hilbertlearn import (
    FunctionalRegressor,
    OperatorKernelRegressor,
    RegularizationPathCV,
    losses,
    plotting,
)

matplotlib = pytest.importorskip("matplotlib")
plt = pytest.importorskip("matplotlib.pyplot")

rng = np.random.default_rng(0)
GRID = np.linspace(0, 1, 21)
X = rng.uniform(size=(30, 2))
CURVES = np.sin(5 * GRID + 3 * X[:, :1]) + 0.05 * rng.normal(size=(30, 21))
CURVES[7, 5:9] += 2
CURVES[12] = 2 - CURVES[12]
VECTORS = CURVES[:, ::7]


@pytest.fixture(scope="module")
def model():
    return FunctionalRegressor("rbf", gamma=2.0, alpha=1e-4, loss=losses.Huber(p=1)).fit(X, CURVES)


@pytest.fixture(scope="module")
def path():
    return RegularizationPathCV(OperatorKernelRegressor("rbf", gamma=2.0), np.logspace(-5, 1, 7)).fit(X, VECTORS)


@pytest.fixture(scope="module")
def grid_path():
    robust = OperatorKernelRegressor("rbf", gamma=2.0, loss=losses.Huber(1.0))
    kappas = [1.0, 0.1, 0.3]  # any order
    return RegularizationPathCV(robust, [1e-3, 1e-1, 1e-2], loss_params={"kappa": kappas}, cv=3).fit(X, VECTORS)


BAND = SimpleNamespace(lower=CURVES - 0.1, upper=CURVES + 0.2, center=CURVES, grid=GRID)
LEVELS = [0.1, 0.5, 0.9]
QUANTILES = X[:, :1] + np.array([-1.0, 0.0, 1.0])


def drawings(model, path, grid_path):
    return [
        lambda ax=None: plotting.plot_outliers(model, ax),
        lambda ax=None: plotting.plot_outliers(model, ax, kind="stretches"),
        lambda ax=None: plotting.plot_band(BAND, ax),
        lambda ax=None: plotting.plot_quantiles(X[:, 0], QUANTILES, LEVELS, ax),
        lambda ax=None: plotting.plot_path(path, ax),
        lambda ax=None: plotting.plot_path(grid_path, ax),
    ]


def test_axes_given_are_drawn_on_and_returned(model, path, grid_path):
    for draw in drawings(model, path, grid_path):
        _, (left, right) = plt.subplots(1, 2)
        assert draw(right) is right
        assert right.has_data() and not left.has_data()
        assert right.get_xlabel() and right.get_ylabel()
        right.figure.canvas.draw()


def test_new_axes_are_made_and_settings_stay(model, path, grid_path):
    before, (_, current) = dict(matplotlib.rcParams), plt.subplots()
    for draw in drawings(model, path, grid_path):
        ax = draw()
        assert ax is not current and not current.has_data()
    assert dict(matplotlib.rcParams) == before


def test_labels_that_are_there_stay(path):
    _, ax = plt.subplots()
    ax.set_xlabel("penalty")
    assert plotting.plot_path(path, ax).get_xlabel() == "penalty"


def test_without_matplotlib_the_error_says_what_to_install(monkeypatch, path):
    real = builtins.__import__

    def without(name, *args, **kwargs):
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ImportError, match=r"plotting needs matplotlib; .*hilbertlearn\[plot\]"):
        plotting.plot_path(path)


def test_axes_of_something_else_are_refused(path):
    with pytest.raises(TypeError, match="ax must be axes of matplotlib"):
        plotting.plot_path(path, plt.subplots(1, 2)[1])


@pytest.mark.parametrize(
    ("draw", "name"),
    [(plotting.plot_path, "path"), (plotting.plot_outliers, "report"), (plotting.plot_band, "band")],
)
def test_what_is_something_else_is_named_and_leaves_no_figure(draw, name):
    before = plt.get_fignums()
    with pytest.raises(TypeError, match=f"{name} must "):
        draw(3.0)
    model = OperatorKernelRegressor(alpha=0.1).fit(np.eye(5), np.arange(5.0))
    if name == "path":
        with pytest.raises(TypeError, match="path must be a fitted RegularizationPathCV, got OperatorKernelRegressor"):
            draw(model)
    assert plt.get_fignums() == before
