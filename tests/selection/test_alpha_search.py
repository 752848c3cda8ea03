"""An alpha for each output."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from hilbertlearn import OperatorKernelRegressor

rng = np.random.default_rng(0)
X = rng.normal(size=(60, 3))
Y = np.column_stack([np.sin(3 * X[:, 0]) * X[:, 1], 100 * np.cos(X[:, 2])]) + 0.05 * rng.normal(size=(60, 2))
NEW = rng.normal(size=(10, 3))


@pytest.fixture(autouse=True)
def same_draws():
    """Each test draws the same whatever ran before it."""
    global rng
    rng = np.random.default_rng(0)


def test_an_alpha_for_each_output():
    noisy = np.column_stack([np.cos(X[:, 2]), np.sin(X[:, 0]) + 2 * rng.normal(size=len(Y))])
    model = OperatorKernelRegressor("rbf", gamma=0.3, alpha_per_output=True).fit(X, noisy)
    assert model.alpha_.shape == (2,) and model.alpha_[1] > 10 * model.alpha_[0]
    for j in range(2):  # each as if it were alone
        alone = OperatorKernelRegressor("rbf", gamma=0.3).fit(X, noisy[:, j])
        assert 0.5 < model.alpha_[j] / alone.alpha_ < 2
        same = OperatorKernelRegressor("rbf", gamma=0.3, alpha=model.alpha_[j]).fit(X, noisy[:, j])
        assert_allclose(model.predict(NEW)[:, j], same.predict(NEW), rtol=1e-6)
        assert_allclose(model.loo_residuals()[:, j], same.loo_residuals(), rtol=1e-6)
    assert "alpha" in model.summary()
    with pytest.raises(ValueError, match="alpha_per_output=True goes with the squared loss"):
        OperatorKernelRegressor(alpha_per_output=True, operator="covariance").fit(X, Y)
    with pytest.raises(ValueError, match="alpha_per_output"):
        OperatorKernelRegressor(alpha_per_output="yes").fit(X, Y)
