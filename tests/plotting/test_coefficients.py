"""Dual coefficients: an image, and the samples at the bound."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import NotFittedError

from hilbertlearn import (
    FunctionalRegressor,
    KernelAutoencoder,
    OperatorKernelRegressor,
    losses,
    plotting,
)

plt = pytest.importorskip("matplotlib.pyplot")

rng = np.random.default_rng(0)
GRID = np.linspace(0, 2, 11)
X = rng.uniform(size=(24, 2))
CURVES = np.sin(2 * GRID + 3 * X[:, :1])


@pytest.fixture(scope="module")
def robust():
    outputs = CURVES.copy()
    outputs[5] += 9.0
    return FunctionalRegressor("rbf", gamma=1.0, alpha=1e-3, loss=losses.Huber(0.3)).fit(X, outputs)


def test_coefficients_are_the_image_and_held_samples_are_marked(robust):
    ax = plotting.plot_coefficients(robust)
    assert_allclose(ax.images[0].get_array(), robust.dual_coef_)
    held = np.flatnonzero(robust.saturated_)
    assert 5 in held
    assert_array_equal(ax.lines[0].get_ydata(), held)


def test_entries_held_back_are_marked():
    outputs = CURVES.copy()
    outputs[5, 2] += 9.0
    model = FunctionalRegressor("rbf", gamma=1.0, alpha=1e-3, loss=losses.Huber(0.3, p=1)).fit(X, outputs)
    marks = plotting.plot_coefficients(model).lines[0]
    assert_array_equal(marks.get_xydata(), np.argwhere(model.saturated_)[:, ::-1])
    assert [2, 5] in marks.get_xydata().tolist()


def test_samples_in_use_and_not(robust):
    ax = plotting.plot_coefficients(robust, kind="samples")
    sizes = np.linalg.norm(robust.dual_coef_, axis=1)
    drawn = np.concatenate([line.get_xydata() for line in ax.lines])
    assert_allclose(drawn[np.argsort(drawn[:, 0])], np.c_[np.arange(24), sizes])
    sparse = OperatorKernelRegressor("rbf", gamma=1.0, alpha=1e-3, loss=losses.EpsilonInsensitive(0.5)).fit(X, CURVES)
    ax = plotting.plot_coefficients(sparse, kind="samples")
    assert ax.lines[0].get_label() == f"{24 - len(sparse.support_)} not in use"
    image = plotting.plot_coefficients(sparse).images[0].get_array()
    assert_array_equal(np.flatnonzero(~image.mask.all(axis=1)), sparse.support_)


def test_models_without_coefficients_of_samples_are_refused():
    with pytest.raises(TypeError, match="model must be a fitted kernel machine of the package, got KernelAutoencoder"):
        plotting.plot_coefficients(KernelAutoencoder(2))
    with pytest.raises(NotFittedError):
        plotting.plot_coefficients(OperatorKernelRegressor())
    batches = OperatorKernelRegressor("rbf", gamma=1.0, alpha=1e-2, feature_map=5).partial_fit(X, CURVES)
    with pytest.raises(AttributeError, match="coefficients of samples are not kept of rows that come in batches"):
        plotting.plot_coefficients(batches)
    assert not plt.get_fignums()
