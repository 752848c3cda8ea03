"""Weighted statistics with missing entries, against their definitions."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from hilbertlearn._utils.statistics import (
    covariance,
    geometric_median,
    mean_rows,
    pointwise_median,
    weighted_quantile,
)

rng = np.random.default_rng(0)
Y, TIMES = rng.normal(size=(9, 3)), np.array([1, 2, 1, 3, 1, 1, 2, 1, 1])
GAPS = np.where(rng.random(Y.shape) < 0.3, np.nan, Y)


@pytest.mark.parametrize("level", [0.1, 0.25, 0.5, 0.9])
def test_quantiles_with_integer_weights_are_those_of_repeated_values(level):
    repeated = np.repeat(Y[:, 0], TIMES)
    assert weighted_quantile(Y[:, 0], level, TIMES) == weighted_quantile(repeated, level)


def test_the_median_of_an_even_number_is_the_mean_of_two():
    assert weighted_quantile([4.0, 1.0, 2.0, 3.0], 0.5) == 2.5


def test_means_ignore_missing_entries_and_count_weights():
    expected = [np.average(column[np.isfinite(column)], weights=TIMES[np.isfinite(column)]) for column in GAPS.T]
    assert_allclose(mean_rows(GAPS, TIMES.astype(float)), expected)
    assert_allclose(mean_rows(np.full((2, 1), np.nan), np.ones(2)), [0.0])


def test_covariance_is_numpys():
    assert_allclose(covariance(Y, np.ones(9)), np.cov(Y.T, bias=True))
    assert_allclose(covariance(Y, TIMES.astype(float)), np.cov(np.repeat(Y, TIMES, axis=0).T, bias=True))


def test_medians_of_columns():
    assert_allclose(pointwise_median(GAPS, np.ones(9)), np.nanmedian(GAPS, axis=0))


def test_the_geometric_median_has_the_smallest_sum_of_distances():
    median = geometric_median(Y, np.ones(9))

    def total(point):
        return np.linalg.norm(Y - point, axis=1).sum()

    for step in 1e-3 * np.vstack([np.eye(3), -np.eye(3)]):
        assert total(median) <= total(median + step)
