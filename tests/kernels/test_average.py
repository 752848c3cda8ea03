"""Weighted sums of kernels."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from hilbertlearn import OperatorKernelRegressor, load, save
from hilbertlearn.kernels import AverageKernel, InputKernel, InputScaling, SharedDistances


@pytest.fixture
def X():
    return np.random.default_rng(0).normal(size=(25, 3)) * [1.0, 10.0, 0.1]


@pytest.fixture
def kernel(X):
    scaling = InputScaling.from_samples(X)
    parts = (
        InputKernel("rbf", 0.3, scaling=scaling),
        InputKernel("matern12", 0.01, scaling=scaling),
        InputKernel("laplacian", 0.2, scaling=scaling),
        InputKernel("linear", origin=scaling(X).mean(axis=0), scaling=scaling),
        InputKernel("rbf", 0.01),
    )
    return AverageKernel(parts, (0.5, 0.1, 0.3, 0.05, 0.2), (0.5, 0.1, 0.1, 0.1, 0.2))


def test_values_are_the_weighted_sum_of_the_parts(X, kernel):
    expected = sum(w * part(X, X[:7].copy()) for w, part in zip(kernel.weights, kernel.parts))
    assert_allclose(kernel(X, X[:7]), expected, atol=1e-12)
    gram = sum(w * part.training_gram(X) for w, part in zip(kernel.weights, kernel.parts))
    assert_allclose(kernel(X, X), gram, atol=1e-12)
    assert_allclose(SharedDistances(X).gram(InputKernel(kernel)), gram, atol=1e-12)
    assert_allclose(kernel.diagonal(X), np.diag(gram), atol=1e-12)
    assert np.linalg.eigvalsh(gram)[0] > -1e-10


def test_bounds_of_all_parts_are_dropped(X, kernel):
    far = X + 1e3 * X.std(axis=0)
    assert_allclose(kernel.without_bounds()(X, X), kernel(X, X), atol=1e-12)
    assert np.abs(kernel.without_bounds()(far, X)).max() > 10 * np.abs(kernel(far, X)).max()


def test_the_kernel_of_a_model_can_be_given_again(X, tmp_path):
    y = np.sin(X[:, 0]) + 0.3 * np.random.default_rng(1).normal(size=25)
    model = OperatorKernelRegressor().fit(X, y)
    assert isinstance(model.kernel_, AverageKernel)
    assert model.dual_gap_ <= 1e-6
    again = OperatorKernelRegressor(kernel=model.kernel_, alpha=model.alpha_).fit(X, y)
    assert_allclose(again.predict(X[:5] + 0.1), model.predict(X[:5] + 0.1), rtol=1e-9)
    save(model, tmp_path / "model.hl")
    assert np.array_equal(load(tmp_path / "model.hl").predict(X + 0.1), model.predict(X + 0.1))


def test_the_representation_adds_up_shares_by_name(kernel):
    assert repr(kernel) == "average of 70% rbf, 10% matern12, 10% laplacian, 10% linear"
    assert kernel.scaled_share == pytest.approx(0.8)
