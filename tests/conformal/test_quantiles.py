"""Outputs and predicted quantiles as rows, and distances beyond quantiles."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from hilbertlearn import ConformalPredictor, QuantileRegressor
from hilbertlearn.conformal.output_form import OutputForm
from hilbertlearn.conformal.quantiles import QuantileDistance, QuantileForm, beyond

LEVELS = np.array([0.02, 0.1, 0.5, 0.8, 0.97])
rng = np.random.default_rng(0)
Y = rng.normal(size=(6, 2))
PREDICTED = np.sort(rng.normal(size=(6, 2, 5)), axis=2)


def form(level=0.9):
    return QuantileForm.from_levels(OutputForm.from_outputs(Y), LEVELS, level)


@pytest.mark.parametrize(("level", "ends"), [(0.9, (0, 4)), (0.8, (1, 4)), (0.6, (1, 3))])
def test_the_levels_nearest_to_those_of_the_interval(level, ends):
    assert form(level).ends == ends


def test_levels_on_both_sides_of_the_median_are_needed():
    with pytest.raises(ValueError, match="a quantile below the median and one above it"):
        QuantileForm.from_levels(OutputForm.from_outputs(Y), np.array([0.5, 0.9]), 0.8)


def test_rows_of_outputs_and_of_predictions():
    assert_array_equal(form().rows(Y), np.hstack([Y, Y]))
    assert_array_equal(form().rows(PREDICTED), np.hstack([PREDICTED[:, :, 0], PREDICTED[:, :, 4]]))


def test_distances_and_scores():
    residuals = form().rows(Y) - form().rows(PREDICTED)
    expected = np.maximum(PREDICTED[:, :, 0] - Y, Y - PREDICTED[:, :, 4])
    assert_allclose(beyond(residuals), expected)
    scale = QuantileDistance().learn(residuals, np.ones(6), 0.9)
    assert_allclose(scale, (PREDICTED[:, :, 4] - PREDICTED[:, :, 0]).mean(axis=0))
    assert_allclose(QuantileDistance().sizes(residuals, scale), (expected / scale).max(axis=1))


def test_other_scores_are_refused():
    X, y = rng.uniform(size=(30, 1)), rng.normal(size=30)
    with pytest.raises(ValueError, match="the estimator predicts quantiles; set score='auto'"):
        ConformalPredictor(QuantileRegressor((0.1, 0.9)), score="scale").fit(X, y)
