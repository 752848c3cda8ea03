"""Importances of inputs: bars, or an image of pixels."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.exceptions import NotFittedError

from hilbertlearn import (
    OperatorKernelRegressor,
    kernels,
    plotting,
)

plt = pytest.importorskip("matplotlib.pyplot")

rng = np.random.default_rng(0)
GRID = np.linspace(0, 2, 11)
X = rng.uniform(size=(24, 2))
CURVES = np.sin(2 * GRID + 3 * X[:, :1])


def test_importances_are_bars_from_the_largest():
    model = OperatorKernelRegressor(kernels.MetricKernel(n_rounds=2), alpha=1e-3).fit(X, CURVES[:, 3])
    diagonal = np.diag(model.metric_)
    ax = plotting.plot_importances(model, names=["b", "a"])
    assert_allclose([bar.get_width() for bar in ax.patches], np.sort(diagonal)[::-1])
    assert [tick.get_text() for tick in ax.get_yticklabels()] == (
        ["b", "a"] if diagonal[0] > diagonal[1] else ["a", "b"]
    )
    assert len(plotting.plot_importances(np.arange(9.0), n_shown=4).patches) == 4


def test_importances_of_pixels_are_an_image():
    ax = plotting.plot_importances(np.diag(np.arange(6.0)), shape=(2, 3))
    assert_allclose(ax.images[0].get_array(), [[0, 1, 2], [3, 4, 5]])


@pytest.mark.parametrize(
    ("model", "settings", "error", "message"),
    [
        ([1.0, 2.0], {"names": ["a"]}, ValueError, "names must have one for each of the 2 inputs, got 1"),
        ([1.0, 2.0], {"shape": (2, 2)}, ValueError, "shape must be .* of 2 pixels"),
        (np.ones((2, 3)), {}, ValueError, r"must be \(p, p\), or its diagonal"),
        (OperatorKernelRegressor(), {}, NotFittedError, "not fitted"),
    ],
)
def test_importances_of_nothing_are_refused(model, settings, error, message):
    with pytest.raises(error, match=message):
        plotting.plot_importances(model, **settings)
    assert not plt.get_fignums()


def test_models_without_a_metric_are_refused():
    plain = OperatorKernelRegressor("rbf", gamma=1.0, alpha=0.1).fit(X, CURVES[:, 0])
    with pytest.raises(TypeError, match=r"learnt no metric; fit it with kernel=kernels.MetricKernel\(\)"):
        plotting.plot_importances(plain)
