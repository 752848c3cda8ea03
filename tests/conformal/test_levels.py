"""Ranks and quantiles against their definitions."""

import numpy as np
import pytest
from helpers.conformal_vectors import LEVEL, ends_by_definition
from numpy.testing import assert_array_equal

from hilbertlearn.conformal.levels import rank, samples_needed, upper_ends


@pytest.mark.parametrize("level", [0.5, 0.7, 0.8, 0.9, 0.95, 0.99])
def test_number_of_samples_needed(level):
    n = samples_needed(level)
    assert rank(level, n) <= n
    assert rank(level, n - 1) > n - 1


def test_upper_ends_of_columns_with_gaps_and_weights():
    rng = np.random.default_rng(0)
    values, weights, own = rng.normal(size=(3, 12, 4)), rng.uniform(0.2, 3, 12), rng.uniform(0.1, 2, 3)
    values[:, :2, 1] = values[:, 4:, 3] = np.nan  # the last column has too few
    plain, weighted = upper_ends(values.copy(), LEVEL), upper_ends(values.copy(), LEVEL, weights, own)
    for q in range(3):
        for j in range(4):
            seen = np.isfinite(values[q, :, j])
            assert plain[q, j] == ends_by_definition(values[q, seen, j], LEVEL)
            total = weights[seen].sum() + own[q]
            good = [v for v in values[q, seen, j] if weights[seen & (values[q, :, j] <= v)].sum() >= LEVEL * total]
            assert weighted[q, j] == min(good, default=np.inf)
    assert_array_equal(upper_ends(values.copy(), LEVEL, np.ones(12), np.ones(3)), plain)
