"""A regressor of scikit-learn on the coordinates of the outputs."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.linear_model import Ridge

from hilbertlearn import FunctionalRegressor, spaces

rng = np.random.default_rng(0)
X, GRID = rng.normal(size=(30, 2)), np.linspace(0, 1, 12)
CURVES = np.sin(6 * GRID + X[:, :1]) + 0.1 * rng.normal(size=(30, 12))


def test_projection_learning_by_hand():
    """Ridge regression of coordinates in an orthonormal basis, expanded again."""
    model = FunctionalRegressor(space=spaces.Fourier(3), grid=GRID, regressor=Ridge(alpha=0.5)).fit(X, CURVES)
    coordinates = model.machine_.encode(CURVES)
    expected = model.machine_.decode(Ridge(alpha=0.5).fit(X, coordinates).predict(X))
    assert_allclose(model.predict(X), expected, atol=1e-12)


def test_samples_of_weight_zero_and_unlabelled_ones_are_left_out():
    weights = np.r_[np.zeros(5), np.ones(25)]
    holes = CURVES.copy()
    holes[5] = np.nan
    model = FunctionalRegressor(grid=GRID, regressor=Ridge()).fit(X, holes, weights)
    expected = FunctionalRegressor(grid=GRID, regressor=Ridge()).fit(X[6:], CURVES[6:])
    assert_allclose(model.predict(X), expected.predict(X), atol=1e-10)


def test_what_a_regressor_cannot_do():
    with pytest.raises(ValueError, match="regressor knows no graph"):
        FunctionalRegressor(regressor=Ridge(), manifold=1.0).fit(X, CURVES)
    with pytest.raises(TypeError, match=r"pass Ridge\(\)"):
        FunctionalRegressor(regressor=Ridge).fit(X, CURVES)
    with pytest.raises(ValueError, match="regressor has no path"):
        next(FunctionalRegressor(regressor=Ridge()).fit_path(X, CURVES, [0.1]))
