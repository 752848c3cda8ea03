"""Bands between their ends, quantiles in the order of x."""

from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from hilbertlearn import (
    IrregularFunctions,
    plotting,
)

pytest.importorskip("matplotlib")

rng = np.random.default_rng(0)
GRID = np.linspace(0, 1, 21)
X = rng.uniform(size=(30, 2))
CURVES = np.sin(5 * GRID + 3 * X[:, :1]) + 0.05 * rng.normal(size=(30, 21))
CURVES[7, 5:9] += 2
CURVES[12] = 2 - CURVES[12]
VECTORS = CURVES[:, ::7]


BAND = SimpleNamespace(lower=CURVES - 0.1, upper=CURVES + 0.2, center=CURVES, grid=GRID)
LEVELS = [0.1, 0.5, 0.9]
QUANTILES = X[:, :1] + np.array([-1.0, 0.0, 1.0])


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
