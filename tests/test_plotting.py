"""Pictures: what is drawn is what was found, on the axes given, and nothing else changes."""

import builtins
from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from hilbertlearn import (
    FunctionalRegressor,
    IrregularFunctions,
    OperatorKernelRegressor,
    RegularizationPathCV,
    losses,
    outlier_report,
    plotting,
)

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

rng = np.random.default_rng(0)
GRID = np.linspace(0, 1, 21)
X = rng.uniform(size=(30, 2))
CURVES = np.sin(5 * GRID + 3 * X[:, :1]) + 0.05 * rng.normal(size=(30, 21))
CURVES[7, 5:9] += 2
CURVES[12] = 2 - CURVES[12]
VECTORS = CURVES[:, ::7]


@pytest.fixture(autouse=True)
def _closed():
    yield
    plt.close("all")


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


# ---------------------------------------------------------------- outliers


def test_samples_are_where_the_report_has_them(model):
    report = outlier_report(model)
    ax = plotting.plot_outliers(report)
    (dots,) = ax.collections
    assert_allclose(dots.get_offsets(), report[["leverage", "loo_residual"]])
    assert_allclose(dots.get_array(), report["held_back"])
    assert {text.get_text() for text in ax.texts} == {"12", "7"}
    assert not plotting.plot_outliers(report, n_named=0).texts


def test_samples_without_leverages_are_in_the_order_of_the_report():
    terms = [("rbf", np.eye(3)), ("linear", np.ones((3, 3)))]
    several = OperatorKernelRegressor(terms, gamma=2.0, alpha=1e-2, loss=losses.Huber(0.1)).fit(X, VECTORS)
    (dots,) = plotting.plot_outliers(several).collections
    assert_array_equal(dots.get_offsets()[:, 0], np.arange(1, 31))
    assert_allclose(dots.get_offsets()[:, 1], outlier_report(several)["residual"])


def test_stretches_are_lines_with_their_points(model):
    report = outlier_report(model)
    ax = plotting.plot_outliers(report, kind="stretches", n_named=3)
    assert [tick.get_text() for tick in ax.get_yticklabels()] == [str(i) for i in report.index[:3]]
    assert report.index[1] == 7
    (segment,) = ax.collections[1].get_segments()
    assert_allclose(segment, [[report.loc[7, "start"], 1], [report.loc[7, "end"], 1]])
    assert_allclose(ax.lines[1].get_xdata(), report.loc[7, "points"])
    vectors = OperatorKernelRegressor(alpha=1e-2).fit(X, VECTORS)
    with pytest.raises(ValueError, match="functions of one variable"):
        plotting.plot_outliers(vectors, kind="stretches")


# ---------------------------------------------------------------- bands and quantiles


def test_band_is_between_its_ends():
    ax = plotting.plot_band(BAND, samples=[4], y=CURVES + 0.05, label="90 %")
    (band,) = ax.collections
    corners = band.get_paths()[0].vertices
    assert_allclose([corners[:, 1].min(), corners[:, 1].max()], [BAND.lower[4].min(), BAND.upper[4].max()])
    lines = [line.get_ydata() for line in ax.lines]
    for drawn, wanted in zip(lines, (BAND.lower, BAND.upper, CURVES, CURVES + 0.05), strict=True):
        assert_allclose(drawn, wanted[4])
    assert_allclose(ax.lines[0].get_xdata(), GRID)
    assert ax.get_legend_handles_labels()[1] == ["90 %"]


def test_bands_in_other_forms():
    assert len(plotting.plot_band(BAND).collections) == 3  # the first three
    ax = plotting.plot_band((BAND.lower[0], BAND.upper[0]))
    assert_array_equal(ax.lines[0].get_xdata(), np.arange(21))
    own = SimpleNamespace(lower=BAND.lower, upper=BAND.upper, form=SimpleNamespace(axes=(GRID,)))
    assert_allclose(plotting.plot_band(own).lines[0].get_xdata(), GRID)
    skfda = pytest.importorskip("skfda")
    both = [skfda.FDataGrid(values, GRID * 2) for values in (BAND.lower, BAND.upper)]
    assert_allclose(plotting.plot_band(tuple(both)).lines[0].get_xdata(), GRID * 2)
    with pytest.raises(ValueError, match=r"y must have the shape \(30, 21\) of lower"):
        plotting.plot_band(BAND, y=CURVES[:2])
    with pytest.raises(ValueError, match="grid must have the 21 points"):
        plotting.plot_band(BAND, grid=GRID[:3])


def test_quantiles_are_in_the_order_of_x():
    ax = plotting.plot_quantiles(X[:, :1], QUANTILES, LEVELS, y=VECTORS[:, 0])
    order = np.argsort(X[:, 0])
    assert_allclose(ax.lines[0].get_xydata(), np.c_[X[order, 0], QUANTILES[order, 1]])
    corners = ax.collections[0].get_paths()[0].vertices
    assert_allclose([corners[:, 1].min(), corners[:, 1].max()], [QUANTILES[:, 0].min(), QUANTILES[:, 2].max()])
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["10 % to 90 %", "50 %"]
    assert_allclose(ax.lines[1].get_ydata(), VECTORS[:, 0])


@pytest.mark.parametrize("levels", [[0.9, 0.5, 0.1], [0.0, 0.5, 0.9], [0.5]])
def test_levels_that_are_not_levels_are_refused(levels):
    with pytest.raises(ValueError, match="levels"):
        plotting.plot_quantiles(X[:, 0], QUANTILES, levels)


# ---------------------------------------------------------------- paths


def test_path_has_its_errors_and_the_chosen_alpha(path):
    ax = plotting.plot_path(path)
    curve, level, chosen, line = ax.lines
    assert_allclose(curve.get_xydata(), np.c_[path.alphas_, path.errors_])
    best = path.errors_.argmin()
    assert_allclose(level.get_ydata(), path.errors_[best] + path.standard_errors_[best])
    assert_allclose(chosen.get_xydata(), [[path.alpha_, path.errors_[list(path.alphas_).index(path.alpha_)]]])
    assert_allclose(line.get_xdata(), path.alpha_)
    heights = ax.collections[0].get_paths()[0].vertices[:, 1]
    assert_allclose(heights.max(), (path.errors_ + path.standard_errors_).max())
    assert ax.get_xscale() == "log"


def test_map_has_errors_in_increasing_order_of_both(grid_path):
    ax = plotting.plot_path(grid_path)
    mesh = ax.collections[0]
    wanted = grid_path.errors_[np.ix_([0, 2, 1], [1, 2, 0])]
    assert_allclose(np.asarray(mesh.get_array()).reshape(3, 3), wanted)
    star = next(line for line in ax.lines if line.get_marker() == "*")
    assert_allclose(star.get_xydata(), [[grid_path.loss_params_["kappa"], grid_path.alpha_]])
    assert ax.get_xlabel() == "kappa" and ax.get_ylabel() == "alpha"


def test_map_of_combinations():
    robust = OperatorKernelRegressor("rbf", gamma=2.0, loss=losses.Huber(1.0))
    params = {"kappa": [0.1, 1.0], "p": [1, 2]}
    several = RegularizationPathCV(robust, [1e-2, 1e-1], loss_params=params, cv=2).fit(X, VECTORS)
    ax = plotting.plot_path(several)
    assert ax.get_xlabel() == "combination of kappa and p"
    star = next(line for line in ax.lines if line.get_marker() == "*")
    assert star.get_xdata()[0] == several.loss_grid_.index(several.loss_params_)


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


def test_bands_of_curves_at_points_of_their_own():
    points = [np.array([0.5, 0.0, 1.0]), np.array([0.0, 0.2, 0.7, 1.0])]
    low, high = (IrregularFunctions(points, [np.sin(p) + shift for p in points]) for shift in (-1.0, 1.0))
    ax = plotting.plot_band((low, high), y=low)
    assert len(ax.collections) == 2
    assert_allclose(ax.lines[0].get_xdata(), [0.0, 0.5, 1.0])  # in order
    assert_allclose(ax.lines[0].get_ydata(), np.sin([0.0, 0.5, 1.0]) - 1.0)
    grid = np.linspace(0, 1, 20)
    ax = plotting.plot_band((np.zeros((2, 20)), np.ones((2, 20))), grid=grid, y=low)
    assert_allclose(ax.lines[2].get_xdata(), [0.0, 0.5, 1.0])
    with pytest.raises(ValueError, match="y must have the shape"):
        plotting.plot_band((low, high), y=low[:1])
    several = IrregularFunctions(points, [np.column_stack([p, p]) for p in points])
    with pytest.raises(ValueError, match="2 curves a sample"):
        plotting.plot_band((several, several))
