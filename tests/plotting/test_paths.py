"""Errors along a path, or over a grid of two settings."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from hilbertlearn import (
    OperatorKernelRegressor,
    RegularizationPathCV,
    losses,
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


@pytest.fixture(scope="module")
def path():
    return RegularizationPathCV(OperatorKernelRegressor("rbf", gamma=2.0), np.logspace(-5, 1, 7)).fit(X, VECTORS)


@pytest.fixture(scope="module")
def grid_path():
    robust = OperatorKernelRegressor("rbf", gamma=2.0, loss=losses.Huber(1.0))
    kappas = [1.0, 0.1, 0.3]  # any order
    return RegularizationPathCV(robust, [1e-3, 1e-1, 1e-2], loss_params={"kappa": kappas}, cv=3).fit(X, VECTORS)


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
