"""The order of quantiles as a constraint."""

import numpy as np
from numpy.testing import assert_allclose

from hilbertlearn import QuantileRegressor

rng = np.random.default_rng(0)
X = rng.uniform(size=(25, 1))
Y = np.sin(6 * X[:, 0]) + 0.5 * rng.normal(size=25)
SETTINGS = {"levels": (0.45, 0.5, 0.55), "kernel": "rbf", "gamma": 20.0, "alpha": 1e-3, "coupling": np.inf}
POINTS = np.linspace(-0.2, 1.2, 30)[:, None]


def test_quantiles_cross_without_and_not_with_the_constraint():
    free = QuantileRegressor(non_crossing=False, **SETTINGS).fit(X, Y)
    assert (np.diff(free.predict(POINTS)) < -1e-3).any()
    ordered = QuantileRegressor(non_crossing=True, points=POINTS, tol=1e-7, max_iter=5000, **SETTINGS).fit(X, Y)
    assert (np.diff(ordered.predict(X)) > -1e-3).all()
    assert (np.diff(ordered.predict(POINTS)) > -1e-3).all()


def test_the_constraint_is_free_where_quantiles_are_in_order():
    settings = {**SETTINGS, "levels": (0.1, 0.9), "alpha": 1.0, "tol": 1e-8, "max_iter": 5000}
    free = QuantileRegressor(non_crossing=False, **settings).fit(X, Y)
    assert (np.diff(free.predict(POINTS)) > 0).all()
    ordered = QuantileRegressor(non_crossing=True, points=POINTS, **settings).fit(X, Y)
    assert_allclose(ordered.predict(POINTS), free.predict(POINTS), atol=1e-3)


def test_attributes_of_samples_are_without_the_points():
    model = QuantileRegressor(non_crossing=True, points=POINTS, **SETTINGS).fit(X, Y)
    assert model.saturated_.shape == (25, 3) and model.outlier_scores_.shape == (25, 3)
    assert len(model.X_fit_) == 25 + 30 and model.support_.max() < 25
