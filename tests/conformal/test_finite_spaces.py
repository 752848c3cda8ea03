"""Sizes of balls against enumeration."""

from itertools import permutations, product

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from hilbertlearn import output_losses
from hilbertlearn.conformal.finite_spaces import ball_sizes, mahonian


@pytest.mark.parametrize("loss", ["kendall", "spearman", "hamming", "f1", "jaccard"])
def test_sizes_of_balls_against_enumeration(loss):
    delta = output_losses.as_output_loss(loss)
    ranked = loss in ("kendall", "spearman")
    for M in range(1, 6):
        every = np.array(list(permutations(range(1, M + 1)) if ranked else product((0, 1), repeat=M)), dtype=float)
        centers = every[:: max(1, len(every) // 7)]
        losses = delta(centers, every)
        for radius in (0.0, 0.1, 0.25, 0.5, 2 / 3, 0.8, 1.0):
            found = ball_sizes(delta, centers, np.full(len(centers), radius))
            assert_array_equal(found, (losses <= radius + 1e-9).sum(axis=1))
    assert_array_equal(mahonian(5), [1, 4, 9, 15, 20, 22, 20, 15, 9, 4, 1])
    assert np.isnan(ball_sizes(output_losses.Rank(), centers, np.ones(len(centers)))).all()
