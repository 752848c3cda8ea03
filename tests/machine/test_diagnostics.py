"""Residuals and weights of the training samples, by hand."""

import numpy as np
from numpy.testing import assert_allclose

from hilbertlearn import OperatorKernelRegressor, losses

rng = np.random.default_rng(0)
X, Y = rng.normal(size=(20, 2)), rng.normal(size=(20, 2))
SETTINGS = {"kernel": "rbf", "gamma": 0.5, "alpha": 0.1, "tol": 1e-10, "max_iter": 10_000}


def test_sizes_are_norms_of_residuals():
    model = OperatorKernelRegressor(**SETTINGS).fit(X, Y)
    diagnostics = model.state_.diagnostics
    assert_allclose(diagnostics.sizes, np.linalg.norm(Y - model.predict(X), axis=1), atol=1e-8)
    assert not diagnostics.held_back.any() and diagnostics.rows.tolist() == list(range(20))


def test_weights_are_those_of_iteratively_reweighted_least_squares():
    """For Huber's loss ``min(1, kappa / ||r||)``, and the share beyond the bound is what is missing to one."""
    kappa = 0.5
    model = OperatorKernelRegressor(loss=losses.Huber(kappa), **SETTINGS).fit(X, Y)
    sizes = np.linalg.norm(Y - model.predict(X), axis=1)
    expected = np.minimum(1.0, kappa / sizes)
    diagnostics = model.state_.diagnostics
    assert_allclose(diagnostics.irls_weights, expected, rtol=1e-3)
    assert_allclose(diagnostics.held_back, 1 - expected, atol=1e-3)


def test_missing_outputs_are_missing_residuals():
    gaps = Y.copy()
    gaps[::4, 0] = np.nan
    model = OperatorKernelRegressor(loss=losses.Huber(0.5), **SETTINGS).fit(X, gaps)
    np.testing.assert_array_equal(np.isnan(model.state_.diagnostics.residuals), np.isnan(gaps))
