"""Pictures of curves: lines, gaps, bands."""

from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from hilbertlearn import (
    IrregularFunctions,
    plotting,
)

matplotlib = pytest.importorskip("matplotlib")
plt = pytest.importorskip("matplotlib.pyplot")

rng = np.random.default_rng(0)
GRID = np.linspace(0, 2, 11)
X = rng.uniform(size=(24, 2))
CURVES = np.sin(2 * GRID + 3 * X[:, :1])


def test_curves_are_lines_and_gaps_are_dots():
    seen = CURVES + 0.5
    seen[:, 4:6] = np.nan
    ax = plotting.plot_curves(CURVES, grid=GRID, y=seen, samples=[7, 2], label="predicted", y_label="seen")
    assert len(ax.lines) == 4
    for line, wanted in zip(ax.lines, (CURVES[7], seen[7], CURVES[2], seen[2])):
        assert_array_equal(line.get_xdata(), GRID)
        assert_array_equal(line.get_ydata(), wanted)
    assert ax.lines[1].get_marker() == "o" and ax.lines[1].get_linestyle() == "None"
    assert ax.lines[1].get_color() == ax.lines[0].get_color() != ax.lines[2].get_color()
    assert ax.get_legend_handles_labels()[1] == ["predicted", "seen"]
    assert plotting.plot_curves(CURVES, y=CURVES, samples=[0]).lines[1].get_linestyle() == "--"


def test_curves_in_other_forms():
    assert len(plotting.plot_curves(CURVES).lines) == 6
    single = plotting.plot_curves(CURVES[0]).lines[0]
    assert_allclose(single.get_xdata(), np.linspace(0, 1, 11))  # the estimators' grid
    several = plotting.plot_curves(np.stack([CURVES, -CURVES], axis=-1), samples=[3], grid=GRID)
    assert [line.get_linestyle() for line in several.lines] == ["-", "--"]
    assert_array_equal(several.lines[1].get_ydata(), -CURVES[3])
    points = [[2.0, 0.5, 1.0], [0.0, 1.5]]
    own = IrregularFunctions(points, [[1.0, 2.0, 3.0], [4.0, 5.0]])
    ax = plotting.plot_curves(own)
    assert_array_equal(ax.lines[0].get_xydata(), [[0.5, 2], [1, 3], [2, 1]])
    ax = plotting.plot_curves(CURVES[:2], grid=GRID, y=own)
    assert_array_equal(ax.lines[3].get_xydata(), [[0, 4], [1.5, 5]])
    skfda = pytest.importorskip("skfda")
    assert_allclose(plotting.plot_curves(skfda.FDataGrid(CURVES, GRID)).lines[0].get_xdata(), GRID)


def test_band_of_curves_has_their_colour():
    band = SimpleNamespace(lower=CURVES - 1, upper=CURVES + 1, center=CURVES)
    ax = plotting.plot_curves(CURVES, band=band, samples=[4, 1], grid=GRID)
    heights = ax.collections[1].get_paths()[0].vertices[:, 1]
    assert_allclose([heights.min(), heights.max()], [CURVES[1].min() - 1, CURVES[1].max() + 1])
    colours = [matplotlib.colors.to_rgb(line.get_color()) for line in ax.lines if len(line.get_ydata()) == 11]
    assert_allclose(ax.collections[1].get_facecolor()[0, :3], colours[-1])
    assert len(ax.lines) == 2 * 2 + 2  # both ends of both bands, and the curves once


def test_curves_that_do_not_fit_are_refused_before_a_figure():
    with pytest.raises(ValueError, match="y must have the 24 samples of curves, got 2"):
        plotting.plot_curves(CURVES, y=CURVES[:2])
    with pytest.raises(ValueError, match="curves must be functions of one variable, got 2"):
        plotting.plot_curves(np.zeros((2, 3, 4)), grid=(np.arange(3.0), np.arange(4.0)))
    assert not plt.get_fignums()
