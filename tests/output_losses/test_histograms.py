"""Losses on histograms against scipy and their formulas."""

import numpy as np
import pytest
from helpers.loss_matrices import assert_pairs
from scipy.stats import wasserstein_distance

from hilbertlearn.output_losses import (
    Chi2,
    Hellinger,
    Wasserstein1d,
)

rng = np.random.default_rng(5)
NAN = np.nan


RATINGS = rng.integers(1, 6, size=(12, 6)).astype(float)
RATINGS[rng.random(RATINGS.shape) < 0.3] = NAN
RATINGS[0], RATINGS[1], RATINGS[2] = 3, [NAN, NAN, 4, NAN, NAN, NAN], [1, 2, 3, 4, 5, 6]


# ------------------------------------------------------------------ histograms

HISTOGRAMS = rng.dirichlet(np.full(5, 0.5), size=8)
HISTOGRAMS[:2] = [[1, 0, 0, 0, 0], [0, 0, 0.5, 0, 0.5]]
HISTOGRAMS[4, 2], HISTOGRAMS[5, 2] = 0, 0
HISTOGRAMS /= HISTOGRAMS.sum(axis=1, keepdims=True)


def test_hellinger_has_the_papers_factor():
    assert_pairs(
        Hellinger(), lambda z, y: ((np.sqrt(z) - np.sqrt(y)) ** 2).sum() / np.sqrt(2), HISTOGRAMS[:5], HISTOGRAMS
    )


def test_chi2_leaves_out_bins_empty_in_both():
    def chi2(z, y):
        return sum((a - b) ** 2 / (a + b) for a, b in zip(z, y) if a + b > 0)

    assert_pairs(Chi2(), chi2, HISTOGRAMS[:5], HISTOGRAMS)


def test_wasserstein_is_that_of_scipy_on_unit_bins():
    bins = np.arange(5)
    assert_pairs(Wasserstein1d(), lambda z, y: wasserstein_distance(bins, bins, z, y), HISTOGRAMS[:5], HISTOGRAMS)


def test_rounding_of_the_sum_is_scaled_away():
    assert Hellinger().check([[0.5, 0.5 + 1e-9]]).sum() == pytest.approx(1, abs=1e-15)
