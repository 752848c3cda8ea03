"""Outputs that are separate problems, in one state."""

import numpy as np
from numpy.testing import assert_allclose

from hilbertlearn import QuantileRegressor
from hilbertlearn.quantile.independent_outputs import make_unobserved_state

rng = np.random.default_rng(0)
X = rng.uniform(size=(40, 1))
Y = np.column_stack([X[:, 0] + 0.2 * rng.normal(size=40), 5 * np.sin(6 * X[:, 0]) + rng.normal(size=40)])
SETTINGS = {"levels": (0.2, 0.8), "kernel": "rbf", "gamma": 2.0, "alpha": 0.01, "coupling": 1.0}


def test_each_output_is_the_model_of_it_alone():
    both = QuantileRegressor(**SETTINGS).fit(X, Y)
    for j in range(2):
        alone = QuantileRegressor(**SETTINGS).fit(X, Y[:, j])
        assert_allclose(both.predict(X)[:, j], alone.predict(X), atol=1e-12)
        assert_allclose(both.dual_coef_[j], alone.dual_coef_, atol=1e-12)
    assert both.alpha_.tolist() == [0.01, 0.01] and both.coupling_.tolist() == [1.0, 1.0]
    assert both.dual_gap_ <= 1e-6 and len(both.center_) == 4


def test_an_output_that_nobody_observed():
    state = QuantileRegressor(**SETTINGS).fit(X, Y[:, 0]).state_
    unknown = make_unobserved_state(state)
    assert np.isnan(unknown.coordinates(X)).all() and np.isnan(unknown.alpha)
    assert not unknown.coefficients.any() and len(unknown.support) == 0
